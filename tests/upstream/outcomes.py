# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""pytest plugin: writes each test's outcome as soon as it is known: a cut run keeps what it had.

    pytest -p outcomes --outcomes FILE [--leave-out FILE]

One JSON object a line, appended: {"selected": [test, ...]} once the tests are collected, then
{"test", "outcome": passed | failed | error | skipped, "seconds"} as each ends. With pytest-xdist
the controlling process writes. Tests named in the --leave-out file, one a line, are not run.
"""

import json
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    # Strings: pytest-xdist can't send a Path to its workers.
    parser.addoption("--outcomes", required=True, help="file to append outcomes to")
    parser.addoption("--leave-out", help="file of tests not to run, one a line")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        recorder = Recorder(Path(config.getoption("outcomes")))
        config.pluginmanager.register(recorder, "outcomes-recorder")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("leave_out") is None:
        return
    names = set(Path(config.getoption("leave_out")).read_text().splitlines())
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in names])
    items[:] = [item for item in items if item.nodeid not in names]


class Recorder:
    """Appends to one file; a test's phases (set-up, call, tear-down) make one outcome."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.selected = False
        self.outcomes: dict[str, str] = {}
        self.seconds: dict[str, float] = {}

    def write(self, line: dict[str, Any]) -> None:
        # Unbuffered: one call writes the whole line.
        with self.path.open("ab", buffering=0) as file:
            file.write(json.dumps(line).encode() + b"\n")

    def write_selected(self, tests: list[str]) -> None:
        if tests and not self.selected:
            self.selected = True
            self.write({"selected": tests})

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.write_selected([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self.write_selected(ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        test = report.nodeid
        self.seconds[test] = self.seconds.get(test, 0) + report.duration
        if report.outcome == "rerun":  # pytest-rerunfailures tries again
            self.outcomes.pop(test, None)
            return
        if report.outcome == "skipped":
            self.outcomes[test] = "skipped"
        elif report.outcome == "failed":
            # Of a worker that died, `when` is "???".
            self.outcomes.setdefault(test, "failed" if report.when == "call" else "error")
        if report.when in ("teardown", "???"):
            outcome = self.outcomes.pop(test, "passed")
            seconds = round(self.seconds.pop(test), 2)
            self.write({"test": test, "outcome": outcome, "seconds": seconds})
