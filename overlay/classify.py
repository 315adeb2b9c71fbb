# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What each path that a patch changes means for a wheel made by overlay."""

from __future__ import annotations

import difflib
import enum
import tomllib

from overlay.errors import OverlayError


class PathClass(enum.Enum):
    """What the build does with a changed path."""

    OVERLAY = "laid over the official wheel"
    COMPILED = "part of the extension compiled here"
    METADATA = "makes the wheel's metadata"
    NO_EFFECT = "no effect on the wheel"
    REFUSED = "in the official wheel through vLLM's own build"


_COMPILED_FOLDER = "csrc/quantization/ternary/"
_COMPILED_FILES = ("cmake/ternary_extension.cmake",)

# vLLM's own build: it may hook the extension in, and nothing else.
_BUILD_FILES = ("CMakeLists.txt", "setup.py")

# Read by vLLM's setup.py for the CUDA wheel.
REQUIREMENTS = ("requirements/common.txt", "requirements/cuda.txt")

_NO_EFFECT_FOLDERS = (
    ".agents/", ".buildkite/", ".claude/", ".github/", "benchmarks/", "docker/", "docs/",
    "examples/", "requirements/", "tests/", "tools/",
)  # fmt: skip
_NO_EFFECT_FILES = (
    ".clang-format", ".dockerignore", ".git-blame-ignore-revs", ".gitignore",
    ".pre-commit-config.yaml", ".readthedocs.yaml", ".yapfignore", "AGENTS.md", "CLAUDE.md",
    "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "DCO", "RELEASE.md", "SECURITY.md", "mkdocs.yaml",
)  # fmt: skip
# Inside a folder without effect, but run by vLLM's build.
_BUILD_TOOLS = ("tools/build_rust.py",)


def classify(path: str, before: bytes | None, after: bytes | None) -> PathClass:
    """The class of a changed path; `before` and `after` are its contents, None where it is absent.

    A path that is not known to be harmless is refused.
    """
    if path.startswith("vllm/"):
        return PathClass.OVERLAY
    if path.startswith(_COMPILED_FOLDER) or path in _COMPILED_FILES:
        return PathClass.COMPILED
    if path in _BUILD_FILES:
        hooked = before is not None and after is not None and _only_hooks_in(before, after)
        return PathClass.COMPILED if hooked else PathClass.REFUSED
    if path in REQUIREMENTS:
        return PathClass.METADATA
    if path == "pyproject.toml" and before is not None and after is not None:
        return _classify_pyproject(before, after)
    if path in _BUILD_TOOLS:
        return PathClass.REFUSED
    if path.startswith(_NO_EFFECT_FOLDERS) or path in _NO_EFFECT_FILES:
        return PathClass.NO_EFFECT
    return PathClass.REFUSED


def refusal(patch: str, path: str) -> OverlayError:
    """The error for a patch that changes a path of the class REFUSED."""
    return OverlayError(
        f"{patch}: {path} is {PathClass.REFUSED.value} (its binaries or its description), which an "
        "overlay cannot change: build all with ./build.sh --full, or leave the change out"
    )


def _only_hooks_in(before: bytes, after: bytes) -> bool:
    """Whether a change only adds lines, each blank, a comment, or about the ternary extension."""
    old = before.decode(errors="replace").splitlines()
    new = after.decode(errors="replace").splitlines()
    for line in difflib.ndiff(old, new):
        if line.startswith("- "):
            return False
        if line.startswith("+ "):
            text = line[2:].strip()
            if text and not text.startswith("#") and "ternary" not in text.lower():
                return False
    return True


def _classify_pyproject(before: bytes, after: bytes) -> PathClass:
    """METADATA when entry points change, REFUSED when what is packed does, else no effect."""
    old, new = (tomllib.loads(data.decode()) for data in (before, after))
    entry_points = ("scripts", "gui-scripts", "entry-points")
    for table in (old, new):
        table.pop("build-system", None)
        tools = table.get("tool", {})
        table["tool"] = {name: tools[name] for name in tools if name.startswith("setuptools")}
    rest = [
        {key: value for key, value in table.get("project", {}).items() if key not in entry_points}
        for table in (old, new)
    ]
    if rest[0] != rest[1] or old["tool"] != new["tool"]:
        return PathClass.REFUSED
    return PathClass.NO_EFFECT if old == new else PathClass.METADATA
