# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Small ternary Qwen2 checkpoints that have learnt a few sentences by heart.

Everything but the lm_head is random. The lm_head is solved for, by least squares over the hidden
states of the sentences, so that the model continues each of them: its greedy tokens then have a
wide margin, and differ between two servers only if one of them computes something else, not because
of a rounding. The text is known in advance as well.

Run with the Python of an environment that has the built wheel:

    python ternary_checkpoints.py OUTPUT_DIR VARIANT...
"""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

SENTENCES = [
    "A balance compares two masses without any numbers at all.",
    "Ternary digits were used by a wooden machine built in 1840.",
    "Rivers carry gravel downhill until the slope becomes gentle.",
    "She counted nine lamps along the harbour before the fog came in.",
    "Most bridges fail at their joints, seldom in the middle of a beam.",
]
CHAT = [("Which number is neither positive nor negative?", "Zero is the only such number.")]

HIDDEN = 256
INTERMEDIATE = 512
LAYERS = 2
GROUP_SIZE = 64
PROJECTIONS = {
    # name: (rows, columns)
    "self_attn.q_proj": (256, HIDDEN),
    "self_attn.k_proj": (128, HIDDEN),
    "self_attn.v_proj": (128, HIDDEN),
    "self_attn.o_proj": (HIDDEN, 256),
    "mlp.gate_proj": (INTERMEDIATE, HIDDEN),
    "mlp.up_proj": (INTERMEDIATE, HIDDEN),
    "mlp.down_proj": (HIDDEN, INTERMEDIATE),
}
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@dataclass
class Checkpoint:
    """A ternary checkpoint in memory; `tensors` holds what is not ternary."""

    config: dict[str, Any]
    group_size: int | None
    codes: dict[str, torch.Tensor] = field(default_factory=dict)
    scales: dict[str, torch.Tensor] = field(default_factory=dict)
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)

    def dequantized(self, name: str) -> torch.Tensor:
        """Weight [N, K] of a projection in bfloat16, exact by the choice of the scales."""
        codes = self.codes[name].float()
        if name not in self.scales:
            return codes.bfloat16()
        scale = self.scales[name].float()
        groups = scale.shape[1] if scale.ndim == 2 else 1
        weight = codes.unflatten(1, (groups, -1)) * scale.reshape(-1, groups, 1)
        return weight.flatten(1).bfloat16()


def pack(codes: torch.Tensor) -> torch.Tensor:
    """int8 [N, K] of -1, 0, 1 -> uint8 [N, ceil(K / 4)], the packed format."""
    bits = torch.where(codes < 0, 2, codes.to(torch.int32))
    bits = torch.nn.functional.pad(bits, (0, -codes.shape[1] % 4)).unflatten(1, (-1, 4))
    return (bits << torch.tensor([0, 2, 4, 6])).sum(-1).to(torch.uint8)


def make_tokenizer() -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=384,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES + [text for turn in CHAT for text in turn], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|endoftext|>", chat_template=CHAT_TEMPLATE
    )


def training_texts(tokenizer: PreTrainedTokenizerFast) -> list[str]:
    texts = [sentence + "<|endoftext|>" for sentence in SENTENCES]
    for question, answer in CHAT:
        turn = [{"role": "user", "content": question}]
        prompt = tokenizer.apply_chat_template(turn, tokenize=False, add_generation_prompt=True)
        texts.append(prompt + answer + "<|endoftext|>")
    return texts


def make_scale(shape: tuple[int, int], group_size: int, generator: torch.Generator) -> torch.Tensor:
    """Random scales that bfloat16 holds exactly, near 1 / sqrt of the inputs that are not 0."""
    rows, columns = shape
    sizes = {0: (1,), -1: (rows, 1)}.get(group_size, (rows, columns // max(group_size, 1)))
    spread = torch.rand(sizes, generator=generator) + 0.5
    return (spread * (columns * 2 / 3) ** -0.5).bfloat16().float()


def make_checkpoint(
    tokenizer: PreTrainedTokenizerFast, group_size: int | None = GROUP_SIZE, seed: int = 0
) -> Checkpoint:
    generator = torch.Generator().manual_seed(seed)
    config = Qwen2Config(
        hidden_size=HIDDEN,
        intermediate_size=INTERMEDIATE,
        num_hidden_layers=LAYERS,
        num_attention_heads=8,
        num_key_value_heads=4,
        vocab_size=len(tokenizer),
        max_position_embeddings=512,
        tie_word_embeddings=False,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
        dtype="bfloat16",
        architectures=["Qwen2ForCausalLM"],
    )
    checkpoint = Checkpoint(config.to_dict(), group_size)
    for layer in range(LAYERS):
        prefix = f"model.layers.{layer}"
        for name, shape in PROJECTIONS.items():
            codes = torch.randint(-1, 2, shape, generator=generator, dtype=torch.int8)
            checkpoint.codes[f"{prefix}.{name}"] = codes
            if group_size is not None:
                scale = make_scale(shape, group_size, generator)
                checkpoint.scales[f"{prefix}.{name}"] = scale
            if name in ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"):
                bias = torch.randn(shape[0], generator=generator) * 0.3
                checkpoint.tensors[f"{prefix}.{name}.bias"] = bias.bfloat16()
        for name in ("input_layernorm", "post_attention_layernorm"):
            checkpoint.tensors[f"{prefix}.{name}.weight"] = torch.ones(HIDDEN).bfloat16()
    checkpoint.tensors["model.norm.weight"] = torch.ones(HIDDEN).bfloat16()
    embedding = torch.randn(len(tokenizer), HIDDEN, generator=generator)
    checkpoint.tensors["model.embed_tokens.weight"] = embedding.bfloat16()
    checkpoint.tensors["lm_head.weight"] = torch.zeros_like(embedding).bfloat16()
    fit_lm_head(checkpoint, tokenizer)
    return checkpoint


def dense_state(checkpoint: Checkpoint) -> dict[str, torch.Tensor]:
    dense = {f"{name}.weight": checkpoint.dequantized(name) for name in checkpoint.codes}
    return checkpoint.tensors | dense


def fit_lm_head(checkpoint: Checkpoint, tokenizer: PreTrainedTokenizerFast) -> None:
    """Solve for the lm_head that continues the training texts, and check its margin."""
    model = Qwen2ForCausalLM(Qwen2Config(**checkpoint.config)).float().eval()
    model.load_state_dict(dense_state(checkpoint))
    hidden, targets = [], []
    for text in training_texts(tokenizer):
        tokens = torch.tensor([tokenizer.encode(text)])
        with torch.no_grad():
            hidden.append(model.model(tokens).last_hidden_state[0, :-1])
        targets.append(tokens[0, 1:])
    states, wanted = torch.cat(hidden).double(), torch.cat(targets)
    logits = torch.nn.functional.one_hot(wanted, len(tokenizer)).double() * 16
    gram = states @ states.T + 0.5 * torch.eye(len(states), dtype=torch.float64)
    lm_head = (states.T @ torch.linalg.solve(gram, logits)).T.bfloat16()
    checkpoint.tensors["lm_head.weight"] = lm_head

    top = (states @ lm_head.double().T).topk(2).values
    margin = (top[:, 0] - top[:, 1]).min().item()
    if margin < 4:
        raise RuntimeError(f"the smallest margin of the greedy tokens is {margin:.2f}, not 4")


def write_checkpoint(
    checkpoint: Checkpoint,
    tokenizer: PreTrainedTokenizerFast,
    path: Path,
    packed: bool = False,
    dense: bool = False,
    **quantization: Any,
) -> None:
    """Write a checkpoint folder: ternary in one of the two formats, or dense."""
    path.mkdir(parents=True)
    tokenizer.save_pretrained(path)
    config = dict(checkpoint.config)
    if dense:
        tensors = dense_state(checkpoint)
    else:
        config["quantization_config"] = {
            "quant_method": "ternary",
            "group_size": checkpoint.group_size,
            "format": "packed" if packed else "int8",
        } | quantization
        tensors = dict(checkpoint.tensors)
        for name, codes in checkpoint.codes.items():
            tensors[f"{name}.weight_packed" if packed else f"{name}.weight"] = (
                pack(codes) if packed else codes
            )
        tensors |= {f"{name}.weight_scale": s for name, s in checkpoint.scales.items()}
    (path / "config.json").write_text(json.dumps(config, indent=2))
    save_file({k: v.contiguous() for k, v in tensors.items()}, path / "model.safetensors")


def write_variant(name: str, tokenizer: PreTrainedTokenizerFast, path: Path) -> None:
    """Write one of the checkpoints that the tests know by name."""
    group_sizes = {"plain": None, "tensor": 0, "channel": -1}
    checkpoint = make_checkpoint(tokenizer, group_sizes.get(name.split("-")[0], GROUP_SIZE))
    down_proj = "model.layers.0.mlp.down_proj"
    options: dict[str, Any] = {}
    match name:
        case "group" | "plain" | "tensor" | "channel":
            pass
        case "group-dense" | "plain-dense" | "tensor-dense" | "channel-dense":
            options = {"dense": True}
        case "group-packed":
            options = {"packed": True}
        case "group-int8-activations":
            options = {"activation": "int8"}
        case "group-sign-flipped":
            checkpoint.codes[down_proj].neg_()
        case "bad-group-size":
            options = {"group_size": 100}
        case "bad-nan-scale":
            checkpoint.scales[down_proj][3, 1] = float("nan")
        case "bad-tensor-parallel-cut":
            # 512 inputs in groups of 512 are one group, which two ranks would have to share.
            checkpoint = make_checkpoint(tokenizer, -1)
            checkpoint.group_size = 256
            for projection, scale in checkpoint.scales.items():
                columns = checkpoint.codes[projection].shape[1]
                checkpoint.scales[projection] = scale.repeat(1, columns // 256)
        case _:
            raise SystemExit(f"unknown variant {name!r}")
    write_checkpoint(checkpoint, tokenizer, path, **options)


def main() -> None:
    output, *names = sys.argv[1:]
    torch.set_num_threads(1)
    tokenizer = make_tokenizer()
    for name in names:
        write_variant(name, tokenizer, Path(output) / name)


if __name__ == "__main__":
    main()
