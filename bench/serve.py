# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Speed and memory of `vllm serve` with random weights in real geometries.

    python bench/serve.py --geometry qwen2-1.5b --weights bf16 ternary --out serve.json
    python bench/serve.py --geometry small-lm --weights bf16 bitnet --out serve-small.json

small-lm is the trained model in bench/models; it comes as it is (bitnet) and with its weights
multiplied out (bf16); of the others a random checkpoint is written. For each kind of weights:
starts the installed vLLM's server with torch.compile and CUDA graphs, asks it over HTTP, and stops
it. One row a number of streams:

    tok_s       tokens a second of all streams together: the slope between a short and a long
                answer (32 and 160 tokens), so that prefill and HTTP set-up cancel
    ttft_ms     time to the first token of a 2048-token prompt, best of three
    weight_gib  what the server says loading the model took on the GPU
    start_s     from the command to the first answer of /health
"""

import argparse
import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
from checkpoints import GEOMETRIES, QUANTIZATION_CONFIGS, write_checkpoint, write_small_lm

SHORT, LONG = 32, 160
PROMPT = 16
LONG_PROMPT = 2048
START_LIMIT_S = 420
SMALL_LM = "small-lm"
EXTRA_ARGS = {
    # Hopper would choose another kernel for int4; Marlin is what these checkpoints get elsewhere.
    "gptq-int4": ["--linear-backend", "marlin"],
    "bitnet-humming": ["--quantization", "humming"],
}


@contextmanager
def server(model: Path, args: list[str], log: Path) -> Iterator[tuple[str, float]]:
    """A running `vllm serve`: its base URL and the seconds until it was ready."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    command = [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve", str(model)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--served-model-name", "m", *args]
    env = os.environ | {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
    url = f"http://127.0.0.1:{port}"
    begin = time.monotonic()
    with log.open("w") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env=env, start_new_session=True
        )
        try:
            asyncio.run(wait_ready(url, process, begin + START_LIMIT_S))
            yield url, time.monotonic() - begin
        except BaseException:
            tail = log.read_text().splitlines()[-30:]
            print("\n".join(tail), file=sys.stderr)
            raise
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


async def wait_ready(url: str, process: subprocess.Popen[bytes], deadline: float) -> None:
    """Returns when /health answers; raises when the server ends or the deadline passes."""
    async with aiohttp.ClientSession() as session:
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise RuntimeError(f"the server ended with code {process.returncode}")
            try:
                async with session.get(f"{url}/health") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.25)
    raise TimeoutError(f"the server was not ready after {START_LIMIT_S} s")


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


async def timed(
    url: str, streams: int, prompt_length: int, tokens: int, seed: int, vocab_size: int
) -> float:
    """Seconds that `streams` completions at once take; prompts differ, so no prefix is cached."""
    known = min(50000, vocab_size - 1)
    prompts = [
        [(seed * 7919 + s * 104729 + i * 31) % known + 1 for i in range(prompt_length)]
        for s in range(streams)
    ]
    timeout = aiohttp.ClientTimeout(total=300)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(timeout=timeout, connector=connector) as session:
        begin = time.monotonic()
        await asyncio.gather(*(complete(session, url, p, tokens) for p in prompts))
        return time.monotonic() - begin


def best(
    url: str, streams: int, prompt_length: int, tokens: int, repeats: int, vocab_size: int
) -> float:
    """The fastest of `repeats` measurements, after one that warms up."""
    times = [
        asyncio.run(timed(url, streams, prompt_length, tokens, 1000 * tokens + i, vocab_size))
        for i in range(repeats + 1)
    ]
    return min(times[1:])


def measure(geometry: str, weights: str, streams: list[int], log: Path) -> list[dict[str, object]]:
    """Rows for one kind of weights, one a number of streams."""
    folder = Path(tempfile.mkdtemp(prefix="serve-"))
    try:
        if geometry == SMALL_LM:
            write_small_lm(weights, folder)
        else:
            write_checkpoint(GEOMETRIES[geometry], weights, folder, "cuda")
        vocab_size = json.loads((folder / "config.json").read_text())["vocab_size"]
        args = ["--max-model-len", "4096", "--max-num-seqs", str(max(streams))]
        args += ["--no-enable-prefix-caching", "--max-cudagraph-capture-size", str(max(streams))]
        with server(folder, args + EXTRA_ARGS.get(weights, []), log) as (url, start_s):
            loaded = re.search(r"Model loading took ([0-9.]+) GiB", log.read_text())
            ttft = best(url, 1, LONG_PROMPT, 1, 3, vocab_size)
            rows: list[dict[str, object]] = []
            for n in streams:
                long, short = (best(url, n, PROMPT, t, 2, vocab_size) for t in (LONG, SHORT))
                rows.append(
                    {
                        "model": geometry,
                        "weights": weights,
                        "streams": n,
                        "tok_s": round(n * (LONG - SHORT) / (long - short), 1),
                        "ttft_ms": round(ttft * 1e3, 1),
                        "weight_gib": float(loaded[1]) if loaded else None,
                        "start_s": round(start_s, 1),
                    }
                )
                print(json.dumps(rows[-1]), flush=True)
        return rows
    finally:
        shutil.rmtree(folder)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--geometry", required=True, choices=[*GEOMETRIES, SMALL_LM])
    parser.add_argument("--weights", required=True, nargs="+", choices=QUANTIZATION_CONFIGS)
    parser.add_argument("--streams", nargs="+", type=int, default=[1, 8, 64])
    parser.add_argument("--out", required=True, type=Path, help="JSON file for the rows")
    args = parser.parse_args()
    if args.geometry == SMALL_LM and not {"bf16", "bitnet"}.issuperset(args.weights):
        parser.error(f"{SMALL_LM} has the weights bf16 and bitnet")
    rows = []
    for weights in args.weights:
        rows += measure(
            args.geometry, weights, args.streams, args.out.with_suffix(f".{weights}.log")
        )
        args.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
