# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The benchmarks are scripts that import their neighbours; here only what needs no torch."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2] / name) for name in ("bench", ".")]
