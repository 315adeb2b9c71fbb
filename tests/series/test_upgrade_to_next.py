# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The series moves to vLLM 0.33.0 in a copy of the project, whose own tests then pass."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from overlay import tree, upgrade
from overlay.export import export
from overlay.git import Git
from overlay.lint import lint
from overlay.paths import ROOT, Workspace
from overlay.pin import load_pin

NEXT = "0.33.0"
_SIDES = re.compile(r"<{7} [^\n]*\n(.*?)\|{7} [^\n]*\n(.*?)={7}\n(.*?)>{7} [^\n]*\n", re.DOTALL)


@pytest.fixture
def copy(tmp_path: Path) -> Workspace:
    """A copy of the project, with the pinned source and the series applied."""
    folder = tmp_path / "project"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "dist", "__pycache__"))
    workspace = Workspace(folder)
    tree.apply(load_pin(workspace.pin), workspace)
    return workspace


def resolve(git: Git, path: str) -> None:
    """Resolve a conflict as a person would, or, where none is known, with upstream's lines."""
    text = (git.tree / path).read_text()
    if path == "vllm/platforms/interface.py":
        # The patch's lines end one method, the new version's are the next one.
        (git.tree / path).write_text(_SIDES.sub(r"\3\1", text))
    else:
        git.run("checkout", "--ours", "--", path)
    git.run("add", "--", path)


@pytest.mark.slow
def test_upgrade(copy: Workspace) -> None:
    pin = load_pin(copy.pin)
    git = Git(copy.tree)
    before = (ROOT / "pin.yaml").read_bytes()

    result = upgrade.start(NEXT, pin, copy)
    clashed = []
    while result.stopped:
        paths = git.text("diff", "--name-only", "--diff-filter=U").splitlines()
        clashed += paths
        for path in paths:
            resolve(git, path)
        result = upgrade.go_on(pin, copy)

    assert "vllm/platforms/interface.py" in clashed
    outcomes = {step.file[5:-6]: step.outcome for step in result.steps}
    assert outcomes["cpu-slot-mapping"].startswith("dropped: already upstream")
    assert outcomes["marlin-int8-layer-select"] == "merged by hand"
    assert outcomes["marlin-int8-negative-scales"] == "clean"
    new = load_pin(copy.pin)
    assert (new.version, new.tag, new.commit) == (NEXT, f"v{NEXT}", "4ba787ec9")
    assert new.sdist.sha256 == next(one.sha256 for one in pin.versions if one.version == NEXT)
    assert new.wheel.file == pin.wheel.file.replace(pin.version, NEXT)
    assert new.wheel.sha256 != pin.wheel.sha256
    assert not export(new, copy, check=True).stale
    assert not tree.apply_series(new, copy).moved
    assert [fault for fault in lint(copy) if "upstream.yaml" not in fault] == []
    assert (ROOT / "pin.yaml").read_bytes() == before

    # What reads the pin and the series for itself.
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow",
         "-k", "not kill and not property", "tests/series", "tests/overlay"],
        cwd=copy.root, capture_output=True, text=True,
    )  # fmt: skip
    assert tests.returncode == 0, tests.stdout[-3000:]
