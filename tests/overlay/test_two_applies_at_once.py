# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Several runs of the real command at once: each ends well, and the tree is right."""

from concurrent.futures import ThreadPoolExecutor

from small_project import Project, numbered


def test_all_end_well(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    assert project.command("status")[0] == 0  # the tool is in its place
    commands = ["apply", "unapply", "apply", "status", "apply"]
    with ThreadPoolExecutor(len(commands)) as pool:
        results = list(pool.map(project.command, commands))
    for code, words in results:
        lines = [line for line in words.splitlines() if not line.startswith(("Wait", "Import"))]
        assert (code, lines) in ((0, []), (1, [NOT_YET]))
    assert project.command("apply")[0] == 0
    assert project.tree_id() == project.model_id()
    assert project.git("status", "--porcelain") == ""


# Of an unapply that came first.
NOT_YET = "error: there is no .work/vllm yet: ./apply_patches.py apply"
