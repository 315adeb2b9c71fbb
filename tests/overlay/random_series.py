# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Random small trees, series of changes over them, and ways to damage a patch."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

PATHS = ("a.py", "b.py", "d/c.py", "d/e/f.txt", "run me.sh", "x.bat", ".hidden", "build/y.log")
# Few, so that blocks come twice; some look like parts of a diff.
LINES = (
    b"x", b"y", b"z", b"", b" x", b"\tx ", b"-- a/b.py", b"++ b/b.py", b"@@ -1 +1 @@", b"---",
    b"diff --git a/a.py b/a.py", b"\\ No newline at end of file", b"caf\xe9",
)  # fmt: skip


@dataclass(frozen=True)
class File:
    data: bytes
    executable: bool = False


Tree = dict[str, File]


@st.composite
def contents(draw: st.DrawFn) -> bytes:
    """A file's bytes: blocks that may come again, LF or CRLF, perhaps no last newline."""
    block = draw(st.lists(st.sampled_from(LINES), max_size=5))
    between = draw(st.lists(st.sampled_from(LINES), max_size=4))
    lines = block + between + block * draw(st.integers(0, 2))
    end = draw(st.sampled_from((b"\n", b"\n", b"\r\n")))
    data = b"".join(line + end for line in lines)
    return data[: -len(end)] if data and draw(st.booleans()) else data


@st.composite
def edits(draw: st.DrawFn, data: bytes) -> bytes:
    """A file's bytes with some of its lines replaced."""
    lines = data.splitlines(keepends=True)
    start = draw(st.integers(0, len(lines)))
    end = draw(st.integers(start, min(len(lines), start + 3)))
    new = draw(st.lists(st.sampled_from(LINES), max_size=3))
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    return b"".join([*lines[:start], *(line + newline for line in new), *lines[end:]])


@st.composite
def changed(draw: st.DrawFn, tree: Tree) -> Tree:
    """Another tree: files added, edited, deleted, or with another mode."""
    new = dict(tree)
    for path in draw(st.lists(st.sampled_from(PATHS), min_size=1, max_size=3, unique=True)):
        file = new.get(path)
        how = draw(st.sampled_from(("edit", "edit", "edit", "write", "delete", "mode")))
        if file is None or how == "write":
            new[path] = File(draw(contents()), draw(st.booleans()))
        elif how == "edit":
            new[path] = File(draw(edits(file.data)), file.executable)
        elif how == "delete":
            del new[path]
        else:
            new[path] = File(file.data, not file.executable)
    if new == tree:
        new["z.py"] = File(tree.get("z.py", File(b"")).data + b"more\n")
    return new


@st.composite
def series(draw: st.DrawFn) -> list[Tree]:
    """A tree and those that come after it, one a patch."""
    names = draw(st.lists(st.sampled_from(PATHS), min_size=1, max_size=5, unique=True))
    trees: list[Tree] = [{name: File(draw(contents())) for name in names}]
    for _ in range(draw(st.integers(1, 4))):
        trees.append(draw(changed(trees[-1])))
    return trees


@st.composite
def damaged(draw: st.DrawFn, patch: bytes) -> bytes:
    """A patch with something done to it that an editor, a mail or a bad disk would do."""
    start = patch.index(b"\ndiff --git ") + 1
    lines = patch.splitlines(keepends=True)
    first = patch[:start].count(b"\n")
    place = draw(st.integers(first, len(lines) - 1))
    other = draw(st.integers(first, len(lines) - 1))
    how = draw(st.sampled_from(("byte", "cut", "drop", "twice", "swap", "line", "crlf", "index")))
    if how == "byte":
        at = draw(st.integers(start, len(patch) - 1))
        return patch[:at] + bytes([draw(st.sampled_from(b"+- x0@\n"))]) + patch[at + 1 :]
    if how == "cut":
        return patch[: draw(st.integers(start, len(patch) - 1))]
    if how == "drop":
        del lines[place]
    elif how == "twice":
        lines.insert(place, lines[place])
    elif how == "swap":
        lines[place], lines[other] = lines[other], lines[place]
    elif how == "line":
        lines.insert(place, draw(st.sampled_from((b"+", b"-", b" "))) + b"x\n")
    elif how == "crlf":
        lines[place] = lines[place][:-1] + b"\r\n"
    else:  # made for another file, as far as its index lines tell, and edited
        lines = [line for line in lines if not line.startswith(b"index ")]
        place = min(place, len(lines) - 1)
        if lines[place][:1] in (b"+", b"-", b" "):
            lines[place] = draw(st.sampled_from((b"+", b"-", b" "))) + lines[place][1:]
    return b"".join(lines)
