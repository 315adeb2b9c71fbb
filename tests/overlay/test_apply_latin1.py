# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Lines that are not UTF-8 are patched byte for byte."""

from small_project import Project

from overlay.export import export


def test_bytes_stay(project: Project) -> None:
    project.add_patch("add", {"latin.txt": b"caf\xe9\nth\xe9\n"})
    file = project.add_patch("change", {"latin.txt": b"caf\xe9\nt\xeate\n"})
    project.apply()
    assert project.tree_id() == project.model_id()
    assert file in export(project.pin, project.workspace).same
