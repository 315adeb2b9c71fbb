# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The DEP-3 header of a patch: fields, folded lines, and the one order they are written in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from overlay.errors import OverlayError

# The order of a canonical header.
FIELDS = (
    "Subject",
    "Description",
    "Origin",
    "Bug",
    "Forwarded",
    "Author",
    "Last-Update",
    "Applied-Upstream",
    "Kind",
    "Depends",
    "Retires-When",
    "Retire-Probe",
    "Test",
)

_FIELD = re.compile(r"([A-Za-z][A-Za-z0-9-]*):(?: (.*))?")
TOPIC = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_TITLE = re.compile(rf"({TOPIC.pattern}): (\S.*)")
_TOPIC_LENGTH = 60


@dataclass(frozen=True)
class Header:
    """Fields in the order they were read; a folded value holds its lines joined by newlines.

    `lines` says at which line of the patch file a field begins (empty for a commit's header).
    """

    fields: dict[str, str]
    lines: dict[str, int]

    def render(self) -> str:
        """The header's canonical text: known fields in their order, then others as they came."""
        names = [name for name in FIELDS if name in self.fields]
        names += [name for name in self.fields if name not in FIELDS]
        return "".join(_render(name, self.fields[name]) for name in names)

    def entries(self, name: str) -> list[str]:
        """The value's lines that hold something, surrounding blanks cut."""
        return [line.strip() for line in self.fields.get(name, "").split("\n") if line.strip()]

    def paragraphs(self, name: str) -> list[str]:
        """The value as prose: lines joined, a line with a single dot parts paragraphs."""
        text = "\n".join("" if line == "." else line for line in self.entries(name))
        return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def _render(name: str, value: str) -> str:
    first, *rest = value.split("\n")
    return "".join([f"{name}: {first}".rstrip(" ") + "\n", *(f" {line}\n" for line in rest)])


def parse_header(file: str, text: str) -> Header:
    """Read a header (without the `---` that ends it); `file` is for the messages.

    Raises OverlayError naming file and line for anything that is neither a field nor a folded line.
    """
    fields: dict[str, str] = {}
    lines: dict[str, int] = {}
    name = ""
    for number, line in enumerate(text.split("\n")[:-1], 1):
        if line.endswith("\r"):
            raise OverlayError(f"{file}:{number}: the line ends in CRLF: save the patch with LF")
        if line.startswith(" ") and name:
            if not line.strip():
                raise OverlayError(f"{file}:{number}: a blank folded line is written ' .'")
            fields[name] += "\n" + line[1:].rstrip()
            continue
        match = _FIELD.fullmatch(line)
        if not match:
            raise OverlayError(f"{file}:{number}: expected 'Field: text' or '---', found {line!r}")
        name = match[1]
        if name in fields:
            raise OverlayError(
                f"{file}:{number}: field {name} is there twice (first at line {lines[name]})"
            )
        fields[name] = (match[2] or "").rstrip()
        lines[name] = number
    return Header(fields, lines)


def to_message(topic: str, header: Header) -> str:
    """The commit message that carries a header: `topic: Subject`, then the other fields."""
    rest = Header({k: v for k, v in header.fields.items() if k != "Subject"}, {})
    return f"{topic}: {header.fields['Subject']}\n\n{rest.render()}"


def from_message(message: str, author: str, date: str) -> tuple[str, Header]:
    """Topic and header of a commit: of a patch's own, or of one a person made.

    A body that is not a header becomes the Description; `author` (`Name <mail>`) and `date`
    (`YYYY-MM-DD`) fill the fields of a commit that has none.
    """
    title, _, body = message.strip("\n").partition("\n")
    titled = _TITLE.fullmatch(title)
    topic, subject = (titled[1], titled[2]) if titled else (slug(title), title)
    fields = {"Subject": subject}
    body = body.strip("\n")
    first = _FIELD.fullmatch(body.split("\n")[0])
    if first and first[1] in FIELDS:
        fields.update(parse_header(f"commit '{title}'", body + "\n").fields)
        return topic, Header(fields, {})
    prose = [line.rstrip() or "." for line in body.split("\n")] if body else []
    if prose:
        fields["Description"] = "\n".join(prose)
    fields["Author"] = author
    fields["Last-Update"] = date
    return topic, Header(fields, {})


def slug(title: str) -> str:
    """A patch's name from a commit's title: tags in brackets go, words are joined by hyphens."""
    words = re.findall(r"[a-z0-9]+", re.sub(r"\[[^]]*\]", " ", title).lower())
    name = ""
    for word in words:
        if len(name) + len(word) >= _TOPIC_LENGTH:
            break
        name = f"{name}-{word}" if name else word
    if not name:
        raise OverlayError(
            f"commit '{title}': no name can be made of its title: write 'name: title'"
        )
    return name
