//===- NestingDepthTest.cpp - Depth of brackets ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the check of nesting before a text is parsed.
//
//===----------------------------------------------------------------------===//

#include "fusion/Preprocessing/NestingDepth.h"
#include "gtest/gtest.h"
#include <string>

using namespace mlir::fusion;

static std::string repeat(const char *text, unsigned times) {
  std::string result;
  for (unsigned i = 0; i < times; ++i)
    result += text;
  return result;
}

TEST(NestingDepth, AcceptsTheLimitAndRefusesOneMore) {
  for (const char *bracket : {"(", "[", "{", "<"}) {
    EXPECT_FALSE(findDeepNesting(repeat(bracket, 256)));
    std::optional<TextPosition> position =
        findDeepNesting(repeat(bracket, 257));
    ASSERT_TRUE(position);
    EXPECT_EQ(position->line, 1u);
    EXPECT_EQ(position->column, 257u);
  }
}

TEST(NestingDepth, CountsLevelsNotBrackets) {
  EXPECT_FALSE(findDeepNesting(repeat("({[<>]})", 10000)));
  EXPECT_FALSE(findDeepNesting("((()))", 3));
  EXPECT_TRUE(findDeepNesting("((()))", 2));
}

TEST(NestingDepth, TellsLineAndColumn) {
  std::optional<TextPosition> position = findDeepNesting("{\n {\n  {", 2);
  ASSERT_TRUE(position);
  EXPECT_EQ(position->line, 3u);
  EXPECT_EQ(position->column, 3u);
}

TEST(NestingDepth, SkipsStringsAndComments) {
  EXPECT_FALSE(findDeepNesting("\"((((\" // ((((\n(", 1));
  EXPECT_FALSE(findDeepNesting("\"\\\"((\"", 1));
  // A string ends with its line, so that what follows counts.
  EXPECT_TRUE(findDeepNesting("\"abc\n((", 1));
  EXPECT_FALSE(findDeepNesting("\"abc\\", 1));
}

TEST(NestingDepth, ArrowsAndComparisonsAreNoBrackets) {
  // An arrow must not close what is open, nor a comparison open a level.
  EXPECT_TRUE(findDeepNesting("(->((", 2));
  EXPECT_FALSE(findDeepNesting(repeat("d0 <= d1 ", 10), 1));
  EXPECT_TRUE(findDeepNesting("< >= < >= <", 2));
}

TEST(NestingDepth, SurplusClosingBracketsDoNotLendDepth) {
  EXPECT_TRUE(findDeepNesting(")))))(((", 2));
}
