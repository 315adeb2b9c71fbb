# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Error of int4 Marlin layers with 16-bit and with int8 activations, ours and unpatched.

    python bench/marlin_int8_accuracy.py --stock-site DIR --out marlin-int8-accuracy.json

Runs the MarlinLinearKernel of the installed wheel (`path: ours`), then, in a second process whose
PYTHONPATH begins with DIR, that of the official wheel of the same version (`path: stock`), on the
same layers. One row a layer, n x k; rel_err = ||y - x w^T|| / ||x w^T|| over 64 tokens of
normal activations against float64, null with an `error` where the layer does not run at all.

Cases, groups of 128 unless channelwise:
    positive, half-negative, all-negative    symmetric, by the share of negative group scales
    asymmetric, half-negative-asymmetric     with zero points
    channelwise, half-negative-channelwise   one scale an output channel
    tiny-groups          half of the groups have scales 10000 times smaller
    tiny-groups-alone    the same layer when only those groups get activations
    channels/F-alone     half of the channels have scales F times smaller: those channels' outputs
The last two kinds show what the kernel's int16 scales (steps of 1/4096 of the largest) lose.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")

from needs import need, need_folder

need("torch", "vllm")

import torch
from marlin_layer import PATCHED, MarlinLayer, Weights, random_weights

TOKENS = 64
GROUP = 128
TINY = 1e-4
SHAPES = [
    (17408, 5120),
    (5120, 17408),
    (4096, 14336),
    (28672, 4096),
    (1000, 1152),  # Marlin pads N
    (5136, 11648),
]
CASES: dict[str, dict[str, Any]] = {
    "positive": {},
    "half-negative": {"negative": 0.5},
    "all-negative": {"negative": 1.0},
    "asymmetric": {"asymmetric": True},
    "half-negative-asymmetric": {"negative": 0.5, "asymmetric": True},
    "channelwise": {"groups": 1},
    "half-negative-channelwise": {"groups": 1, "negative": 0.5},
}
CHANNEL_FACTORS = (16, 64, 256, 1024, 4096)
ACTIVATIONS = {"a16": torch.bfloat16, "int8": torch.int8}
LIMITS = {"a16": 0.0026, "int8": 0.0105}


def norm_ratio(y: torch.Tensor, reference: torch.Tensor) -> float:
    """||y - reference|| / ||reference||."""
    return float((y.double() - reference).norm() / reference.norm())


def layers(n: int, k: int) -> Iterator[tuple[str, Weights, torch.Tensor, slice, bool]]:
    """Case, weights, activations [TOKENS, K], the outputs that count, and whether LIMITS hold."""
    generator = torch.Generator(device="cuda").manual_seed(n + k)
    x = torch.randn((TOKENS, k), generator=generator, device="cuda").bfloat16()
    everything = slice(None)
    for case, options in CASES.items():
        groups = options.get("groups", k // GROUP)
        rest = {name: value for name, value in options.items() if name != "groups"}
        yield case, random_weights(n, k, groups, **rest), x, everything, True
    w = random_weights(n, k, k // GROUP)
    w.scales[:, ::2] *= TINY
    yield "tiny-groups", w, x, everything, True
    alone = x.unflatten(1, (-1, GROUP)).clone()
    alone[:, 1::2] = 0
    yield "tiny-groups-alone", w, alone.flatten(1), everything, False
    for factor in CHANNEL_FACTORS:
        w = random_weights(n, k, k // GROUP)
        w.scales[: n // 2] /= factor
        yield f"channels/{factor}-alone", w, x, slice(n // 2), False


def measure(path: str) -> Iterator[dict[str, Any]]:
    """Rows of the vLLM that this process imports."""
    for n, k in SHAPES:
        for case, weights, x, outputs, limited in layers(n, k):
            reference = (x.double() @ weights.dense().t())[:, outputs]
            for activation, dtype in ACTIVATIONS.items():
                row: dict[str, Any] = {
                    "n": n,
                    "k": k,
                    "case": case,
                    "path": path,
                    "activation": activation,
                }
                try:
                    y = MarlinLayer(weights, dtype)(x)[:, outputs]
                    row["rel_err"] = norm_ratio(y, reference)
                except (AssertionError, TypeError, RuntimeError) as e:
                    row["rel_err"] = None
                    row["error"] = f"{type(e).__name__}: {e}".splitlines()[0]
                row["limit"] = LIMITS[activation] if limited else None
                yield row


def measure_stock(site: Path) -> list[dict[str, Any]]:
    """Rows of the unpatched vLLM in `site`, measured in a process of its own."""
    python_path = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rows.json"
        command = [sys.executable, __file__, "--path", "stock", "--out", str(out)]
        subprocess.run(command, env=os.environ | {"PYTHONPATH": python_path}, check=True)
        rows: list[dict[str, Any]] = json.loads(out.read_text())
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """A line a layer: the error of each path and activation in percent."""
    columns = [(p, a) for p in ("stock", "ours") for a in ACTIVATIONS]
    cells: dict[tuple[str, str], dict[tuple[str, str], str]] = {}
    for row in rows:
        key = (f"{row['n']}x{row['k']}", row["case"])
        error = row["error"].split(":")[0] if row["rel_err"] is None else f"{row['rel_err']:.2%}"
        cells.setdefault(key, {})[row["path"], row["activation"]] = error
    lines = [f"{'N x K':<12}{'case':<27}" + "".join(f"{p + ' ' + a:>16}" for p, a in columns)]
    for (shape, case), errors in cells.items():
        lines.append(
            f"{shape:<12}{case:<27}" + "".join(f"{errors.get(c, '-'):>16}" for c in columns)
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", required=True, type=Path, help="JSON file for the rows")
    parser.add_argument("--stock-site", type=Path, help="folder that holds the official vllm/")
    parser.add_argument("--path", choices=["ours", "stock"], default="ours", help=argparse.SUPPRESS)
    args = parser.parse_args()
    need_folder(parser, args.out)
    if not torch.cuda.is_available():
        sys.exit("error: no NVIDIA GPU found; Marlin runs on nothing else")
    if args.stock_site and not (args.stock_site / "vllm" / "__init__.py").is_file():
        sys.exit(f"error: {args.stock_site} holds no vllm/: unpack the official wheel there")
    if (args.path == "ours") != PATCHED:
        sys.exit(f"error: the vLLM for path {args.path} is {'' if PATCHED else 'not '}patched")
    rows = list(measure(args.path))
    if args.stock_site:
        rows += measure_stock(args.stock_site)
    args.out.write_text(json.dumps(rows, indent=1) + "\n")
    if args.path == "stock":
        return
    print(table(rows))
    bad = [
        row
        for row in rows
        if row["path"] == "ours"
        and row["limit"] is not None
        and (row["rel_err"] is None or row["rel_err"] > row["limit"])
    ]
    for row in bad:
        print(f"over its limit of {row['limit']:.2%}: {json.dumps(row)}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
