# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project
"""The unpacking kernel puts each code where it belongs, times its scale: its source, run as C++."""

import ctypes
import random
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "bench" / "kernels" / "unpack.cu"
N, K = 48, 384  # 3 by 3 units: two blocks, the second one with one unit
UNITS, WARPS = N // 16 * (K // 128), 8

# What CUDA has and C++ has not.
HARNESS = """
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
struct Index { int x; };
static Index threadIdx, blockIdx;
static uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
static unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long both = (unsigned long long)b << 32 | a;
  unsigned out = 0;
  for (int i = 0; i < 4; ++i) {
    out |= (unsigned)(both >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
  }
  return out;
}
#define __device__ static
#define __global__
#define __launch_bounds__(threads)
#include "SOURCE"
template <class Kernel, class... Arguments>
static void launch(int blocks, Kernel kernel, Arguments... arguments) {
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
    for (threadIdx.x = 0; threadIdx.x < kThreads; ++threadIdx.x) kernel(arguments...);
  }
}
extern "C" void run_bf16(int blocks, const uint2* packed, const u16* scale, uint4* out, int n,
                         int k_units, int scale_step) {
  launch(blocks, unpack_bf16, packed, scale, out, n, k_units, scale_step);
}
extern "C" void run_int8(int blocks, const uint4* packed, uint4* out, int n, int k_units) {
  launch(blocks, unpack_int8, packed, out, n, k_units);
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++")
    folder = tmp_path_factory.mktemp("unpack")
    source = folder / "harness.cpp"
    source.write_text(HARNESS.replace("SOURCE", str(SOURCE)))
    built = folder / "unpack.so"
    command = [compiler, "-std=c++17", "-fno-strict-aliasing", "-w", "-shared", "-fPIC"]
    subprocess.run([*command, source, "-o", built], check=True)
    return ctypes.CDLL(str(built))


@pytest.fixture(scope="module")
def codes() -> list[list[int]]:
    generator = random.Random(0)
    return [[generator.randint(-1, 1) for _ in range(K)] for _ in range(N)]


@pytest.fixture(scope="module")
def packed(codes: list[list[int]]) -> ctypes.Array[ctypes.c_uint32]:
    """As docs/kernels.md draws it."""
    words = (ctypes.c_uint32 * (UNITS * 128))()
    for row in range(N):
        for column in range(K):
            p, i, j = column // 32 % 4, column // 16 % 2, column // 8 % 2
            t, h = column // 2 % 4, column % 2
            unit = row // 16 * (K // 128) + column // 128
            word = unit * 128 + (row % 8 * 4 + t) * 4 + row // 8 % 2 + 2 * j
            words[word] |= (codes[row][column] + 2) << (16 * h + 8 * i + 2 * p)
    return words


@pytest.mark.parametrize("groups", [1, K // 128])
def test_bf16(
    library: ctypes.CDLL,
    codes: list[list[int]],
    packed: ctypes.Array[ctypes.c_uint32],
    groups: int,
) -> None:
    # No two scales are the same; positive ones, and so is the sign bit free.
    scale = (ctypes.c_uint16 * (groups * N))(*range(0x3F00, 0x3F00 + groups * N))
    out = (ctypes.c_uint16 * (N * K))(*[0xFFFF] * (N * K))
    step = N if groups > 1 else 0
    library.run_bf16(-(-UNITS // WARPS), packed, scale, out, N, K // 128, step)
    expected = []
    for row in range(N):
        for column in range(K):
            one = scale[column // (K // groups) * N + row]
            expected.append({-1: one | 0x8000, 0: 0, 1: one}[codes[row][column]])
    assert list(out) == expected


def test_int8(
    library: ctypes.CDLL, codes: list[list[int]], packed: ctypes.Array[ctypes.c_uint32]
) -> None:
    out = (ctypes.c_int8 * (N * K))(*[99] * (N * K))
    library.run_int8(-(-UNITS // WARPS), packed, out, N, K // 128)
    assert list(out) == [code for row in codes for code in row]
