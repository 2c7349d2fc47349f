//===- PtxEditsTest.cpp - Unit tests of planted faults --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests which faults are planted in which statements of PTX, and that
// an edit changes its statement and nothing else.
//
//===----------------------------------------------------------------------===//

#include "fusion/Tools/PtxEdits.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace mlir::fusion;

/// A kernel with `body` on the lines from 6 on.
static std::string makeKernel(const std::string &body) {
  return ".version 8.0\n.target sm_90a\n"
         ".visible .entry f(\n\t.param .u64 f_0\n)\n{\n" +
         body + "\n\tret;\n}\n";
}

using Texts = std::vector<std::string>;

/// "kind: statement" for each edit of a kernel with this body, sorted.
static Texts getEdits(const std::string &body) {
  Texts texts;
  for (const PtxEdit &edit : findPtxEdits(makeKernel(body)))
    texts.push_back(getPtxEditKindName(edit.kind).str() + ": " + edit.after);
  std::sort(texts.begin(), texts.end());
  return texts;
}

TEST(PtxEdits, LeavesOutBarriersAndStores) {
  EXPECT_EQ(getEdits("\tbar.sync \t0;"), (Texts{"drop-barrier: "}));
  EXPECT_EQ(getEdits("\tbar.warp.sync \t-1;"), (Texts{"drop-barrier: "}));
  EXPECT_EQ(getEdits("\tcp.async.wait_group \t2;"),
            (Texts{"drop-barrier: ", "integer: cp.async.wait_group \t3"}));
  EXPECT_EQ(getEdits("\tfence.proxy.async.shared::cta;"),
            (Texts{"drop-barrier: "}));
  EXPECT_EQ(getEdits("\tst.shared.b32 \t[%rd1+8], %r2;"),
            (Texts{"address: st.shared.b32 \t[%rd1+24], %r2", "drop-store: "}));
}

TEST(PtxEdits, ChangesComparisonsAndGuards) {
  EXPECT_EQ(getEdits("\tsetp.lt.s32 \t%p1, %r1, 7;"),
            (Texts{"compare: setp.le.s32 \t%p1, %r1, 7",
                   "integer: setp.lt.s32 \t%p1, %r1, 8"}));
  EXPECT_EQ(getEdits("\t@%p1 bra \t$L1;"), (Texts{"guard: @!%p1 bra \t$L1"}));
  EXPECT_EQ(getEdits("\t@!%p1 bra \t$L1;"), (Texts{"guard: @%p1 bra \t$L1"}));
}

TEST(PtxEdits, ChangesArithmetic) {
  EXPECT_EQ(getEdits("\tadd.s32 \t%r1, %r2, %r3;"),
            (Texts{"opcode: sub.s32 \t%r1, %r2, %r3"}));
  EXPECT_EQ(getEdits("\tshl.b32 \t%r1, %r2, %r3;"),
            (Texts{"opcode: shr.u32 \t%r1, %r2, %r3"}));
  EXPECT_EQ(getEdits("\tfma.rn.f32 \t%r1, %r2, %r3, %r4;"),
            (Texts{"operands: fma.rn.f32 \t%r1, %r2, %r4, %r3"}));
  EXPECT_EQ(getEdits("\tselp.b32 \t%r1, %r2, %r3, %p1;"),
            (Texts{"select: selp.b32 \t%r1, %r3, %r2, %p1"}));
  EXPECT_EQ(getEdits("\tmul.rn.f32 \t%r1, %r2, 0f3F800000;"),
            (Texts{"float: mul.rn.f32 \t%r1, %r2, 0f3F000000",
                   "opcode: add.rn.f32 \t%r1, %r2, 0f3F800000"}));
  EXPECT_EQ(getEdits("\tcvt.rn.bf16.f32 \t%rs1, %r2;"),
            (Texts{"rounding: cvt.rz.bf16.f32 \t%rs1, %r2"}));
  EXPECT_EQ(getEdits("\tmov.u32 \t%r1, %tid.x;"),
            (Texts{"register: mov.u32 \t%r1, %laneid"}));
}

TEST(PtxEdits, ChangesFloatsThatAreMovedAsBits) {
  // An integer next to 0 would be lost in the sum.
  EXPECT_EQ(getEdits("\tmov.b32 \t%r1, 0;\n\tadd.rn.f32 \t%r2, %r2, %r1;"),
            (Texts{"float: mov.b32 \t%r1, 4286578688",
                   "opcode: sub.rn.f32 \t%r2, %r2, %r1"}));
  // Through a move, and as an operand of a product.
  EXPECT_EQ(getEdits("\tselp.b32 \t%r1, %r3, 0, %p1;\n\tmov.b32 \t%r2, %r1;\n"
                     "\tmma.sync.f32.tf32 \t{%r5}, {%r2}, {%r4}, {%r5};"),
            (Texts{"float: selp.b32 \t%r1, %r3, 4286578688, %p1",
                   "select: selp.b32 \t%r1, 0, %r3, %p1"}));
  EXPECT_EQ(
      getEdits("\tmov.b32 \t%r1, 0;\n\tadd.s32 \t%r2, %r2, %r1;"),
      (Texts{"integer: mov.b32 \t%r1, 1", "opcode: sub.s32 \t%r2, %r2, %r1"}));
}

TEST(PtxEdits, ReadsWholeStatements) {
  // Vectors hold commas, inline assembly has scopes of its own.
  EXPECT_EQ(getEdits("\t// begin inline asm\n"
                     "{\n.reg .pred p;\n"
                     "@p ld.global.v2.b32 {%r1, %r2}, [%rd1];\n}\n"
                     "\t// end inline asm"),
            (Texts{"address: @p ld.global.v2.b32 {%r1, %r2}, [%rd1+16]",
                   "guard: @!p ld.global.v2.b32 {%r1, %r2}, [%rd1]"}));
}

TEST(PtxEdits, LeavesDirectivesAlone) {
  EXPECT_EQ(getEdits("\t.reg .b32 %r<4>;\n$L1:\n\tld.param.b64 \t%rd1, "
                     "[f_0];"),
            Texts());
}

TEST(PtxEdits, ChangesOneStatement) {
  std::string ptx = makeKernel("\tbar.sync \t0;\n\tadd.s32 \t%r1, %r2, %r3;");
  std::vector<PtxEdit> edits = findPtxEdits(ptx);
  ASSERT_EQ(edits.size(), 2u);
  EXPECT_EQ(edits[0].line, 7u);
  EXPECT_EQ(edits[1].line, 8u);
  EXPECT_EQ(applyPtxEdit(ptx, edits[0]),
            makeKernel("\t\n\tadd.s32 \t%r1, %r2, %r3;"));
  EXPECT_EQ(applyPtxEdit(ptx, edits[1]),
            makeKernel("\tbar.sync \t0;\n\tsub.s32 \t%r1, %r2, %r3;"));
}

TEST(PtxEdits, SamplesKindsInTurns) {
  std::string body = "\tbar.sync \t0;\n";
  for (int i = 0; i < 20; ++i)
    body += "\tadd.s32 \t%r1, %r2, %r3;\n";
  std::vector<PtxEdit> sample =
      samplePtxEdits(findPtxEdits(makeKernel(body)), 4, /*seed=*/1);
  ASSERT_EQ(sample.size(), 4u);
  EXPECT_EQ(llvm::count_if(sample,
                           [](const PtxEdit &edit) {
                             return edit.kind == PtxEditKind::DropBarrier;
                           }),
            1);
  EXPECT_EQ(samplePtxEdits(findPtxEdits(makeKernel(body)), 100, 1).size(), 21u);
}
