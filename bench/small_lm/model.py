# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The small language model, in BitNet's architecture: for training and for its dense twin.

Parameters are named as in the checkpoints of `BitNetForCausalLM`, so that a state dict is one.
Master weights, residual stream and norms are float32; products are bfloat16, in which the integers
of a ternary layer are exact (on a CPU float32, which is faster there).
"""

import dataclasses
import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclasses.dataclass(frozen=True)
class Shape:
    """The model's dimensions; names as in its config.json."""

    vocab_size: int = 1920
    hidden_size: int = 384
    intermediate_size: int = 1024
    num_hidden_layers: int = 6
    num_attention_heads: int = 6
    num_key_value_heads: int = 2
    rope_theta: float = 10000.0
    rms_norm_eps: float = 1e-5

    @property
    def head_dim(self) -> int:
        return self.hidden_size // self.num_attention_heads


def for_product(x: Tensor) -> Tensor:
    return x.bfloat16() if x.is_cuda else x


def ternary(weight: Tensor) -> tuple[Tensor, Tensor]:
    """BitNet's rule: codes -1, 0, 1, and one scale, the mean of |weight|, in bfloat16."""
    scale = weight.abs().mean().clamp(min=1e-5).bfloat16().float()
    return (weight / scale).round().clamp(-1, 1), scale


def straight_through(exact: Tensor, rounded: Tensor) -> Tensor:
    """`rounded`, with the gradient of `exact`."""
    return exact + (rounded - exact).detach()


def ternary_linear(x: Tensor, weights: list[Tensor]) -> Tensor:
    """x times each weight, side by side; weights ternary, x int8 for each token."""
    scale = 127 / x.detach().abs().amax(-1, keepdim=True).clamp(min=1e-5)
    scaled = x * scale
    integers = straight_through(scaled, scaled.round().clamp(-128, 127))
    codes, factors = [], []
    for weight in weights:
        code, factor = ternary(weight.detach())
        codes.append(straight_through(weight / factor, code))
        factors.append(factor.expand(len(weight)))
    y = F.linear(for_product(integers), for_product(torch.cat(codes)))
    return y.float() * torch.cat(factors) / scale


def dense_linear(x: Tensor, weights: list[Tensor]) -> Tensor:
    return F.linear(for_product(x), for_product(torch.cat(weights))).float()


class Norm(nn.Module):
    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


class Weight(nn.Module):
    """A matrix [rows, columns]; how it is multiplied is the model's affair."""

    def __init__(self, rows: int, columns: int, std: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(rows, columns) * std)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-b, a), dim=-1) * sin


class Layer(nn.Module):
    def __init__(self, shape: Shape, is_ternary: bool) -> None:
        super().__init__()
        hidden, inner, eps = shape.hidden_size, shape.intermediate_size, shape.rms_norm_eps
        std = 0.02
        out_std = std / math.sqrt(2 * shape.num_hidden_layers)
        self.heads = shape.num_attention_heads
        self.kv_heads = shape.num_key_value_heads
        self.head_dim = shape.head_dim
        self.linear = ternary_linear if is_ternary else dense_linear
        self.self_attn = nn.ModuleDict(
            {
                "q_proj": Weight(hidden, hidden, std),
                "k_proj": Weight(self.kv_heads * self.head_dim, hidden, std),
                "v_proj": Weight(self.kv_heads * self.head_dim, hidden, std),
                "o_proj": Weight(hidden, hidden, out_std),
                "attn_sub_norm": Norm(hidden, eps),
            }
        )
        self.mlp = nn.ModuleDict(
            {
                "gate_proj": Weight(inner, hidden, std),
                "up_proj": Weight(inner, hidden, std),
                "down_proj": Weight(hidden, inner, out_std),
                "ffn_sub_norm": Norm(inner, eps),
            }
        )
        self.input_layernorm = Norm(hidden, eps)
        self.post_attention_layernorm = Norm(hidden, eps)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        batch, length, hidden = x.shape
        part = self.self_attn
        qkv = self.linear(
            self.input_layernorm(x), [part[name].weight for name in ("q_proj", "k_proj", "v_proj")]
        )
        heads = qkv.view(batch, length, -1, self.head_dim).transpose(1, 2)
        q, k, v = heads.split((self.heads, self.kv_heads, self.kv_heads), dim=1)
        y = F.scaled_dot_product_attention(
            for_product(rotate(q, cos, sin)),
            for_product(rotate(k, cos, sin)),
            for_product(v),
            is_causal=True,
            enable_gqa=True,
        )
        y = y.transpose(1, 2).reshape(batch, length, hidden).float()
        x = x + self.linear(part["attn_sub_norm"](y), [part["o_proj"].weight])

        part = self.mlp
        gate_up = self.linear(
            self.post_attention_layernorm(x), [part["gate_proj"].weight, part["up_proj"].weight]
        )
        gate, up = gate_up.chunk(2, dim=-1)
        y = part["ffn_sub_norm"](gate.relu().square() * up)
        return x + self.linear(y, [part["down_proj"].weight])


class Decoder(nn.Module):
    def __init__(self, shape: Shape, is_ternary: bool) -> None:
        super().__init__()
        self.shape = shape
        self.embed_tokens = Weight(shape.vocab_size, shape.hidden_size, 0.02)
        layers = [Layer(shape, is_ternary) for _ in range(shape.num_hidden_layers)]
        self.layers = nn.ModuleList(layers)
        self.norm = Norm(shape.hidden_size, shape.rms_norm_eps)


class SmallLM(nn.Module):
    """The language model; its embeddings are also its output head."""

    def __init__(self, shape: Shape, is_ternary: bool) -> None:
        super().__init__()
        self.model = Decoder(shape, is_ternary)

    def angles(self, length: int) -> tuple[Tensor, Tensor]:
        """cos and sin [length, head_dim] of the rotary position embedding."""
        shape, device = self.model.shape, self.model.norm.weight.device
        exponents = torch.arange(0, shape.head_dim, 2, device=device) / shape.head_dim
        turns = torch.outer(torch.arange(length, device=device), shape.rope_theta**-exponents)
        turns = torch.cat((turns, turns), dim=-1)
        return turns.cos(), turns.sin()

    def forward(self, tokens: Tensor, run_layer: Callable[..., Tensor] = Layer.forward) -> Tensor:
        """Tokens [batch, length] -> hidden states, before the output head."""
        x = F.embedding(tokens, self.model.embed_tokens.weight)
        cos, sin = self.angles(tokens.shape[1])
        for layer in self.model.layers:
            x = run_layer(layer, x, cos, sin)
        return self.model.norm(x)


def token_losses(hidden: Tensor, embedding: Tensor, targets: Tensor, reduction: str) -> Tensor:
    """Cross entropy in nats of the targets [batch, length]."""
    logits = F.linear(for_product(hidden), for_product(embedding)).float()
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction=reduction)
