//===- HostConstantsTest.cpp - Tests of stored constants ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the bytes that packages store for constants.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Pipelines/PackageBuilder.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fusion;

/// The bytes of the constant that `text` is; none after an error.
static std::vector<uint8_t> getBytes(StringRef text, std::string *error) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    *error = diagnostic.str();
    return success();
  });
  auto attribute =
      dyn_cast_or_null<ElementsAttr>(parseAttribute(text, &context));
  if (!attribute) {
    *error = "no elements attribute";
    return {};
  }
  FailureOr<std::vector<char>> bytes =
      getStoredBytes(attribute, UnknownLoc::get(&context));
  if (failed(bytes))
    return {};
  return std::vector<uint8_t>(bytes->begin(), bytes->end());
}

static std::vector<uint8_t> getBytes(StringRef text) {
  std::string error;
  std::vector<uint8_t> bytes = getBytes(text, &error);
  EXPECT_EQ(error, "");
  return bytes;
}

using Bytes = std::vector<uint8_t>;

TEST(HostConstantsTest, KeepsWholeBytes) {
  EXPECT_EQ(getBytes("dense<[1, -2]> : tensor<2xi16>"),
            (Bytes{1, 0, 254, 255}));
  EXPECT_EQ(getBytes("dense<[1.0, -2.0]> : tensor<2xbf16>"),
            (Bytes{0x80, 0x3f, 0, 0xc0}));
  EXPECT_EQ(getBytes("dense<[[3], [4]]> : tensor<2x1xindex>"),
            (Bytes{3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(getBytes("dense<[1.0, 448.0]> : tensor<2xf8E4M3FN>"),
            (Bytes{0x38, 0x7e}));
}

TEST(HostConstantsTest, RepeatsSplats) {
  EXPECT_EQ(getBytes("dense<258> : tensor<2xi32>"),
            (Bytes{2, 1, 0, 0, 2, 1, 0, 0}));
  EXPECT_EQ(getBytes("dense<> : tensor<0xf32>"), Bytes());
}

TEST(HostConstantsTest, GivesEachBitAByte) {
  EXPECT_EQ(getBytes("dense<[true, false, true]> : tensor<3xi1>"),
            (Bytes{1, 0, 1}));
  EXPECT_EQ(getBytes("dense<true> : tensor<2xi1>"), (Bytes{1, 1}));
}

TEST(HostConstantsTest, PacksHalfBytesLowFirst) {
  EXPECT_EQ(getBytes("dense<[1, -1, 3]> : tensor<3xi4>"), (Bytes{0xf1, 3}));
  EXPECT_EQ(getBytes("dense<-2> : tensor<3xi4>"), (Bytes{0xee, 0x0e}));
}

TEST(HostConstantsTest, RefusesOtherTypes) {
  std::string error;
  EXPECT_EQ(getBytes("dense<1> : tensor<3xi7>", &error), Bytes());
  EXPECT_EQ(error.find("FUS-4001"), 0u);
}

TEST(HostConstantsTest, FillsWithOneElement) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  Builder b(&context);
  FillPattern pattern =
      getFillPattern(b.getIntegerAttr(b.getIntegerType(4), -2));
  EXPECT_EQ(pattern.width, 1u);
  EXPECT_EQ(pattern.bits, 0xeeu);
  pattern = getFillPattern(b.getF64FloatAttr(1.0));
  EXPECT_EQ(pattern.width, 8u);
  EXPECT_EQ(pattern.bits, 0x3ff0000000000000u);
}
