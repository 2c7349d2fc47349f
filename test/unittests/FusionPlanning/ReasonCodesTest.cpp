//===- ReasonCodesTest.cpp - The table of reasons and its page ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests that every reason code has a distinct name and that
// docs/Remarks.md has the table of the code, row by row.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/TensorCores.h"
#include "fusion/FusionPlanning/FusionDecision.h"
#include "fusion/FusionPlanning/FusionKind.h"
#include "gtest/gtest.h"
#include <fstream>
#include <set>
#include <sstream>

using namespace mlir::fusion;

namespace {

TEST(ReasonCodesTest, NamesAreDistinctAndExplained) {
  std::set<std::string> names;
  for (ReasonCode code : getAllReasons()) {
    EXPECT_TRUE(names.insert(stringifyReason(code).str()).second);
    EXPECT_FALSE(describeReason(code).empty());
  }
  EXPECT_EQ(names.size(), getAllReasons().size());
}

TEST(ReasonCodesTest, PageHasTheTable) {
  std::ifstream file(FUSION_SOURCE_DIR "/docs/Remarks.md");
  ASSERT_TRUE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  std::string page = text.str();
  std::string table = "| code | meaning |\n|---|---|\n";
  for (ReasonCode code : getAllReasons())
    table += "| `" + stringifyReason(code).str() + "` | " +
             describeReason(code).str() + " |\n";
  // All rows, in order, and nothing between or after them.
  EXPECT_NE(page.find(table + "\n"), std::string::npos) << table;
}

TEST(ReasonCodesTest, PageHasTheKindsOfFusion) {
  std::ifstream file(FUSION_SOURCE_DIR "/docs/Explain.md");
  ASSERT_TRUE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  std::string table = "| kind | XLA's word | meaning |\n|---|---|---|\n";
  std::set<std::string> names;
  for (FusionKind kind : getAllKinds()) {
    EXPECT_TRUE(names.insert(stringifyKind(kind).str()).second);
    table += "| `" + stringifyKind(kind).str() + "` | " +
             getXlaWord(kind).str() + " | " + describeKind(kind).str() + " |\n";
  }
  EXPECT_NE(text.str().find(table + "\n"), std::string::npos) << table;
}

TEST(ReasonCodesTest, PageHasTheObstaclesOfTensorCores) {
  std::ifstream file(FUSION_SOURCE_DIR "/docs/Remarks.md");
  ASSERT_TRUE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  std::string table = "| code | meaning |\n|---|---|\n";
  std::set<std::string> names;
  for (TensorCoreObstacle obstacle : getAllObstacles()) {
    EXPECT_TRUE(names.insert(stringifyObstacle(obstacle).str()).second);
    table += "| `" + stringifyObstacle(obstacle).str() + "` | " +
             describeObstacle(obstacle).str() + " |\n";
  }
  EXPECT_NE(text.str().find(table + "\n"), std::string::npos) << table;
}

TEST(ReasonCodesTest, DecisionsCarryTheirReason) {
  EXPECT_TRUE(bool(FusionDecision::yes()));
  FusionDecision no = FusionDecision::no(ReasonCode::Cycle, "x");
  EXPECT_FALSE(bool(no));
  EXPECT_EQ(no.getCode(), ReasonCode::Cycle);
  EXPECT_EQ(no.getDetail().str(), "x");
}

} // namespace
