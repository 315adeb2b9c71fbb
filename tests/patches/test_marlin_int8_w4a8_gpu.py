# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A compressed-tensors layer that asks for int8 activations, with the kernel chosen for the GPU.

Marlin, whether it is named or not: on Hopper others are asked first for 16-bit activations.
"""

import pytest

pytest.importorskip("vllm")

import torch
from marlin_emulation import INT8_LIMIT, checkpoint
from vllm.config import KernelConfig, VllmConfig, set_current_vllm_config
from vllm.model_executor.kernels.linear import MarlinLinearKernel
from vllm.model_executor.layers.quantization.compressed_tensors.schemes import (
    CompressedTensorsW4A8Int,
)

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
]

N, K, TOKENS = 4096, 2048, 64


@pytest.mark.parametrize("groups", [1, K // 128])
@pytest.mark.parametrize("negative", [0.0, 0.5])
@pytest.mark.parametrize("backend", ["auto", "marlin"])
def test_product(tensor_parallel: object, groups: int, negative: float, backend: str) -> None:
    c = checkpoint(N, K, groups, negative=negative, device="cuda")
    scheme = CompressedTensorsW4A8Int(
        strategy="channel" if groups == 1 else "group",
        num_bits=4,
        group_size=None if groups == 1 else K // groups,
    )
    layer = torch.nn.Module()
    layer.prefix = "model.layers.0.mlp.down_proj"
    config = VllmConfig(kernel_config=KernelConfig(linear_backend=backend))
    with set_current_vllm_config(config), torch.device("cuda"):
        scheme.create_weights(
            layer,
            output_size=N,
            input_size=K,
            output_partition_sizes=[N],
            input_size_per_partition=K,
            params_dtype=torch.bfloat16,
            weight_loader=lambda *args: None,
        )
    assert isinstance(scheme.kernel, MarlinLinearKernel)
    layer.weight.data.copy_(c.integers())
    layer.weight_scale.data.copy_(c.scales)
    scheme.process_weights_after_loading(layer)
    g = torch.Generator("cuda").manual_seed(0)
    x = torch.randn((TOKENS, K), generator=g, device="cuda").bfloat16()
    y = scheme.apply_weights(layer, x, None)
    reference = x.double() @ c.weight().t()
    error = float((y.double() - reference).norm() / reference.norm())
    print(f"{error:.4%}")
    assert error <= INT8_LIMIT
