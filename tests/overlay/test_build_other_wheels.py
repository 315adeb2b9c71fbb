# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The summary names wheels of other versions, which dist/vllm-*.whl means as well."""

import pytest
from small_build import SmallBuild

from overlay import build


def test_wheel_of_an_older_pin(
    small: SmallBuild, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small.build()
    monkeypatch.setattr(build, "load_pin", lambda path: small.pin)
    monkeypatch.setattr(build.compiler, "check_machine", lambda: None)

    def rows() -> list[str]:
        build.run(build.parse_arguments(["--archs", "8.0"]), small.workspace)
        return [row.split()[0] for row in capsys.readouterr().out.splitlines() if row]

    assert "beside" not in rows()
    older = small.workspace.root / "dist" / "vllm-0.1.0+ternary.1-cp38-abi3-linux_x86_64.whl"
    older.touch()
    assert "beside" in rows()
    assert older.exists()
