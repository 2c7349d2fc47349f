//===- HopperGemmTest.cpp - HostMatrix products with tensor cores
//-------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file runs the matrix products of test/Emulator/Hopper with all checks,
// against double precision.
//
//===----------------------------------------------------------------------===//

#include "HopperGemm.h"

using namespace fusionemu;

static void expectRight(const GemmKernel &kernel, GemmSize size) {
  GemmProblem problem(kernel, size);
  std::string text = readKernel("gemm.ptx", kernel.name);
  for (Mode mode : allModes) {
    SCOPED_TRACE(std::string(kernel.name) + ", " + describe(mode));
    HopperFixture f;
    uint64_t C = 0;
    Status status = problem.run(f, text, mode, C);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(problem.countWrong(f.getBF16(C, size.M, size.N)), 0);
    // Everything is loaded once for each tile, in whole boxes.
    EXPECT_EQ(f.counters.tensorStoreBytes, uint64_t(size.M) * size.N * 2);
  }
}

TEST(HopperGemm, WidthOf64) {
  GemmKernel kernel{"gemm_bf16_n64", Element::BF16, 64, 128, 4, false, 1};
  expectRight(kernel, {128, 64, 64, 1});
  expectRight(kernel, {256, 192, 320, 4});
}
TEST(HopperGemm, WidthOf128) {
  GemmKernel kernel{"gemm_bf16_n128", Element::BF16, 128, 128, 3, false, 1};
  expectRight(kernel, {256, 256, 512, 3});
  // Tails in all directions.
  expectRight(kernel, {200, 136, 104, 2});
}
TEST(HopperGemm, RowsOfB) {
  expectRight({"gemm_bf16_n128_rows", Element::BF16, 128, 128, 3, true, 1},
              {256, 256, 256, 2});
}
TEST(HopperGemm, Swizzle64) {
  expectRight({"gemm_bf16_swizzle64", Element::BF16, 64, 64, 4, false, 1},
              {128, 128, 192, 1});
  expectRight({"gemm_bf16_swizzle64_rows", Element::BF16, 64, 64, 3, true, 1},
              {128, 128, 192, 2});
}
TEST(HopperGemm, Swizzle32) {
  expectRight({"gemm_bf16_swizzle32", Element::BF16, 64, 32, 4, false, 1},
              {128, 128, 128, 1});
  expectRight({"gemm_bf16_swizzle32_rows", Element::BF16, 64, 32, 4, true, 1},
              {128, 128, 128, 2});
}
TEST(HopperGemm, HalfAccumulators) {
  expectRight({"gemm_f16", Element::F16, 64, 128, 4, false, 1},
              {128, 128, 192, 1});
}
TEST(HopperGemm, TensorFloat32) {
  expectRight({"gemm_tf32", Element::TF32, 64, 128, 4, false, 1},
              {128, 128, 192, 1});
}
TEST(HopperGemm, Float8) {
  expectRight({"gemm_e4m3", Element::E4M3, 64, 128, 4, false, 1},
              {128, 128, 384, 1});
}
TEST(HopperGemm, Int8) {
  expectRight({"gemm_s8", Element::S8, 64, 128, 4, false, 1},
              {128, 128, 384, 1});
}
TEST(HopperGemm, Cluster) {
  GemmKernel kernel{"gemm_cluster", Element::BF16, 128, 128, 3, false, 2};
  expectRight(kernel, {256, 128, 384, 2});
  // Three rows of tiles: the last pair has a block without one.
  expectRight(kernel, {384, 256, 256, 4});
}
TEST(HopperGemm, ClusterRowsOfB) {
  expectRight({"gemm_cluster_rows", Element::BF16, 128, 128, 3, true, 2},
              {512, 256, 256, 2});
}

TEST(HopperGemm, Sm80) {
  std::string text = readKernel("gemm_sm80.ptx", "gemm_sm80");
  for (GemmSize size : {GemmSize{64, 64, 32, 1}, GemmSize{128, 192, 160, 6}}) {
    std::mt19937 random(3);
    HostMatrix A = makeMatrix(size.M, size.K, Element::BF16, random);
    HostMatrix B = makeMatrix(size.K, size.N, Element::BF16, random);
    for (Mode mode : allModes) {
      SCOPED_TRACE(describe(mode));
      HopperFixture f;
      f.kernel = "gemm_sm80";
      f.options.asynchrony = mode.asynchrony;
      f.options.threads = mode.threads;
      Status status = f.module.parse(text);
      ASSERT_TRUE(status.ok()) << status.message();
      f.pass(f.allocate("A", A, Element::BF16));
      f.pass(f.allocate("B", B, Element::BF16));
      uint64_t C = f.passEmpty("C", uint64_t(size.M) * size.N * 4);
      f.pass(size.N);
      f.pass(size.K);
      status =
          f.run({uint32_t(size.N / 64), uint32_t(size.M / 64), 1}, {128, 1, 1});
      ASSERT_TRUE(status.ok()) << status.message();
      std::vector<float> got = f.get<float>(C, size_t(size.M) * size.N);
      for (int i = 0; i < size.M; ++i)
        for (int j = 0; j < size.N; ++j) {
          double sum = 0, magnitude = 0;
          for (int k = 0; k < size.K; ++k) {
            sum += A.at(i, k) * B.at(k, j);
            magnitude += std::fabs(A.at(i, k) * B.at(k, j));
          }
          ASSERT_NEAR(got[size_t(i) * size.N + j], sum,
                      magnitude * size.K / (1 << 23));
        }
      // Swizzle and padding keep all matrix loads free of conflicts.
      EXPECT_EQ(f.counters.bankConflicts, 0u);
    }
  }
}
