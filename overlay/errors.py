# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Errors that end a command with one line and no traceback."""

import sys

# What to look at when pip does not find what it is asked for.
NETWORK = "is there a network, and do the index or find-links of your pip configuration have it?"


class OverlayError(Exception):
    """A fault a person can act on: one line that says what, where and what to do.

    The message is built where the fault is understood; `overlay.cli` prints it and exits with
    `exit_code` (1: the answer is no, 2: wrong usage or input).
    """

    exit_code = 1

    def tell(self) -> int:
        """Print it in one line; return the exit code."""
        print(f"error: {' '.join(str(self).splitlines())}", file=sys.stderr)
        return self.exit_code


def system_fault(fault: OSError) -> str:
    """One line for a fault of the system that no module foresaw: which file, and what."""
    return ": ".join(str(part) for part in (fault.filename, fault.strerror or fault) if part)


class UsageError(OverlayError):
    """Wrong usage or input (exit code 2)."""

    exit_code = 2
