# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""What ptxas reports of each kernel becomes a row; a spill shows in it."""

import sys
from pathlib import Path

import pytest

from bench import kernel_resources
from overlay.errors import OverlayError
from overlay.paths import Workspace

REPORT = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1av' for 'sm_80'
ptxas info    : Function properties for _Z1av
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 496 bytes cmem[0]
ptxas info    : Compile time = 3.081 ms
ptxas info    : Compiling entry function '_Z1bv' for 'sm_80'
ptxas info    : Function properties for _Z1bv
    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 16 bytes stack, 10368 bytes smem
"""


def test_every_kernel_is_read() -> None:
    assert kernel_resources.parse_report(REPORT) == [
        {"registers": 32, "shared": 0, "stack": 0, "spilled": 0},
        {"registers": 255, "shared": 10368, "stack": 16, "spilled": 12},
    ]


def test_a_row_has_the_range_and_the_spills_of_its_kernels() -> None:
    row = kernel_resources.summary("a.cu", "8.0", kernel_resources.parse_report(REPORT))
    assert row == {
        "source": "a.cu",
        "arch": "8.0",
        "kernels": 2,
        "registers_min": 32,
        "registers_max": 255,
        "static_shared": 10368,
        "stack": 16,
        "spilled": 12,
    }
    line = kernel_resources.table([row]).splitlines()[-1]
    assert line == "| a.cu | 8.0 | 2 | 32 to 255 | 10368 | 16 | 12 |"


def test_a_source_without_kernels_has_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Workspace(tmp_path).tree / kernel_resources.SOURCES
    folder.mkdir(parents=True)
    reports = {"a.cu": REPORT, "a_plan.cu": "ptxas info    : 0 bytes gmem\n"}
    for name in reports:
        (folder / name).touch()
    monkeypatch.setattr(kernel_resources, "ROOT", tmp_path)
    monkeypatch.setattr(kernel_resources.compiler, "prepare", lambda pin: None)
    monkeypatch.setattr(
        kernel_resources, "compile_report", lambda tools, source, *rest: reports[source.name]
    )
    monkeypatch.setattr(sys, "argv", ["", "--archs", "8.0", "--out", str(tmp_path / "rows.json")])
    assert kernel_resources.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines[2:]] == ["a.cu"]


def test_another_form_of_report_is_refused() -> None:
    with pytest.raises(OverlayError, match="ptxas"):
        kernel_resources.parse_report(REPORT.replace("spill loads", "loads"))
