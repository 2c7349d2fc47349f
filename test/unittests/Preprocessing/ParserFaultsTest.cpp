//===- ParserFaultsTest.cpp - What upstream's parser dies of --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the check of a text before it is parsed.
//
//===----------------------------------------------------------------------===//

#include "fusion/Preprocessing/ParserFaults.h"
#include "gtest/gtest.h"

using namespace mlir::fusion;

TEST(ParserFaults, AcceptsListsOfIntegers) {
  for (const char *text :
       {"outs(%e : t) dimensions = [0]", ") dimensions = []",
        ")\n  permutation = [ 1, -2,\n 0x10 ] // a comment",
        ") dimensions // here\n = // there\n [ // 5\n 0 ]",
        // Not the keyword behind operands, or not assigned.
        "{dimensions = array<i64: 0>}", ", permutation = dense<1>",
        "f(%x) dimensions", "@dimensions(%x) : 5"})
    EXPECT_FALSE(findParserFault(text)) << text;
}

TEST(ParserFaults, FindsWhatIsNoList) {
  for (const char *text :
       {") dimensions = [0, 1  2]", ") dimensions = [0,]", ") dimensions = 0",
        ") dimensions =", ") permutation = [", ") permutation = [%a]",
        ") permutation = [1.5]", ") dimensions = [99999999999999999999]",
        ") dimensions = [0] ) dimensions = [,]"})
    EXPECT_TRUE(findParserFault(text)) << text;
}

TEST(ParserFaults, TellsLineAndColumn) {
  std::optional<ParserFault> fault =
      findParserFault("a\n b) dimensions = [0, 1  2]");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->place.line, 2u);
  EXPECT_EQ(fault->place.column, 25u);
}

TEST(ParserFaults, CountsElements) {
  for (const char *text :
       {"tensor.from_elements %a, %b : tensor<2xf32>",
        "tensor.from_elements %a : tensor<f32>",
        "tensor.from_elements : tensor<0x9xi1>", "from_elements",
        // Upstream says what is wrong with these.
        "tensor.from_elements %a : tensor<3xf32>",
        "tensor.from_elements %a : tensor<?xf32>",
        "tensor.from_elements %a : vector<9999999xf32>",
        // Values, which upstream prints with the name of the operation.
        "return %from_elements : tensor<1000000000xf32>",
        "return %tensor.from_elements : tensor<1000000000xf32>"})
    EXPECT_FALSE(findParserFault(text)) << text;
  for (const char *text :
       {"tensor.from_elements %a : tensor<1000000000xf32>",
        "tensor.from_elements %a : tensor< 3000x3000xf32>",
        "tensor.from_elements "
        "%a:tensor<9223372036854775807x9223372036854775807xi1>",
        "tensor.from_elements %a : tensor<99999999999999999999xi1>"})
    EXPECT_TRUE(findParserFault(text)) << text;
}

TEST(ParserFaults, ArraysOfIndex) {
  for (const char *text : {"array<i64: 1, 2>", "array<indexed: 2>", "array",
                           "tensor<2xindex>", "array<f32>"})
    EXPECT_FALSE(findParserFault(text)) << text;
  for (const char *text : {"{strides = array<index: 2>}", "array < index>"})
    EXPECT_TRUE(findParserFault(text)) << text;
}
