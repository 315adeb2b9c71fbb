# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Who waits for what a run left behind is not told to look for the run, which is gone."""

import subprocess
import sys
from pathlib import Path

from overlay.lock import alone

SECOND = """
import sys
from pathlib import Path
from overlay.lock import alone
with alone(Path(sys.argv[1]), "build"):
    pass
"""


def test_gone_process_is_not_named(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    lock = tmp_path / "lock"
    with alone(lock, "build"):
        lock.write_text(f"{gone.pid}\n")
        second = subprocess.Popen(
            [sys.executable, "-c", SECOND, str(lock)], stderr=subprocess.PIPE, text=True
        )
        assert second.stderr is not None
        assert second.stderr.readline() == (
            "Waiting for what an interrupted build started and still runs ...\n"
        )
    assert second.wait(timeout=60) == 0
    second.stderr.close()
