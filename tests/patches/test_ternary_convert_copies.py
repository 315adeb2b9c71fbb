# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Files beside the weights are copied, but for those that describe other weights."""

from pathlib import Path

import pytest

pytest.importorskip("vllm")

from ternary_directories import convert, ternary_values, write_model

COPIED = ("LICENSE", "chat_template.jinja", "generation_config.json", "tokenizer_config.json")
LEFT = (".gitattributes", "README.md", "pytorch_model.bin", "model.bin.index.json")


def test_what_is_copied(tmp_path: Path) -> None:
    source = write_model(tmp_path / "source", ternary_values())
    for name in COPIED + LEFT:
        (source / name).write_text(f"{name} of the source\n")
    convert(source, tmp_path / "result")
    result = {path.name for path in (tmp_path / "result").iterdir()}
    assert result == {"config.json", "model.safetensors", "ternary_report.json", *COPIED}
    for name in COPIED:
        assert (tmp_path / "result" / name).read_text() == f"{name} of the source\n"
