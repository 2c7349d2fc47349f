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
    EXPECT_TRUE(output.isVerified()) << output.failure;
  EXPECT_TRUE(report.isVerified());
  EXPECT_LT(report.getMaxRelativeError(), 0.02);
}

TEST_P(VerifyTest, AWrongElementIsFound) {
  for (HostTensor &output : outputs) {
    std::vector<uint8_t> right = getBytes(output);
    int64_t last = output.getNumElements() - 1;
    double value = output.getDouble(last);
    output.setDouble(last, value + std::fabs(value) / 8 + 0.5);
    OutputReport report =
        verifier->compare(outputs).outputs[&output - outputs.begin()];
    EXPECT_FALSE(report.isVerified())
        << getTypeString(output) << " " << value << " error " << report.maxError
        << " allowed " << report.allowedMaxError;
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

//===----------------------------------------------------------------------===//
// Sums of tensor cores
//===----------------------------------------------------------------------===//

constexpr int64_t kDepth = 4096, kEdge = 16;

/// A product of `type` with sums in f32, over kDepth terms.
std::string getProduct(const std::string &type, const std::string &attributes) {
  std::string factors =
      "tensor<16x4096x" + type + ">, tensor<4096x16x" + type + ">";
  return "func.func @f(%x: tensor<16x4096x" + type + ">, %w: tensor<4096x16x" +
         type + ">) -> tensor<16x16xf32> " + attributes + R"( {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %p = linalg.matmul ins(%x, %w : )" +
         factors + R"() outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %p : tensor<16x16xf32>
})";
}

/// `x` with the bits cut off that f32 has no room for.
float cutToFloat(double x) {
  float rounded = static_cast<float>(x);
  return std::fabs(rounded) > std::fabs(x) ? std::nextafterf(rounded, 0)
                                           : rounded;
}

/// Sums as Hopper's tensor cores make them, 16 terms at a time: all are aligned
/// with the largest and keep 25 bits below it (docs/Emulator.md).
HostTensor multiplyInSteps(const HostTensor &x, const HostTensor &w) {
  HostTensor result = createTensor(DType::F32, {kEdge, kEdge});
  for (int64_t i = 0; i < kEdge; ++i)
    for (int64_t j = 0; j < kEdge; ++j) {
      double sum = 0;
      for (int64_t begin = 0; begin < kDepth; begin += 16) {
        double terms[17] = {sum};
        for (int64_t k = 0; k < 16; ++k)
          terms[1 + k] = x.getDouble(i * kDepth + begin + k) *
                         w.getDouble((begin + k) * kEdge + j);
        int exponent = -133;
        for (double term : terms)
          if (term != 0)
            exponent = std::max(exponent, std::ilogb(term));
        double total = 0;
        for (double term : terms)
          total += std::trunc(std::ldexp(term, 25 - exponent));
        sum = cutToFloat(std::ldexp(total, exponent - 25));
      }
      result.setDouble(i * kEdge + j, sum);
    }
  return result;
}

TEST(SumErrorTest, LongSumsOfTensorCoresAreVerified) {
  Program program(getProduct("bf16", ""));
  auto verifier = Verifier::create(program.getModule(), "f");
  ASSERT_TRUE(succeeded(verifier)) << program.getErrors();
  HostTensor x = randomTensor(DType::BF16, {kEdge, kDepth}, 1);
  HostTensor w = randomTensor(DType::BF16, {kDepth, kEdge}, 2);
  // Sums of one sign are cut off in one direction.
  for (HostTensor *input : {&x, &w})
    for (int64_t i = 0, e = input->getNumElements(); i < e; ++i)
      input->setDouble(i, std::fabs(input->getDouble(i)));
  ASSERT_TRUE(succeeded((*verifier)->prepare({x, w})));
  HostTensor got = multiplyInSteps(x, w);
  OutputReport report = (*verifier)->compare({got}).outputs[0];
  EXPECT_TRUE(report.isVerified()) << report.failure;
  // They need most of what they are allowed.
  EXPECT_GT(report.maxUse, 0.1);

  // A sum that lacks a term of average size is found.
  got.setDouble(17, got.getDouble(17) * (1 - 1.0 / kDepth));
  report = (*verifier)->compare({got}).outputs[0];
  EXPECT_FALSE(report.isVerified());
  EXPECT_EQ(report.failingIndex, 17);
}

