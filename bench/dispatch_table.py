# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What bench/dispatch.py measures, and how its rows become a table; needs no torch."""

from collections.abc import Iterable, Sequence

from kernel_table import Row

DECODE = 16  # tokens up to which decode runs: kDecodeMaxTokens
NEAR_SIDE = (8, DECODE)  # of its border
FAR_SIDE = (17, 24, 32)
LARGE = (256, 512, 2048, 4096)
TOKENS = (*NEAR_SIDE, *FAR_SIDE, *LARGE)
# The ways: as dispatched; decode beyond its border; unpacking, alone (0 tokens) and, with the name
# of the library behind it, before a dense product.
SHIPS, PIECES, UNPACK = "ternary", "decode_pieces", "unpack"


def pieces(m: int) -> list[int]:
    """m tokens in parts that decode takes, full ones first."""
    return [DECODE] * (m // DECODE) + [m % DECODE] * (m % DECODE > 0)


def instead(rows: Iterable[Row], m: int) -> float | None:
    """The best time of what could run in place of what ships with m tokens.

    `rows` are of one shape, activation and scale. In place of decode that is the kernel beyond the
    border, with as few tokens as it is given: the smallest tile, of wgmma and mma.sync, holds 32.
    """
    us = {(r["way"], r["m"]): float(r["us"]) for r in rows}
    if m in NEAR_SIDE:
        return us.get((SHIPS, FAR_SIDE[0]))
    return min((t for (way, tokens), t in us.items() if tokens == m and way != SHIPS), default=None)


def table(rows: Sequence[Row]) -> str:
    """A Markdown table: what ships / what could run instead, bold where that is faster."""
    keys = list(dict.fromkeys((r["n"], r["k"], r["activation"], r["scale"]) for r in rows))
    tokens = [m for m in TOKENS if any(r["m"] == m for r in rows)]
    head = ["N x K", "activations", "scales", *(f"{m} tokens" for m in tokens)]
    head.append("unpacking, us, TB/s")
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    good = points = 0
    for key in keys:
        n, k, activation, scale = key
        own = [r for r in rows if (r["n"], r["k"], r["activation"], r["scale"]) == key]
        cells = []
        for m in tokens:
            ours = next((float(r["us"]) for r in own if (r["way"], r["m"]) == (SHIPS, m)), None)
            other = instead(own, m)
            compared = ours is not None and other is not None
            faster = ours is not None and other is not None and other < ours
            points, good = points + compared, good + (compared and not faster)
            cells.append(f"{number(ours)} / {f'**{number(other)}**' if faster else number(other)}")
        alone = next((float(r["us"]) for r in own if r["way"] == UNPACK), None)
        cells.append("-" if alone is None else f"{number(alone)}, {rate(key, alone):.2f}")
        lines.append(f"| {n}x{k} | {activation} | {scale} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"What ships is the fastest at {good} of {points} points"])


def number(us: float | None) -> str:
    """Microseconds in three digits or four."""
    return "-" if us is None else f"{us:.0f}" if us >= 100 else f"{us:.1f}"


def rate(key: tuple[int, int, str, str], us: float) -> float:
    """TB/s that unpacking reads and writes: codes, and bf16 or int8 weights."""
    n, k, activation, _ = key
    return n * k * (0.25 + (1 if activation == "int8" else 2)) / us / 1e6
