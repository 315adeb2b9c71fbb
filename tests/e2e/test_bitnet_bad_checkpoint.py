# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A BitNet checkpoint that is bad raises one line that names the fault."""

from typing import Any

import pytest

pytestmark = pytest.mark.slow

Q_PROJ = "model.layers.1.self_attn.q_proj"


FAULTS = {
    "bad-code-3": f"{Q_PROJ}.weight holds code 3 at row 35, column 5;",
    "bad-float-weight": f"{Q_PROJ}.weight is torch.float32 in the checkpoint, but linear_class",
    "bad-missing-scale": f"{Q_PROJ}.weight_scale is missing from the checkpoint.",
    "bad-double-scale": f"{Q_PROJ}.weight_scale is in the checkpoint twice.",
    "bad-nan-scale": f"{Q_PROJ}.weight_scale holds nan at [0]; scales must be finite.",
    "bad-hadamard": "quantization_config: hadamard_block_size asks for a Hadamard transform",
    "bad-truncated": "model-00001-of-00002.safetensors is not a complete safetensors file",
}


@pytest.mark.parametrize("variant", FAULTS)
def test_reason_is_raised(bitnet: dict[str, dict[str, Any]], variant: str) -> None:
    assert "tokens" not in bitnet[variant]
    assert any(FAULTS[variant] in line for line in bitnet[variant]["error"].splitlines())
