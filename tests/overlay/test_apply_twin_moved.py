# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A twin that moved to the line a hunk names is not taken for the place the hunk was made for."""

from small_project import Project

BODY = "    z = 0\n    a = 1\n    b = 2\n    c = 3\n    d = 4\n    e = 5\n    return a\n\n"


def function(name: str) -> str:
    return f"def {name}():\n{BODY}"


def test_line_number_is_not_trusted(project: Project) -> None:
    before = "".join(map(function, ["dropped", "f", "g"]))
    after = "".join(map(function, ["f", "g"]))
    patched = before.replace(function("f"), function("f").replace("c = 3", "c = 30"))
    project.commit_model({"twins.py": before}, "the version that the patch is made for")
    project.commit_model({"twins.py": patched}, "the change of f")
    patch = project.patch_bytes()
    # In the tree a function is gone above: f's line is now g's.
    project.model_git("reset", "-q", "--hard", "HEAD~2")
    project.add_patch("base", {"twins.py": after})
    file = project.add_file("change-f", patch)
    assert "fits in more than one place, lines 2 and 11" in project.refusal(file, "twins.py")
