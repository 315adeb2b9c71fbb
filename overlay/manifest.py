# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""PATCHES.md: what is in the series, rendered from the patches' headers."""

from __future__ import annotations

from overlay.needs import needs
from overlay.patchfile import Patch, number_of_patches, read_all, summary
from overlay.paths import HERE, Workspace
from overlay.pin import Pin
from overlay.upstream import Lock, load_upstream, references

_HEAD = """\
<!-- Rendered by `./apply_patches.py manifest` from the headers of patches/. -->
# Patches on vLLM {version}

{count}, {files} files, +{added} -{removed} lines. Applied in this order; a patch is what stands in
`patches/`, and this page is rendered from it. *Needs* names the earlier patches without which one
does not apply or work; what is known of upstream is of the day in parentheses below.

| # | Patch | What | Kind | Upstream | Retires when | Tests | Files | Size | Needs |
|--:|---|---|---|---|---|--:|--:|--:|---|
"""


def render_manifest(pin: Pin, workspace: Workspace = HERE) -> str:
    """The text of PATCHES.md: a table, then each patch's details.

    Raises OverlayError for a patch that cannot be read.
    """
    patches = read_all(workspace.patches)
    required = needs(patches)
    lock = load_upstream(workspace.patches)
    text = _HEAD.format(
        version=pin.version,
        count=number_of_patches(len(patches)),
        files=len({file.path for patch in patches for file in patch.files}),
        added=sum(patch.added for patch in patches),
        removed=sum(patch.removed for patch in patches),
    )
    for number, patch in enumerate(patches, 1):
        text += _row(number, patch, required[patch.topic], lock)
    for patch in patches:
        needed_by = [topic for topic, others in required.items() if patch.topic in others]
        text += "\n" + _details(patch, required[patch.topic], needed_by, lock)
    return text


def upstream_state(patch: Patch) -> str:
    """Where the change stands upstream, in a few words."""
    applied = " ".join(patch.header.entries("Applied-Upstream"))
    if applied:
        return f"applied: {applied}"
    forwarded = " ".join(patch.header.entries("Forwarded"))
    words = {"no": "not sent", "not-needed": "not for upstream", "": "not said"}
    return words.get(forwarded, f"sent: {forwarded}")


def _row(number: int, patch: Patch, required: list[str], lock: Lock) -> str:
    known = [
        f"{name.rpartition('/')[2]} {lock[name].state}"
        for name in references(patch)
        if name in lock
    ]
    cells = [
        str(number),
        f"[{patch.topic}](#{patch.topic})",
        patch.header.fields["Subject"],
        _line(patch, "Kind"),
        "; ".join([upstream_state(patch), *known]),
        _line(patch, "Retires-When"),
        str(len(patch.header.entries("Test"))),
        str(len(patch.files)),
        f"+{patch.added} -{patch.removed}",
        ", ".join(required) or "-",
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _details(patch: Patch, required: list[str], needed_by: list[str], lock: Lock) -> str:
    text = f"## {patch.topic}\n\n**{_escaped(patch.header.fields['Subject'])}**\n\n"
    text += "".join(f"{_escaped(part)}\n\n" for part in patch.header.paragraphs("Description"))
    facts = [
        ("Kind", _line(patch, "Kind")),
        ("Upstream", upstream_state(patch)),
        ("Origin", _line(patch, "Origin")),
        ("Retires when", _line(patch, "Retires-When")),
        ("Needs", _linked(required)),
        ("Needed by", _linked(needed_by)),
        ("Size", summary(len(patch.files), patch.added, patch.removed).strip()),
        ("Author", _escaped(_line(patch, "Author"))),
        ("Last update", _line(patch, "Last-Update")),
    ]
    text += "".join(f"- {name}: {value}\n" for name, value in facts if value)
    if known := references(patch):
        text += "- References:\n" + "".join(f"  - {_reference(name, lock)}\n" for name in known)
    text += _list("Found retired by", patch.header.entries("Retire-Probe"))
    text += _list("Tests", patch.header.entries("Test"))
    text += _list(
        f"Files ([`{patch.file}`](patches/{patch.file}))",
        [f"{file.path} +{file.added} -{file.removed}" for file in patch.files],
    )
    return text


def _linked(topics: list[str]) -> str:
    return ", ".join(f"[{topic}](#{topic})" for topic in topics)


def _reference(name: str, lock: Lock) -> str:
    """A reference with what the upstream lock says of it."""
    repository, number = name.partition("#")[::2]
    # The forge leads from an issue's address to a pull request's.
    shown = f"[{name}](https://github.com/{repository}/issues/{number})" if number else f"`{name}`"
    if name not in lock:
        return shown
    title = f": {_escaped(lock[name].title)}" if lock[name].title else ""
    return f"{shown}{title}: {lock[name].describe()}"


def _line(patch: Patch, field: str) -> str:
    return " ".join(patch.header.entries(field))


def _list(title: str, entries: list[str]) -> str:
    if not entries:
        return ""
    return f"- {title}:\n" + "".join(f"  - `{entry}`\n" for entry in entries)


def _escaped(text: str) -> str:
    """Prose with what Markdown would take for HTML made plain."""
    return text.replace("<", "&lt;")
