# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A small project to try the tool on: a tiny pinned source, a series, and a model to compare with.

The model is a plain git repository in which each patch is committed by git itself; the tool's tree
has to come out the same.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import os
import re
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import command

from overlay.git import Git
from overlay.header import Header
from overlay.paths import Workspace, cache_dir
from overlay.pin import Artifact, Pin
from overlay.tree import AppliedSeries, apply

Content = str | bytes | None
HEADER = {
    "Subject": "Change something",
    "Description": "Why it is changed.",
    "Origin": "other",
    "Forwarded": "no",
    "Author": "A. Person <person@example.com>",
    "Last-Update": "2026-02-03",
    "Kind": "local",
    "Retires-When": "never",
    "Test": "tests/patches/test_something.py::test_it",
}
BASE = {
    "a.py": "".join(f"line {number}\n" for number in range(1, 31)),
    "b.py": "one\ntwo\nthree\n",
    "dos.bat": b"rem one\r\nrem two\r\nrem three\r\n",
    "noeol.txt": "first\nlast",
    "pkg/mod.py": "def f():\n    return 1\n",
    ".gitignore": "*.log\nbuild/\n",
    "kept.log": "in the source although ignored\n",
}


def numbered(**changed: str) -> str:
    """The text of a.py with some lines replaced: numbered(line_3="new")."""
    lines = [f"line {number}\n" for number in range(1, 31)]
    for name, text in changed.items():
        lines[int(name.removeprefix("line_")) - 1] = text + "\n"
    return "".join(lines)


