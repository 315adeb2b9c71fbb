# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The tool's own environment, .work/venv; standard library only, for it runs before any package.

`python3 -m overlay.bootstrap` makes it when needed and prints its Python.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from overlay.errors import NETWORK

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ((3, 11), (3, 14))


def ensure_venv(root: Path = ROOT) -> Path:
    """The Python of .work/venv, made anew when it is missing or requirements.txt has changed.

    Ends the process with one line when the machine lacks something.
    """
    venv = root / ".work" / "venv"
    python = venv / "bin" / "python"
    stamp = venv / "complete"
    wanted = _stamp(root, venv)
    if _read(stamp) == wanted and python.exists():
        return python
    _check_machine()
    try:
        venv.parent.mkdir(exist_ok=True)
        with (root / ".work" / "venv.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if _read(stamp) != wanted or not python.exists():
                _make(root, venv)
                # Last: an environment without its stamp was cut short, and is made anew.
                stamp.write_text(wanted)
    except OSError as fault:
        raise SystemExit(f"error: {fault.filename or venv}: {fault.strerror}") from None
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        raise SystemExit(130) from None
    return python


def enter(script: str) -> None:
    """Go on in .work/venv's Python with the same script and arguments, unless that is this one."""
    python = ensure_venv()
    if Path(sys.prefix).resolve() != python.parent.parent.resolve():
        sys.stdout.flush()
        os.execv(python, [str(python), script, *sys.argv[1:]])


def _stamp(root: Path, venv: Path) -> str:
    """What the environment is made from; a moved checkout needs a new one (its paths are fixed)."""
    requirements = (root / "requirements.txt").read_bytes()
    return f"{hashlib.sha256(requirements).hexdigest()} {venv}\n"


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _check_machine() -> None:
    found = sys.version_info[:2]
    if not PYTHONS[0] <= found <= PYTHONS[1]:
        raise SystemExit(
            f"error: this is Python {platform.python_version()}: install Python 3.11 to 3.14 and "
            "put it first on PATH as python3"
        )
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise SystemExit(
            f"error: this is {sys.platform} on {platform.machine()}: only Linux on x86-64 is "
            "supported, as the pinned wheel is built for it"
        )
    try:
        import ensurepip  # noqa: F401  (Debian and Ubuntu leave it out of python3)
        import venv  # noqa: F401
    except ImportError:
        raise SystemExit(
            f"error: this Python cannot make virtual environments: install python{found[0]}."
            f"{found[1]}-venv (Debian, Ubuntu: apt install python{found[0]}.{found[1]}-venv)"
        ) from None
    if shutil.which("git") is None:
        raise SystemExit("error: git is not on PATH: install git (Debian, Ubuntu: apt install git)")


def _make(root: Path, venv: Path) -> None:
    print(f"Making {venv} (once) ...", file=sys.stderr, flush=True)
    if venv.exists():
        shutil.rmtree(venv)
    _run([getattr(sys, "_base_executable", sys.executable), "-m", "venv", str(venv)], venv)
    # In the user's own pip configuration, but for what cannot work inside an environment.
    command = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    command += ["--disable-pip-version-check", "--no-input", "-r", str(root / "requirements.txt")]
    _run(command, venv)


def _run(command: list[str], venv: Path) -> None:
    env = {k: v for k, v in os.environ.items() if k not in ("PIP_USER", "PIP_TARGET", "PIP_PREFIX")}
    result = subprocess.run(command, env=env, capture_output=True, text=True)
    if result.returncode:
        lines = [line for line in (result.stderr + result.stdout).splitlines() if line.strip()]
        faults = [line for line in lines if line.startswith("ERROR")] or lines or ["no output"]
        words = faults[-1].strip()
        if "No matching distribution" in words:
            words += f": {NETWORK}"
        raise SystemExit(f"error: {venv} could not be made: {words}")


def main() -> int:
    """Make the environment when needed and print its Python."""
    print(ensure_venv())
    return 0


if __name__ == "__main__":
    sys.exit(main())
