# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The import takes every file of the sdist: ignored ones, and the executable bit."""

import io
import tarfile

from small_project import Project, sdist

from overlay.git import Git
from overlay.source import import_sdist


def test_all_files_and_modes(project: Project) -> None:
    path = project.root / "vllm-0.32.0.tar.gz"
    path.write_bytes(sdist({}))
    with tarfile.open(path, "w:gz") as archive:
        for name, mode in (("vllm-0.32.0/run.sh", 0o755), ("vllm-0.32.0/build/x.log", 0o644)):
            member = tarfile.TarInfo(name)
            member.mode = mode
            archive.addfile(member, io.BytesIO(b""))
    (project.root / "repository").mkdir()
    git = Git(project.root / "repository")
    git.init()
    tree = import_sdist(git, path, project.pin.version)
    lines = git.text("ls-tree", "-r", "--format=%(objectmode) %(path)", tree).splitlines()
    assert lines == ["100644 build/x.log", "100755 run.sh"]
