# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""LoRA on ternary experts is refused in words that say what to do."""

from types import SimpleNamespace

import pytest

pytest.importorskip("vllm")

from ternary_layers import make_config
from ternary_moe_layers import PREFIX, experts, fill, make_weights, tensors_of
from vllm.lora.layers import FusedMoEWithLoRA


def test_refused(device: str) -> None:
    layer = fill(experts(make_config(group_size=32)), tensors_of(make_weights(32)))
    runner = SimpleNamespace(
        moe_config=layer.moe_config, routed_experts=layer, _shared_experts=None
    )
    with pytest.raises(RuntimeError) as error:
        FusedMoEWithLoRA(runner)
    assert str(error.value) == (
        f"{PREFIX}: LoRA is not supported for experts of TernaryMoEMethod; name the modules that "
        "adapters change with --lora-target-modules, without the experts."
    )
