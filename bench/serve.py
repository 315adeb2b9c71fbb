# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Speed and memory of `vllm serve`, with random weights in real geometries and a trained model.

    python bench/serve.py --out serve.json llama3-8b:bf16,gptq-int4,ternary small-lm:bf16,bitnet

small-lm is the trained model in bench/models; it comes as it is (bitnet) and with its weights
multiplied out (bf16); of the others random checkpoints are written. The servers of the installed
vLLM, with torch.compile and CUDA graphs, are started together: each gets a key-value cache that is
just large enough, so that they fit on the GPU side by side. When all are up, one after the other is
asked over HTTP while the processes of the rest are stopped; those that are not up after
--start-limit seconds are ended before that and left out. One row a server and number of streams, in
the file as soon as the server is measured, in place of what the file had of the same model, weights
and arguments:

    tok_s       tokens a second of all streams together: the slope between a short and a long
                answer (32 and 160 tokens), so that prefill and HTTP set-up cancel
    turns       tok_s of each turn, where there are more (--turns); tok_s is their median
    ttft_ms     time to the first token of a 2048-token prompt, best of three; of turns the median
    weight_gib  what the server says loading the model took on the GPU
    start_s     from the command to the first answer of /health
    servers     how many were started together; start_s is longer than that of one alone
    server_args what --server-args added

It takes an NVIDIA GPU, or VLLM_TARGET_DEVICE=cpu and the Python of a CPU try-out.
"""

import argparse
import asyncio
import contextlib
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from needs import need, need_folder, need_vllm_device

need("aiohttp", "torch")

import aiohttp
from checkpoints import (
    GEOMETRIES,
    QUANTIZATION_CONFIGS,
    SAME_TENSORS,
    write_checkpoint,
    write_small_lm,
)
from serve_table import (
    SMALL_LM,
    Row,
    cache_bytes,
    keep,
    median_of_turns,
    parse_models,
    prompt_tokens,
    ratios,
    table,
)

SHORT, LONG = 32, 160
PROMPT = 16
LONG_PROMPT = 2048
MAX_LENGTH = 4096
START_LIMIT_S = 300
STOP_LIMIT_S = 10
EXTRA_ARGS = {
    # Hopper would choose another kernel for int4; Marlin is what these checkpoints get elsewhere.
    "gptq-int4": ["--linear-backend", "marlin"],
    "bitnet-humming": ["--quantization", "humming"],
}


@dataclass
class Server:
    """A started `vllm serve` over one checkpoint."""

    model: str
    weights: str
    vocab_size: int
    log: Path
    url: str
    process: subprocess.Popen[bytes]
    begin: float
    start_s: float = 0.0  # until it was ready

    @property
    def name(self) -> str:
        return f"{self.model}:{self.weights}"


def write_checkpoints(pairs: list[tuple[str, str]], folder: Path) -> list[Path]:
    """Writes the checkpoints, each in a process of its own; kinds with the same tensors share."""
    sources = dict.fromkeys((model, SAME_TENSORS.get(weights, weights)) for model, weights in pairs)
    paths = {(model, weights): folder / f"{model}-{weights}" for model, weights in sources}
    writers = []
    for (model, weights), path in paths.items():
        if model == SMALL_LM:
            write_small_lm(weights, path)
        else:
            command = [sys.executable, Path(__file__).with_name("checkpoints.py"), "--out", path]
            writers.append(subprocess.Popen([*command, "--geometry", model, "--weights", weights]))
    codes = [writer.wait() for writer in writers]
    if any(codes):
        raise RuntimeError("a checkpoint could not be written")
    for model, weights in pairs:
        if weights in SAME_TENSORS:
            paths[model, weights] = folder / f"{model}-{weights}"
            source = paths[model, SAME_TENSORS[weights]]
            write_checkpoint(GEOMETRIES[model], weights, paths[model, weights], "cpu", source)
    return [paths[pair] for pair in pairs]


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens to, each another."""
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def start(
    pair: tuple[str, str], folder: Path, streams: list[int], extra: list[str], log: Path, port: int
) -> Server:
    """Starts the server of a model and its weights; does not wait."""
    model, weights = pair
    config = json.loads((folder / "config.json").read_text())
    cache = cache_bytes(config, max(streams), PROMPT + LONG, MAX_LENGTH)
    command = [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve", str(folder)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--served-model-name", "m"]
    command += ["--max-model-len", str(MAX_LENGTH), "--max-num-seqs", str(max(streams))]
    command += ["--max-num-batched-tokens", str(MAX_LENGTH)]
    command += ["--no-enable-prefix-caching", "--cudagraph-capture-sizes", *map(str, streams)]
    # With the cache given, the share of the GPU is only what must be free at the start.
    command += ["--kv-cache-memory-bytes", str(cache), "--gpu-memory-utilization", "0.01"]
    command += [*EXTRA_ARGS.get(weights, []), *extra]
    env = os.environ | {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
    begin = time.monotonic()
    with log.open("w") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env=env, start_new_session=True
        )
    url = f"http://127.0.0.1:{port}"
    return Server(model, weights, config["vocab_size"], log, url, process, begin)


