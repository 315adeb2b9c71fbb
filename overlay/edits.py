# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Adding patches to the series and taking them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from overlay import commits, export, foreign, store, switch, tree
from overlay.errors import OverlayError, UsageError
from overlay.git import Git
from overlay.header import TOPIC, Header, to_message
from overlay.leave_out import find, leave_out
from overlay.leftovers import leftovers
from overlay.lint import REQUIRED
from overlay.match import Offset
from overlay.patchfile import Patch, read_all
from overlay.paths import HERE, Workspace
from overlay.pin import Pin


@dataclass(frozen=True)
class Imported:
    """A foreign patch that became a commit: its name, what is missing in its header, offsets."""

    topic: str
    missing: list[str]
    offsets: tuple[Offset, ...]


@dataclass(frozen=True)
class Dropped:
    """The files of the patches that were dropped, and a line for what of them is still there."""

    files: list[str]
    left: list[str]


def new(topic: str, pin: Pin, workspace: Workspace = HERE) -> str:
    """Put a commit that changes nothing yet on the branch, to amend; return its id.

    Its message is a header with the fields to fill in. `export` refuses it while it is empty.
    """
    with tree.opened(workspace):
        git, facts = _open(pin, workspace, "new")
        _refuse_taken(git, facts, topic)
        header = skeleton({"Subject": topic.replace("-", " ").capitalize()})
        patch = Patch("", topic, "", b"", header, b"", ())
        author, date = commits.author_of(patch)
        commit = git.commit_tree(
            git.text("rev-parse", f"{facts.head}^{{tree}}"),
            to_message(topic, header), [facts.head], f"{author} {date}",
        )  # fmt: skip
        git.run("update-ref", "-m", "overlay: new", "HEAD", commit, facts.head)
        return commit


def take_in(file: Path, topic: str | None, pin: Pin, workspace: Workspace = HERE) -> Imported:
    """Make a commit of a patch from elsewhere: a mail, a DEP-3 patch or a plain diff.

    It has to fit exactly. Raises OverlayError, and changes nothing, when it does not.
    """
    found = foreign.read(file)
    topic = topic or found.topic
    with tree.opened(workspace):
        git, facts = _open(pin, workspace, "import")
        _refuse_taken(git, facts, topic)
        header = skeleton(found.fields)
        patch = Patch(file.name, topic, "", b"", header, found.diff, found.files)
        built = commits.build(git, facts.head, [patch])[0]
        tree.refuse_obstacles(git, facts.head, built.commit)
        before, after = store.Record(facts.head, ()), store.Record(built.commit, ())
        store.move(git, before, after, exported=False)
    return Imported(topic, [name for name in REQUIRED if not header.fields[name]],
                    built.applied.offsets)  # fmt: skip


def drop(names: Sequence[str], pin: Pin, workspace: Workspace = HERE) -> Dropped:
    """Take patches out of the branch and of patches/, in one step.

    Raises OverlayError when another patch needs one of them.
    """
    with tree.opened(workspace):
        series = tree.applied_series(pin, workspace, "drop")
        git = Git(workspace.tree)
        patches = read_all(workspace.patches)
        dropped = list({find(patches, name).file: find(patches, name) for name in names}.values())
        rest = leave_out(patches, names, commits.load(git, series.base, patches))
        for patch in patches:
            if patch.topic in rest.gone and patch not in dropped:
                reason = rest.gone[patch.topic].removeprefix("does not fit without: ")
                raise OverlayError(
                    f"{patch.topic} needs what would be dropped: name it as well, or change it "
                    f"first ({reason})"
                )
        built = commits.build(git, series.base, rest.kept)
        head = built[-1].commit if built else series.base
        rendered = export.render_commits(git, series.base, head)
        tree.refuse_obstacles(git, series.head, head)
        record = export.record_of(head, rendered)
        switch.switch(workspace, series.base, record, {r.file: r.data for r in rendered}, {})
        files = [patch.file for patch in dropped]
        return Dropped(files, leftovers(dropped, rest.kept, workspace))


def skeleton(known: dict[str, str]) -> Header:
    """A header with what is known, and the other fields that lint asks for left empty."""
    today = datetime.now(UTC).date().isoformat()
    fields = dict.fromkeys(REQUIRED, "") | {"Forwarded": "no", "Last-Update": today} | known
    return Header(fields, {})


def _open(pin: Pin, workspace: Workspace, command: str) -> tuple[Git, tree.Facts]:
    facts = tree.inspect_pinned(pin, workspace)
    tree.require_settled(facts, command)
    return Git(workspace.tree), facts


def _refuse_taken(git: Git, facts: tree.Facts, topic: str) -> None:
    if not TOPIC.fullmatch(topic):
        raise UsageError(f"{topic!r}: a name is small letters, digits and hyphens: some-topic")
    if topic in export.topics(git, facts.base, facts.head):
        raise OverlayError(f"there is a patch {topic} already: choose another name")
