# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch needs the earlier ones whose lines its hunks meet, and those that it names."""

from small_project import Project, numbered

from overlay.needs import needs
from overlay.patchfile import read_all


def test_lines_that_meet(project: Project) -> None:
    two = numbered(line_2="2\nand\nmore")
    project.add_patch("top", {"a.py": two})
    project.add_patch("middle", {"a.py": two.replace("line 15\n", "15\n")})
    project.add_patch(
        "far", {"a.py": two.replace("line 15\n", "15\n").replace("line 28\n", "28\n")}
    )
    near = (
        two.replace("line 15\n", "15\n").replace("line 28\n", "28\n").replace("line 17\n", "17\n")
    )
    project.add_patch("near", {"a.py": near})
    project.add_patch("other", {"b.py": "one\n"}, Depends="top")
    project.add_patch("new", {"c.py": "x\n"})
    project.add_patch("grown", {"c.py": "x\ny\n"})
    assert needs(read_all(project.patches)) == {
        "top": [],
        "middle": [],
        "far": [],
        "near": ["middle"],
        "other": ["top"],
        "new": [],
        "grown": ["new"],
    }
