# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Small wheels that look like vLLM's, for tests of what is done to them."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

from overlay.wheel import digest

OFFICIAL = "vllm-1.2.3-cp38-abi3-manylinux_2_28_x86_64.whl"
OURS = "vllm-1.2.3+ternary.1-cp38-abi3-manylinux_2_28_x86_64.whl"

METADATA = (
    b"Metadata-Version: 2.4\nName: vllm\nVersion: 1.2.3\n"
    b"Requires-Dist: regex\nRequires-Dist: torch==2.13.0\n"
    b'Provides-Extra: bench\nRequires-Dist: pandas; extra == "bench"\n\nRead me.\n'
)
WHEEL = b"Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: false\nTag: cp38-abi3-linux_x86_64\n"
ENTRY_POINTS = b"[console_scripts]\nvllm = vllm.cli:main\n"
VERSION = b"__version__ = version = '1.2.3'\n__version_tuple__ = version_tuple = (1, 2, 3)\n"


def write_wheel(path: Path, files: Mapping[str, bytes], record: bool = True) -> Path:
    """A zip file with these members and, with `record`, a right RECORD in its metadata folder."""
    info = "-".join(path.name.split("-")[:2]) + ".dist-info/"
    lines = [f'"{name}",{digest(data)},{len(data)}\n' for name, data in files.items()]
    everything = dict(files)
    if record:
        everything[f"{info}RECORD"] = "".join([*lines, f"{info}RECORD,,\n"]).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in everything.items():
            member = zipfile.ZipInfo(name, (2026, 10, 17, 21, 27, 52))
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = (0o100755 if name.endswith(".sh") else 0o100664) << 16
            archive.writestr(member, data)
    return path


def official_files() -> dict[str, bytes]:
    """The members of a small official wheel."""
    return {
        "vllm/__init__.py": b"import os\n" * 40,
        "vllm/_version.py": VERSION,
        "vllm/a,b.json": b"{}\n",
        "vllm/run.sh": b"#!/bin/sh\n",
        "vllm-1.2.3.dist-info/METADATA": METADATA,
        "vllm-1.2.3.dist-info/WHEEL": WHEEL,
        "vllm-1.2.3.dist-info/entry_points.txt": ENTRY_POINTS,
    }


def write_official(folder: Path) -> Path:
    """A small official wheel."""
    return write_wheel(folder / OFFICIAL, official_files())


def our_files() -> dict[str, bytes]:
    """The members of a right wheel of ours without an extension."""
    version = VERSION.replace(b"1.2.3'", b"1.2.3+ternary.1'")
    files = {"vllm/new.py": b"NEW = 1\n", "vllm/_version.py": version}
    manifest = {
        "format": 1,
        "name": "vllm",
        "version": "1.2.3+ternary.1",
        "patches": [{"name": "one"}],
        "extension": None,
        "files": {name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
        "removed": ["vllm/old.py"],
    }
    info = "vllm-1.2.3+ternary.1.dist-info/"
    return {
        "vllm/__init__.py": b"import os\n",
        **files,
        f"{info}METADATA": METADATA.replace(b"Version: 1.2.3\n", b"Version: 1.2.3+ternary.1\n"),
        f"{info}WHEEL": WHEEL.replace(b"linux_x86_64", b"manylinux_2_28_x86_64"),
        f"{info}ternary-manifest.json": json.dumps(manifest).encode(),
    }
