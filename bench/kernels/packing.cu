// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project

// The same product of one token with ternary weights, packed in two ways: four
// weights a byte (2 bits each), and five weights a byte (base 3, 1.6 bits each).
// y[n] = sum_k w[n, k] * x[k], w = code - 1 with codes 0, 1, 2, x int8, y int32.
// Compiled by NVRTC, hence without includes.
//
// Weights: [n / 16][k / (32 P)][32 lanes][4 words], P = 4 or 5 codes a byte. A
// word belongs to one register of the A operand of mma.m16n8k32; code j of each
// of its bytes goes to product j. So row and column of code j, byte b, word r of
// a lane are, within the unit of 16 x 32 P:
//   row = lane / 4 + 8 (r & 1),  column = 32 j + 4 (lane % 4) + b + 16 (r >> 1)
//
// A block of eight warps takes tiles of 16 rows in turn; its warps share the
// units of a tile. Each warp has the next kAhead units under way in registers
// while it multiplies the last, across the ends of tiles.

using u32 = unsigned;

constexpr int kWarps = 8;
constexpr int kAhead = 4;
constexpr int kTileRows = 16;

__device__ uint4 load_stream(const uint4* p) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p));
  return v;
}

// sum += a (u8 16 x 32) * b (s8 32 x 8)
__device__ void multiply(int (&sum)[4], const u32 (&a)[4], uint2 b) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y));
}

// Four 2-bit codes a byte: code j stays where it is, as code * 4^j, and has sums
// of its own, so that one mask unpacks four codes.
struct FourAByte {
  static constexpr int kCodes = 4;
  int sums[4][4] = {};

  __device__ void unit(uint4 w, const uint2* x) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const u32 mask = 0x03030303u << 2 * j;
      const u32 a[4] = {w.x & mask, w.y & mask, w.z & mask, w.w & mask};
      multiply(sums[j], a, x[4 * j]);
    }
  }
  __device__ int total(int i) {
    int t = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j) t += sums[j][i] >> 2 * j;  // exact
#pragma unroll
    for (int j = 0; j < 4; ++j) sums[j][i] = 0;
    return t;
  }
};

// Five codes a byte. The byte is b = ceil(v 256 / 243) with v the number whose
// base-3 digits are the codes, first code first, so that
//   p[j] = b 3^(j + 1) / 256 = the first j + 1 digits read as a number < 243.
// No digit is ever cut out: code j = p[j] - 3 p[j - 1], and the subtraction is
// done on the sums. A multiplication serves two bytes and a byte permutation
// gathers four; products are nine instead of five.
struct FiveAByte {
  static constexpr int kCodes = 5;
  int whole[4] = {};  // sum of p[j] x[j]
  int before[4] = {};  // sum of p[j - 1] x[j]

  __device__ void unit(uint4 w, const uint2* x) {
    const u32 words[4] = {w.x, w.y, w.z, w.w};
    u32 even[4], odd[4], a[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      even[r] = words[r] & 0x00FF00FFu;
      odd[r] = words[r] >> 8 & 0x00FF00FFu;
    }
    u32 power = 3;
#pragma unroll
    for (int j = 0; j < 5; ++j, power *= 3) {
      if (j > 0) multiply(before, a, x[4 * j]);
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        a[r] = __byte_perm(even[r] * power, odd[r] * power, 0x7351);
      }
      multiply(whole, a, x[4 * j]);
    }
  }
  __device__ int total(int i) {
    const int t = whole[i] - 3 * before[i];
    whole[i] = before[i] = 0;
    return t;
  }
};

template <class Packing>
__device__ void product(const uint4* weight, const signed char* x, int* y,
                        int n, int k) {
  constexpr int kUnitColumns = 32 * Packing::kCodes;
  extern __shared__ uint2 tokens[];  // [k / 32][4]: b operand of each lane % 4
  __shared__ int partial[kWarps][kTileRows];
  __shared__ int offset;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int units = k / kUnitColumns;

  if (threadIdx.x == 0) offset = 0;
  __syncthreads();
  int sum = 0;
  for (int i = threadIdx.x; i < k / 32 * 4; i += blockDim.x) {
    const int column = i / 4 * 32 + i % 4 * 4;
    const u32 lo = *reinterpret_cast<const u32*>(x + column);
    const u32 hi = *reinterpret_cast<const u32*>(x + column + 16);
    tokens[i] = make_uint2(lo, hi);
    sum = __dp4a(static_cast<int>(lo), 0x01010101, sum);
    sum = __dp4a(static_cast<int>(hi), 0x01010101, sum);
  }
  atomicAdd(&offset, sum);  // of integers: the order does not matter
  __syncthreads();

  // This warp's units of the block's tiles, kAhead at a time.
  constexpr int kStep = kWarps * 32;
  const int rounds = units / (kWarps * kAhead);
  const long long skip = static_cast<long long>(gridDim.x - 1) * units * 32;
  const uint4* next = weight + (blockIdx.x * static_cast<long long>(units) + warp) * 32 + lane;
  uint4 ring[kAhead];
#pragma unroll
  for (int i = 0; i < kAhead; ++i) ring[i] = load_stream(next + i * kStep);

  Packing packing;
  for (int tile = blockIdx.x; tile < n / kTileRows; tile += gridDim.x) {
    const uint2* operand = tokens + warp * Packing::kCodes * 4 + lane % 4;
    for (int round = 0; round < rounds; ++round) {
      next += kAhead * kStep;
      const bool last = round == rounds - 1;
      if (last) next += skip;
      const bool more = !last || tile + gridDim.x < n / kTileRows;
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        const uint4 now = ring[i];
        if (more) ring[i] = load_stream(next + i * kStep);
        packing.unit(now, operand);
        operand += kWarps * Packing::kCodes * 4;
      }
    }
    const int rows[2] = {packing.total(0), packing.total(2)};
    packing.total(1), packing.total(3);
    if (lane % 4 == 0) {
      partial[warp][lane / 4] = rows[0];
      partial[warp][lane / 4 + 8] = rows[1];
    }
    __syncthreads();
    if (threadIdx.x < kTileRows) {
      int row = -offset;
#pragma unroll
      for (int i = 0; i < kWarps; ++i) row += partial[i][threadIdx.x];
      y[tile * kTileRows + threadIdx.x] = row;
    }
    __syncthreads();
  }
}

// Grid: as many blocks as fit at once; block 256; k bytes of shared memory. Both
// need n % 16 == 0 and k a multiple of 32 x codes x 8 warps x kAhead.
extern "C" __global__ void __launch_bounds__(256)
    four_a_byte(const uint4* weight, const signed char* x, int* y, int n, int k) {
  product<FourAByte>(weight, x, y, n, k);
}
extern "C" __global__ void __launch_bounds__(256)
    five_a_byte(const uint4* weight, const signed char* x, int* y, int n, int k) {
  product<FiveAByte>(weight, x, y, n, k);
}