async def wait_ready(server: Server, limit: float) -> None:
    """Returns when /health answers; raises when the server ends or takes longer than `limit`."""
    async with aiohttp.ClientSession() as session:
        while time.monotonic() < server.begin + limit:
            if server.process.poll() is not None:
                raise RuntimeError(f"the server ended with code {server.process.returncode}")
            try:
                async with session.get(f"{server.url}/health") as answer:
                    if answer.status == 200:
                        server.start_s = time.monotonic() - server.begin
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.25)
    raise TimeoutError(f"the server was not ready after {limit:.0f} s (--start-limit)")


async def wait_all(servers: list[Server], limit: float) -> list[Server]:
    """Those that became ready. The others are ended, so that they disturb nobody, and reported."""
    waits = (wait_ready(server, limit) for server in servers)
    outcomes = await asyncio.gather(*waits, return_exceptions=True)
    ready, late = [], []
    for server, outcome in zip(servers, outcomes, strict=True):
        if outcome is None:
            ready.append(server)
        else:
            late.append(server)
            report(server, outcome)
    stop(late)
    return ready


def report(server: Server, fault: BaseException) -> None:
    """Says what went wrong with a server, with the end of its log."""
    tail = server.log.read_text(errors="replace").splitlines()[-30:]
    lines = [f"the end of {server.log}:", *tail, f"error: {server.name}: {fault}"]
    print("\n".join(lines), file=sys.stderr, flush=True)


