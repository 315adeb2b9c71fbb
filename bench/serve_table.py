# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What bench/serve.py serves and how its rows become a table; needs no torch."""

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
SMALL_LM = "small-lm"
SMALL_LM_WEIGHTS = ("bf16", "bitnet")
BLOCK = 16  # tokens that a server stores together
SPARE_TOKENS = 1024


def parse_models(
    names: Sequence[str], geometries: Sequence[str], kinds: Sequence[str]
) -> list[tuple[str, str]]:
    """MODEL:WEIGHTS,... as pairs of both. Raises ValueError with what is wrong."""
    pairs = []
    for name in names:
        model, colon, listed = name.partition(":")
        if not colon or not listed:
            raise ValueError(f"{name} is not of the form MODEL:WEIGHTS,WEIGHTS")
        if model not in (*geometries, SMALL_LM):
            raise ValueError(f"no model {model}; there are {' '.join((*geometries, SMALL_LM))}")
        known = SMALL_LM_WEIGHTS if model == SMALL_LM else kinds
        for weights in listed.split(","):
            if weights not in known:
                raise ValueError(f"{model} has no weights {weights}; it has {' '.join(known)}")
            pairs.append((model, weights))
    if len(set(pairs)) < len(pairs):
        raise ValueError("a model and its weights are named twice")
    return pairs


def cache_bytes(config: Mapping[str, Any], streams: int, tokens: int, longest: int) -> int:
    """A key-value cache in 16 bits for so many streams of so many tokens, or one of the longest."""
    heads = config["num_attention_heads"]
    head_dim = config.get("head_dim") or config["hidden_size"] // heads
    token = 2 * config["num_hidden_layers"] * config["num_key_value_heads"] * head_dim * 2
    return int(token * (max(longest, streams * (tokens + BLOCK)) + SPARE_TOKENS))


def prompt_tokens(seed: int, length: int, vocab_size: int, stream: int = 0) -> list[int]:
    """Token ids of a prompt; another seed or stream gives others, so that no prefix is cached."""
    known = min(50000, vocab_size - 1)
    return [(seed * 7919 + stream * 104729 + i * 31) % known + 1 for i in range(length)]


def median_of_turns(turns: Sequence[Sequence[Row]]) -> list[Row]:
    """The rows of a server from those of its turns, which have the same streams in the same order:
    the medians of tok_s and ttft_ms, and each turn's tok_s where there is more than one."""
    rows = []
    for same in zip(*turns, strict=True):
        medians = {
            key: round(statistics.median(row[key] for row in same), 1)
            for key in ("tok_s", "ttft_ms")
        }
        each = {"turns": [row["tok_s"] for row in same]} if len(same) > 1 else {}
        rows.append(same[0] | medians | each)
    return rows


def same_server(row: Row) -> tuple[str, str, str]:
    """Model, weights and arguments: what rows of one server have in common."""
    return row["model"], row["weights"], row.get("server_args", "")


def keep(
    file: Path, rows: Sequence[Row], of_the_same: Callable[[Row], Any] = same_server
) -> list[Row]:
    """Rows of the file with these in place of those of the same servers: it has all or none of the
    new ones, whenever the program is ended."""
    replaced = {of_the_same(row) for row in rows}
    there = json.loads(file.read_text()) if file.exists() else []
    kept = [row for row in there if of_the_same(row) not in replaced]
    whole = file.with_name(file.name + ".new")
    whole.write_text(json.dumps([*kept, *rows], indent=1) + "\n")
    whole.replace(file)
    return [*kept, *rows]


def by_server(rows: Sequence[Row]) -> dict[tuple[str, str], dict[int, Row]]:
    """Model, and weights with the arguments -> streams -> row."""
    servers: dict[tuple[str, str], dict[int, Row]] = {}
    for row in rows:
        model, *kind = same_server(row)
        servers.setdefault((model, " ".join(kind).strip()), {})[row["streams"]] = row
    return servers


def heads(rows: Sequence[Row]) -> tuple[list[int], list[str]]:
    """The numbers of streams, and the head of their columns and of those after them."""
    streams = sorted({row["streams"] for row in rows})
    named = [f"{n} stream{'s' * (n > 1)}" for n in streams]
    return streams, [*named, "first token, 2048 in", "start"]


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *lines])


def table(rows: Sequence[Row]) -> str:
    """A line a model and kind of weights."""
    streams, head = heads(rows)
    lines = []
    for names, own in by_server(rows).items():
        one = next(iter(own.values()))
        size = "-" if one["weight_gib"] is None else f"{one['weight_gib']:.2f} GiB"
        rates = [f"{own[n]['tok_s']:,.0f} tok/s" if n in own else "-" for n in streams]
        times = [f"{one['ttft_ms']:.0f} ms", f"{one['start_s']:.0f} s"]
        lines.append([*names, size, *rates, *times])
    return markdown(["model", "weights", "on the GPU", *head], lines)


def ratios(rows: Sequence[Row]) -> str:
    """How many times better each ternary kind is than the other kinds of the same model."""
    servers = by_server(rows)
    streams, head = heads(rows)
    lines = []
    for (model, weights), own in servers.items():
        for (other_model, other), theirs in servers.items():
            ours = weights.startswith("ternary") and not other.startswith("ternary")
            if not ours or model != other_model:
                continue
            rates = [
                f"{own[n]['tok_s'] / theirs[n]['tok_s']:.2f}" if n in own and n in theirs else "-"
                for n in streams
            ]
            one, another = next(iter(own.values())), next(iter(theirs.values()))
            times = [f"{another[name] / one[name]:.2f}" for name in ("ttft_ms", "start_s")]
            lines.append([model, weights, other, *rates, *times])
    return markdown(["model", "weights", "over", *head], lines)
