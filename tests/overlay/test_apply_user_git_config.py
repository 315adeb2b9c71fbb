# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A user's git configuration changes neither the tree nor the patches."""

from pathlib import Path

from small_project import Project, numbered

from overlay.export import export

CONFIG = """\
[core]
autocrlf = true
eol = crlf
whitespace = fix
[apply]
ignorewhitespace = change
whitespace = fix
[diff]
noprefix = true
context = 1
algorithm = patience
external = false
renames = copies
[color]
ui = always
[commit]
gpgsign = true
[i18n]
commitEncoding = ISO-8859-1
"""


def test_same_bytes(project: Project) -> None:
    (Path.home() / ".gitconfig").write_text(CONFIG)
    file = project.add_patch("nine", {"a.py": numbered(line_9="9"), "dos.bat": b"rem\r\n"})
    project.apply()
    assert project.tree_id() == project.model_id()
    assert b"\r" not in (project.tree / "a.py").read_bytes()
    assert export(project.pin, project.workspace).same == (file,)
