# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Train the small ternary language model, and its dense twin, on one GPU.

    python bench/small_lm/prepare.py --version 3.13.0 --stdlib LIB --out DATA
    python bench/small_lm/train.py --data DATA --out OUT --steps 2903
    python bench/small_lm/train.py --data DATA --out OUT --steps 1000 --models dense

OUT/ternary is a checkpoint in the layout of microsoft/bitnet-b1.58-2B-4T: packed weights, one scale
each, bfloat16 embeddings and norms. OUT/dense, of the same size and data, has 16-bit weights and
activations; it is then made ternary by each post-training rule. OUT/train.json has the curves, and
the perplexities of all on the held-out modules.

--seconds instead of --steps: as many steps as fit, by the speed of the first ones.
"""

import argparse
import dataclasses
import functools
import json
import math
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from needs import need

need("numpy", "torch", "safetensors")

import numpy as np
import torch
from model import Layer, Shape, SmallLM, ternary, token_losses
from safetensors.torch import save_file
from torch import Tensor

Json = dict[str, object]

SEED = 0
WARMUP_STEPS = 100
MEASURED_STEPS = 20
# Of the steps: where the weight decay ends (BitNet's two stages) and the learning rate's decay
# begins.
SECOND_STAGE = 0.5
WEIGHT_DECAY = 0.1
EVERY = 50


def windows(tokens: Tensor, length: int, generator: torch.Generator) -> Iterator[Tensor]:
    """Pieces of length + 1 tokens, epoch after epoch, in another order and phase each time."""
    while True:
        phase = int(torch.randint(length, (), generator=generator))
        starts = torch.arange(phase, len(tokens) - length - 1, length)
        for i in torch.randperm(len(starts), generator=generator).tolist():
            yield tokens[starts[i] : starts[i] + length + 1]


def learning_rate(step: int, steps: int, peak: float) -> float:
    """Warm-up, a constant, and from SECOND_STAGE on a linear decay to a hundredth."""
    if step < WARMUP_STEPS:
        return peak * (step + 1) / WARMUP_STEPS
    left = (steps - step) / (steps * (1 - SECOND_STAGE))
    return peak * min(1.0, max(0.01, left))


@torch.no_grad()
def evaluate(
    model: SmallLM, tokens: Tensor, length: int, batch: int, text_bytes: int | None = None
) -> Json:
    """Perplexity of `tokens` in windows; with `text_bytes`, also bits a byte of their text."""
    count = (len(tokens) - 1) // length
    inputs = tokens[: count * length].view(count, length)
    targets = tokens[1 : count * length + 1].view(count, length)
    total = 0.0
    for first in range(0, count, batch):
        part = slice(first, first + batch)
        hidden = model(inputs[part])
        embedding = model.model.embed_tokens.weight
        total += float(token_losses(hidden, embedding, targets[part], "sum"))
    nats = total / (count * length)
    result: Json = {"nats_per_token": round(nats, 5), "perplexity": round(math.exp(nats), 4)}
    if text_bytes is not None:
        bits = nats / math.log(2) * len(tokens) / text_bytes
        result["bits_per_byte"] = round(bits, 4)
    return result


def train(
    model: SmallLM,
    train_tokens: Tensor,
    heldout_tokens: Tensor,
    args: argparse.Namespace,
) -> Json:
    """Train in place; the curve, and what it took."""
    steps: int | None = args.steps
    device = train_tokens.device
    generator = torch.Generator().manual_seed(SEED)
    pieces = windows(train_tokens, args.length, generator)
    matrices = [p for p in model.parameters() if p.ndim == 2]
    vectors = [p for p in model.parameters() if p.ndim == 1]
    optimizer = torch.optim.AdamW(
        [{"params": matrices}, {"params": vectors}],
        betas=(0.9, 0.95),
        weight_decay=0.0,
        fused=device.type == "cuda",
    )
    run_layer: Callable[..., Tensor] = Layer.forward
    losses: Callable[..., Tensor] = token_losses
    if args.compile:  # one layer, for all of them
        run_layer = torch.compile(Layer.forward, dynamic=False)
        losses = torch.compile(token_losses, dynamic=False)

    curve: list[Json] = []
    step, begin, measured = 0, time.monotonic(), 0.0
    waiting: list[Tensor] = []
    while steps is None or step < steps:
        if steps is None and step in (MEASURED_STEPS, 2 * MEASURED_STEPS):
            if device.type == "cuda":
                torch.cuda.synchronize()
            if step == MEASURED_STEPS:
                measured = time.monotonic()
            else:
                step_s = (time.monotonic() - measured) / MEASURED_STEPS
                left = args.seconds - (time.monotonic() - begin)
                steps = step + max(1, int(left / step_s))
                print(f"{1e3 * step_s:.2f} ms a step: {steps} steps", flush=True)
        progress_steps = steps or 1_000_000
        rate = learning_rate(step, progress_steps, args.peak)
        for group in optimizer.param_groups:
            group["lr"] = rate
        in_first = step < SECOND_STAGE * progress_steps
        optimizer.param_groups[0]["weight_decay"] = WEIGHT_DECAY if in_first else 0.0

        batch = torch.stack([next(pieces) for _ in range(args.batch)])
        hidden = model(batch[:, :-1], run_layer)
        loss = losses(hidden, model.model.embed_tokens.weight, batch[:, 1:], "mean")
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        waiting.append(loss.detach())
        step += 1
        if step % EVERY == 0 or step == steps:
            point: Json = {"step": step, "loss": round(float(torch.stack(waiting).mean()), 4)}
            waiting = []
            if step % (10 * EVERY) == 0 or step == steps:
                part = heldout_tokens[: 64 * args.length + 1]
                point["heldout"] = evaluate(model, part, args.length, args.batch)["nats_per_token"]
                point["s"] = round(time.monotonic() - begin, 1)
                print(json.dumps(point), flush=True)
            curve.append(point)
    return {
        "steps": step,
        "tokens": step * args.batch * args.length,
        "seconds": round(time.monotonic() - begin, 1),
        "curve": curve,
    }


def pack(codes: Tensor) -> Tensor:
    """Codes [N, K] as Hugging Face packs them: plane i of a byte holds rows from i * N / 4 on."""
    planes = (codes + 1).to(torch.uint8).unflatten(0, (4, -1))
    shifts = torch.arange(0, 8, 2, dtype=torch.uint8, device=codes.device)
    return (planes << shifts.view(4, 1, 1)).sum(0).to(torch.uint8)


def is_linear(name: str) -> bool:
    return name.endswith("_proj.weight")


def checkpoint_state(model: SmallLM, kind: str) -> dict[str, Tensor]:
    """The tensors of the checkpoint."""
    tensors = {}
    for name, value in model.state_dict().items():
        if kind == "ternary" and is_linear(name):
            codes, scale = ternary(value)
            tensors[name] = pack(codes)
            tensors[f"{name}_scale"] = scale.reshape(1).bfloat16()
        else:
            tensors[name] = value.bfloat16()
    return {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}


def write_checkpoint(model: SmallLM, kind: str, tokenizer: Path, out: Path) -> None:
    """A folder that transformers and vLLM load: weights, configuration, tokenizer."""
    out.mkdir(parents=True, exist_ok=True)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(tokenizer / name, out / name)
    save_file(checkpoint_state(model, kind), out / "model.safetensors", {"format": "pt"})
    config = {
        "architectures": ["BitNetForCausalLM"],
        "model_type": "bitnet",
        **dataclasses.asdict(model.model.shape),
        "hidden_act": "relu2",
        "max_position_embeddings": 4096,
        "tie_word_embeddings": True,
        "bos_token_id": 0,
        "eos_token_id": 0,
        "torch_dtype": "bfloat16",
    }
    if kind == "ternary":
        config["quantization_config"] = {
            "quant_method": "bitnet",
            "linear_class": "autobitlinear",
            "quantization_mode": "offline",
            "modules_to_not_convert": None,
        }
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n")


@torch.no_grad()
def round_to_checkpoint(model: SmallLM, kind: str) -> None:
    """Round what a checkpoint keeps in bfloat16."""
    for name, p in model.named_parameters():
        if kind == "dense" or not is_linear(name):
            p.copy_(p.bfloat16())


def keep_best(rows: Tensor) -> Tensor:
    """The ternary approximation of each row with the smallest squared error."""
    ordered, _ = rows.abs().sort(dim=-1, descending=True)
    sums = ordered.cumsum(-1)
    kept = torch.arange(1, rows.shape[-1] + 1, device=rows.device)
    best = (sums.square() / kept).argmax(-1, keepdim=True)
    scale = sums.gather(-1, best) / (best + 1)
    return torch.where(rows.abs() >= ordered.gather(-1, best), rows.sign() * scale, 0.0)


def keep_twn(rows: Tensor) -> Tensor:
    """Zero under 0.7 times the mean of |w|; the scale is the mean of those kept."""
    kept = rows.abs() > 0.7 * rows.abs().mean(-1, keepdim=True)
    scale = (rows.abs() * kept).sum(-1, keepdim=True) / kept.sum(-1, keepdim=True).clamp(min=1)
    return rows.sign() * kept * scale


def keep_absmean(rows: Tensor) -> Tensor:
    scale = rows.abs().mean(-1, keepdim=True)
    return (rows / scale).round().clamp(-1, 1) * scale


def two_planes(rows: Tensor) -> Tensor:
    first = keep_best(rows)
    return first + keep_best(rows - first)


RULES: dict[str, Callable[[Tensor], Tensor]] = {
    "absmean": keep_absmean,
    "twn": keep_twn,
    "l2": keep_best,
    "two planes, l2": two_planes,
}


@torch.no_grad()
def post_training(model: SmallLM, measure: Callable[[], Json]) -> list[Json]:
    """Perplexities of a dense model whose linear layers are made ternary; they are put back."""
    linears = {name: p for name, p in model.named_parameters() if is_linear(name)}
    kept = {name: p.clone() for name, p in linears.items()}
    rows: list[Json] = []
    for rule, function in RULES.items():
        for scales, width in (("tensor", 0), ("channel", -1), ("group of 128", 128)):
            error = norm = 0.0
            for name, p in linears.items():
                groups = kept[name].reshape(1, -1) if width == 0 else kept[name]
                if width > 0:
                    groups = groups.unflatten(1, (-1, width))
                p.copy_(function(groups).reshape(p.shape))
                error += float((p - kept[name]).square().sum())
                norm += float(kept[name].square().sum())
            row: Json = {"rule": rule, "scales": scales, "weight_error": round(error / norm, 4)}
            rows.append(row | measure())
            print(json.dumps(rows[-1]), flush=True)
    for name, p in linears.items():
        p.copy_(kept[name])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, type=Path, help="the folder prepare.py wrote")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--models", nargs="+", choices=["ternary", "dense"], default=["ternary"])
    parser.add_argument("--steps", type=int)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--length", type=int, default=2048)
    parser.add_argument("--peak", type=float, default=3e-3, help="highest learning rate")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--shape", type=json.loads, default={}, help="JSON, for trials")
    args = parser.parse_args()
    if args.steps is None and not args.seconds:
        parser.error("give --steps or --seconds")

    if not (args.data / "corpus.json").is_file():
        parser.error(f"there is no {args.data}/corpus.json: prepare.py writes it")
    corpus = json.loads((args.data / "corpus.json").read_text())
    shape = Shape(**({"vocab_size": corpus["vocab_size"]} | args.shape))
    tokens, heldout = (
        torch.from_numpy(np.load(args.data / f"{name}.npy").astype(np.int64)).to(args.device)
        for name in ("train", "heldout")
    )
    args.out.mkdir(parents=True, exist_ok=True)
    gpu = torch.cuda.get_device_name() if args.device == "cuda" else "CPU"
    report: Json = {
        "machine": f"{gpu}, torch {torch.__version__}",
        "corpus": corpus,
        "batch": args.batch,
        "length": args.length,
        "peak": args.peak,
        "seed": SEED,
    }

    for kind in args.models:
        torch.manual_seed(SEED)
        model = SmallLM(shape, kind == "ternary").to(args.device)
        sizes = {name: p.numel() for name, p in model.named_parameters()}
        report["weights"] = sum(sizes.values())
        report["linear_weights"] = sum(size for name, size in sizes.items() if is_linear(name))
        result = train(model, tokens, heldout, args)
        round_to_checkpoint(model, kind)
        measure = functools.partial(
            evaluate, model, heldout, args.length, args.batch, corpus["heldout"]["bytes"]
        )
        quality = measure()
        print(kind, json.dumps(quality), flush=True)
        report[kind] = quality | result
        write_checkpoint(model, kind, args.data, args.out / kind)
        if kind == "dense":
            report["post_training"] = post_training(model, measure)
        (args.out / "train.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
