#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What VLLM_MARLIN_INPUT_DTYPE=int8 does to a checkpoint of int4 weights.

    python tools/inspect_w4a8.py FOLDER [--json]

Reads config.json and the group scales of a compressed-tensors, GPTQ, AWQ or AutoRound checkpoint
(no weights, no GPU, no vLLM; numpy only) and says of each kind of layer: how many group scales are
negative, how many are too small for the kernel's 12-bit scales, and what int8 activations do to it
in vLLM 0.32.0 and with this project's patches. Layers that vLLM fuses are looked at as one, because
they share a largest scale. VLLM_MARLIN_INT8_EXCLUDE_RE and VLLM_MARLIN_INT8_INCLUDE_RE count as
they do in the server. On Hopper, vLLM 0.32.0 itself prefers other kernels to Marlin unless the
server is told --linear-backend marlin.

Exit codes: 0 vLLM 0.32.0 runs each of its Marlin layers rightly with int8 activations; 1 it does
not (the patched one does, or keeps 16 bits); 2 a wrong input.
"""

import argparse
import dataclasses
import json
import os
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

try:
    import numpy as np
except ImportError:
    sys.exit("error: inspect_w4a8.py needs numpy: python -m pip install numpy")

MARLIN_GROUP_SIZES = (32, 64, 128)
SCALE_STEPS = 4096  # of the largest group scale, with int8 activations
EXCLUDE_RE = "lm_head|mtp"  # the server's default
METHODS = {
    "compressed-tensors": "compressed-tensors",
    "gptq": "gptq",
    "gptq_marlin": "gptq",
    "awq": "awq",
    "awq_marlin": "awq",
    "auto-round": "auto-round",
    "auto_round": "auto-round",
    "inc": "auto-round",
    "intel/auto-round": "auto-round",
}
FUSED = [
    (r"(experts)\.\d+\.(?:gate_proj|up_proj|w1|w3)$", r"\1.w13"),
    (r"(experts)\.\d+\.(?:down_proj|w2)$", r"\1.w2"),
    (r"\b[qkv]_proj$", "qkv_proj"),
    (r"\b(?:gate|up)_proj$", "gate_up_proj"),
]
FLOATS = {"F16": np.dtype("<f2"), "F32": np.dtype("<f4"), "BF16": np.dtype("<u2")}


class InputError(Exception):
    """A checkpoint that cannot be inspected: what, where, and what to do, in one line."""


@dataclasses.dataclass(frozen=True)
class Tensor:
    """Where a tensor lies: file, first byte, and what the header says of it."""

    file: Path
    offset: int
    dtype: str
    shape: tuple[int, ...]

    def floats(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        """The values of a floating-point tensor in float32."""
        if self.dtype not in FLOATS:
            raise InputError(f"{self.file}: scales of type {self.dtype}; expected F16, BF16 or F32")
        count = int(np.prod(self.shape))
        raw = np.fromfile(self.file, FLOATS[self.dtype], count, offset=self.offset)
        if raw.size != count:
            raise InputError(f"{self.file}: ends within a tensor; download it again")
        if self.dtype == "BF16":
            return (raw.astype(np.uint32) << 16).view(np.float32).reshape(self.shape)
        return raw.astype(np.float32).reshape(self.shape)

    def integers(self) -> list[int]:
        """The values of a small int64 tensor."""
        if self.dtype != "I64":
            raise InputError(f"{self.file}: a shape of type {self.dtype}; expected I64")
        count = int(np.prod(self.shape))
        return [int(x) for x in np.fromfile(self.file, "<i8", count, offset=self.offset)]


@dataclasses.dataclass(frozen=True)
class Shard:
    """One quantized layer of the checkpoint; groups run along the last or the first dimension."""

    scales: Tensor
    bits: int
    groups: int
    group_size: int
    symmetric: bool


@dataclasses.dataclass
class Layer:
    """A layer as vLLM runs it, with what its scales say."""

    name: str
    bits: int
    group_size: int  # -1: one group
    symmetric: bool
    scales: int
    negative: int
    tiny: int  # under one step, but not 0
    not_finite: int
    selected: bool
    asks: bool  # the checkpoint itself asks for int8 activations

    @property
    def is_moe(self) -> bool:
        return ".experts." in f".{self.name}."

    def not_marlin(self, method: str) -> str | None:
        """Why another kernel than Marlin runs this layer, None if Marlin can."""
        if self.group_size not in (-1, *MARLIN_GROUP_SIZES):
            return f"groups of {self.group_size}"
        if method == "gptq" and not self.symmetric:
            return "GPTQ with zero points"
        if method == "awq" and self.symmetric and not self.is_moe:
            return "AWQ without zero points"
        return None

    def patched(self, method: str) -> str:
        """What int8 activations do with the patches."""
        if not (self.selected or self.asks):
            return "16 bits: not selected by its name"
        if self.bits != 4:
            return f"16 bits: no kernel for {self.bits}-bit weights"
        if (reason := self.not_marlin(method)) is not None:
            return f"not Marlin: {reason}"
        if self.not_finite:
            return "refused: NaN or infinite scales"
        if self.group_size == -1:
            return "int8, scales a channel"
        if not self.symmetric:
            return "int8, zero-point kernel"
        if self.negative:
            return "int8, zero-point kernel for the negative scales"
        return "int8, symmetric kernel"

    def unpatched(self, method: str, auto_round: bool) -> str:
        """What int8 activations do in vLLM 0.32.0, which selects no layers by name."""
        if (reason := self.not_marlin(method)) is not None:
            return f"not Marlin: {reason}"
        if self.asks and method == "compressed-tensors":
            return "refused" if self.is_moe else "16 bits: the variable is ignored"
        if self.is_moe:
            if auto_round or method == "awq":
                return "wrong: loaded for 16 bits, run with int8"
            if self.bits != 4 or method == "gptq":
                return "refused"
            return "wrong: the scales' common factor is lost"
        if auto_round:
            return "16 bits: the variable is ignored"
        if self.bits != 4 or not self.symmetric:
            return "refused"
        if self.group_size == -1:
            return "fails in the first forward pass"
        if self.negative or self.not_finite:
            return f"garbage: {'NaN or infinite' if self.not_finite else 'negative'} scales"
        return "int8, right"


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object; InputError if the file holds none."""
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError) as e:
        raise InputError(f"{path}: {e}") from e
    if not isinstance(value, dict):
        raise InputError(f"{path}: expected a JSON object")
    return value


