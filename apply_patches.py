#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The overlay tool's command: see `./apply_patches.py --help`."""

import sys

from overlay import bootstrap

if __name__ == "__main__":
    bootstrap.enter(__file__)
    from overlay.cli import main

    sys.exit(main())
