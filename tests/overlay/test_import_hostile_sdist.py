# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""An sdist with a link, or a path that leads out, is refused and nothing is left."""

import tarfile

import pytest
from small_project import Project

from overlay.errors import OverlayError
from overlay.git import Git
from overlay.source import import_sdist


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("vllm-0.32.0/../evil", tarfile.REGTYPE),
        ("/etc/evil", tarfile.REGTYPE),
        ("vllm-0.32.0/link", tarfile.SYMTYPE),
        ("vllm-0.32.0/.git/config", tarfile.REGTYPE),
    ],
)
def test_it_is_refused(project: Project, name: str, kind: bytes) -> None:
    path = project.root / "vllm-0.32.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.type = kind
        archive.addfile(member)
    (project.root / "repository").mkdir()
    git = Git(project.root / "repository")
    git.init()
    with pytest.raises(OverlayError, match="is not a plain file below"):
        import_sdist(git, path, project.pin.version)
