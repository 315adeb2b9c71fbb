# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A fault is one line and an exit code; --debug shows the traceback."""

import pytest

from overlay import build, cli
from overlay.commands import status
from overlay.errors import OverlayError, UsageError


@pytest.mark.parametrize(("kind", "code"), [(OverlayError, 1), (UsageError, 2)])
def test_one_line(
    kind: type[OverlayError],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> None:
        raise kind("a.patch:3: what\nand where")

    monkeypatch.setattr(status, "load_pin", fail)
    assert cli.main(["status"]) == code
    assert capsys.readouterr().err == "error: a.patch:3: what and where\n"
    with pytest.raises(kind):
        cli.main(["--debug", "status"])


def test_fault_of_the_system(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise PermissionError(13, "Permission denied", "/a/b")

    monkeypatch.setattr(status, "load_pin", fail)
    assert cli.main(["status"]) == 1
    assert capsys.readouterr().err == "error: /a/b: Permission denied\n"
    monkeypatch.setattr(build, "load_pin", lambda path: fail())
    assert build.main([]) == 1
    assert capsys.readouterr().err == "error: /a/b: Permission denied\n"


def test_wrong_usage() -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["no-such-command"])
    assert caught.value.code == 2
