// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project

// Packed weights (layout.cuh of csrc/quantization/ternary) as a dense matrix
// [n, k], k = 128 k_units, that cuBLAS multiplies with. n is a multiple of 16
// and k of 128. Compiled by NVRTC, hence without includes.
//
// A warp takes a unit of 16 x 128: four lanes, a quad, the rows `row` and
// row + 8 of it. All that a quad needs lies side by side, 64 bytes: lane t of
// the layout holds the words (row half a, column half j) = a + 2 j, and in them
// column 32 p + 16 i + 8 j + 2 t + h at bit 16 h + 8 i + 2 p. With each store
// a quad writes 64 bytes of a row, 16 a lane.

using u16 = unsigned short;
using u32 = unsigned;

constexpr int kThreads = 256;
constexpr int kTileRows = 16;
constexpr int kTileWarps = kThreads / 32;

// Two codes, in the low bits of the halves, times a bf16 in both halves.
__device__ u32 scaled(u32 codes, u32 scale) {
  const u32 mask = (codes & 0x00010001u) * 0xFFFFu;  // 0 where the weight is 0
  const u32 sign = (~codes & 0x00020002u) << 14;
  return (scale ^ sign) & mask;
}

// Four codes, in the low bits of two times two halves, as int8.
__device__ u32 signed_bytes(u32 first, u32 second) {
  const u32 mixed = (first & 0x00030003u) | (second & 0x00030003u) << 8;
  const u32 bytes = __byte_perm(mixed, 0, 0x3120) ^ 0x02020202u;
  return bytes | (bytes & 0x02020202u) * 0x7Eu;  // the sign, up to the top
}

// Grid: a block for eight units, block 256. scale_step: outputs between the
// scales of a unit column and of the next, n with groups of 128, 0 without.
extern "C" __global__ void __launch_bounds__(kThreads)
    unpack_bf16(const uint2* packed, const u16* scale, uint4* out, int n,
                int k_units, int scale_step) {
  const int unit = blockIdx.x * kTileWarps + threadIdx.x / 32;
  if (unit >= n / kTileRows * k_units) return;
  const int tile = unit / k_units, column = unit % k_units;
  const int lane = threadIdx.x % 32;
  const int row = lane / 4, i = lane / 2 % 2, j = lane % 2;
  const uint2* from = packed + unit * 64 + row * 8 + j;
  uint2 words[4];
#pragma unroll
  for (int t = 0; t < 4; ++t) words[t] = from[2 * t];
#pragma unroll
  for (int a = 0; a < 2; ++a) {
    const int output = tile * kTileRows + row + 8 * a;
    const u32 twice = scale[column * scale_step + output] * 0x00010001u;
    uint4* to = out + (output * k_units + column) * 16 + 2 * i + j;
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      u32 pairs[4];
#pragma unroll
      for (int t = 0; t < 4; ++t) {
        const u32 word = a == 0 ? words[t].x : words[t].y;
        pairs[t] = scaled(word >> (8 * i + 2 * p), twice);
      }
      to[4 * p] = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
    }
  }
}

// The same without scales, as int8.
extern "C" __global__ void __launch_bounds__(kThreads)
    unpack_int8(const uint4* packed, uint4* out, int n, int k_units) {
  const int unit = blockIdx.x * kTileWarps + threadIdx.x / 32;
  if (unit >= n / kTileRows * k_units) return;
  const int tile = unit / k_units, column = unit % k_units;
  const int lane = threadIdx.x % 32;
  const int row = lane / 4, p = lane / 2 % 2, i = lane % 2;  // p, and p + 2
  const uint4* from = packed + unit * 32 + row * 4;
  uint4 words[4];
#pragma unroll
  for (int t = 0; t < 4; ++t) words[t] = from[t];
#pragma unroll
  for (int a = 0; a < 2; ++a) {
    const int output = tile * kTileRows + row + 8 * a;
    uint4* to = out + (output * k_units + column) * 8 + 2 * p + i;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int bit = 8 * i + 2 * (p + 2 * half);
      u32 low[4], high[4];
#pragma unroll
      for (int t = 0; t < 4; ++t) {
        low[t] = (a == 0 ? words[t].x : words[t].y) >> bit;
        high[t] = (a == 0 ? words[t].z : words[t].w) >> bit;
      }
      to[4 * half] =
          make_uint4(signed_bytes(low[0], low[1]), signed_bytes(low[2], low[3]),
                     signed_bytes(high[0], high[1]),
                     signed_bytes(high[2], high[3]));
    }
  }
}
