//===- HopperAttention.h - Running the kernels of attention.cu --*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how tests run a kernel of attention.cu and compare it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_UNITTESTS_EMULATOR_HOPPERATTENTION_H
#define FUSION_TEST_UNITTESTS_EMULATOR_HOPPERATTENTION_H

#include "HopperUtils.h"

namespace fusionemu {

struct AttentionKernel {
  const char *name;
  int D;
  bool causal;
};

/// Inputs and result of softmax(Q K^T / sqrt(D)) V, in double precision.
struct AttentionProblem {
  AttentionKernel kernel;
  int heads, S;
  HostMatrix Q, K, V;
  /// Without rounding, and how far an element may be from it.
  HostMatrix expected, bound;

  AttentionProblem(AttentionKernel kernel, int heads, int S, unsigned seed = 2)
      : kernel(kernel), heads(heads), S(S) {
    std::mt19937 random(seed);
    int D = kernel.D, rows = heads * S;
    Q = makeMatrix(rows, D, Element::BF16, random);
    K = makeMatrix(rows, D, Element::BF16, random);
    V = makeMatrix(rows, D, Element::BF16, random);
    expected = bound =
        HostMatrix{rows, D, std::vector<double>(size_t(rows) * D)};
    std::vector<double> p;
    for (int row = 0; row < rows; ++row) {
      int first = row / S * S, count = kernel.causal ? row - first + 1 : S;
      p.assign(size_t(count), 0);
      double maximum = -1e300, sum = 0;
      for (int j = 0; j < count; ++j) {
        for (int d = 0; d < D; ++d)
          p[j] += Q.at(row, d) * K.at(first + j, d);
        p[j] /= std::sqrt(D);
        maximum = std::max(maximum, p[j]);
      }
      for (double &x : p)
        sum += x = std::exp(x - maximum);
      for (int d = 0; d < D; ++d) {
        double o = 0, magnitude = 0;
        for (int j = 0; j < count; ++j) {
          o += p[j] * V.at(first + j, d) / sum;
          magnitude += p[j] * std::fabs(V.at(first + j, d)) / sum;
        }
        expected.at(row, d) = o;
        // Weights are rounded to 8 bits, as the result is.
        bound.at(row, d) = magnitude / 256 + std::fabs(o) / 256 + 1e-5;
      }
    }
  }

  uint32_t getSharedBytes() const {
    return uint32_t(128 * kernel.D * 2 + 4 * 64 * kernel.D * 2 + 72);
  }

  Status run(HopperFixture &f, const std::string &text, Mode mode,
             uint64_t &O) const {
    f.kernel = kernel.name;
    f.options.asynchrony = mode.asynchrony;
    f.options.threads = mode.threads;
    f.options.maxSteps = 1 << 20;
    Status status = f.module.parse(text, "attention.ptx");
    if (!status.ok())
      return status;
    int rows = heads * S;
    const Element e = Element::BF16;
    f.passMap(f.allocate("Q", Q, e), e, rows, kernel.D, 128, 64, 128);
    f.passMap(f.allocate("K", K, e), e, rows, kernel.D, 64, 64, 128);
    f.passMap(f.allocate("V", V, e), e, rows, kernel.D, 64, 64, 128);
    O = f.allocate("O", uint64_t(rows) * kernel.D * 2);
    f.passMap(O, e, rows, kernel.D, 64, 64, 128);
    f.pass(S);
    return f.run({uint32_t(S / 128), uint32_t(heads), 1}, {384, 1, 1},
                 getSharedBytes());
  }

  int countWrong(const HostMatrix &got) const {
    int wrong = 0;
    for (size_t i = 0; i < got.values.size(); ++i)
      wrong +=
          !(std::fabs(got.values[i] - expected.values[i]) <= bound.values[i]);
    return wrong;
  }
};

} // namespace fusionemu

#endif // FUSION_TEST_UNITTESTS_EMULATOR_HOPPERATTENTION_H
