# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The real command in a small project: a copy of the tool, started as a person starts it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from overlay import bootstrap
from overlay.paths import ROOT
from overlay.pin import Artifact, Pin

TOOL = ("apply_patches.py", "overlay", "requirements.txt")


def run(folder: Path, pin: Pin, *arguments: str, wrap: tuple[str, ...] = ()) -> tuple[int, str]:
    """Run `apply_patches.py` in `folder`: its exit code and what it says as errors.

    `wrap` is a command that runs it.
    """
    if not (folder / "overlay").exists():
        _install(folder)
    (folder / "pin.yaml").write_text(pin_text(pin))
    command = [*wrap, str(folder / ".work/venv/bin/python"), str(folder / "apply_patches.py")]
    result = subprocess.run([*command, *arguments], cwd="/", capture_output=True, text=True)
    return result.returncode, result.stderr


def pin_text(pin: Pin) -> str:
    """A pin.yaml that says what `pin` does."""
    return yaml.safe_dump(_yaml(pin))


def _install(folder: Path) -> None:
    """Copy the tool, with this environment as the one it makes for itself."""
    for name in TOOL:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name)
        else:
            shutil.copy2(ROOT / name, folder / name)
    venv = folder / ".work" / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(sys.executable)
    (venv / "lib").symlink_to(Path(sys.prefix) / "lib")
    shutil.copy(Path(sys.prefix) / "pyvenv.cfg", venv)
    (venv / "complete").write_text(bootstrap._stamp(folder, venv))


def _yaml(pin: Pin) -> dict[str, object]:
    def artifact(one: Artifact) -> dict[str, str]:
        return {"version": one.version, "file": one.file, "sha256": one.sha256}

    return {
        "release": pin.release,
        "vllm": {
            "version": pin.version,
            "tag": pin.tag,
            "commit": pin.commit,
            "sdist": artifact(pin.sdist),
            "wheel": artifact(pin.wheel),
        },
        "torch": {"version": pin.torch, "headers": artifact(pin.torch_headers)},
        "cpu_tryout": {"package": pin.cpu_tryout.package, **artifact(pin.cpu_tryout)},
        "compiler": {
            "cuda": pin.cuda,
            "packages": {one.package: artifact(one) for one in pin.compiler},
        },
        "versions": {one.version: {"sdist": artifact(one)} for one in pin.versions},
    }
