// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Copyright contributors to the ternary-vllm project

// Three textbook stages of the same product, to be measured beside the real
// kernels: y[m, n] = scale[n] * sum_k x[m, k] * w[n, k] with weights of -1, 0, 1
// stored as int8. Compiled by NVRTC, hence without includes. x and y are bf16,
// scale is float; n is a multiple of 64 and k of 128.

using bf16 = unsigned short;

__device__ float to_float(bf16 v) {
  return __uint_as_float(static_cast<unsigned>(v) << 16);
}

// Rounds to nearest even; no NaN occurs here.
__device__ bf16 to_bf16(float v) {
  const unsigned bits = __float_as_uint(v);
  return static_cast<bf16>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

// Stage 1: a thread an output. Grid (n / 256 rounded up, m), block 256.
extern "C" __global__ void naive(const bf16* x, const signed char* w,
                                 const float* scale, bf16* y, int n, int k) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  const bf16* token = x + static_cast<long long>(blockIdx.y) * k;
  const signed char* weight = w + static_cast<long long>(row) * k;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += to_float(token[i]) * weight[i];
  y[static_cast<long long>(blockIdx.y) * n + row] = to_bf16(sum * scale[row]);
}

// Stage 2: tiles of both operands in shared memory. Grid (n / 32, m / 32
// rounded up), block (32, 32).
extern "C" __global__ void tiled(const bf16* x, const signed char* w,
                                 const float* scale, bf16* y, int m, int n,
                                 int k) {
  constexpr int kTile = 32;
  __shared__ float tokens[kTile][kTile + 1];
  __shared__ float weights[kTile][kTile + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.x * kTile, token = blockIdx.y * kTile;
  float sum = 0.0f;
  for (int i = 0; i < k; i += kTile) {
    tokens[ty][tx] =
        token + ty < m
            ? to_float(x[static_cast<long long>(token + ty) * k + i + tx])
            : 0.0f;
    weights[ty][tx] = w[static_cast<long long>(row + ty) * k + i + tx];
    __syncthreads();
    for (int j = 0; j < kTile; ++j) sum += tokens[ty][j] * weights[tx][j];
    __syncthreads();
  }
  if (token + ty < m) {
    y[static_cast<long long>(token + ty) * n + row + tx] =
        to_bf16(sum * scale[row + tx]);
  }
}

// Stage 3: four weights at once by a table. The 3^4 = 81 sums that four
// activations can give are built in shared memory, for 32 groups of four at a
// time; one dp4a turns four int8 weights into their index. The scale is applied
// in the same kernel. Grid (n / 64, m), block 256.
extern "C" __global__ void lut(const bf16* x, const signed char* w,
                               const float* scale, bf16* y, int n, int k) {
  constexpr int kGroups = 32, kSums = 81, kRows = 8;  // rows of a warp
  __shared__ float table[kGroups * kSums];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row0 = blockIdx.x * 64 + warp * kRows;
  const bf16* token = x + static_cast<long long>(blockIdx.y) * k;
  float sum[kRows] = {};
  for (int i = 0; i < k; i += kGroups * 4) {
    for (int s = threadIdx.x; s < kGroups * kSums; s += blockDim.x) {
      const bf16* group = token + i + s / kSums * 4;
      const int digits = s % kSums;
      table[s] = to_float(group[0]) * (digits / 27 - 1) +
                 to_float(group[1]) * (digits / 9 % 3 - 1) +
                 to_float(group[2]) * (digits / 3 % 3 - 1) +
                 to_float(group[3]) * (digits % 3 - 1);
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int four = *reinterpret_cast<const int*>(
          w + static_cast<long long>(row0 + r) * k + i + lane * 4);
      // 27 w0 + 9 w1 + 3 w2 + w3 + 40
      sum[r] += table[lane * kSums + __dp4a(four, 0x0103091B, 40)];
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    for (int d = 16; d > 0; d /= 2) {
      sum[r] += __shfl_xor_sync(0xFFFFFFFFu, sum[r], d);
    }
    if (lane == 0) {
      y[static_cast<long long>(blockIdx.y) * n + row0 + r] =
          to_bf16(sum[r] * scale[row0 + r]);
    }
  }
}

// The rate at which memory can be read: 16 bytes a thread at a time, eight
// loads under way. `count` is the number of uint4, a multiple of 8 * 256 *
// gridDim.x; the sum keeps the loads alive.
extern "C" __global__ void read_all(const uint4* from, unsigned* out,
                                    int count) {
  constexpr int kAhead = 8;
  unsigned sum = 0;
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += stride * kAhead) {
    uint4 v[kAhead];
#pragma unroll
    for (int j = 0; j < kAhead; ++j) v[j] = from[i + j * stride];
#pragma unroll
    for (int j = 0; j < kAhead; ++j) sum ^= v[j].x ^ v[j].y ^ v[j].z ^ v[j].w;
  }
  if (sum == 0x12345678u) *out = sum;
}
