//===- RandomInputsTest.cpp - Drawing of inputs ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the drawing of sizes and values, and signatures.
//
//===----------------------------------------------------------------------===//

#include "ReferenceTestUtils.h"

#include "fusion/Reference/RandomInputs.h"
#include "fusion/Reference/RandomSizes.h"
#include "gtest/gtest.h"
#include <set>

using namespace mlir::fusion;

namespace {

const char *const kProgram = R"(
func.func @f(%x: tensor<?x?xbf16> {fusion.dims = ["m", "k"]}, %w: tensor<?x16xbf16> {fusion.dims = ["k", "_"]},
             %n: tensor<?xi8>, %flag: i1) -> tensor<?xi8> {
  return %n : tensor<?xi8>
})";

struct Drawn {
  RandomInputError error;
  std::string message;
  std::vector<HostTensor> inputs;
};

Drawn draw(const RandomInputOptions &options) {
  Program program(kProgram);
  auto function = findEntry(program.getModule(), "");
  EXPECT_TRUE(succeeded(function));
  auto signature = getSignature(*function);
  EXPECT_TRUE(succeeded(signature));
  Drawn drawn;
  drawn.error = drawInputs(*signature, options, drawn.inputs, drawn.message);
  return drawn;
}

TEST(RandomInputsTest, NamesTieExtents) {
  std::set<int64_t> sizes;
  bool sawOdd = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    RandomInputOptions options;
    options.seed = seed;
    Drawn drawn = draw(options);
    ASSERT_EQ(drawn.inputs.size(), 4u);
    EXPECT_EQ(drawn.inputs[0].getDims()[1], drawn.inputs[1].getDims()[0]);
    EXPECT_EQ(drawn.inputs[1].getDims()[1], 16);
    sizes.insert(drawn.inputs[0].getDims()[0]);
    sawOdd |=
        drawn.inputs[0].getDims()[0] % 2 && drawn.inputs[0].getDims()[0] > 1;
  }
  EXPECT_GE(sizes.size(), 10u);
  EXPECT_TRUE(sawOdd);
}

TEST(RandomInputsTest, GivenSizesAreObeyed) {
  RandomInputOptions options;
  options.dims = {{"m", 3}, {"k", 5}, {"arg2.0", 0}, {"arg1.1", 16}};
  Drawn drawn = draw(options);
  ASSERT_EQ(drawn.error, RandomInputError::None) << drawn.message;
  EXPECT_EQ(getTypeString(drawn.inputs[0]), "bf16[3,5]");
  EXPECT_EQ(getTypeString(drawn.inputs[1]), "bf16[5,16]");
  EXPECT_EQ(getTypeString(drawn.inputs[2]), "i8[0]");
  EXPECT_EQ(getTypeString(drawn.inputs[3]), "i1[]");
}

TEST(RandomInputsTest, WrongSizesAreErrors) {
  RandomInputOptions options;
  options.dims = {{"q", 3}};
  Drawn drawn = draw(options);
  EXPECT_EQ(drawn.error, RandomInputError::BadDim);
  EXPECT_EQ(drawn.message, "no argument has an extent named 'q'");
  options.dims = {{"arg1.1", 3}};
  drawn = draw(options);
  EXPECT_EQ(drawn.error, RandomInputError::BadDim);
  EXPECT_EQ(drawn.message, "'arg1.1' is fixed at 16");
  options.dims = {{"m", int64_t(1) << 40}, {"k", int64_t(1) << 40}};
  drawn = draw(options);
  EXPECT_EQ(drawn.error, RandomInputError::Overflow);
  EXPECT_TRUE(drawn.inputs.empty());
}

