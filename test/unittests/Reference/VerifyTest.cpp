//===- VerifyTest.cpp - Runs against references ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the verification of whole runs: what another correct way to
// compute gives is verified, what a wrong kernel gives is not.
//
//===----------------------------------------------------------------------===//

#include "ReferenceTestUtils.h"

#include "fusion/Reference/Verify.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {

/// x * w in bf16 with f32 accumulation, its row sums, and the sum of all.
const char *const kProgram = R"(
func.func @f(%x: tensor<?x96xbf16>, %w: tensor<96x64xbf16>) -> (tensor<?x64xbf16>, tensor<?xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x96xbf16>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.matmul ins(%x, %w : tensor<?x96xbf16>, tensor<96x64xbf16>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %q = arith.truncf %p : tensor<?x64xf32> to tensor<?x64xbf16>
  %g = tensor.empty(%m) : tensor<?xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<?xf32>) -> tensor<?xf32>
  %rows = linalg.reduce { arith.addf } ins(%p : tensor<?x64xf32>) outs(%h : tensor<?xf32>) dimensions = [1]
  %i = tensor.empty() : tensor<f32>
  %j = linalg.fill ins(%zero : f32) outs(%i : tensor<f32>) -> tensor<f32>
  %all = linalg.reduce { arith.addf } ins(%rows : tensor<?xf32>) outs(%j : tensor<f32>) dimensions = [0]
  return %q, %rows, %all : tensor<?x64xbf16>, tensor<?xf32>, tensor<f32>
})";

class VerifyTest : public testing::TestWithParam<int64_t> {
protected:
  void SetUp() override {
    program = std::make_unique<Program>(kProgram);
    auto created = Verifier::create(program->getModule(), "f");
    ASSERT_TRUE(succeeded(created)) << program->getErrors();
    verifier = std::move(*created);
    int64_t m = GetParam();
    HostTensor x = randomTensor(DType::BF16, {m, 96}, 1);
    HostTensor w = randomTensor(DType::BF16, {96, 64}, 2);
    ASSERT_TRUE(succeeded(verifier->prepare({x, w})));
    outputs = computeByBlocks(x, w);
  }

  /// The same results by other orders of summation, as a kernel might.
  static SmallVector<HostTensor> computeByBlocks(const HostTensor &x,
                                                 const HostTensor &w) {
    int64_t m = x.getDims()[0];
    HostTensor product = createTensor(DType::BF16, {m, 64});
    HostTensor rows = createTensor(DType::F32, {m});
    HostTensor all = createTensor(DType::F32, {});
    float total = 0;
    for (int64_t i = 0; i < m; ++i) {
      float lanes[8] = {};
      for (int64_t j = 0; j < 64; ++j) {
        float parts[4] = {};
        for (int64_t k = 0; k < 96; ++k)
          parts[k % 4] +=
              float(x.getDouble(i * 96 + k)) * float(w.getDouble(k * 64 + j));
        float sum = (parts[0] + parts[1]) + (parts[2] + parts[3]);
        product.setDouble(i * 64 + j, sum);
        lanes[j % 8] += sum;
      }
      float row = 0;
      for (int lane = 7; lane >= 0; --lane)
        row += lanes[lane];
      rows.setDouble(i, row);
      total += row;
    }
    all.setDouble(0, total);
    return {product, rows, all};
  }

  bool isVerified() { return verifier->compare(outputs).isVerified(); }

  std::unique_ptr<Program> program;
  std::unique_ptr<Verifier> verifier;
  SmallVector<HostTensor> outputs;
};

TEST_P(VerifyTest, AnotherOrderOfSummationIsVerified) {
  VerifyReport report = verifier->compare(outputs);
  for (const OutputReport &output : report.outputs)
    EXPECT_TRUE(output.verified) << output.failure;
  EXPECT_TRUE(report.isVerified());
  EXPECT_LT(report.getMaxRelativeError(), 0.02);
}

TEST_P(VerifyTest, TheDeclaredResultsAreVerified) {
  outputs.assign(verifier->getDeclaredResults().begin(),
                 verifier->getDeclaredResults().end());
  EXPECT_TRUE(isVerified());
}

TEST_P(VerifyTest, AWrongElementIsFound) {
  for (HostTensor &output : outputs) {
    std::vector<uint8_t> right = getBytes(output);
    int64_t last = output.getNumElements() - 1;
    double value = output.getDouble(last);
    output.setDouble(last, value + std::fabs(value) / 8 + 0.5);
    OutputReport report =
        verifier->compare(outputs).outputs[&output - outputs.begin()];
    EXPECT_FALSE(report.verified)
        << getTypeString(output) << " " << value << " error " << report.maxError
        << " allowed " << report.allowedMaxError << " rms " << report.rmsError
        << " allowed " << report.allowedRmsError;
    std::copy(right.begin(), right.end(), output.data());
  }
  EXPECT_TRUE(isVerified());
}

TEST_P(VerifyTest, AMissingOutputIsFound) {
  outputs.pop_back();
  VerifyReport report = verifier->compare(outputs);
  EXPECT_FALSE(report.isVerified());
  EXPECT_EQ(report.outputs[2].failure, "is missing");
}

TEST_P(VerifyTest, ALostTermIsFound) {
  // The last of 96 products is left out, as by a loop that ends too early.
  HostTensor x = randomTensor(DType::BF16, {GetParam(), 96}, 1);
  HostTensor w = randomTensor(DType::BF16, {96, 64}, 2);
  for (int64_t i = 0; i < GetParam(); ++i)
    x.setDouble(i * 96 + 95, 0);
  outputs = computeByBlocks(x, w);
  EXPECT_FALSE(isVerified());
}

INSTANTIATE_TEST_SUITE_P(Rows, VerifyTest, testing::Values(1, 3, 64, 129));

} // namespace
