# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""GPU architectures: the ones there are kernels for, and those a build is asked for."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable

from overlay import process
from overlay.errors import OverlayError, UsageError

# Code for X.Y also runs on X.Z with Z > Y, except that of 9.0a, which runs on 9.0 alone.
SUPPORTED = ("8.0", "8.6", "8.9", "9.0a", "10.0", "12.0")
DEFAULT = ("8.0", "8.6", "8.9", "9.0a", "10.0", "12.0+PTX")


def parse(text: str) -> tuple[str, ...]:
    """The architectures that `--archs` names, in ascending order.

    `native` stands for those of this machine's GPUs; otherwise a list such as `8.6,9.0a,12.0+PTX`.
    Raises UsageError for one without kernels.
    """
    if text.strip() == "native":
        return _sorted(for_capability(found) for found in _capabilities())
    names = [name for name in re.split(r"[\s,;]+", text.strip()) if name]
    if not names:
        raise UsageError(f"--archs: no architecture given; there are {' '.join(SUPPORTED)}, native")
    return _sorted(_checked(name) for name in names)


def for_capability(capability: str) -> str:
    """The architecture whose code runs on a GPU of this compute capability, as in 8.7 -> 8.6.

    Raises OverlayError when there is none.
    """
    major, minor = (int(part) for part in capability.split("."))
    for name in reversed(SUPPORTED):
        own_major, own_minor = (int(part) for part in name.rstrip("a").split("."))
        if own_major == major and own_minor <= minor and (name[-1] != "a" or own_minor == minor):
            return name
    raise OverlayError(
        f"this machine's GPU has compute capability {capability}, for which there are no kernels; "
        f"there are {' '.join(SUPPORTED)}"
    )


def _checked(name: str) -> str:
    base = name.removesuffix("+PTX")
    if base == "9.0":
        base = "9.0a"
    if base not in SUPPORTED:
        raise UsageError(
            f"--archs: {name}: no such architecture; there are {' '.join(SUPPORTED)}, each also as "
            "X.Y+PTX, and native"
        )
    if not name.endswith("+PTX"):
        return base
    if base.endswith("a"):
        raise UsageError(f"--archs: {name}: code for {base} runs on no later GPU, so not as PTX")
    return f"{base}+PTX"


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    """Each once, in ascending order; with X.Y+PTX, X.Y alone says nothing more."""
    chosen = set(names)
    ordered = [name for base in SUPPORTED for name in (base, f"{base}+PTX") if name in chosen]
    return tuple(name for name in ordered if f"{name}+PTX" not in chosen)


def _capabilities() -> list[str]:
    """The compute capabilities of this machine's GPUs, as the driver's nvidia-smi reports them."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        raise OverlayError(
            "--archs native: nvidia-smi is not on PATH, so the GPUs are not known: name the "
            f"architectures ({' '.join(SUPPORTED)})"
        )
    said = process.run([tool, "--query-gpu=compute_cap", "--format=csv,noheader"], "nvidia-smi")
    found = [line.strip() for line in said.splitlines() if line.strip()]
    if not found or not all(re.fullmatch(r"\d+\.\d+", line) for line in found):
        raise OverlayError(f"--archs native: nvidia-smi names no GPU: {' '.join(said.split())!r}")
    return found
