# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The lint command prints a line a fault and exits with 1."""

import json

import pytest
from small_project import Project
from test_lint_right import with_test

from overlay import lint
from overlay.commands import lint as command


def test_lines_and_exit_code(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_test(project)
    project.add_patch("first", {"b.py": "one\n"}, Kind="hack")
    faults = lint.lint(project.workspace)
    monkeypatch.setattr(command, "lint", lambda: faults)
    for as_json in (False, True):
        assert command.execute(type("Args", (), {"json": as_json})) == 1
        printed = capsys.readouterr().out
        assert (json.loads(printed) if as_json else printed.splitlines()[:-1]) == faults
