# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Importing the pinned source: one pristine commit in a private git repository."""

from __future__ import annotations

import logging
import re
import shutil
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from overlay.errors import OverlayError, UsageError
from overlay.fetch import fetch
from overlay.files import no_space_is_an_error, remove_folder
from overlay.git import DATE, IDENTITY, Git
from overlay.paths import Workspace
from overlay.pin import Pin

BRANCH = "refs/heads/main"
PRISTINE = "refs/overlay/pristine"

_ORIGIN = re.compile(r"^Source: (sha256|commit) ([0-9a-f]+)$", re.MULTILINE)
_VERSION = re.compile(r"^vLLM (\S+)$", re.MULTILINE)
_NEW = "vllm.new"
_OLD = "vllm.old"
_SCP = re.compile(r"[\w.-]+@[\w.-]+:")
_FETCHED = "refs/overlay/fetched"


@contextmanager
def imported(pin: Pin, workspace: Workspace, source: str | None) -> Iterator[Git]:
    """Make the private tree from the pinned sdist, or from a git checkout at the pinned tag.

    The block looks at the new tree; when it ends well, the tree takes its place. One that is there
    is replaced: the caller has made sure that nothing in it can be lost.
    """
    new = workspace.work / _NEW
    try:
        with no_space_is_an_error(new):
            new.mkdir()
            git = Git(new)
            git.init()
            if source is None:
                tree = import_sdist(git, fetch(pin.sdist), pin.version)
                origin = f"sha256 {pin.sdist.sha256}"
            else:
                commit, tree = _import_checkout(git, source, pin)
                origin = f"commit {commit}"
            pristine = git.commit_tree(tree, f"vLLM {pin.version}\n\nSource: {origin}\n")
            git.run("update-ref", BRANCH, pristine)
            git.run("update-ref", PRISTINE, pristine)
            git.run("read-tree", "-m", "-u", pristine)
            yield git
            if workspace.tree.exists():
                workspace.tree.rename(workspace.work / _OLD)
            new.rename(workspace.tree)
    except OSError as fault:
        raise OverlayError(f"{fault.filename or new}: {fault.strerror}") from fault
    finally:
        clean_up(workspace)


def clean_up(workspace: Workspace) -> None:
    """Clear away what an import that ended early left; the caller holds the workspace's lock."""
    old = workspace.work / _OLD
    if old.exists() and not workspace.tree.exists():  # killed between its two renames
        old.rename(workspace.tree)
    for folder in (old, workspace.work / _NEW):
        remove_folder(folder)


def mismatch(git: Git, pin: Pin) -> str:
    """Words for a tree that is not the pinned version's, or an empty string."""
    message = git.text("show", "-s", "--format=%B", PRISTINE)
    version, origin = _VERSION.search(message), _ORIGIN.search(message)
    if version is None or origin is None:
        return f"is not a tree this tool made, pin.yaml says {pin.version}"
    if version[1] != pin.version:
        return f"is vLLM {version[1]}, pin.yaml says {pin.version}"
    wanted = pin.sdist.sha256 if origin[1] == "sha256" else pin.commit
    if not origin[2].startswith(wanted):
        return f"was made from {origin[1]} {origin[2][:12]}, pin.yaml says {wanted[:12]}"
    return ""


def import_sdist(git: Git, path: Path, version: str) -> str:
    """Store the sdist's files in git, whatever its .gitignore says; return the tree's id.

    Nothing but the objects is left: no branch, no work tree and no index is touched.
    """
    print(f"Importing {path.name} ...", file=sys.stderr, flush=True)
    # No deltas: no two files of one version are alike, and looking for them doubles the time.
    with git.fast_import("--depth=0") as stream:
        stream.write(b"commit refs/overlay/import\n")
        stream.write(f"committer {IDENTITY} {DATE}\ndata 0\n".encode())
        try:
            with tarfile.open(path) as archive:
                for member in archive:
                    _import_member(stream, archive, member, f"vllm-{version}/", path)
        except (tarfile.TarError, EOFError) as fault:
            raise OverlayError(f"{path}: cannot be unpacked: {fault}: delete it") from fault
        stream.write(b"done\n")
    tree = git.text("rev-parse", "refs/overlay/import^{tree}")
    git.delete("refs/overlay/import")
    return tree


