# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Downloading the pinned files through pip, checked by hash, kept in the user's cache."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

from overlay import process
from overlay.errors import NETWORK, OverlayError
from overlay.files import no_space_is_an_error, sha256
from overlay.lock import alone, held
from overlay.paths import cache_dir
from overlay.pin import Artifact

_BACKEND = Path(__file__).parent / "sdist_backend"
_DRAFT = "partial-"


def fetch(artifact: Artifact) -> Path:
    """The artifact's file in the cache, downloaded with the user's pip configuration when needed.

    Raises OverlayError with one line when it cannot be had or is not the pinned file; the cache
    then holds nothing of it.
    """
    return _kept(artifact, cache_dir() / artifact.sha256 / artifact.file)


def fetch_unpinned(package: str, version: str) -> Path:
    """The source distribution of a version whose hash nobody has pinned, in the cache.

    pip checks it against the hash that the package index gives, as it does for any package.
    """
    artifact = Artifact(package, version, f"{package}-{version}.tar.gz", "")
    return _kept(artifact, cache_dir() / "unpinned" / artifact.file)


def _kept(artifact: Artifact, path: Path) -> Path:
    if _is_there(artifact, path):
        return path
    try:
        with no_space_is_an_error(cache_dir() / artifact.sha256), _cache_locked():
            # Another run may have fetched it while this one waited.
            if not _is_there(artifact, path):
                _download(artifact, path)
    except OSError as fault:
        place = fault.filename or cache_dir()
        raise OverlayError(f"{artifact.file}: {place}: {fault.strerror}") from fault
    return path


def _is_there(artifact: Artifact, path: Path) -> bool:
    return path.is_file() and artifact.sha256 in ("", sha256(path))


@contextmanager
def _cache_locked() -> Iterator[None]:
    cache_dir().mkdir(parents=True, exist_ok=True)
    with alone(cache_dir() / "lock", "download"):
        for left in cache_dir().glob(f"{_DRAFT}*"):  # of a run that was killed
            shutil.rmtree(left, ignore_errors=True)
        yield


def _download(artifact: Artifact, path: Path) -> None:
    print(f"Downloading {artifact.file} ...", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix=_DRAFT, dir=cache_dir()) as name:
        draft = Path(name)
        requirements = draft / "requirements.txt"
        line = f"{artifact.package}=={artifact.version}"
        if artifact.sha256:
            line += f" --hash=sha256:{artifact.sha256}"
        requirements.write_text(line + "\n")
        # Where pip unpacks an sdist to read its metadata: it goes away with the draft.
        temporary = draft / "tmp"
        temporary.mkdir()
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
        command += ["download", "--no-deps", "--dest", str(draft)]
        command += ["--require-hashes"] if artifact.sha256 else []
        command += [*_kind(artifact), "--requirement", str(requirements)]
        env = dict(os.environ, TMPDIR=str(temporary), PYTHONPATH=str(_BACKEND))
        # pip draws its progress bar on its standard output, when that is a terminal.
        shown = sys.stderr if sys.stderr.isatty() else subprocess.DEVNULL
        result = process.complete(
            command,
            env=env,
            stdout=shown,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            pass_fds=held(),
        )
        found = draft / artifact.file
        if not result.returncode and not found.is_file():
            others = ", ".join(path.name for path in draft.glob(f"{artifact.package}-*"))
            raise OverlayError(f"{artifact.file}: pip has {others or 'another file'}: name it so")
        if result.returncode:
            raise OverlayError(f"{artifact.file}: {_reason(artifact, result.stderr)}")
        digest = sha256(found)
        if artifact.sha256 not in ("", digest):
            raise OverlayError(f"{artifact.file}: {_wrong_hash(digest, artifact)}")
        path.parent.mkdir(exist_ok=True)
        found.replace(path)


def _kind(artifact: Artifact) -> list[str]:
    """pip's options for an sdist, a wheel for this machine, or a wheel for another one."""
    if not artifact.file.endswith(".whl"):
        return ["--no-binary", artifact.package, "--no-build-isolation"]
    options = ["--only-binary", ":all:"]
    tags = parse_wheel_filename(artifact.file)[3]
    if tags.isdisjoint(sys_tags()):
        tag = sorted(tags, key=str)[0]
        options += ["--platform", tag.platform, "--abi", tag.abi]
        options += ["--implementation", tag.interpreter[:2]]
        options += ["--python-version", tag.interpreter[2:]]
    return options


def _reason(artifact: Artifact, words: str) -> str:
    """One line for what pip said."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    if "DO NOT MATCH THE HASHES" in words:
        got = re.search(r"Got\s+([0-9a-f]{64})", words)
        return _wrong_hash(got[1] if got else "another", artifact)
    if os.strerror(errno.ENOSPC) in words:
        return f"no space left on the disk of {cache_dir()}: make room there"
    if "No matching distribution" in words or "find a version" in words:
        hashed = " with this hash" if artifact.sha256 else ""
        return f"pip finds no {artifact.package} {artifact.version}{hashed}: {NETWORK}"
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return f"pip cannot download it: {(errors or lines or ['no output'])[-1]}"


def _wrong_hash(found: str, artifact: Artifact) -> str:
    return f"the download's sha256 is {found}, pin.yaml says {artifact.sha256}: not used"