class Project:
    """One small project below `root`, with its own cache."""

    def __init__(self, root: Path, base: Mapping[str, Content] = BASE) -> None:
        self.root = root
        self.workspace = Workspace(root / "project")
        self.tree = self.workspace.tree
        self.patches = self.workspace.patches
        self.patches.mkdir(parents=True)
        self.model = root / "model"
        self.model.mkdir()
        self.model_git("init", "-q", "-b", "main")
        self.commit_model(base, "base")
        (self.patches / "series").write_text("# The order.\n")
        self.base = dict(base)
        self.pin = _pin(base)

    def rebase_pin(self, base: Mapping[str, Content]) -> None:
        """Pin a source with other files; the model has been given them."""
        self.base = dict(base)
        self.pin = dataclasses.replace(self.pin, sdist=_cached(base, "0.32.0"))

    def model_git(self, *args: str) -> bytes:
        """Run git in the model."""
        env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        env |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        who = ["-c", "user.name=M", "-c", "user.email=m@example.com"]
        return subprocess.run(
            ["git", *who, *args], cwd=self.model, env=env, check=True, capture_output=True
        ).stdout

    def commit_model(self, changes: Mapping[str, Content], title: str) -> None:
        """Commit changed files (None deletes one) in the model."""
        for name, content in changes.items():
            path = self.model / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.model_git("add", "-f", "-A", ".")
        self.model_git("commit", "-q", "--allow-empty", "-m", title)

    def add_patch(self, topic: str, changes: Mapping[str, Content], **fields: str) -> str:
        """Commit changes in the model and add their patch to the series; return its file name."""
        self.commit_model(changes, topic)
        return self.add_file(topic, self.patch_bytes(**fields))

    def patch_bytes(self, **fields: str) -> bytes:
        """The patch of the model's last commit, as the tool would write it."""
        diff = self.model_git("diff", "--full-index", "--no-renames", "HEAD~1", "HEAD")
        count = self.model_git("diff", "--shortstat", "--no-renames", "HEAD~1", "HEAD")
        return header(**fields).encode() + b"---\n" + count + b"\n" + diff

    def add_file(self, topic: str, data: bytes) -> str:
        """Add a patch file with these bytes to the end of the series."""
        series = self.patches / "series"
        number = sum(line.endswith(".patch") for line in series.read_text().splitlines()) + 1
        file = f"{number:04d}-{topic}.patch"
        (self.patches / file).write_bytes(data)
        series.write_text(series.read_text() + file + "\n")
        return file

    def add_version(self, version: str, base: Mapping[str, Content]) -> None:
        """Pin another version's source distribution, which is in the cache already."""
        others = [entry for entry in self.pin.versions if entry.version != version]
        entry = _cached(base, version)
        self.pin = dataclasses.replace(self.pin, versions=(*others, entry))

    def edit(self, file: str, old: str | bytes, new: str | bytes) -> None:
        """Replace bytes of a patch file; they have to be there."""
        old = old.encode() if isinstance(old, str) else old
        new = new.encode() if isinstance(new, str) else new
        data = (self.patches / file).read_bytes()
        assert old in data
        (self.patches / file).write_bytes(data.replace(old, new))

    def apply(self) -> AppliedSeries:
        """Apply the series."""
        return apply(self.pin, self.workspace)

    def command(self, *arguments: str, wrap: tuple[str, ...] = ()) -> tuple[int, str]:
        """Run the real command: its exit code and what it says as errors."""
        return command.run(self.workspace.root, self.pin, *arguments, wrap=wrap)

    def refusal(self, file: str = "", path: str = "", arguments: Sequence[str] = ("apply",)) -> str:
        """Run the real command, which has to be refused: its one line, without `error: `.

        It exits with 1 or 2, names the patch `file` and, with a line, the `path` in it when they
        are given, and leaves every file as it was, ignored ones and git's own included.
        """
        if not self.tree.exists():
            self.apply_nothing()
        before = self.everything()
        code, words = self.command(*arguments)
        assert code in (1, 2), words
        assert self.everything() == before
        assert words.startswith("error: ") and words.count("\n") == 1, words
        message = words.removeprefix("error: ").removesuffix("\n")
        assert message.startswith(f"{file}:" if file else ""), message
        assert re.match(rf"{file}:\d+: {path}\b" if path else "", message), message
        return message

    def apply_nothing(self) -> None:
        """Import the source with no patch on it."""
        series = self.patches / "series"
        text = series.read_text()
        series.write_text("")
        self.apply()
        series.write_text(text)

    def git(self, *args: str) -> str:
        """Run git in the tool's tree, as a person would (with an identity)."""
        who = ["-c", "user.name=Someone Else", "-c", "user.email=else@example.com"]
        return subprocess.run(
            ["git", *who, *args], cwd=self.tree, check=True, capture_output=True, text=True
        ).stdout

    def state(self) -> dict[str, object]:
        """Everything that must not change on a refusal: branch, status, all files."""
        git = Git(self.tree)
        result: dict[str, object] = dict(self.files())
        result["<head>"] = git.text("rev-parse", "HEAD", "refs/heads/main")
        result["<status>"] = git.text("status", "--porcelain", "--ignored")
        result["<locks>"] = [path.name for path in (self.tree / ".git").glob("*.lock")]
        return result

    def files(self) -> dict[str, tuple[int, bytes]]:
        """The work tree's files: whether executable, and bytes."""
        return {
            str(path.relative_to(self.tree)): (path.stat().st_mode & 0o100, path.read_bytes())
            for path in sorted(self.tree.rglob("*"))
            if path.is_file() and ".git" not in path.relative_to(self.tree).parts
        }

    def everything(self) -> dict[str, object]:
        """What a refused command must not change: all but the tool itself, its lock and drafts."""
        root = self.workspace.root
        drafts = {".work/vllm/.git/objects", ".work/vllm/.git/refs/overlay/next"}
        left_out = {*command.TOOL, *drafts, "pin.yaml", ".work/lock", ".work/venv"}
        result: dict[str, object] = {}
        waiting = [root]
        while waiting:
            for place in waiting.pop().iterdir():
                path = place.relative_to(root).as_posix()
                if path in left_out:
                    continue
                if place.is_symlink():
                    result[path] = place.readlink()
                elif place.is_dir():
                    result[path] = "a folder"
                    waiting.append(place)
                else:
                    result[path] = (place.stat().st_mode, place.read_bytes())
        return result

    def tree_id(self, revision: str = "HEAD") -> str:
        """The id of the tree's content at a revision."""
        return Git(self.tree).text("rev-parse", f"{revision}^{{tree}}")

    def model_id(self, revision: str = "HEAD") -> str:
        """The id of the model's content at a revision."""
        return self.model_git("rev-parse", f"{revision}^{{tree}}").decode().strip()

    def patch_files(self) -> dict[str, bytes]:
        """Everything in patches/."""
        return {path.name: path.read_bytes() for path in sorted(self.patches.iterdir())}


def header(**fields: str) -> str:
    """A header's text: the default fields with some replaced (underscores for hyphens)."""
    named = HEADER | {name.replace("_", "-"): value for name, value in fields.items()}
    return Header({name: value for name, value in named.items() if value}, {}).render()


def sdist(base: Mapping[str, Content], version: str = "0.32.0") -> bytes:
    """A source distribution's bytes."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in base.items():
            data = content.encode() if isinstance(content, str) else content or b""
            member = tarfile.TarInfo(f"vllm-{version}/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def _cached(base: Mapping[str, Content], version: str) -> Artifact:
    """A source distribution that is in the cache already."""
    data = sdist(base, version)
    digest = hashlib.sha256(data).hexdigest()
    artifact = Artifact("vllm", version, f"vllm-{version}.tar.gz", digest)
    folder = cache_dir() / digest
    folder.mkdir(parents=True, exist_ok=True)
    (folder / artifact.file).write_bytes(data)
    return artifact


def _pin(base: Mapping[str, Content]) -> Pin:
    """A pin whose source distribution is in the cache already."""
    other = Artifact("other", "1.0", "other-1.0-py3-none-any.whl", "0" * 64)
    return Pin(
        release=1,
        version="0.32.0",
        tag="v0.32.0",
        commit="0" * 9,
        sdist=_cached(base, "0.32.0"),
        wheel=other,
        torch="2.13.0",
        torch_headers=other,
        cpu_tryout=other,
        cuda="13.0",
        compiler=(other,),
    )
