# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""BitNet layers for the tests: what their checkpoints hold, and what Transformers computes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from ternary_layers import finish, load, random_codes, random_input
from transformers.integrations.bitnet import AutoBitLinear, BitLinear, WeightQuant, unpack_weights
from vllm.model_executor.layers.quantization import get_quantization_config

SIZE_K = 96
EPS = 1e-5

# As config.json writes the ways in which a projection can be stored.
KINDS: dict[str, dict[str, Any]] = {
    "bitlinear": {},
    "autobitlinear": {"linear_class": "autobitlinear", "quantization_mode": "offline"},
    "online": {"linear_class": "autobitlinear", "quantization_mode": "online"},
}
NORM = {"use_rms_norm": True, "rms_norm_eps": EPS}


def make_config(kind: str = "bitlinear", **quantization: Any) -> Any:
    config = get_quantization_config("bitnet").from_config(
        {"quant_method": "bitnet"} | KINDS[kind] | quantization
    )
    config.packed_modules_mapping = {
        "qkv_proj": ["q_proj", "k_proj", "v_proj"],
        "gate_up_proj": ["gate_proj", "up_proj"],
    }
    return config


def pack_planes(codes: torch.Tensor) -> torch.Tensor:
    """int8 [N, K] -> uint8 [ceil(N / 4), K], written out as the format is described."""
    rows = -(-codes.shape[0] // 4)
    packed = torch.zeros(rows, codes.shape[1], dtype=torch.uint8, device="cpu")
    for row, values in enumerate(codes):
        packed[row % rows] |= (values + 1).to(torch.uint8) << (2 * (row // rows))
    return packed


def unpack_planes(packed: torch.Tensor, rows: int) -> torch.Tensor:
    """The reverse: int8 [rows, K]."""
    planes = [(packed >> (2 * plane)) & 3 for plane in range(4)]
    return torch.cat(planes)[:rows].to(torch.int8) - 1


def settle_ties(x: torch.Tensor) -> torch.Tensor:
    """Move activations that are halfway between two 8-bit steps to the even step.

    Half precision has many of them, and Transformers' quotient in float32 falls to either side.
    """
    top = x.abs().amax(-1, keepdim=True).clamp(min=1e-5).double()
    steps = x.double() * 127 / top
    ties = (steps - steps.floor() - 0.5).abs() < 1e-6
    return torch.where(ties, steps.round() * top / 127, x.double()).float()


@dataclass
class Projection:
    """What a checkpoint holds of one projection, by the name of the tensor."""

    kind: str
    rows: int
    tensors: dict[str, torch.Tensor]

    @property
    def scaled_bias(self) -> float:
        """Size of the bias where it has to be rounded because it is scaled, 0 elsewhere."""
        if self.kind != "autobitlinear":
            return 0.0
        return (self.tensors["bias"].abs().max() * self.tensors["weight_scale"]).item()

    def load(self, layer: Any, *shard: Any) -> None:
        for name, tensor in reversed(self.tensors.items()):
            part, _, name = name.rpartition(".")
            load(layer.get_submodule(part), name, tensor, *shard)

    def transformers(self, x: torch.Tensor) -> torch.Tensor:
        """float32 [M, rows] of the layer that Transformers would put there."""
        bias, norm = self.tensors.get("bias"), self.tensors.get("rms_norm.weight")
        options: dict[str, Any] = {"use_rms_norm": norm is not None, "rms_norm_eps": EPS}
        size_k = self.tensors["weight"].shape[1]
        layer: Any
        with torch.device("cpu"):
            if self.kind == "bitlinear":
                layer = BitLinear(size_k, self.rows, False, dtype=torch.float32, **options)
            else:
                layer = AutoBitLinear(size_k, self.rows, bias is not None, **options)
        state = dict(self.tensors)
        with torch.no_grad(), torch.compiler.set_stance("force_eager"):
            if self.kind == "bitlinear":
                # Its buffer has no room for rows that do not fill a byte, and with them it cannot
                # add a bias: it computes the padding as well.
                layer.weight = state["weight"]
                bias = state.pop("bias", None)
            elif self.kind == "autobitlinear":
                state["weight"] = unpack_weights(state["weight"], torch.float32)[: self.rows]
            else:
                # What it does for a model in bfloat16; all else is to be in float32.
                state["weight"] = WeightQuant.apply(state["weight"]).float()
                state["weight_scale"] = torch.ones(1, device="cpu")
            layer.load_state_dict(state)
            x = x.cpu()
            if norm is not None:
                # What a model in half precision quantizes has been rounded by the norm.
                x, layer.rms_norm = layer.rms_norm.to(x.dtype)(x), None
            out = layer.float()(settle_ties(x.float()))[..., : self.rows]
        if self.kind == "bitlinear" and bias is not None:
            out = out + bias.float()
        return out


def make_projection(
    kind: str,
    rows: int,
    size_k: int = SIZE_K,
    bias: bool = False,
    norm: bool = False,
    seed: int = 0,
) -> Projection:
    """Random, with a scale that is far from 1 and differs from seed to seed."""
    generator = torch.Generator("cpu").manual_seed(1000 + seed)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, device="cpu")

    tensors = {}
    if kind == "online":
        tensors["weight"] = (random(rows, size_k) * 0.05 * (seed + 1)).bfloat16()
    else:
        tensors["weight"] = pack_planes(random_codes(rows, size_k, seed=seed))
        scale = torch.tensor([0.03 * (seed + 1)], device="cpu")
        tensors["weight_scale"] = (1 / scale if kind == "bitlinear" else scale).bfloat16()
    if bias:
        tensors["bias"] = (random(rows) * 4).bfloat16()
    if norm:
        tensors["rms_norm.weight"] = (random(size_k) + 1).bfloat16()
    return Projection(kind, rows, tensors)


def make_input(device: str, tokens: int = 5, size_k: int = SIZE_K) -> torch.Tensor:
    """In float32 where no kernel limits it to half precision."""
    return random_input(tokens, size_k, torch.float32 if device == "cpu" else torch.bfloat16)


def fuse(layer: Any, projections: dict[Any, Projection]) -> Any:
    """Load the parts of a fused layer, the last one first."""
    for shard, projection in reversed(projections.items()):
        projection.load(layer, shard)
    return finish(layer)


def expected(projections: Iterable[Projection], x: torch.Tensor) -> torch.Tensor:
    return torch.cat([projection.transformers(x) for projection in projections], dim=-1)


def assert_same(out: torch.Tensor, reference: torch.Tensor, bias: float = 0.0) -> None:
    """Equal up to one rounding of the output, and one of a bfloat16 bias as large as `bias`."""
    assert out.shape == reference.shape
    size = reference.abs().max().item()
    error = (out.cpu().float() - reference.float()).abs()
    allowed = torch.finfo(out.dtype).eps / 2 * reference.abs() + 2e-6 * size + 2.0**-8 * bias
    assert (error <= allowed).all(), f"off by {error.max().item():.3g} of {size:.3g}"
