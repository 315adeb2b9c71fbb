# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The summary names wheels of other versions, which dist/vllm-*.whl means as well."""

import pytest
from small_build import SmallBuild


def test_wheel_of_an_older_pin(
    small: SmallBuild, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small.build()

    def rows() -> list[str]:
        small.run(monkeypatch)
        return [row.split()[0] for row in capsys.readouterr().out.splitlines() if row]

    assert "beside" not in rows()
    older = small.dist / "vllm-0.1.0+ternary.1-cp38-abi3-linux_x86_64.whl"
    older.touch()
    assert "beside" in rows()
    assert older.exists()
