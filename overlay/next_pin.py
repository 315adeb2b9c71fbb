# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What pin.yaml says once the series is for another version, and writing that into its text."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.utils import parse_wheel_filename
from packaging.version import Version

from overlay.errors import OverlayError, UsageError
from overlay.files import sha256
from overlay.git import Git
from overlay.pin import Artifact, Pin

_COMMIT = re.compile(rb"^__commit_id__ = commit_id = 'g([0-9a-f]{7,40})'$", re.MULTILINE)
_TORCH = re.compile(rb"^torch\s*==\s*(\d+(?:\.\d+)+)", re.MULTILINE)
_SOURCE = re.compile(r"^Source: sha256 ([0-9a-f]{64})$", re.MULTILINE)
_VERSION = re.compile(r"^  ([\"']?)(\d+(?:\.\d+)+)\1:[^\n]*\n(?:    [^\n]*\n)*", re.MULTILINE)
_LINE = re.compile(r"( *)([\w.\"'-]+):(?: +([^#\n]*?))?( *(?:#.*)?)\n")
_WHY = ": is there a network, and does the index of your pip configuration have it?"


@dataclass
class NextPin:
    """New values of pin.yaml by their key, and what a person still has to look at."""

    values: dict[str, str]
    notes: list[str] = field(default_factory=list)


def look_up(git: Git, pristine: str, version: str, pin: Pin) -> NextPin:
    """The values for a version whose pristine commit is there; hashes from pip's index.

    Nothing large is downloaded. Raises OverlayError when something cannot be known.
    """
    commit = _found(git, pristine, "vllm/_version.py", _COMMIT, "the commit it was made from")
    torch = _found(git, pristine, "requirements/cuda.txt", _TORCH, "the torch it needs")
    source = _SOURCE.search(git.text("show", "-s", "--format=%B", pristine))
    assert source is not None  # what versions.pristine made
    wheel = published("vllm", version, pin.wheel.file)
    if wheel is None:
        raise OverlayError(f"pip finds no wheel of vllm {version} like {pin.wheel.file}{_WHY}")
    result = NextPin(
        {
            "release": "1",
            "vllm.version": version,
            "vllm.tag": f"v{version}",
            "vllm.commit": commit,
            "vllm.sdist.file": f"vllm-{version}.tar.gz",
            "vllm.sdist.sha256": source[1],
            "vllm.wheel.file": wheel.file,
            "vllm.wheel.sha256": wheel.sha256,
        }
    )
    if torch != pin.torch:
        _set(result, "torch.headers", published("torch", torch, pin.torch_headers.file), "torch")
        result.values["torch.version"] = torch
        result.notes.append(
            f"torch is {torch} now, not {pin.torch}: is CUDA {pin.cuda} (`compiler`) what it has?"
        )
    package = pin.cpu_tryout.package
    cpu = published(package, version, pin.cpu_tryout.file)
    if cpu is None:
        result.notes.append(f"there is no {package} {version}: {pin.cpu_tryout.version} stays")
    else:
        _set(result, "cpu_tryout", cpu, package)
        result.values["cpu_tryout.version"] = version
    result.notes.append(
        f"locks/cpu-tryout/ is what {pin.version} needs: make it again, as its pyproject.toml says"
    )
    return result


