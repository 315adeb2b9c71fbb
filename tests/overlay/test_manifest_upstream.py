# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""PATCHES.md shows what upstream.yaml knows of the references in a header."""

from __future__ import annotations

from small_project import Project

from overlay.manifest import render_manifest

LOCK = """\
a/b#1: {kind: issue, state: open, title: It <fails>, looked-at: 2026-02-03}
a/b#2:
  kind: pull-request
  state: merged
  looked-at: 2026-02-04
  first-release: "0.33.0"
"""


def test_state_and_day(project: Project) -> None:
    project.add_patch("first", {"b.py": "one\n"}, Bug="a/b#1", Applied_Upstream="0.33.0, a/b#2")
    (project.patches / "upstream.yaml").write_text(LOCK)
    text = render_manifest(project.pin, project.workspace)
    assert "| applied: 0.33.0, a/b#2; b#1 open; b#2 merged |" in text
    link = "https://github.com/a/b/issues"
    assert f"  - [a/b#1]({link}/1): It &lt;fails>: issue, open (2026-02-03)\n" in text
    assert f"  - [a/b#2]({link}/2): pull request, merged, in 0.33.0 (2026-02-04)\n" in text


def test_reference_that_nothing_is_known_of(project: Project) -> None:
    project.add_patch("first", {"b.py": "one\n"}, Bug="a/b#1")
    text = render_manifest(project.pin, project.workspace)
    assert "  - [a/b#1](https://github.com/a/b/issues/1)\n" in text
