# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Each fault of a header is one line with its file, line and field."""

import pytest
from small_project import Project
from test_lint_right import with_test

from overlay.lint import lint

CASES = [
    ({"Kind": ""}, "Kind: is missing"),
    ({"Kind": "hack"}, "Kind: expected one of feature, fix, backport, local, found 'hack'"),
    ({"Retires_Wen": "x", "Retires_When": ""}, "Retires-Wen: no such field: is it Retires-When?"),
    ({"Last_Update": "2026-02-30"}, "Last-Update: expected a day"),
    ({"Last_Update": "3.2.2026"}, "Last-Update: expected a day"),
    ({"Forwarded": "maybe"}, "Forwarded: expected 'no'"),
    ({"Author": "nobody"}, "Author: expected 'Name <address>'"),
    ({"Origin": "somewhere"}, "Origin: expected"),
    ({"Applied_Upstream": "soon"}, "Applied-Upstream: expected a version"),
    ({"Applied_Upstream": "0.33.0x"}, "Applied-Upstream: expected a version"),
    ({"Kind": "fix"}, "a fix needs a Retire-Probe"),
    ({"Kind": "backport", "Retire_Probe": "a.py: present x"}, "a backport needs Applied-Upstream"),
    ({"Retire_Probe": "rm -rf"}, "expected 'PATH: present|absent REGEX'"),
    ({"Retire_Probe": "a.py: present ("}, "'(' is not a regular expression"),
    ({"Retire_Probe": "../a.py: present x"}, "leads out of the tree"),
    ({"Test": "test_it"}, "expected a pytest node under tests/patches/"),
    ({"Test": "tests/patches/test_no.py::test_it"}, "there is no tests/patches/test_no.py"),
    ({"Test": "tests/patches/test_something.py::test_no"}, "test_something.py has no test_no"),
    ({"Depends": "nothing"}, "Depends: 'nothing' is no patch before this one"),
]


@pytest.mark.parametrize(("fields", "words"), CASES, ids=[words[:30] for _, words in CASES])
def test_it_is_named(project: Project, fields: dict[str, str], words: str) -> None:
    with_test(project)
    file = project.add_patch("first", {"b.py": "one\n"}, **fields)
    faults = [fault for fault in lint(project.workspace) if words in fault]
    assert len(faults) == 1
    assert faults[0].startswith(f"{file}:")
