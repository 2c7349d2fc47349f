//===- HopperAttentionTest.cpp - Flash attention --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file runs the kernels of test/Emulator/Hopper/attention.cu with all
// checks, against double precision.
//
//===----------------------------------------------------------------------===//

#include "HopperAttention.h"

using namespace fusionemu;

static void expectRight(AttentionKernel kernel, int heads, int S) {
  AttentionProblem problem(kernel, heads, S);
  std::string text = readKernel("attention.ptx", kernel.name);
  for (Mode mode : allModes) {
    SCOPED_TRACE(std::string(kernel.name) + ", " + describe(mode));
    HopperFixture f;
    uint64_t O = 0;
    Status status = problem.run(f, text, mode, O);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(problem.countWrong(f.getBF16(O, heads * S, kernel.D)), 0);
  }
}

TEST(HopperAttention, Full) {
  expectRight({"attention_d64", 64, false}, 2, 128);
  expectRight({"attention_d64", 64, false}, 1, 384);
}
TEST(HopperAttention, Causal) {
  expectRight({"attention_d64_causal", 64, true}, 1, 384);
}
TEST(HopperAttention, WideHeads) {
  expectRight({"attention_d128", 128, false}, 1, 256);
  expectRight({"attention_d128_causal", 128, true}, 1, 256);
}
