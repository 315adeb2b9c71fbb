# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch that ends early is refused, wherever it was cut."""

from small_project import Project, numbered

from overlay.errors import OverlayError
from overlay.patchfile import parse_patch


def test_every_cut_is_noticed(project: Project) -> None:
    changes = {
        "a.py": numbered(line_3="3", line_20="20"),
        "noeol.txt": "first\nend",
        "new.py": "x\n",
    }
    file = project.add_patch("whole", changes)
    data = (project.patches / file).read_bytes()
    parse_patch(file, data)
    accepted = []
    for length in range(len(data)):
        try:
            parse_patch(file, data[:length])
        except OverlayError:
            continue
        accepted.append(length)
    # Only the marker of a missing newline can go unnoticed here: the result's hash tells.
    assert [data[length:] for length in accepted] == [b"\\ No newline at end of file\n"]
