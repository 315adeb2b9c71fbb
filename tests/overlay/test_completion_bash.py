# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The bash script completes subcommands, options, patches' names and versions."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from overlay.cli import main
from overlay.patchfile import read_series, topic_of
from overlay.paths import HERE


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script, in a file."""
    path = tmp_path_factory.mktemp("completion") / "script.bash"
    with path.open("w") as stream, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", stream)
        assert main(["completion", "bash"]) == 0
    return path


def completed(script: Path, *words: str) -> list[str]:
    """What bash offers for a command line whose last word is being typed."""
    line = ("./apply_patches.py", *words)
    array = " ".join(f"'{word}'" for word in line)
    commands = f"""
source '{script}'
function=$(complete -p apply_patches.py | sed 's/.*-F \\([^ ]*\\).*/\\1/')
COMP_WORDS=({array}); COMP_CWORD={len(line) - 1}
$function ./apply_patches.py '{line[-1]}' '{line[-2]}'
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    result = subprocess.run(
        ["bash", "--norc", "-c", commands], capture_output=True, text=True, check=True
    )
    assert result.stderr == ""
    return result.stdout.split()


def test_subcommands(script: Path) -> None:
    assert completed(script, "un") == ["unapply"]
    assert {"apply", "review", "verify", "completion"} <= set(completed(script, ""))


def test_options(script: Path) -> None:
    assert set(completed(script, "review", "--")) == {"--help", "--json", "--markdown"}


def test_names_of_patches(script: Path) -> None:
    names = {topic_of(file) for file in read_series(HERE.patches)}
    assert set(completed(script, "drop", "")) == names
    assert set(completed(script, "apply", "--without", "")) == names


def test_versions(script: Path) -> None:
    assert {"0.31.0", "0.33.0"} <= set(completed(script, "review", "0.3"))