def tensors(folder: Path) -> dict[str, Tensor]:
    """Every tensor of the folder's safetensors files, by name; only the headers are read."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise InputError(f"{folder}: no *.safetensors; give the folder of a downloaded checkpoint")
    found = {}
    for file in files:
        with file.open("rb") as f:
            start = f.read(8)
            size = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
            if not 2 <= size <= file.stat().st_size - 8:
                raise InputError(f"{file}: not a safetensors file, or cut short; download it again")
            try:
                header = json.loads(f.read(size))
            except ValueError as e:
                raise InputError(f"{file}: damaged header; download it again") from e
        for name, entry in header.items():
            if name != "__metadata__":
                found[name] = Tensor(
                    file,
                    8 + size + entry["data_offsets"][0],
                    entry["dtype"],
                    tuple(entry["shape"]),
                )
    return found


def quantization(folder: Path) -> dict[str, Any]:
    """The checkpoint's quantization configuration, wherever its format keeps it."""
    config = read_json(folder / "config.json")
    for holder in (config, config.get("text_config")):
        if isinstance(holder, dict) and isinstance(holder.get("quantization_config"), dict):
            return dict(holder["quantization_config"])
    for name, method in (("quantize_config.json", "gptq"), ("quant_config.json", "awq")):
        if (folder / name).is_file():
            return {"quant_method": method} | read_json(folder / name)
    raise InputError(
        f"{folder}: config.json has no quantization_config: not a quantized checkpoint"
    )


