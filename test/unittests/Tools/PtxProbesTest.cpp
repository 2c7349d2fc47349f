//===- PtxProbesTest.cpp - Unit tests of probes of planted faults ---------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the text of the variants that tell whether an edit has an
// effect.
//
//===----------------------------------------------------------------------===//

#include "fusion/Tools/PtxProbes.h"

#include <gtest/gtest.h>

using namespace mlir::fusion;

/// A kernel whose body is declarations and `body`.
static std::string makeKernel(const std::string &body) {
  return ".visible .entry f(\n\t.param .u64 f_0\n)\n{\n"
         "\t.reg .pred \t%p<3>;\n\t.reg .b32 \t%r<9>;\n" +
         body + "\n\tret;\n}\n";
}

/// The edit of that kind, which is the only one.
static PtxEdit findEdit(const std::string &ptx, PtxEditKind kind) {
  for (const PtxEdit &edit : findPtxEdits(ptx))
    if (edit.kind == kind)
      return edit;
  ADD_FAILURE() << "no such edit";
  return {};
}

TEST(PtxProbes, TrapsWhereTheResultDiffers) {
  std::string ptx = makeKernel("\tadd.s32 \t%r1, %r1, %r2;");
  EXPECT_EQ(
      buildComparison(ptx, findEdit(ptx, PtxEditKind::Opcode)),
      makeKernel("\t{ .reg .pred %mutantDiffers; .reg .b32 %mutantResult0; "
                 "mov.b32 %mutantResult0, %r1; "
                 "sub.s32 \t%mutantResult0, %r1, %r2; "
                 "add.s32 \t%r1, %r1, %r2; "
                 "setp.ne.b32 %mutantDiffers, %r1, %mutantResult0; "
                 "@%mutantDiffers trap; } "));
}

TEST(PtxProbes, ComparesPredicates) {
  std::string ptx = makeKernel("\tsetp.lt.s32 \t%p1, %r1, %r2;");
  std::optional<std::string> probe =
      buildComparison(ptx, findEdit(ptx, PtxEditKind::Compare));
  ASSERT_TRUE(probe);
  EXPECT_NE(probe->find("xor.pred %mutantDiffers, %p1, %mutantResult0"),
            std::string::npos);
  // Its one other value is the fault itself.
  EXPECT_TRUE(
      buildCorruptions(ptx, findEdit(ptx, PtxEditKind::Compare)).empty());
}

TEST(PtxProbes, CorruptsWhereTheResultDiffers) {
  std::string ptx = makeKernel("\tselp.b32 \t%r1, %r2, 0, %p1;");
  std::vector<std::string> variants =
      buildCorruptions(ptx, findEdit(ptx, PtxEditKind::Integer));
  ASSERT_EQ(variants.size(), 3u);
  EXPECT_NE(variants[0].find("selp.b32 \t%mutantResult0, %r2, 1, %p1; "
                             "selp.b32 \t%r1, %r2, 0, %p1; "),
            std::string::npos);
  EXPECT_NE(variants[0].find("@%mutantDiffers not.b32 %r1, %mutantResult0; } "),
            std::string::npos);
}

TEST(PtxProbes, MovesAddressesFarAway) {
  std::string ptx = makeKernel("\tst.shared.b32 \t[%r1+8], %r2;");
  std::vector<std::string> variants =
      buildCorruptions(ptx, findEdit(ptx, PtxEditKind::Address));
  ASSERT_EQ(variants.size(), 1u);
  EXPECT_EQ(variants[0],
            makeKernel("\tst.shared.b32 \t[%r1+1073741824], %r2;"));
}

TEST(PtxProbes, CorruptsCopiesThatAPredicateGuards) {
  std::string ptx =
      makeKernel("\t{\n.reg .pred p;\nsetp.ne.b32 p, %r3, 0;\n"
                 "@p cp.async.cg.shared.global [%r1], [%r2], 16, %r3;\n}");
  std::vector<std::string> variants =
      buildCorruptions(ptx, findEdit(ptx, PtxEditKind::Compare));
  ASSERT_EQ(variants.size(), 1u);
  EXPECT_NE(variants[0].find("setp.eq.b32 p, %r3, 0;\n{ "), std::string::npos);
  EXPECT_NE(variants[0].find("@p st.shared.v4.b32 [%r1], "), std::string::npos);
}

TEST(PtxProbes, LeavesStatementsWithoutAResultAlone) {
  std::string ptx = makeKernel("\tbar.sync \t0;");
  PtxEdit edit = findEdit(ptx, PtxEditKind::DropBarrier);
  EXPECT_FALSE(buildComparison(ptx, edit));
  EXPECT_TRUE(buildCorruptions(ptx, edit).empty());
}
