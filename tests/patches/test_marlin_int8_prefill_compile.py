# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""One compiled graph takes either kernel, by the number of tokens it is run with."""

import pytest

pytest.importorskip("vllm")

import torch
from marlin_emulation import checkpoint, emulate, kernel, load
from torch._dynamo.testing import CompileCounter
from vllm.platforms import current_platform
from vllm.scalar_type import scalar_types


@pytest.mark.skipif(not current_platform.is_cpu(), reason="the GPU's test compiles as well")
def test_symbolic_number_of_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = emulate(monkeypatch)
    monkeypatch.setattr(current_platform, "is_device_capability", lambda c: c == 90)
    c = checkpoint(128, 512, 4)
    layer, k = load(c), kernel(c, torch.int8)
    k.process_weights_after_loading(layer)
    graphs = CompileCounter()
    compiled = torch.compile(
        lambda x: k.apply_weights(layer, x), backend=graphs, fullgraph=True, dynamic=True
    )
    for tokens in (16, 80):
        x = torch.randn((tokens, 512)).bfloat16()
        assert torch.equal(compiled(x), k.apply_weights(layer, x))
    assert graphs.frame_count == 1
    symmetric, zero_point = scalar_types.uint4b8.id, scalar_types.uint4.id
    assert [call["type_id"] for call in calls] == [symmetric] * 2 + [zero_point] * 2
