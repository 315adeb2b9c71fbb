# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The ternary model that the other tests talk to went through torch.compile."""

import pytest
from server import Server

pytestmark = pytest.mark.slow


def test_server_compiled_the_model(ternary_server: Server) -> None:
    compiled = ternary_server.log.parent / "cache" / "torch_compile_cache"
    assert [path for path in compiled.rglob("*") if path.is_file()]
