# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A PEP 517 backend that only says what PKG-INFO says.

`pip download` asks an sdist's backend for its metadata before it keeps the file. vLLM's own would
need torch, CUDA and minutes, and would run the download's code before anyone looked at it. With
this folder on PYTHONPATH and build isolation off, pip asks this module instead.
"""

from __future__ import annotations

from email.parser import HeaderParser
from pathlib import Path
from typing import Any


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Nothing is needed, for nothing is built."""
    return []


def prepare_metadata_for_build_wheel(folder: str, config_settings: Any = None) -> str:
    """Write the metadata of the sdist in the current folder into `folder`; return its name."""
    text = Path("PKG-INFO").read_text(encoding="utf-8")
    fields = HeaderParser().parsestr(text)
    info = Path(folder) / f"{fields['Name'].replace('-', '_')}-{fields['Version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(text, encoding="utf-8")
    return info.name
