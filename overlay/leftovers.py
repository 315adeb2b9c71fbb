# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What patches that left the series leave behind in the project, for a person to look at."""

from __future__ import annotations

from collections.abc import Sequence

from overlay.patchfile import Patch
from overlay.paths import Workspace
from overlay.upstream import FILE, load_upstream, references


def leftovers(gone: Sequence[Patch], kept: Sequence[Patch], workspace: Workspace) -> list[str]:
    """A line for each test and each entry of upstream.yaml that only patches in `gone` name."""
    tests = _only(_tests(gone), _tests(kept))
    entries = _only(_references(gone), _references(kept))
    lock = load_upstream(workspace.patches)
    found = [test for test in tests if (workspace.root / test).exists()]
    found += [f"patches/{FILE}: {name}" for name in entries if name in lock]
    return [f"{entry}: no patch names it any more" for entry in found]


def _tests(patches: Sequence[Patch]) -> list[str]:
    return [e.partition("::")[0] for patch in patches for e in patch.header.entries("Test")]


def _references(patches: Sequence[Patch]) -> list[str]:
    return [name for patch in patches for name in references(patch)]


def _only(names: Sequence[str], others: Sequence[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name not in others]