def shards(found: dict[str, Tensor], config: dict[str, Any]) -> dict[str, Shard]:
    """The quantized layers of the checkpoint, by name."""
    result = {}
    for name, weight in found.items():
        base, _, kind = name.rpartition(".")
        if kind == "qweight":
            scales = found.get(f"{base}.scales")
            if scales is None:
                raise InputError(f"{weight.file}: {name} has no scales beside it")
            groups, n = scales.shape
            # GPTQ packs along K, [K / 8, N]; AWQ along N, [K, N / 8].
            if weight.shape[1] == n:
                # The zero points, [groups, N / 8], have as many bits: a layer may have others
                # than the configuration says, and groups of its own.
                zeros = found.get(f"{base}.qzeros")
                bits = 32 * zeros.shape[1] // n if zeros else int(config.get("bits", 4))
                k = 32 * weight.shape[0] // bits
                symmetric = bool(config.get("sym", True))
            else:
                k, bits = weight.shape[0], 32 * weight.shape[1] // n
                symmetric = not config.get("zero_point", not config.get("sym", False))
            result[base] = Shard(scales, bits, groups, k // groups, symmetric)
        elif kind == "weight_packed" and f"{base}.weight_scale" in found:
            scales = found[f"{base}.weight_scale"]
            groups = scales.shape[-1] if len(scales.shape) > 1 else 1
            shape = found.get(f"{base}.weight_shape")
            if shape is None:
                raise InputError(f"{weight.file}: {name} has no weight_shape beside it")
            k = shape.integers()[-1]
            bits = 32 * weight.shape[-1] // k
            symmetric = f"{base}.weight_zero_point" not in found
            result[base] = Shard(scales, bits, groups, k // groups, symmetric)
    if not result:
        raise InputError(
            "no packed low-bit weights found: nothing that the variable is for; W4A8 checkpoints "
            "that store a byte a code get int8 activations without it"
        )
    return result


def fused_name(name: str) -> str:
    """The name of the layer that vLLM runs this one in."""
    for pattern, replacement in FUSED:
        fused, count = re.subn(pattern, replacement, name)
        if count:
            return fused
    return name


def is_selected(name: str) -> bool:
    """Whether the server would choose int8 activations for a layer of this name."""
    name = re.sub(r"(\.experts)\.w\d+$", r"\1", name)
    patterns = {}
    for kind, default in (("EXCLUDE", EXCLUDE_RE), ("INCLUDE", "")):
        variable = f"VLLM_MARLIN_INT8_{kind}_RE"
        try:
            patterns[kind] = re.compile(os.environ.get(variable, default))
        except re.error as e:
            raise InputError(f"{variable}: {e}") from e
    excluded = patterns["EXCLUDE"].pattern and patterns["EXCLUDE"].search(name)
    return not excluded and patterns["INCLUDE"].search(name) is not None


def asks_for_int8(config: dict[str, Any]) -> bool:
    """Whether the checkpoint itself asks for int8 activations: no layer is left out by name."""
    groups = (config.get("config_groups") or {}).values()
    return config.get("act_bits") == 8 or any(g.get("input_activations") for g in groups)


def layers(parts: dict[str, Shard], asks: bool) -> Iterator[Layer]:
    """The layers as vLLM fuses them; reads their scales one layer at a time."""
    fused: dict[str, list[Shard]] = {}
    for name, shard in parts.items():
        fused.setdefault(fused_name(name), []).append(shard)
    for name, members in fused.items():
        scales = np.concatenate([m.scales.floats().ravel() for m in members])
        size = np.abs(scales)
        largest = size[np.isfinite(size)].max(initial=0.0)
        first = members[0]
        yield Layer(
            name=name,
            bits=first.bits,
            group_size=-1 if first.groups == 1 else first.group_size,
            symmetric=all(m.symmetric for m in members),
            scales=scales.size,
            negative=int((scales < 0).sum()),
            tiny=int(((size > 0) & (size < largest / SCALE_STEPS)).sum())
            if first.groups > 1
            else 0,
            not_finite=int((~np.isfinite(scales)).sum()),
            selected=is_selected(name),
            asks=asks,
        )


def summary(found: list[Layer], method: str, auto_round: bool) -> list[dict[str, Any]]:
    """Rows: one for all layers of the same name but for the numbers in it, and the same fate."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for layer in found:
        row = {
            "layers": re.sub(r"\b\d+\b", "*", layer.name),
            "bits": layer.bits,
            "group_size": layer.group_size,
            "symmetric": layer.symmetric,
            "vllm_0_32_0": layer.unpatched(method, auto_round),
            "patched": layer.patched(method),
        }
        total = rows.setdefault(
            tuple(row.values()), row | {"count": 0, "scales": 0, "negative": 0, "tiny": 0}
        )
        total["count"] += 1
        for field in ("scales", "negative", "tiny"):
            total[field] += getattr(layer, field)
    return list(rows.values())


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as text, two lines each."""
    lines = []
    for r in rows:
        kind = "symmetric" if r["symmetric"] else "with zero points"
        group = "a scale a channel" if r["group_size"] == -1 else f"groups of {r['group_size']}"
        lines += [
            f"{r['count']} x {r['layers']}: {r['bits']}-bit {kind}, {group}, "
            f"{r['negative'] / r['scales']:.1%} of {r['scales']} scales negative, "
            f"{r['tiny']} under 1/{SCALE_STEPS} of their layer's largest",
            f"    vLLM 0.32.0: {r['vllm_0_32_0']}",
            f"    patched:     {r['patched']}",
        ]
    return "\n".join(lines)


def inspect(folder: Path) -> dict[str, Any]:
    """The report on a checkpoint: `quant_method`, `affected` (0.32.0 is not right) and `rows`."""
    if not folder.is_dir():
        raise InputError(f"{folder}: not a folder; give the folder of a downloaded checkpoint")
    config = quantization(folder)
    named = str(config.get("quant_method", "")).lower()
    if named not in METHODS:
        known = ", ".join(sorted(set(METHODS.values())))
        raise InputError(f"{folder}: quant_method {named!r} is not one of {known}")
    method, auto_round = METHODS[named], METHODS[named] == "auto-round"
    if auto_round:
        # Packed as GPTQ or as AWQ, and run by vLLM's code for that.
        method = "awq" if "awq" in str(config.get("packing_format", "")) else "gptq"
        config["zero_point"] = not config.get("sym", True)
    found = list(layers(shards(tensors(folder), config), asks_for_int8(config)))
    rows = summary(found, method, auto_round)
    affected = any(
        row["vllm_0_32_0"] != "int8, right" and not row["vllm_0_32_0"].startswith("not Marlin")
        for row in rows
    )
    return {"quant_method": METHODS[named], "affected": affected, "rows": rows}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="folder with config.json and *.safetensors")
    parser.add_argument("--json", action="store_true", help="the report as JSON")
    args = parser.parse_args()
    try:
        report = inspect(args.folder)
    except (InputError, OSError) as e:
        print(f"error: {e}", file=sys.stderr)
        return 2
    if args.json:
        print(json.dumps(report, indent=1))
    else:
        print(f"{report['quant_method']} checkpoint, with VLLM_MARLIN_INPUT_DTYPE=int8:")
        print(table(report["rows"]))
        print(f"Affected: {'yes' if report['affected'] else 'no'}")
    return 1 if report["affected"] else 0


if __name__ == "__main__":
    sys.exit(main())
