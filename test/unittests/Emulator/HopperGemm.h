//===- HopperGemm.h - Running the matrix products of gemm.cu ----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how tests run a kernel of gemm.cu and compare its result.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_UNITTESTS_EMULATOR_HOPPERGEMM_H
#define FUSION_TEST_UNITTESTS_EMULATOR_HOPPERGEMM_H

#include "HopperUtils.h"

namespace fusionemu {

/// A kernel of gemm.cu with the parameters that it was compiled for.
struct GemmKernel {
  const char *name;
  Element element;
  int BN, swizzle, stages;
  bool rowsOfB;
  int cluster;
};

struct GemmSize {
  int M, N, K, blocks;
};

/// What a test may change about the tensor maps: swizzles, -1 for none and 0
/// for the right one.
struct MapChange {
  int swizzleA = 0, swizzleB = 0, swizzleC = 0;
};

/// Inputs and result of gelu(A B + bias), in double precision.
struct GemmProblem {
  GemmKernel kernel;
  GemmSize size;
  HostMatrix A, B; ///< B is N x K, or K x N.
  std::vector<float> bias;
  /// Without rounding, and how far an element may be from it.
  HostMatrix expected, bound;

  GemmProblem(const GemmKernel &kernel, GemmSize size, unsigned seed = 1)
      : kernel(kernel), size(size) {
    std::mt19937 random(seed);
    int M = size.M, N = size.N, K = size.K;
    A = makeMatrix(M, K, kernel.element, random);
    B = kernel.rowsOfB ? makeMatrix(K, N, kernel.element, random)
                       : makeMatrix(N, K, kernel.element, random);
    for (int j = 0; j < N; ++j)
      bias.push_back(float(int(random() % 64) - 32) / 16);
    expected = bound = HostMatrix{M, N, std::vector<double>(size_t(M) * N)};
    bool isHalf = kernel.element == Element::F16;
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < N; ++j) {
        double sum = 0, magnitude = 0;
        for (int k = 0; k < K; ++k) {
          double x = A.at(i, k) * (kernel.rowsOfB ? B.at(k, j) : B.at(j, k));
          sum += x;
          magnitude += std::fabs(x);
        }
        // Each addition loses at most a unit of the accumulator's last place,
        // f32 one for each product, f16 one for each step of 16 products.
        double lost = kernel.element == Element::S8 ? 0
                      : isHalf ? magnitude * (K / 16 + 1) / 1024
                               : magnitude * K / (1 << 23);
        double x = sum + bias[j];
        double y =
            0.5 * x *
            (1 + std::tanh(x * (0.797884560803 + 0.035677408136 * x * x)));
        expected.at(i, j) = y;
        // gelu is not steeper than 1.13; tanh.approx is good for 2^-10.9;
        // the result has 8 bits.
        bound.at(i, j) =
            1.13 * lost + std::fabs(x) / 2048 + std::fabs(y) / 256 + 1e-30;
      }
  }

  uint32_t getSharedBytes() const {
    return uint32_t(kernel.stages * (128 + kernel.BN) * kernel.swizzle +
                    4 * 8192 + 16 * kernel.stages);
  }

  /// Runs `text` and leaves the result in `f` at `C`.
  Status run(HopperFixture &f, const std::string &text, Mode mode, uint64_t &C,
             MapChange change = {}) const {
    int M = size.M, N = size.N, K = size.K;
    Element e = kernel.element;
    int BK = kernel.swizzle / int(getBytes(e));
    f.kernel = kernel.name;
    f.options.asynchrony = mode.asynchrony;
    f.options.threads = mode.threads;
    f.options.maxSteps = 1 << 20;
    Status status = f.module.parse(text, "gemm.ptx");
    if (!status.ok())
      return status;
    int swizzleA = change.swizzleA ? change.swizzleA : kernel.swizzle;
    f.passMap(f.allocate("A", A, e), e, M, K, 128, BK, unsigned(swizzleA));
    uint64_t b = f.allocate("B", B, e);
    int swizzleB = change.swizzleB ? change.swizzleB : kernel.swizzle;
    if (kernel.rowsOfB)
      f.passMap(b, e, K, N, BK, BK, unsigned(swizzleB));
    else
      f.passMap(b, e, N, K, kernel.BN / kernel.cluster, BK, unsigned(swizzleB));
    C = f.allocate("C", uint64_t(M) * N * 2);
    f.passMap(C, Element::BF16, M, N, 64, 64,
              unsigned(change.swizzleC ? change.swizzleC : 128));
    f.passBuffer("bias", bias);
    f.pass(M);
    f.pass(N);
    f.pass(K);
    return f.run({uint32_t(size.blocks), 1, 1}, {384, 1, 1}, getSharedBytes());
  }

  /// The number of elements that lie outside of their bounds.
  int countWrong(const HostMatrix &got) const {
    int wrong = 0;
    for (size_t i = 0; i < got.values.size(); ++i)
      wrong +=
          !(std::fabs(got.values[i] - expected.values[i]) <= bound.values[i]);
    return wrong;
  }
};

} // namespace fusionemu

#endif // FUSION_TEST_UNITTESTS_EMULATOR_HOPPERGEMM_H
