# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Run a script in the try-out, with vLLM's engine in the script's own process."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from server import ENVIRONMENT


def run(python: Path, script: Path, *arguments: object) -> str:
    """What the script prints; it has to succeed."""
    process = subprocess.run(
        [str(python), str(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | ENVIRONMENT | {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"},
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def results(output: str) -> list[dict[str, Any]]:
    """The lines of JSON among those that vLLM prints, in order."""
    lines = [line for line in output.splitlines() if line.startswith("RESULT ")]
    return [json.loads(line.removeprefix("RESULT ")) for line in lines]
