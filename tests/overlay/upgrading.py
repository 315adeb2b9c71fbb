# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Upgrades of a small project: another version at hand, and pip's answers made up."""

from __future__ import annotations

from collections.abc import Mapping

from command import pin_text
from small_project import Content, Project

from overlay import upgrade
from overlay.git import Git
from overlay.next_pin import NextPin
from overlay.pin import Pin, load_pin

NEXT = "0.33.0"


def prepare(project: Project, files: Mapping[str, Content]) -> None:
    """Apply the series, write pin.yaml, and have 0.33.0 with these files at hand."""
    project.add_version(NEXT, files)
    text = pin_text(project.pin).replace("release: 1\n", "release: 1  # of 0.32.0+ternary.N\n")
    project.workspace.pin.write_text(text)
    project.apply()


def look_up(git: Git, pristine: str, version: str, pin: Pin) -> NextPin:
    """What would be looked up: the new version's source is known, all else stays."""
    sdist = next(entry for entry in pin.versions if entry.version == version)
    values = {
        "vllm.version": version,
        "vllm.tag": f"v{version}",
        "vllm.sdist.file": sdist.file,
        "vllm.sdist.sha256": sdist.sha256,
    }
    return NextPin(values, ["something to look at"])


def start(project: Project, keep: str = "") -> upgrade.Result:
    """Begin the upgrade; the answer is no to dropping the patch `keep`."""
    return upgrade.start(
        NEXT, project.pin, project.workspace, lambda asked: not keep or keep not in asked, look_up
    )


def go_on(project: Project) -> upgrade.Result:
    """`upgrade --continue`."""
    return upgrade.go_on(project.pin, project.workspace)


def resolve(project: Project, path: str, content: str) -> None:
    """Resolve a conflict as a person does."""
    (project.tree / path).write_text(content)
    project.git("add", path)


def outcomes(result: upgrade.Result) -> dict[str, str]:
    """What became of each patch, by its file."""
    return {step.file: step.outcome for step in result.steps}


def everything(project: Project) -> dict[str, object]:
    """All that an aborted upgrade has to leave as it was."""
    result = project.state() | {"<pin>": project.workspace.pin.read_text()}
    result["<branch>"] = (project.tree / ".git" / "HEAD").read_text()
    result["<index>"] = project.git("ls-files", "--stage")
    return result | {f"patches/{name}": data for name, data in project.patch_files().items()}


def new_pin(project: Project) -> Pin:
    """The pin that the upgrade wrote."""
    return load_pin(project.workspace.pin)
