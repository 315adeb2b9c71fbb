# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The wheel's own metadata: the official wheel's, with what the series changes in it."""

from __future__ import annotations

import configparser
import io
import re
import tomllib

from packaging.requirements import InvalidRequirement, Requirement

from overlay.errors import OverlayError

# setup.py reads these for developers, and leaves them out of the wheel.
_NOT_IN_WHEEL = ("flashinfer-cubin", "flashinfer-jit-cache")


def set_version(metadata: bytes, old: str, new: str) -> bytes:
    """METADATA with its `Version` changed. Raises OverlayError when `old` is not what it says."""
    return _replace_once(metadata, f"Version: {old}\n", f"Version: {new}\n", "METADATA")


def set_module_version(module: bytes, old: str, new: str) -> bytes:
    """`vllm/_version.py` with its version changed, so that the installed vLLM reports the wheel's.

    Raises OverlayError when the module does not say `old`.
    """
    name = "vllm/_version.py"
    module = _replace_once(
        module, f"__version__ = version = {old!r}", f"__version__ = version = {new!r}", name
    )
    return _replace_once(module, f"= {_version_tuple(old)!r}", f"= {_version_tuple(new)!r}", name)


def set_tag(wheel: bytes, tag: str) -> bytes:
    """WHEEL with its one `Tag`, and this tool as the generator."""
    text = wheel.decode()
    tags = re.findall(r"^Tag: .*$", text, re.MULTILINE)
    if len(tags) != 1:
        raise OverlayError(f"the official wheel's WHEEL has {len(tags)} tags; one is expected")
    text = text.replace(tags[0], f"Tag: {tag}")
    return re.sub(r"^Generator: .*$", "Generator: ternary-vllm", text, flags=re.MULTILINE).encode()


def change_requirements(metadata: bytes, path: str, before: bytes, after: bytes) -> bytes:
    """METADATA with the difference between two states of a requirements file applied.

    `path` names the file in errors. Raises OverlayError for a line that is no requirement, and for
    one that goes but is not in METADATA.
    """
    if _options(before) != _options(after):
        raise OverlayError(f"{path}: the options of pip in it change; only requirements may")
    old, new = (_requirements(path, data) for data in (before, after))
    gone = [one for one in old if one not in new]
    added = [one for one in new if one not in old]
    lines = metadata.decode().split("\n")
    end = lines.index("")
    for requirement in gone:
        found = [
            index
            for index, line in enumerate(lines[:end])
            if line.startswith("Requires-Dist: ")
            and Requirement(line.removeprefix("Requires-Dist: ")) == requirement
        ]
        if len(found) != 1:
            raise OverlayError(
                f"{path}: '{requirement}' goes, but the official wheel requires it {len(found)} "
                "times; one is expected"
            )
        del lines[found[0]]
        end -= 1
    # Requirements of extras come after those of the wheel itself.
    place = max(i for i, line in enumerate(lines[:end]) if line.startswith("Requires-Dist: ")) + 1
    extras = [i for i, line in enumerate(lines[:end]) if line.startswith("Provides-Extra: ")]
    place = min([place, *extras])
    lines[place:place] = [f"Requires-Dist: {requirement}" for requirement in added]
    return "\n".join(lines).encode()


def change_entry_points(entry_points: bytes, before: bytes, after: bytes) -> bytes:
    """entry_points.txt with the difference between two states of pyproject.toml applied.

    Raises OverlayError when one that goes or changes is not in the file.
    """
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their case
    parser.read_string(entry_points.decode())
    old, new = _entry_points(before), _entry_points(after)
    for group, name in sorted({*old, *new}):
        was, now = old.get((group, name)), new.get((group, name))
        if was == now:
            continue
        if parser.get(group, name, fallback=None) != was:
            raise OverlayError(
                f"pyproject.toml: the entry point {name} in {group} changes, but the official "
                "wheel has another one"
            )
        if now is None:
            parser.remove_option(group, name)
        else:
            if not parser.has_section(group):
                parser.add_section(group)
            parser.set(group, name, now)
    stream = io.StringIO()
    parser.write(stream)
    return (stream.getvalue().rstrip() + "\n").encode()


def _requirements(path: str, data: bytes) -> list[Requirement]:
    """The requirements in a file; comments, blank lines and options of pip are none."""
    found = []
    for number, line in enumerate(data.decode().splitlines(), 1):
        text = re.split(r"(?:^|\s)#", line, maxsplit=1)[0].strip()
        if not text or text.startswith("-") or text.startswith(_NOT_IN_WHEEL):
            continue
        try:
            found.append(Requirement(text))
        except InvalidRequirement as fault:
            raise OverlayError(f"{path}:{number}: not a requirement: {text}") from fault
    return found


def _options(data: bytes) -> list[str]:
    return [line.strip() for line in data.decode().splitlines() if line.lstrip().startswith("-")]


def _entry_points(pyproject: bytes) -> dict[tuple[str, str], str]:
    """Entry points by group and name, as in entry_points.txt."""
    project = tomllib.loads(pyproject.decode()).get("project", {})
    groups = dict(project.get("entry-points", {}))
    groups["console_scripts"] = project.get("scripts", {})
    groups["gui_scripts"] = project.get("gui-scripts", {})
    return {(group, name): value for group in groups for name, value in groups[group].items()}


def _version_tuple(version: str) -> tuple[int | str, ...]:
    """As vLLM writes it: 0.32.0+ternary.1 -> (0, 32, 0, 'ternary.1')."""
    public, _, local = version.partition("+")
    numbers: tuple[int | str, ...] = tuple(int(part) for part in public.split("."))
    return (*numbers, local) if local else numbers


def _replace_once(data: bytes, old: str, new: str, name: str) -> bytes:
    if data.count(old.encode()) != 1:
        raise OverlayError(f"the official wheel's {name} does not say {old.strip()!r} once")
    return data.replace(old.encode(), new.encode())