def _import_member(
    stream: IO[bytes], archive: tarfile.TarFile, member: tarfile.TarInfo, root: str, path: Path
) -> None:
    if member.isdir():
        return
    content = archive.extractfile(member) if member.isreg() else None
    name = member.name.removeprefix(root)
    parts = name.split("/")
    if (
        content is None
        or name == member.name
        or any(part in ("", ".", "..", ".git") for part in parts)
        or not name.isprintable()
        or '"' in name
    ):
        raise OverlayError(f"{path}: {member.name!r} is not a plain file below {root}")
    mode = "100755" if member.mode & 0o100 else "100644"
    stream.write(f"M {mode} inline {name}\ndata {member.size}\n".encode())
    shutil.copyfileobj(content, stream, 1 << 20)
    stream.write(b"\n")


def _import_checkout(git: Git, source: str, pin: Pin) -> tuple[str, str]:
    """Take the pinned tag's commit out of a checkout or URL; return its id and its tree's."""
    # Imported here: it takes a third of the time that `status` has.
    import git as gitpython

    reference = f"refs/tags/{pin.tag}"
    remote = source
    if "://" not in source and not _SCP.match(source):
        remote = str(Path(source).expanduser().resolve())
        try:
            with gitpython.Repo(remote) as checkout:
                if pin.tag not in [tag.name for tag in checkout.tags]:
                    reference = "HEAD"
        except gitpython.NoSuchPathError as fault:
            raise UsageError(f"--source {source}: there is no such folder") from fault
        except gitpython.InvalidGitRepositoryError as fault:
            raise UsageError(f"--source {source} is not a git checkout") from fault
    print(f"Importing {pin.tag} of {source} ...", file=sys.stderr, flush=True)
    # What git says on the way is no warning.
    logging.getLogger(gitpython.__name__).setLevel(logging.ERROR)
    # The user's own git configuration holds in this one command (proxies, credentials): it cannot
    # change what a commit's id stands for.
    with gitpython.Repo(git.tree) as repository:
        try:
            # A checkout without blobs has them fetched, from where it was cloned.
            repository.git.update_environment(GIT_NO_LAZY_FETCH="0")
            repository.create_remote("source", remote).fetch(
                f"+{reference}:{_FETCHED}", progress=_progress(), depth=1, no_tags=True
            )
        except gitpython.GitCommandError as fault:
            raise OverlayError(f"--source {source}: {_words(fault, reference)}") from fault
    commit = git.text("rev-parse", f"{_FETCHED}^{{commit}}")
    if not commit.startswith(pin.commit):
        raise OverlayError(
            f"--source {source}: {reference.removeprefix('refs/tags/')} is commit {commit[:12]}, "
            f"pin.yaml says {pin.commit}"
        )
    tree = git.text("rev-parse", f"{commit}^{{tree}}")
    _forget_remote(git)
    return commit, tree


def _progress() -> Any:
    """What GitPython calls as objects arrive: one line, on a terminal only."""
    if not sys.stderr.isatty():
        return None

    def show(operation: int, count: float, total: float | None, message: str) -> None:
        end = "\n" if operation & 2 else ""
        print(f"\r  {count:.0f}/{total or 0:.0f} {message:<40}", end=end, file=sys.stderr)

    return show


def _words(fault: Any, reference: str) -> str:
    """One line for what git said when it could not fetch."""
    said = " ".join(str(fault.stderr).replace("stderr:", "").strip(" '\n").split())
    if "find remote ref" in said:
        return f"has no tag {reference.removeprefix('refs/tags/')}: fetch its tags first"
    if any(
        word in said
        for word in ("missing", "bad object", "promisor", "unable to read", "corruption")
    ):
        return f"lacks objects of {reference} (a partial clone?): fetch them whole: {said}"
    return said


def _forget_remote(git: Git) -> None:
    """Leave nothing of the fetch but the objects."""
    git.delete(_FETCHED)
    git.configure()
    for name in ("shallow", "FETCH_HEAD"):
        (git.dir / name).unlink(missing_ok=True)
