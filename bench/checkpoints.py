# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Random checkpoints in the geometry of real models, for speed and memory measurements.

    python bench/checkpoints.py --geometry qwen2-1.5b --weights ternary --out DIR

Values are random, so the text a server makes of them is noise; sizes, dtypes, names and layouts
are those of the published formats, so load time, memory and speed are what a real model's would be.
Weights are drawn layer by layer on the GPU where there is one and written a layer a file, several
files at a time. Kinds that differ in their config.json alone can share the files.
"""

import argparse
import dataclasses
import json
import math
import shutil
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from needs import need

need("torch")

import torch
from safetensors.torch import load_file, save_file

GROUP = 128
WRITERS = 4
PIECE = 2**26
INDEX = "model.safetensors.index.json"
SAFETENSORS_DTYPES = {
    torch.bfloat16: "BF16",
    torch.float16: "F16",
    torch.int32: "I32",
    torch.uint8: "U8",
}
SMALL_LM = Path(__file__).parent / "models" / "small-lm"


@dataclasses.dataclass(frozen=True)
class Geometry:
    """The shape of a decoder-only model; names as in its Hugging Face config.json."""

    architecture: str
    model_type: str
    num_hidden_layers: int
    hidden_size: int
    intermediate_size: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    vocab_size: int
    tie_word_embeddings: bool
    rope_theta: float

    def linears(self) -> dict[str, tuple[int, int]]:
        """Name within a layer -> (out_features N, in_features K)."""
        h, f, d = self.hidden_size, self.intermediate_size, self.head_dim
        q, kv = self.num_attention_heads * d, self.num_key_value_heads * d
        return {
            "self_attn.q_proj": (q, h),
            "self_attn.k_proj": (kv, h),
            "self_attn.v_proj": (kv, h),
            "self_attn.o_proj": (h, q),
            "mlp.gate_proj": (f, h),
            "mlp.up_proj": (f, h),
            "mlp.down_proj": (h, f),
        }


GEOMETRIES = {
    "qwen2-1.5b": Geometry(
        "Qwen2ForCausalLM", "qwen2", 28, 1536, 8960, 12, 2, 128, 151936, True, 1e6
    ),
    "llama3-8b": Geometry(
        "LlamaForCausalLM", "llama", 32, 4096, 14336, 32, 8, 128, 128256, False, 5e5
    ),
    "qwen3-32b": Geometry(
        "Qwen3ForCausalLM", "qwen3", 64, 5120, 25600, 64, 8, 128, 151936, False, 1e6
    ),
    "llama3-70b": Geometry(
        "LlamaForCausalLM", "llama", 80, 8192, 28672, 64, 8, 128, 128256, False, 5e5
    ),
}

QUANTIZATION_CONFIGS: dict[str, dict[str, object] | None] = {
    "bf16": None,
    "ternary": {"quant_method": "ternary", "format": "packed", "group_size": -1},
    "ternary-int8": {
        "quant_method": "ternary",
        "format": "packed",
        "group_size": -1,
        "activation": "int8",
    },
    "ternary-g128": {"quant_method": "ternary", "format": "packed", "group_size": GROUP},
    "gptq-int4": {
        "quant_method": "gptq",
        "bits": 4,
        "group_size": GROUP,
        "desc_act": False,
        "sym": True,
    },
    "bitnet": {"quant_method": "bitnet", "modules_to_not_convert": ["lm_head"]},
    # The same checkpoint; bench/serve.py serves it with another method.
    "bitnet-humming": {"quant_method": "bitnet", "modules_to_not_convert": ["lm_head"]},
}
# Kinds with the tensors of another.
SAME_TENSORS = {"ternary-int8": "ternary", "bitnet-humming": "bitnet"}


class Drawer:
    """Draws random tensors on `device`, the same ones for the same seed and device."""

    def __init__(self, device: str, seed: int = 0) -> None:
        self.device = device
        self.generator = torch.Generator(device=device).manual_seed(seed)

    def normal(self, *shape: int, std: float) -> torch.Tensor:
        """bf16 tensor of N(0, std^2)."""
        x = torch.randn(*shape, generator=self.generator, device=self.device, dtype=torch.bfloat16)
        return x.mul_(std)

    def integers(self, high: int, *shape: int) -> torch.Tensor:
        """uint8 tensor of uniform integers in [0, high)."""
        return torch.randint(
            high, shape, generator=self.generator, device=self.device, dtype=torch.uint8
        )

    def linear(self, weights: str, n: int, k: int) -> dict[str, torch.Tensor]:
        """Tensors of one linear layer [n, k], named as `weights`' format names them."""
        std = 1 / math.sqrt(k)
        if weights == "bf16":
            return {"weight": self.normal(n, k, std=std)}
        if weights.startswith("ternary"):
            # Four codes a byte, none of them 3: each is 0, 1 or 2.
            packed = self.integers(3, n, k // 4)
            for shift in (2, 4, 6):
                packed |= self.integers(3, n, k // 4) << shift
            groups = k // GROUP if weights.endswith("g128") else 1
            # Two thirds of the codes are not zero, which makes the product's variance 2/3 s^2 k.
            scale = torch.full((n, groups), std * math.sqrt(1.5), dtype=torch.bfloat16)
            return {"weight_packed": packed, "weight_scale": scale}
        if weights.startswith("bitnet"):
            packed = self.integers(3, n // 4, k)
            for shift in (2, 4, 6):
                packed |= self.integers(3, n // 4, k) << shift
            # Served as 1 / weight_scale.
            return {
                "weight": packed,
                "weight_scale": torch.tensor([1 / (std * math.sqrt(1.5))], dtype=torch.bfloat16),
            }
        if weights == "gptq-int4":
            qweight = self.integers(256, k // 8, n * 4).view(torch.int32)
            qzeros = torch.full((k // GROUP, n // 8), 0x77777777, dtype=torch.int32)
            # Codes are uniform in [-8, 8): variance 21.25.
            scales = torch.full((k // GROUP, n), std / math.sqrt(21.25), dtype=torch.float16)
            g_idx = torch.arange(k, dtype=torch.int32) // GROUP
            return {"qweight": qweight, "qzeros": qzeros, "scales": scales, "g_idx": g_idx}
        raise ValueError(f"unknown weights {weights!r}")


def layers(geometry: Geometry, weights: str, draw: Drawer) -> Iterator[dict[str, torch.Tensor]]:
    """The checkpoint's tensors, one dictionary a file: the embeddings first, then each layer."""
    g = geometry
    head = {
        "model.embed_tokens.weight": draw.normal(g.vocab_size, g.hidden_size, std=0.02),
        "model.norm.weight": torch.ones(g.hidden_size, dtype=torch.bfloat16),
    }
    if not g.tie_word_embeddings:
        head["lm_head.weight"] = draw.normal(g.vocab_size, g.hidden_size, std=0.02)
    yield head
    for i in range(g.num_hidden_layers):
        layer: dict[str, torch.Tensor] = {}
        for name, (n, k) in g.linears().items():
            for key, tensor in draw.linear(weights, n, k).items():
                layer[f"model.layers.{i}.{name}.{key}"] = tensor
            if g.model_type == "qwen2" and name[-6:] in ("q_proj", "k_proj", "v_proj"):
                layer[f"model.layers.{i}.{name}.bias"] = draw.normal(n, std=0.02)
        for norm in ("input_layernorm", "post_attention_layernorm"):
            layer[f"model.layers.{i}.{norm}.weight"] = torch.ones(g.hidden_size).bfloat16()
        if g.model_type == "qwen3":
            for norm in ("self_attn.q_norm", "self_attn.k_norm"):
                layer[f"model.layers.{i}.{norm}.weight"] = torch.ones(g.head_dim).bfloat16()
        yield layer


def tokenizer(vocab_size: int) -> dict[str, object]:
    """A tokenizer.json with one word a token: enough for a server that is sent token ids."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {f"t{i}": i for i in range(vocab_size)},
            "unk_token": "t0",
        },
    }


def write_tensors(tensors: dict[str, torch.Tensor], file: Path) -> None:
    """safetensors.torch.save_file by pieces: no copy of it all, and other threads write as well."""
    header: dict[str, object] = {}
    at = 0
    # The widest types first: each tensor then begins at a multiple of its type's size.
    names = sorted(tensors, key=lambda name: -tensors[name].element_size())
    for name in names:
        tensor = tensors[name]
        end = at + tensor.numel() * tensor.element_size()
        dtype = SAFETENSORS_DTYPES[tensor.dtype]
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    cuda = any(tensor.is_cuda for tensor in tensors.values())
    staging = torch.empty(min(at, PIECE), dtype=torch.uint8, pin_memory=cuda)
    with file.open("wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for name in names:
            for piece in tensors[name].contiguous().view(-1).view(torch.uint8).split(PIECE):
                out.write(memoryview(staging[: len(piece)].copy_(piece).numpy()))


def write_shards(geometry: Geometry, weights: str, out: Path, device: str) -> int:
    """Write the checkpoint's tensors and their index; returns their bytes."""
    weight_map: dict[str, str] = {}
    total = 0
    pending: deque[Future[None]] = deque()
    with ThreadPoolExecutor(WRITERS) as pool:
        for i, tensors in enumerate(layers(geometry, weights, Drawer(device))):
            file = f"model-{i:05d}.safetensors"
            pending.append(pool.submit(write_tensors, tensors, out / file))
            weight_map.update(dict.fromkeys(tensors, file))
            total += sum(v.numel() * v.element_size() for v in tensors.values())
            if len(pending) > WRITERS:
                pending.popleft().result()
        for future in pending:
            future.result()
    index = {"metadata": {"total_size": total}, "weight_map": weight_map}
    (out / INDEX).write_text(json.dumps(index))
    return total


def share_shards(source: Path, out: Path) -> int:
    """Links to the tensors and the index of another folder; returns their bytes."""
    for file in source.glob("model*.safetensors*"):
        (out / file.name).symlink_to(file.resolve())
    return int(json.loads((out / INDEX).read_text())["metadata"]["total_size"])


def write_checkpoint(
    geometry: Geometry, weights: str, out: Path, device: str, share: Path | None = None
) -> int:
    """Write the checkpoint folder `out`; returns the bytes of its tensors.

    `share` is a folder of the same geometry, and of weights with the same tensors, to link to.
    """
    out.mkdir(parents=True, exist_ok=True)
    g = dataclasses.asdict(geometry)
    config: dict[str, object] = {
        "architectures": [g.pop("architecture")],
        **g,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-6,
        "max_position_embeddings": 8192,
        "torch_dtype": "bfloat16",
        "bos_token_id": 0,
        "eos_token_id": 0,
    }
    if QUANTIZATION_CONFIGS[weights] is not None:
        config["quantization_config"] = QUANTIZATION_CONFIGS[weights]
    if weights == "gptq-int4":
        config["torch_dtype"] = "float16"
    total = share_shards(share, out) if share else write_shards(geometry, weights, out, device)
    (out / "tokenizer.json").write_text(json.dumps(tokenizer(geometry.vocab_size)))
    (out / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 8192})
    )
    # Last: a folder with a config.json is a whole checkpoint.
    (out / "config.json").write_text(json.dumps(config, indent=2))
    return total


def write_small_lm(weights: str, out: Path) -> None:
    """Copy the trained model: as it is ("bitnet"), or multiplied out ("bf16")."""
    shutil.copytree(SMALL_LM, out, dirs_exist_ok=True)
    if weights == "bitnet":
        return
    tensors = load_file(SMALL_LM / "model.safetensors")
    for name in [name for name in tensors if name.endswith(".weight_scale")]:
        scale = tensors.pop(name)
        packed = tensors[name.removesuffix("_scale")]
        codes = torch.cat([(packed >> shift & 3).to(torch.int8) - 1 for shift in (0, 2, 4, 6)])
        tensors[name.removesuffix("_scale")] = codes * scale
    save_file(tensors, out / "model.safetensors", {"format": "pt"})
    config = json.loads((SMALL_LM / "config.json").read_text())
    del config["quantization_config"]
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--geometry", required=True, choices=GEOMETRIES)
    parser.add_argument("--weights", required=True, choices=QUANTIZATION_CONFIGS)
    parser.add_argument("--out", required=True, type=Path)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    total = write_checkpoint(GEOMETRIES[args.geometry], args.weights, args.out, device)
    print(f"{args.out}: {total / 2**30:.2f} GiB")


if __name__ == "__main__":
    main()
