//===- ErrorCodesTest.cpp - Tests of codes and messages -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the table of codes and how messages are taken apart.
//
//===----------------------------------------------------------------------===//

#include "fusion/Support/ErrorCodes.h"
#include "gtest/gtest.h"

using namespace mlir::fusion;

TEST(ErrorCodesTest, TableIsOrderedAndComplete) {
  int last = 0;
  for (const CodeInfo &info : getCodeTable()) {
    EXPECT_LT(last, info.number);
    last = info.number;
    EXPECT_FALSE(info.meaning.empty() || info.remedy.empty()) << info.number;
    EXPECT_EQ(findCode(info.number), &info);
  }
  // One of each list.
  for (int number : {1001, 711, 3401, 6101})
    EXPECT_NE(findCode(number), nullptr) << number;
  EXPECT_EQ(findCode(9999), nullptr);
}

TEST(ErrorCodesTest, ExplainsACode) {
  EXPECT_EQ(parseCode("FUS-0711"), 711);
  EXPECT_EQ(parseCode("fus-3401"), 3401);
  EXPECT_EQ(parseCode("3401"), 3401);
  EXPECT_EQ(parseCode("FUS-x"), std::nullopt);
  EXPECT_EQ(explainCode(*findCode(1001)),
            "FUS-1001 (error, exit status 2)\n"
            "  cause:  the command line is wrong\n  remedy: see --help\n");
  EXPECT_NE(explainCode(*findCode(3215)).find("(remark)"), std::string::npos);
}

TEST(ErrorCodesTest, TakesMessagesApart) {
  CodedMessage given = parseMessage("FUS-1001: no such option; see --help");
  EXPECT_EQ(given.number, 1001);
  EXPECT_EQ(given.cause, "no such option");
  EXPECT_EQ(given.remedy, "see --help");
  EXPECT_EQ(given.str(), "FUS-1001: no such option; see --help");

  CodedMessage own = parseMessage("FUS-2001: unknown; known targets: a, b");
  EXPECT_EQ(own.remedy, "known targets: a, b");

  // The table's remedy is found whole, though it has a semicolon.
  std::string text = formatError(ErrorCode::ReferenceFault, "index 9; of 4");
  CodedMessage table = parseMessage(text);
  EXPECT_EQ(table.cause, "index 9; of 4");
  EXPECT_EQ(table.remedy, findCode(1102)->remedy);
  EXPECT_EQ(table.str(), text);

  // MLIR's prefix of an operation, and no remedy.
  CodedMessage op =
      parseMessage("'fusion_tile.part' op FUS-3308: the part moves elements");
  EXPECT_EQ(op.number, 3308);
  EXPECT_EQ(op.cause, "'fusion_tile.part' op the part moves elements");
  EXPECT_EQ(op.remedy, findCode(3308)->remedy);

  CodedMessage none = parseMessage("expected ')'");
  EXPECT_EQ(none.number, 0);
  EXPECT_EQ(none.str(), "expected ')'");
}

TEST(ErrorCodesTest, GivesExitStatuses) {
  EXPECT_EQ(getExitStatus("FUS-1001: x; y"), 2);
  EXPECT_EQ(getExitStatus("FUS-2003: x"), 3);
  EXPECT_EQ(getExitStatus("FUS-9999: x"), 1);
  EXPECT_EQ(getExitStatus("no code"), 1);
  EXPECT_EQ(getExitStatus(3215), 1); // a remark is no reason to stop
}
