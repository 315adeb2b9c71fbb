# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A review as text for people, as Markdown for a pull request and as JSON for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from overlay.review import Outcome, Report, Verdict


def as_json(pin: str, reports: Sequence[Report]) -> dict[str, Any]:
    """The review as `--json` prints it; `pin` is the version that the series is for."""
    return {
        "pin": pin,
        "versions": [
            {
                "version": report.version,
                "pinned": report.pinned,
                "needs_work": report.needs_work,
                "patches": [_entry(verdict) for verdict in report.verdicts],
            }
            for report in reports
        ],
    }


def as_text(pin: str, reports: Sequence[Report]) -> str:
    """A table of patches and versions, then for each version what there is to say."""
    head = ["patch", *(report.version for report in reports)]
    table = [head, *_rows(reports)]
    widths = [max(len(row[column]) for row in table) for column in range(len(head))]
    lines = [
        "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
    for report in reports:
        lines += ["", f"{report.version} (the series is for {pin}): {_counts(report)}"]
        if not report.pinned:
            lines.append(f"  {_UNPINNED}")
        for verdict in report.verdicts:
            lines.append(f"  {verdict.file}: {verdict.outcome.value}: {verdict.reason}")
            lines += [f"      {line}" for line in _remarks(verdict)]
    return "\n".join(lines) + "\n"


def as_markdown(pin: str, reports: Sequence[Report]) -> str:
    """The table, then for each version the patches that are not simply clean."""
    versions = [report.version for report in reports]
    text = f"The series for vLLM {pin} on {', '.join(versions)}:\n\n"
    text += _markdown_row(["Patch", *versions]) + _markdown_row(["---"] * (len(versions) + 1))
    text += "".join(_markdown_row(row) for row in _rows(reports))
    for report in reports:
        text += f"\n### {report.version}: {_counts(report)}\n\n"
        if not report.pinned:
            text += f"{_UNPINNED}\n\n"
        for verdict in report.verdicts:
            if verdict.outcome is Outcome.CLEAN and not verdict.needs_work:
                continue
            reason = _plain(verdict.reason)
            text += f"- **{verdict.topic}**: {verdict.outcome.value}: {reason}\n"
            text += "".join(f"  - {_plain(line)}\n" for line in _remarks(verdict))
    return text


_UNPINNED = (
    "pin.yaml has no hash for this version: its source was checked by the package index's own only"
)


def _rows(reports: Sequence[Report]) -> list[list[str]]:
    columns = [report.verdicts for report in reports]
    return [
        [verdicts[0].file.removesuffix(".patch"), *(_cell(verdict) for verdict in verdicts)]
        for verdicts in zip(*columns, strict=True)
    ]


def _cell(verdict: Verdict) -> str:
    count = len(verdict.missing)
    names = f", {count} name{'s' * (count != 1)} gone" if count else ""
    return f"{verdict.outcome.value}{names}{' (?)' if verdict.doubts else ''}"


def _counts(report: Report) -> str:
    """How many patches there are of each outcome, and how many need a person."""
    found = Counter(verdict.outcome for verdict in report.verdicts)
    parts = [f"{found[outcome]} {outcome.value}" for outcome in Outcome if found[outcome]]
    work = sum(verdict.needs_work for verdict in report.verdicts)
    asks = f"{work} need{'s' * (work == 1)} a look" if work else "nothing to do by hand"
    return f"{', '.join(parts) or 'no patches'}; {asks}"


def _remarks(verdict: Verdict) -> list[str]:
    """A line for each name that is gone, and for each doubt."""
    gone = [f"{entry.path}:{entry.line}: {entry.name}: {entry.reason}" for entry in verdict.missing]
    return [*gone, *verdict.doubts]


def _entry(verdict: Verdict) -> dict[str, Any]:
    return {
        "file": verdict.file,
        "name": verdict.topic,
        "outcome": verdict.outcome.value,
        "reason": verdict.reason,
        "needs_work": verdict.needs_work,
        "missing": [
            {
                "path": entry.path,
                "line": entry.line,
                "name": entry.name,
                "reason": entry.reason,
            }
            for entry in verdict.missing
        ],
        "doubts": list(verdict.doubts),
    }


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_plain(cell).replace("|", "\\|") for cell in cells) + " |\n"


def _plain(text: str) -> str:
    """Text with what Markdown would take for marks or HTML made plain."""
    for mark in ("\\", "*", "_", "<", "`"):
        text = text.replace(mark, f"\\{mark}")
    return text
