# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Retirement probes: a declarative check on a pristine tree that says a patch is not needed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from overlay.errors import OverlayError

_PROBE = re.compile(r"(\S+): (present|absent) (\S.*)")


@dataclass(frozen=True)
class Probe:
    """Whether a pattern has to be found, or not to be found, in a file of the source."""

    path: str
    present: bool
    pattern: re.Pattern[str]

    def holds(self, data: bytes | None) -> bool:
        """Whether the check is met by the file's bytes; a file that is not there (None) proves
        nothing: it may have moved.
        """
        if data is None:
            return False
        return bool(self.pattern.search(data.decode(errors="replace"))) == self.present


def parse_probe(text: str) -> Probe:
    """Read `PATH: present|absent REGEX`.

    Raises OverlayError saying what is wrong; the pattern is one of Python's, `^` and `$` match
    at every line.
    """
    match = _PROBE.fullmatch(text)
    if not match:
        raise OverlayError(f"expected 'PATH: present|absent REGEX', found {text!r}")
    if match[1].startswith("/") or ".." in match[1].split("/"):
        raise OverlayError(f"path {match[1]!r} leads out of the tree")
    try:
        pattern = re.compile(match[3], re.MULTILINE)
    except re.error as fault:
        raise OverlayError(f"{match[3]!r} is not a regular expression: {fault}") from None
    return Probe(match[1], match[2] == "present", pattern)
