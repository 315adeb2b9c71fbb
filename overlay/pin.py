# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The pin: which vLLM the series is for, and the files it is made from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from overlay.errors import UsageError
from overlay.paths import ROOT

_VERSION = re.compile(r"\d+(\.\d+)+")
_FILE = re.compile(r"[^/]+\.(whl|tar\.gz)")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{7,40}")


@dataclass(frozen=True)
class Artifact:
    """A file of a package registry, known by its hash."""

    package: str
    version: str
    file: str
    sha256: str


@dataclass(frozen=True)
class Pin:
    """What `pin.yaml` says.

    `release` is N of `+ternary.N`; `commit` is the tag's commit, perhaps shortened; `torch_headers`
    is a wheel that only headers are taken from, so its platform does not matter; `versions` are the
    source distributions of other versions, which `review` and `upgrade` are asked about.
    """

    release: int
    version: str
    tag: str
    commit: str
    sdist: Artifact
    wheel: Artifact
    torch: str
    torch_headers: Artifact
    cpu_tryout: Artifact
    cuda: str
    compiler: tuple[Artifact, ...]
    versions: tuple[Artifact, ...] = ()

    @property
    def wheel_version(self) -> str:
        """The version of the wheel that is built, as in `0.32.0+ternary.1`."""
        return f"{self.version}+ternary.{self.release}"


class _Reader:
    """Typed access to a YAML mapping; each fault names the file and the key.

    `within` opens the names of keys when the mapping is a part of the file.
    """

    def __init__(self, path: Path, data: Any, within: str = "") -> None:
        self._path = path
        self._data = data
        self._within = within

    def text(self, key: str, pattern: re.Pattern[str] | None = None) -> str:
        value = self._value(key)
        # YAML reads 13.0 as a number: only a quoted version keeps its digits.
        if not isinstance(value, str) or (pattern and not pattern.fullmatch(value)):
            raise UsageError(f"{self._name(key)}: not right: {value!r}")
        return value

    def number(self, key: str) -> int:
        value = self._value(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise UsageError(f"{self._name(key)}: a number from 1 up is needed: {value!r}")
        return value

    def names(self, key: str) -> list[str]:
        value = self._value(key)
        if not isinstance(value, dict) or not value:
            raise UsageError(f"{self._name(key)}: packages are needed")
        return [str(name) for name in value]

    def artifact(self, key: str, package: str, version: str) -> Artifact:
        file = self.text(f"{key}.file", _FILE)
        return Artifact(package, version, file, self.text(f"{key}.sha256", _SHA256))

    def versions(self, key: str) -> list[Artifact]:
        if isinstance(self._data, dict) and key not in self._data:
            return []
        entries = self._value(key)
        if not isinstance(entries, dict):
            raise UsageError(f"{self._name(key)}: a mapping by version is needed")
        result = []
        for version, entry in entries.items():
            if not isinstance(version, str) or not _VERSION.fullmatch(version):
                raise UsageError(f"{self._name(key)}: not a version in quotes: {version!r}")
            read = _Reader(self._path, entry, f"{key}: {version}: ")
            result.append(read.artifact("sdist", "vllm", version))
        return result

    def _name(self, key: str) -> str:
        return f"{self._path.name}: {self._within}{key}"

    def _value(self, key: str) -> Any:
        value = self._data
        for part in key.split("."):
            if not isinstance(value, dict) or part not in value:
                raise UsageError(f"{self._name(key)} is missing")
            value = value[part]
        return value


def load_pin(path: Path = ROOT / "pin.yaml") -> Pin:
    """Read and check `pin.yaml`.

    Raises UsageError naming the key that is missing or wrong.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise UsageError(f"{path}: {fault.strerror}") from fault
    except (yaml.YAMLError, UnicodeDecodeError) as fault:
        raise UsageError(f"{path.name}: not YAML: {' '.join(str(fault).split())}") from fault
    read = _Reader(path, data)
    version = read.text("vllm.version", _VERSION)
    torch = read.text("torch.version", _VERSION)
    return Pin(
        release=read.number("release"),
        version=version,
        tag=read.text("vllm.tag"),
        commit=read.text("vllm.commit", _COMMIT),
        sdist=read.artifact("vllm.sdist", "vllm", version),
        wheel=read.artifact("vllm.wheel", "vllm", version),
        torch=torch,
        torch_headers=read.artifact("torch.headers", "torch", torch),
        cpu_tryout=read.artifact(
            "cpu_tryout", read.text("cpu_tryout.package"), read.text("cpu_tryout.version", _VERSION)
        ),
        cuda=read.text("compiler.cuda", _VERSION),
        compiler=tuple(
            read.artifact(
                f"compiler.packages.{name}",
                name,
                read.text(f"compiler.packages.{name}.version", _VERSION),
            )
            for name in read.names("compiler.packages")
        ),
        versions=tuple(read.versions("versions")),
    )
