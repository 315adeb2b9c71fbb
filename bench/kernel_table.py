# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What bench/kernels.py measures, and how its rows become a table; needs no torch."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
Shape = tuple[int, int]  # N outputs, K inputs

# Layers of models of 1.5, 8, 32 and 70 billion weights: gate and up as one, and down.
SHAPES: tuple[Shape, ...] = (
    (17920, 1536),
    (1536, 8960),
    (28672, 4096),
    (4096, 14336),
    (34816, 5120),
    (5120, 17408),
    (57344, 8192),
    (8192, 28672),
)
TOKENS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 2048, 4096)
GROUP = 128
TERNARY_BITS = 2  # of a weight on the floor that every kernel is held against
# Tokens up to which a pass over all shapes goes: more of them heat the GPU for what follows. 512
# have no pass of their own: they heat it themselves (0.6 ms a call, a second with all kernels).
PASS_ENDS = (64, 256)


@dataclass(frozen=True)
class Series:
    """One kernel with one kind of activations and scales: a column of the table."""

    kernel: str
    activation: str  # a16, or int8: quantized inside what is timed
    scale: str  # of the weights: channel, group128 or tensor
    bits: int  # a stored weight takes, without scales

    @property
    def name(self) -> str:
        """As --kernels takes it: the kernel, with what tells ours apart."""
        return f"{self.kernel}/{self.activation}/{self.scale}"


# In the order in which they are measured at each point, before the reverse order.
SERIES = (
    Series("ternary", "a16", "channel", 2),
    Series("ternary", "int8", "channel", 2),
    Series("ternary", "a16", "group128", 2),
    Series("ternary", "int8", "group128", 2),
    Series("cublas_bf16", "a16", "channel", 16),
    Series("marlin_w4a16", "a16", "group128", 4),
    Series("marlin_w4a8", "int8", "group128", 4),
    Series("humming_w2a16", "a16", "channel", 2),
    Series("humming_w2a8", "int8", "channel", 2),
    Series("humming_bitnet", "a16", "tensor", 2),
    Series("naive", "a16", "channel", 8),
    Series("tiled", "a16", "channel", 8),
    Series("lut", "a16", "channel", 8),
)


def parse_shapes(names: Sequence[str]) -> list[Shape]:
    """Shapes from NxK texts. Raises ValueError with what is wrong."""
    shapes = []
    for name in names:
        match = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", name)
        if match is None:
            raise ValueError(f"--shapes: {name} is not of the form NxK, as in 28672x4096")
        n, k = int(match[1]), int(match[2])
        # Marlin and Humming take no other.
        if n % 256 or k % GROUP:
            raise ValueError(f"--shapes: {name}: N must be a multiple of 256 and K of {GROUP}")
        shapes.append((n, k))
    return shapes


def select(names: Sequence[str]) -> list[Series]:
    """The series of these kernels (`ternary`), or single ones (`ternary/int8/channel`).

    Raises ValueError for a name that is neither.
    """
    chosen: set[Series] = set()
    for name in names:
        found = [series for series in SERIES if name in (series.kernel, series.name)]
        if not found:
            known = " ".join(dict.fromkeys(series.kernel for series in SERIES))
            raise ValueError(
                f"--kernels: no {name}; there are {known}, each also as {found_form()}"
            )
        chosen.update(found)
    return [series for series in SERIES if series in chosen]


def found_form() -> str:
    """How a single series is written."""
    return "KERNEL/ACTIVATION/SCALE, as in " + SERIES[0].name


def make_row(series: Series, n: int, k: int, m: int, us: float) -> Row:
    """A measurement as it is saved: `tb_s` counts the weights' codes alone, as they are stored."""
    return {
        "n": n,
        "k": k,
        "m": m,
        "kernel": series.kernel,
        "activation": series.activation,
        "scale": series.scale,
        "us": round(us, 2),
        "tb_s": round(n * k * series.bits / 8 / us / 1e6, 3),
        "tflop_s": round(2 * m * n * k / us / 1e6, 2),
    }


def floor_us(n: int, k: int, m: int, tb_s: float, tflop_s: float) -> float:
    """The least time of the product in microseconds: reading 2-bit weights, or bf16 matrix work."""
    return max(n * k * TERNARY_BITS / 8 / tb_s, 2 * m * n * k / tflop_s) / 1e6


def passes(tokens: Sequence[int]) -> list[list[int]]:
    """The numbers of tokens in the passes over all kernels: few first, while the GPU is cool."""
    parts: list[list[int]] = [[] for _ in range(len(PASS_ENDS) + 1)]
    for m in tokens:
        parts[bisect_left(PASS_ENDS, m)].append(m)
    return [part for part in parts if part]


def too_long(earlier: Iterable[Row], m: int, limit_us: float) -> float | None:
    """The time that m tokens would take by rows of the same series and shape, if above the limit.

    Time grows at most with the tokens, so the least of the estimates is the one that counts.
    """
    estimates = [row["us"] * max(1.0, m / row["m"]) for row in earlier]
    if estimates and min(estimates) > limit_us:
        return min(estimates)
    return None


def of_series(rows: Iterable[Row], series: Series, shape: Shape) -> list[Row]:
    """The rows of one series and shape."""
    key = (*shape, series.kernel, series.activation, series.scale)
    return [r for r in rows if (r["n"], r["k"], r["kernel"], r["activation"], r["scale"]) == key]


def table(rows: Sequence[Row], tb_s: float, tflop_s: float) -> str:
    """A block of lines a shape and number of tokens, a line a series, fastest first."""
    head = f"{'N x K':<12}{'M':>5}  {'kernel':<16}{'act':<6}{'scale':<10}"
    lines = [f"{head}{'us':>10}{'TB/s':>7}{'TFLOP/s':>9}{'of floor':>10}"]
    points = dict.fromkeys((r["n"], r["k"], r["m"]) for r in rows)
    for n, k, m in points:
        here = [r for r in rows if (r["n"], r["k"], r["m"]) == (n, k, m)]
        floor = floor_us(n, k, m, tb_s, tflop_s)
        for r in sorted(here, key=lambda r: float(r["us"])):
            lines.append(
                f"{f'{n}x{k}':<12}{m:>5}  {r['kernel']:<16}{r['activation']:<6}{r['scale']:<10}"
                f"{r['us']:>10.1f}{r['tb_s']:>7.2f}{r['tflop_s']:>9.1f}{floor / r['us']:>9.0%}"
            )
    return "\n".join(lines)


def speedups(rows: Sequence[Row], activation: str, scale: str) -> dict[Shape, dict[int, float]]:
    """Shape -> tokens -> time of the fastest peer with these activations over ours.

    Points at which either is missing are left out. Stages are no peers.
    """
    result: dict[Shape, dict[int, float]] = {}
    for own in rows:
        if (own["kernel"], own["activation"], own["scale"]) != ("ternary", activation, scale):
            continue
        peers = [
            r["us"]
            for r in rows
            if all(r[name] == own[name] for name in ("n", "k", "m", "activation"))
            and r["kernel"] not in ("ternary", "naive", "tiled", "lut")
        ]
        if peers:
            result.setdefault((own["n"], own["k"]), {})[own["m"]] = min(peers) / own["us"]
    return result