def stop(servers: list[Server]) -> None:
    """Ends all of them, first politely."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        signal_all(servers, number)
        signal_all(servers, signal.SIGCONT)  # where it is stopped, it would not end
        deadline = time.monotonic() + STOP_LIMIT_S
        for server in servers:
            try:
                server.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                continue


async def complete(
    session: aiohttp.ClientSession, url: str, prompt: list[int], tokens: int
) -> None:
    """One greedy completion of exactly `tokens` tokens."""
    body = {
        "model": "m",
        "prompt": prompt,
        "max_tokens": tokens,
        "temperature": 0,
        "ignore_eos": True,
    }
    async with session.post(f"{url}/v1/completions", json=body) as answer:
        text = await answer.text()
        if answer.status != 200:
            raise RuntimeError(f"HTTP {answer.status}: {text[:300]}")
        got = json.loads(text)["usage"]["completion_tokens"]
        if got != tokens:
            raise RuntimeError(f"asked for {tokens} tokens, got {got}")


async def timed(server: Server, streams: int, prompt_length: int, tokens: int, seed: int) -> float:
    """Seconds that `streams` completions at once take; prompts differ, so no prefix is cached."""
    prompts = [prompt_tokens(seed, prompt_length, server.vocab_size, s) for s in range(streams)]
    timeout = aiohttp.ClientTimeout(total=300)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(timeout=timeout, connector=connector) as session:
        begin = time.monotonic()
        await asyncio.gather(*(complete(session, server.url, p, tokens) for p in prompts))
        return time.monotonic() - begin


def best(server: Server, streams: int, prompt_length: int, tokens: int, repeats: int) -> float:
    """The fastest of `repeats` measurements."""
    return min(
        asyncio.run(timed(server, streams, prompt_length, tokens, 1000 * tokens + i))
        for i in range(repeats)
    )


def measure(server: Server, streams: list[int], servers: int) -> list[Row]:
    """Rows of one server, one a number of streams."""
    loaded = re.search(r"Model loading took ([0-9.]+) GiB", server.log.read_text(errors="replace"))
    best(server, 1, LONG_PROMPT, 1, 1)  # warms up
    ttft = best(server, 1, LONG_PROMPT, 1, 3)
    rows: list[Row] = []
    for n in streams:
        best(server, n, PROMPT, SHORT, 1)
        long, short = (best(server, n, PROMPT, tokens, 2) for tokens in (LONG, SHORT))
        rows.append(
            {
                "model": server.model,
                "weights": server.weights,
                "streams": n,
                "tok_s": round(n * (LONG - SHORT) / (long - short), 1),
                "ttft_ms": round(ttft * 1e3, 1),
                "weight_gib": float(loaded[1]) if loaded else None,
                "start_s": round(server.start_s, 1),
                "servers": servers,
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    return rows


def signal_all(servers: list[Server], number: signal.Signals) -> None:
    """Sends a signal to all of their processes, also to those that outlive the first one."""
    for server in servers:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.process.pid, number)


def measure_all(ready: list[Server], args: argparse.Namespace, servers: int) -> int:
    """Measures one after the other, rows into --out at once; returns how many could be."""
    turns: dict[str, list[list[Row]]] = {server.name: [] for server in ready}
    signal_all(ready, signal.SIGSTOP)
    for turn in range(args.turns):
        # Every other turn backwards, so that no server is always measured behind the same one.
        for server in ready[:: -1 if turn % 2 else 1]:
            if len(turns[server.name]) < turn:
                continue  # it failed in an earlier one
            signal_all([server], signal.SIGCONT)
            try:
                rows = measure(server, args.streams, servers)
                turns[server.name].append([row | {"server_args": args.server_args} for row in rows])
                keep(args.out, median_of_turns(turns[server.name]))
            except (RuntimeError, aiohttp.ClientError, TimeoutError) as fault:
                report(server, fault)
            signal_all([server], signal.SIGSTOP)
    return sum(len(rows) == args.turns for rows in turns.values())


def main() -> int:
    """Serves and measures; returns the exit code, 1 if a server could not be measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "models",
        nargs="+",
        metavar="MODEL:WEIGHTS,...",
        help=f"of {', '.join((*GEOMETRIES, SMALL_LM))} and {', '.join(QUANTIZATION_CONFIGS)}",
    )
    parser.add_argument("--streams", nargs="+", type=int, default=[1, 8, 64])
    parser.add_argument("--out", required=True, type=Path, help="JSON file that gets the rows")
    parser.add_argument(
        "--start-limit", type=float, default=START_LIMIT_S, help="seconds to start (%(default)s)"
    )
    parser.add_argument("--folder", type=Path, help="for the checkpoints, until they are loaded")
    parser.add_argument("--server-args", default="", help="more arguments for each server")
    parser.add_argument("--turns", type=int, default=1, help="how often each is measured")
    args = parser.parse_args()
    need_folder(parser, args.out)
    if args.turns < 1:
        parser.error("--turns: at least one is needed")
    try:
        pairs = parse_models(args.models, list(GEOMETRIES), list(QUANTIZATION_CONFIGS))
    except ValueError as fault:
        parser.error(str(fault))
    need_vllm_device()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the servers end as well
    args.streams = sorted(set(args.streams))
    servers: list[Server] = []
    try:
        with tempfile.TemporaryDirectory(prefix="serve-", dir=args.folder) as name:
            begin = time.monotonic()
            folders = write_checkpoints(pairs, Path(name))
            print(f"checkpoints written in {time.monotonic() - begin:.0f} s", flush=True)
            extra = shlex.split(args.server_args)
            ports = free_ports(len(pairs))
            for pair, folder, port in zip(pairs, folders, ports, strict=True):
                log = args.out.with_suffix(f".{'.'.join(pair)}.log")
                servers.append(start(pair, folder, args.streams, extra, log, port))
            servers = asyncio.run(wait_all(servers, args.start_limit))  # the others are ended
            print(f"{len(servers)} servers up after {time.monotonic() - begin:.0f} s", flush=True)
        measured = measure_all(servers, args, len(pairs))
    finally:
        stop(servers)
    rows = keep(args.out, [])
    print(f"{table(rows)}\n\n{ratios(rows)}")
    return 0 if measured == len(pairs) else 1


if __name__ == "__main__":
    sys.exit(main())