def published(package: str, version: str, like: str) -> Artifact | None:
    """The wheel of a version for the platform of another wheel, with the hash the index gives.

    None when there is none. Raises OverlayError when pip fails otherwise.
    """
    tag = sorted(parse_wheel_filename(like)[3], key=str)[0]
    # The oldest Python that the tool runs on: an abi3 wheel's own tag says less than it needs.
    python = "311" if tag.abi == "abi3" else tag.interpreter[2:]
    with tempfile.TemporaryDirectory(prefix="overlay-") as folder:
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
        command += ["install", "--dry-run", "--ignore-installed", "--no-deps", "--quiet"]
        command += ["--target", folder, "--report", f"{folder}/report.json"]
        command += ["--only-binary", ":all:", "--platform", tag.platform, "--abi", tag.abi]
        command += ["--implementation", tag.interpreter[:2], "--python-version", python]
        command += [f"{package}=={version}"]
        env = {key: value for key, value in os.environ.items() if key != "PIP_USER"}
        result = subprocess.run(command, env=env, capture_output=True, text=True, errors="replace")
        if "No matching distribution" in result.stderr:
            return None
        if result.returncode:
            lines = [line for line in result.stderr.splitlines() if line.startswith("ERROR")]
            words = (lines or ["no output"])[-1].removeprefix("ERROR: ")
            raise OverlayError(f"{package} {version}: pip cannot look it up: {words}")
        report = json.loads((Path(folder) / "report.json").read_text(encoding="utf-8"))
    found = report["install"][0]["download_info"]
    path = unquote(urlsplit(found["url"]).path)
    digest = found.get("archive_info", {}).get("hashes", {}).get("sha256", "")
    if found["url"].startswith("file:"):
        digest = sha256(Path(path))
    if not digest:
        raise OverlayError(f"{package} {version}: the package index gives no sha256 for its wheel")
    return Artifact(package, version, path.rpartition("/")[2], digest)


def rewrite(text: str, values: dict[str, str]) -> str:
    """pin.yaml's text with new values; comments and order stay.

    Raises UsageError for a key that has no line of its own.
    """
    left = dict(values)
    old = ""
    above: list[tuple[int, str]] = []
    lines = []
    for line in text.splitlines(keepends=True):
        match = _LINE.fullmatch(line)
        if match is None:
            lines.append(line)
            continue
        indent, name, value, comment = match.groups()
        while above and above[-1][0] >= len(indent):
            above.pop()
        above.append((len(indent), name))
        key = ".".join(part for _, part in above)
        if value and key in left:
            new = left.pop(key)
            if key == "vllm.version":
                old = value
            quote = value[0] if value[0] in "\"'" else ""
            line = f"{indent}{name}: {quote}{new}{quote}{comment}\n"
        lines.append(line)
    if left:
        raise UsageError(f"pin.yaml: {next(iter(left))}: has no line of its own")
    return "".join(_comment(line, old, values.get("vllm.version", "")) for line in lines)


def remember(text: str, old: Artifact) -> str:
    """pin.yaml's text with a source distribution among `versions`, in order, if it is not there.

    A text that has no such list stays as it is.
    """
    head = re.search(r"^versions:[ \t]*(#.*)?\n", text, re.MULTILINE)
    if head is None:
        return text
    place = head.end()
    for match in _VERSION.finditer(text, head.end()):
        if match[2] == old.version:
            return text
        if Version(match[2]) < Version(old.version):
            place = match.end()
    # YAML would take 1.0 for a number.
    name = old.version if old.version.count(".") > 1 else f'"{old.version}"'
    entry = f"  {name}:\n    sdist:\n      file: {old.file}\n      sha256: {old.sha256}\n"
    return text[:place] + entry + text[place:]


def _comment(line: str, old: str, new: str) -> str:
    """A line whose comment names the old version's wheel."""
    return line.replace(f"{old}+ternary", f"{new}+ternary") if old and new else line


def _set(result: NextPin, key: str, wheel: Artifact | None, package: str) -> None:
    if wheel is None:
        raise OverlayError(
            f"pip finds no wheel of {package} like the one of {key} in pin.yaml{_WHY}"
        )
    result.values[f"{key}.file"] = wheel.file
    result.values[f"{key}.sha256"] = wheel.sha256


def _found(git: Git, commit: str, path: str, pattern: re.Pattern[bytes], what: str) -> str:
    match = pattern.search(git.blob(commit, path) or b"")
    if match is None:
        raise OverlayError(f"{path} of the new version does not say {what}: look how it does now")
    return match[1].decode()
