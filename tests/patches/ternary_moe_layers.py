# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Layers of ternary experts for the tests: make one, load it, and what it must compute."""

from typing import Any

import torch
from ternary_layers import dequantize, finish, pack, quantize_tokens, random_codes, random_scale
from vllm.model_executor.layers.fused_moe import RoutedExperts
from vllm.model_executor.layers.fused_moe.activation import MoEActivation
from vllm.model_executor.layers.fused_moe.config import (
    FusedMoEConfig,
    FusedMoEParallelConfig,
    RoutingMethodType,
)
from vllm.model_executor.layers.fused_moe.expert_map_manager import ExpertMapManager
from vllm.platforms import current_platform

PREFIX = "model.layers.0.mlp.experts"
EXPERTS, TOP_K = 9, 3
HIDDEN, INTERMEDIATE = 64, 96
PROJECTIONS = {
    "gate_proj": (INTERMEDIATE, HIDDEN),
    "up_proj": (INTERMEDIATE, HIDDEN),
    "down_proj": (HIDDEN, INTERMEDIATE),
}

# Codes and scale of each projection of each expert, by name.
Weights = dict[str, tuple[torch.Tensor, torch.Tensor | None]]


def experts(
    config: Any,
    tensor_parallel: tuple[int, int] = (0, 1),
    expert_parallel: tuple[int, int] = (0, 1),
    **options: Any,
) -> Any:
    """The part of a rank of the experts; the pairs are (rank, ranks)."""
    current_platform.import_kernels()
    parallel = FusedMoEParallelConfig(
        tp_size=tensor_parallel[1],
        tp_rank=tensor_parallel[0],
        ep_size=expert_parallel[1],
        ep_rank=expert_parallel[0],
        pcp_size=1,
        pcp_rank=0,
        dp_size=1,
        dp_rank=0,
        sp_size=1,
        use_ep=expert_parallel[1] > 1,
        all2all_backend="allgather_reducescatter",
        enable_eplb=False,
    )
    manager = ExpertMapManager(
        max_num_batched_tokens=64,
        top_k=TOP_K,
        global_num_experts=EXPERTS,
        num_redundant_experts=0,
        num_expert_group=None,
        moe_parallel_config=parallel,
        placement_strategy="linear",
        enable_eplb=False,
    )
    moe = FusedMoEConfig(
        **{
            "num_experts": EXPERTS,
            "experts_per_token": TOP_K,
            "hidden_dim": HIDDEN,
            "intermediate_size": INTERMEDIATE,
            "num_local_experts": manager.local_num_experts,
            "num_logical_experts": EXPERTS,
            "activation": MoEActivation.SILU,
            "device": torch.get_default_device(),
            "routing_method": RoutingMethodType.Renormalize,
            "moe_parallel_config": parallel,
            "in_dtype": torch.bfloat16,
        }
        | options
    )
    names = {} if moe.is_act_and_mul else {"ckpt_gate_proj_name": "up_proj"}
    return RoutedExperts(
        PREFIX,
        torch.bfloat16,
        moe,
        config,
        expert_map_manager=manager,
        ckpt_up_proj_name="up_proj" if moe.is_act_and_mul else None,
        **names,
    )


def make_weights(group_size: int | None) -> Weights:
    weights: Weights = {}
    for expert in range(EXPERTS):
        for name, (rows, columns) in PROJECTIONS.items():
            seed = len(weights)
            scale = None
            if group_size is not None:
                shape = {0: (1,), -1: (rows, 1)}.get(
                    group_size, (rows, columns // max(group_size, 1))
                )
                scale = random_scale(*shape, seed=seed) * columns**-0.5
            weights[f"{expert}.{name}"] = (random_codes(rows, columns, seed=seed), scale)
    return weights


def tensors_of(weights: Weights, packed: bool = False) -> dict[str, torch.Tensor]:
    """By their names behind that of the layer, the tensors of a checkpoint."""
    tensors = {}
    for name, (codes, scale) in weights.items():
        if packed:
            tensors[f"{name}.weight_packed"] = pack(codes)
        else:
            tensors[f"{name}.weight"] = codes
        if scale is not None:
            tensors[f"{name}.weight_scale"] = scale
    return tensors


def fill(layer: Any, tensors: dict[str, torch.Tensor]) -> Any:
    """Load a layer, and do what vLLM does once all tensors are loaded."""
    list(layer.load_weights(tensors.items()))
    return finish(layer)


def run(layer: Any, x: torch.Tensor, weights: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """What the layer gives for tokens that are routed to experts `ids` [tokens, TOP_K]."""
    layer._ensure_moe_quant_config_init()
    out: torch.Tensor = layer.forward_modular(x, weights, ids)
    assert out.shape == x.shape and out.dtype == x.dtype
    return out


def routing(tokens: int, seed: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    """Weights and ids as a router gives them, on the current default device."""
    generator = torch.Generator("cpu").manual_seed(seed)
    scores = torch.rand(tokens, EXPERTS, generator=generator, device="cpu")
    weights, ids = scores.topk(TOP_K)
    device = torch.get_default_device()
    return (weights / weights.sum(1, keepdim=True)).to(device), ids.int().to(device)


def expected(
    weights: Weights,
    x: torch.Tensor,
    router_weights: torch.Tensor,
    ids: torch.Tensor,
    act_int8: bool = False,
) -> torch.Tensor:
    """float64 [tokens, HIDDEN] on the CPU, from the dequantized weights.

    Rounded where the layers of a model would be: behind each product and the activation, whose
    CUDA operator rounds once more before it multiplies.
    """
    dense = {name: dequantize(*pair) for name, pair in weights.items()}
    quantize = quantize_tokens if act_int8 else torch.Tensor.double
    out = torch.zeros(x.shape, dtype=torch.float64, device="cpu")
    for token, choices in enumerate(ids.tolist()):
        for slot, expert in enumerate(choices):
            row = quantize(x[token : token + 1].cpu())
            gate, up = (
                (row @ dense[f"{expert}.{name}_proj"].T).bfloat16().double()
                for name in ("gate", "up")
            )
            activated = torch.nn.functional.silu(gate)
            if x.is_cuda:
                activated = activated.bfloat16().double()
            inner = (activated * up).bfloat16()
            result = quantize(inner) @ dense[f"{expert}.down_proj"].T
            out[token] += router_weights[token, slot].item() * result[0]
    return out


def assert_close(out: torch.Tensor, exact: torch.Tensor) -> None:
    """Apart by no more than a few roundings to bfloat16."""
    error = (out.cpu().double() - exact).norm(dim=1) / exact.norm(dim=1)
    assert error.max() < 2**-8, f"relative error {error.max().item():.3g}"
