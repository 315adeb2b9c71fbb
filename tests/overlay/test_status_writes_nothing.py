# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Status changes no file, not even git's own."""

from small_project import Project, numbered

from overlay.status import status


def test_same_files(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_3="3")})
    project.apply()

    def everything() -> dict[str, tuple[int, int]]:
        return {
            str(path): (path.stat().st_mtime_ns, path.stat().st_size)
            for path in project.workspace.root.rglob("*")
        }

    before = everything()
    status(project.pin, project.workspace)
    assert everything() == before
