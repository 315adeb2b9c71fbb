# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Programs that run vLLM's engine in a process of their own, with the Python of the tests."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def run(program: str | Path, *arguments: object) -> list[dict[str, Any]]:
    """The JSON of each line "RESULT {...}" that the program prints; it has to succeed."""
    process = subprocess.run(
        [sys.executable, str(program), *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ
        | {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_CPU_KVCACHE_SPACE": "1"}
        | {"HF_HUB_OFFLINE": "1"},
    )
    assert process.returncode == 0, process.stderr
    lines = [line for line in process.stdout.splitlines() if line.startswith("RESULT ")]
    return [json.loads(line.removeprefix("RESULT ")) for line in lines]