//===----------------------------------------------------------------------===//
// Results that are wrong in a way that a mean hides
//===----------------------------------------------------------------------===//

/// The verdict on `got` for @f of `text` on `inputs`.
OutputReport check(const std::string &text, ArrayRef<HostTensor> inputs,
                   function_ref<void(HostTensor &)> spoil) {
  Program program(text);
  auto verifier = Verifier::create(program.getModule(), "f");
  if (failed(verifier) || failed((*verifier)->prepare(inputs))) {
    ADD_FAILURE() << program.getErrors();
    return {};
  }
  const ReferenceTensor &expected = (*verifier)->getExpected()[0];
  HostTensor got = createTensor(expected.dtype, expected.dims);
  for (int64_t i = 0; i < expected.getNumElements(); ++i)
    got.setDouble(i, expected.elements[i].value);
  EXPECT_TRUE((*verifier)->compare({got}).isVerified());
  spoil(got);
  return (*verifier)->compare({got}).outputs[0];
}

TEST(WrongResultTest, SmallResultsThatAreZero) {
  HostTensor x = randomTensor(DType::F32, {1000}, 1);
  OutputReport report = check(R"(
func.func @f(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %five = arith.constant dense<5.0> : tensor<1000xf32>
  %y = arith.mulf %x, %five : tensor<1000xf32>
  %z = math.exp %y : tensor<1000xf32>
  return %z : tensor<1000xf32>
})",
                              {x}, [](HostTensor &got) {
                                for (int64_t i = 0; i < 1000; ++i)
                                  if (got.getDouble(i) < 0.5)
                                    got.setDouble(i, 0);
                              });
  EXPECT_EQ(report.verdict, Verdict::Wrong);
}

TEST(WrongResultTest, ASumWithoutItsLastTerm) {
  HostTensor x = randomTensor(DType::F16, {16, 4096}, 1);
  OutputReport report = check(
      R"(
func.func @f(%x: tensor<16x4096xf16>) -> tensor<16xf16> {
  %zero = arith.constant dense<0.0> : tensor<16xf16>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<16x4096xf16>)
      outs(%zero : tensor<16xf16>) dimensions = [1]
  return %s : tensor<16xf16>
})",
      {x}, [&](HostTensor &got) {
        for (int64_t i = 0; i < 16; ++i)
          got.setDouble(i, got.getDouble(i) - x.getDouble(i * 4096 + 4095));
      });
  EXPECT_EQ(report.verdict, Verdict::Wrong);
}

TEST(WrongResultTest, FewIntegersThatDiffer) {
  HostTensor x = randomTensor(DType::F32, {4000}, 1);
  OutputReport report =
      check(R"(
func.func @f(%x: tensor<4000xf32>) -> tensor<4000xi32> {
  %hundred = arith.constant dense<100.0> : tensor<4000xf32>
  %y = arith.mulf %x, %hundred : tensor<4000xf32>
  %i = arith.fptosi %y : tensor<4000xf32> to tensor<4000xi32>
  return %i : tensor<4000xi32>
})",
            {x}, [](HostTensor &got) {
              for (int64_t i = 0; i < 4; ++i)
                got.setInteger(i * 999, got.getInteger(i * 999) + 1);
            });
  EXPECT_EQ(report.verdict, Verdict::Wrong);
}

INSTANTIATE_TEST_SUITE_P(Rows, VerifyTest, testing::Values(1, 3, 64, 129));

} // namespace
