# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What a shared object asks of the machine that loads it."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from auditwheel.architecture import Architecture  # type: ignore[import-untyped]
from auditwheel.elfutils import elf_find_versioned_symbols  # type: ignore[import-untyped]
from auditwheel.libc import Libc  # type: ignore[import-untyped]
from auditwheel.policy import WheelPolicies  # type: ignore[import-untyped]
from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerSymSection
from elftools.elf.sections import SymbolTableSection

from overlay.errors import OverlayError

# The extension must load with a torch for CPUs: libtorch_cuda and libcuda are not among these.
NEEDED = {
    "ld-linux-x86-64.so.2",
    "libc.so.6",
    "libdl.so.2",
    "libgcc_s.so.1",
    "libm.so.6",
    "libpthread.so.0",
    "librt.so.1",
    "libstdc++.so.6",
    "libtorch.so",
    "libtorch_cpu.so",
}
REQUIRED = {"libtorch.so", "libtorch_cpu.so"}

# The symbols without a version that the loading process has: Python's and torch's stable ABI.
_PROVIDED = ("Py", "_Py", "aoti_torch_", "torch_")


def check_extension(path: Path) -> None:
    """Check that the extension will load: its machine, its libraries, its undefined symbols.

    Raises OverlayError naming the first fault.
    """
    fault = extension_fault(path.read_bytes())
    if fault:
        raise OverlayError(f"{path.name} would not load: {fault}")


def extension_fault(data: bytes) -> str | None:
    """What keeps an extension module from loading beside torch, or None."""
    try:
        elf = ELFFile(BytesIO(data))
        if elf["e_machine"] != "EM_X86_64" or elf["e_type"] != "ET_DYN":
            return f"it is {elf['e_type']} for {elf['e_machine']}, not an x86-64 shared object"
        needed, paths = _dynamic(elf)
        undefined = _undefined(elf)
    except ELFError as fault:
        return f"it is not an ELF file ({fault})"
    if paths:
        return f"it looks for libraries in {', '.join(sorted(paths))}"
    if needed - NEEDED:
        return f"it needs {', '.join(sorted(needed - NEEDED))}"
    if REQUIRED - needed:
        return f"it does not name {', '.join(sorted(REQUIRED - needed))}, whose symbols it uses"
    if undefined:
        return f"nothing provides {', '.join(sorted(undefined)[:5])}"
    return None


def platform_tag(files: Iterable[Path], official: str) -> str:
    """The platform tag of a wheel with these files added to one tagged `official`.

    It is the newer of the two manylinux policies, as auditwheel finds it from the versions of the
    symbols. Raises OverlayError when no policy fits.
    """
    policies = WheelPolicies(libc=Libc.GLIBC, arch=Architecture.x86_64)
    names = {policy.name: policy for policy in policies}
    if official not in names:
        raise OverlayError(f"the official wheel's platform {official} is not known to auditwheel")
    worst = names[official]
    for path in files:
        versions: dict[str, set[str]] = {}
        with path.open("rb") as stream:
            for library, symbol in elf_find_versioned_symbols(ELFFile(stream)):
                versions.setdefault(library, set()).add(symbol)
        policy = policies.versioned_symbols_policy(versions)
        if policy == policies.linux:
            raise OverlayError(f"{path.name} needs newer system libraries than any manylinux tag")
        worst = min(worst, policy, key=lambda one: one.priority)
    return str(worst.name)


def _dynamic(elf: ELFFile) -> tuple[set[str], set[str]]:
    """The libraries an object names and the folders it has them looked for in."""
    needed: set[str] = set()
    paths: set[str] = set()
    section = elf.get_section_by_name(".dynamic")
    if isinstance(section, DynamicSection):
        for tag in section.iter_tags():
            kind = tag.entry.d_tag.removeprefix("DT_").lower()
            if kind == "needed":
                needed.add(tag.needed)  # type: ignore[attr-defined]
            elif kind in ("rpath", "runpath"):
                paths.add(getattr(tag, kind))
    return needed, paths


def _undefined(elf: ELFFile) -> set[str]:
    """Undefined symbols that neither a versioned library nor the loading process provides."""
    section = elf.get_section_by_name(".dynsym")
    versions = elf.get_section_by_name(".gnu.version")
    found: set[str] = set()
    if not isinstance(section, SymbolTableSection):
        return found
    for index, symbol in enumerate(section.iter_symbols()):
        if symbol["st_shndx"] != "SHN_UNDEF" or not symbol.name:
            continue
        if symbol["st_info"]["bind"] == "STB_WEAK" or symbol.name.startswith(_PROVIDED):
            continue
        if not isinstance(versions, GNUVerSymSection) or (
            versions.get_symbol(index)["ndx"] in ("VER_NDX_LOCAL", "VER_NDX_GLOBAL")
        ):
            found.add(symbol.name)
    return found
