# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""A wheel that takes the place of one for other architectures says so: its name is the same."""

import zipfile

import pytest
from small_build import INFO, SmallBuild

from overlay import contents

WORDS = "Replacing the wheel for 8.0 9.0a by one for 8.0"


@pytest.mark.parametrize(
    ("archs", "said"), [(["8.0", "9.0a"], True), (["8.0"], False), (None, False)]
)
def test_replaced(
    archs: list[str] | None, said: bool, small: SmallBuild, capsys: pytest.CaptureFixture[str]
) -> None:
    wheel = small.build()[0]
    manifest = small.manifest()
    manifest["extension"] = archs and {"architectures": archs}
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{INFO}{contents.FILE}", contents.serialize(manifest))
    capsys.readouterr()
    assert small.build()[1]
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("Replacing")] == [WORDS] * said
