# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A second run waits for the first and says so."""

import subprocess
import sys

from small_project import Project

from overlay.lock import locked

SECOND = """
import sys
from pathlib import Path
from overlay.lock import locked
from overlay.paths import Workspace
with locked(Workspace(Path(sys.argv[1]))):
    print("held", flush=True)
"""


def test_second_waits(project: Project) -> None:
    with locked(project.workspace):
        second = subprocess.Popen(
            [sys.executable, "-c", SECOND, str(project.workspace.root)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert second.stderr is not None
        assert "Waiting for another run" in second.stderr.readline()
        assert second.poll() is None
    assert second.communicate(timeout=60)[0] == "held\n"
