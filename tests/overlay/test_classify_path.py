# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""Each path of vLLM's tree has one class."""

import pytest

from overlay.classify import PathClass, classify


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("vllm/envs.py", PathClass.OVERLAY),
        ("vllm/model_executor/layers/fused_moe/configs/x.json", PathClass.OVERLAY),
        ("vllm/distributed/kv_transfer/x.cpp", PathClass.OVERLAY),
        ("csrc/quantization/ternary/gemm.cu", PathClass.COMPILED),
        ("csrc/quantization/ternary/sub/pack.cuh", PathClass.COMPILED),
        ("cmake/ternary_extension.cmake", PathClass.COMPILED),
        ("requirements/common.txt", PathClass.METADATA),
        ("requirements/cuda.txt", PathClass.METADATA),
        ("requirements/rocm.txt", PathClass.NO_EFFECT),
        ("docs/index.md", PathClass.NO_EFFECT),
        ("tests/test_x.py", PathClass.NO_EFFECT),
        (".github/workflows/x.yml", PathClass.NO_EFFECT),
        ("tools/x.sh", PathClass.NO_EFFECT),
        ("csrc/quantization/marlin/marlin.cu", PathClass.REFUSED),
        ("csrc/torch_bindings.cpp", PathClass.REFUSED),
        ("csrc/quantization/ternary.cu", PathClass.REFUSED),
        ("csrc/cpu/x.cpp", PathClass.REFUSED),
        ("cmake/utils.cmake", PathClass.REFUSED),
        ("rust/src/lib.rs", PathClass.REFUSED),
        ("rust-toolchain.toml", PathClass.REFUSED),
        ("tools/build_rust.py", PathClass.REFUSED),
        ("MANIFEST.in", PathClass.REFUSED),
        ("LICENSE", PathClass.REFUSED),
        ("README.md", PathClass.REFUSED),
        ("vllm_x/new.py", PathClass.REFUSED),
        ("something/new.py", PathClass.REFUSED),
    ],
)
def test_class(path: str, expected: PathClass) -> None:
    assert classify(path, b"old\n", b"new\n") is expected
