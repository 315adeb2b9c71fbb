# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A patch whose Retire-Probe holds is retired, although it would fit, and left out for the rest."""

from __future__ import annotations

from reviewing import reviewed, verdict
from small_project import Project, numbered


def test_probe_holds(project: Project) -> None:
    project.add_patch("first", {"b.py": "one\n2\nthree\n"}, Retire_Probe="a.py: present ^better")
    report = reviewed(project, {"a.py": numbered(line_20="better")})
    (found,) = report.verdicts
    assert found.outcome.value == "retire"
    assert found.reason == "its Retire-Probe holds: a.py: present ^better"
    assert not report.needs_work


def test_every_probe_has_to_hold(project: Project) -> None:
    probes = "a.py: present ^better\nb.py: absent two"
    project.add_patch("first", {"b.py": "one\n2\nthree\n"}, Retire_Probe=probes)
    assert verdict(project, {"a.py": numbered(line_20="better")}).outcome.value == "clean"


def test_it_is_left_out_for_those_after(project: Project) -> None:
    project.add_patch("first", {"a.py": numbered(line_10="new")}, Retire_Probe="b.py: absent two")
    project.add_patch("second", {"a.py": numbered(line_10="newer")})
    report = reviewed(project, {"b.py": "one\n"})
    assert [entry.outcome.value for entry in report.verdicts] == ["retire", "conflict"]
    assert report.verdicts[1].doubts == ("needs first, which is left out here",)


def test_a_later_patch_cannot_make_it_hold(project: Project) -> None:
    """The probe looks at the pristine tree, not at what the series makes of it."""
    project.add_patch("first", {"b.py": "one\n2\nthree\n"})
    project.add_patch("second", {"a.py": numbered(line_3="x")}, Retire_Probe="b.py: absent two")
    assert verdict(project, {"kept.log": "changed\n"}).outcome.value == "clean"
