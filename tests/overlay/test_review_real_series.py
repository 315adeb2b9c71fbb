# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The project's own series on the versions next to its pin: what is known of it shows."""

from __future__ import annotations

import pytest

from overlay.paths import HERE
from overlay.pin import load_pin
from overlay.review import Outcome, Report, review


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    """The reviews by version."""
    if not HERE.tree.exists():
        pytest.skip("needs the imported source: ./apply_patches.py apply")
    versions = ["0.31.0", "0.32.0", "0.33.0"]
    return {report.version: report for report in review(versions, load_pin())}


@pytest.mark.slow
def test_on_its_own_pin_every_patch_is_clean(reports: dict[str, Report]) -> None:
    report = reports["0.32.0"]
    assert {verdict.outcome for verdict in report.verdicts} == {Outcome.CLEAN}
    assert not report.needs_work


@pytest.mark.slow
def test_slot_mapping_is_upstream(reports: dict[str, Report]) -> None:
    verdicts = {verdict.topic: verdict for verdict in reports["0.33.0"].verdicts}
    found = verdicts["cpu-slot-mapping"]
    assert found.outcome is Outcome.UPSTREAM
    assert "its Retire-Probe holds" in found.reason
    assert not found.needs_work


@pytest.mark.slow
def test_marlin_repairs_are_still_needed(reports: dict[str, Report]) -> None:
    marlin = [entry for entry in reports["0.33.0"].verdicts if entry.topic.startswith("marlin-")]
    assert marlin
    assert not any(verdict.outcome.left_out for verdict in marlin)


@pytest.mark.slow
def test_no_name_is_gone_in_the_next_version(reports: dict[str, Report]) -> None:
    assert [v.missing for v in reports["0.33.0"].verdicts if v.missing] == []


@pytest.mark.slow
def test_names_that_the_version_before_lacks(reports: dict[str, Report]) -> None:
    gone = {v.topic: {m.name for m in v.missing} for v in reports["0.31.0"].verdicts if v.missing}
    assert gone == {
        "marlin-int8-prefer-marlin": {"backends", "prioritize_humming"},
        "flashinfer-sampler-nvcc": {"_flashinfer_nvcc_path"},
    }