TEST(RandomInputsTest, ASeedGivesTheSameValues) {
  RandomInputOptions options;
  options.dims = {{"m", 64}, {"k", 64}, {"arg2.0", 1000}};
  Drawn first = draw(options), second = draw(options);
  options.seed = 1;
  Drawn other = draw(options);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(getBytes(first.inputs[i]), getBytes(second.inputs[i]));
    EXPECT_NE(getBytes(first.inputs[i]), getBytes(other.inputs[i]));
  }
  double sum = 0, squares = 0;
  for (double value : toDoubles(first.inputs[0])) {
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 4096, 0, 0.06);
  EXPECT_NEAR(squares / 4096, 1, 0.1);
  std::set<int64_t> integers;
  for (int64_t i = 0; i < 1000; ++i)
    integers.insert(first.inputs[2].getInteger(i));
  EXPECT_EQ(integers, (std::set<int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  options.intLow = -1000;
  options.intHigh = -127;
  Drawn clamped = draw(options);
  for (int64_t i = 0; i < 1000; ++i)
    EXPECT_LE(clamped.inputs[2].getInteger(i), -127);
}

TEST(SignatureTest, BadTypesAndUnclearEntriesAreErrors) {
  Program complex(R"(func.func @f(%x: tensor<4xcomplex<f32>>) { return })");
  auto function = findEntry(complex.getModule(), "");
  ASSERT_TRUE(succeeded(function));
  EXPECT_TRUE(failed(getSignature(*function)));
  EXPECT_NE(complex.getErrors().find("FUS-1007"), std::string::npos);

  Program two(R"(
func.func @f(%x: tensor<4xf32>) { return }
func.func @g(%x: tensor<4xf32>) { return })");
  EXPECT_TRUE(failed(findEntry(two.getModule(), "")));
  EXPECT_NE(two.getErrors().find("f, g"), std::string::npos);
  EXPECT_TRUE(succeeded(findEntry(two.getModule(), "g")));
}

/// An entry of one input `?x?` and one by-value i64, with symbols m, n and p.
fusionpkg::Entry makeEntry() {
  fusionpkg::Entry entry;
  entry.symbols = {{"m", 0, 0}, {"n", 0, 1}, {"p", 1, -1}};
  fusionpkg::TensorSpec tensor, scalar;
  tensor.dims = {entry.exprs.symbol(0), entry.exprs.symbol(1)};
  scalar.dtype = fusionpkg::DType::I64;
  scalar.byValue = true;
  entry.inputs = {tensor, scalar};
  return entry;
}

TEST(RandomSizesTest, MeetsRequirements) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    fusionpkg::Entry entry = makeEntry();
    fusionpkg::ExprPool &pool = entry.exprs;
    fusionpkg::ExprId m = pool.symbol(0), n = pool.symbol(1),
                      p = pool.symbol(2);
    // 3 m == 2 n and p < m.
    entry.requirements.push_back(
        {pool.eq(pool.mul(m, pool.constant(3)), pool.mul(n, pool.constant(2))),
         ""});
    entry.requirements.push_back({pool.lt(p, m), ""});
    RandomInputOptions options;
    options.seed = seed;
    ASSERT_TRUE(drawSizes(entry, options));
    EXPECT_EQ(3 * options.dims["m"], 2 * options.dims["n"]);
    EXPECT_LT(options.scalars[1], options.dims["m"]);
    EXPECT_GE(options.scalars[1], options.intLow);
    EXPECT_LE(options.scalars[1], options.intHigh);
  }
}

TEST(RandomSizesTest, EqualSymbolsAreOne) {
  fusionpkg::Entry entry = makeEntry();
  entry.requirements.push_back(
      {entry.exprs.eq(entry.exprs.symbol(0), entry.exprs.symbol(1)), ""});
  RandomInputOptions options;
  options.dims["arg0.1"] = 1000;
  ASSERT_TRUE(drawSizes(entry, options));
  EXPECT_EQ(options.dims["m"], 1000);
}

TEST(RandomSizesTest, BoundsElements) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    fusionpkg::Entry entry = makeEntry();
    RandomInputOptions options;
    options.seed = seed;
    options.dims["m"] = kMaxRandomElements / 4;
    ASSERT_TRUE(drawSizes(entry, options));
    EXPECT_LE(options.dims["n"], 4);
  }
}

TEST(RandomSizesTest, SaysWhenThereAreNone) {
  fusionpkg::Entry entry = makeEntry();
  fusionpkg::ExprPool &pool = entry.exprs;
  entry.requirements.push_back(
      {pool.lt(pool.add(pool.symbol(0), pool.constant(1)), pool.symbol(0)),
       ""});
  RandomInputOptions options;
  EXPECT_FALSE(drawSizes(entry, options));
  EXPECT_TRUE(options.dims.empty());
}

} // namespace
