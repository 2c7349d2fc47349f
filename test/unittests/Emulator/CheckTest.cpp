//===- CheckTest.cpp - Planted faults -------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file proves each check by planted faults, and its silence by their
// repairs.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

using namespace fusionemu;

namespace {
/// A planted fault and its repair: two bodies of one kernel. It has buffers
/// `in` (64 words, written), `out` (64 words, not written) and `odd` (3 words,
/// written), registers as in prologue below, shared memory `tile` of 64 words,
/// and runs in 2 blocks of 64 threads unless said.
struct Fault {
  const char *name;
  ErrorKind kind;
  const char *faulty;
  const char *repaired;
  /// What the report must say.
  std::vector<std::string> says;
  Dim3 grid{2, 1, 1};
  Dim3 block{64, 1, 1};
};
} // namespace

static const char *const prologue = R"(
.file 1 "model.mlir"
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 odd)
{
  .shared .align 16 .b32 tile[64];
  .local .align 8 .b8 frame[16];
  .reg .b64 %in, %out, %odd, %x<8>; .reg .b32 %t, %c, %w, %lane, %s, %r<12>;
  .reg .b16 %h<4>; .reg .pred %p<8>;
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
  ld.param.u64 %odd, [odd];
  mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %lane, %laneid;
  shr.u32 %w, %t, 5; shl.b32 %s, %t, 2; mov.u32 %r11, tile;
  add.u32 %s, %s, %r11;
  mad.wide.u32 %x0, %t, 4, %in; mad.wide.u32 %x1, %t, 4, %out;
  mul.wide.u32 %x3, %c, 128; mov.u32 %r0, 1; mov.u32 %r1, 2;
  .loc 1 17 3
)";

static Status runBody(const char *body, const Fault &fault) {
  Fixture f;
  Status s = f.parse(prologue + std::string(body) + "\n ret;\n}\n");
  if (!s.ok())
    return s;
  f.passBuffer("weights", std::vector<uint32_t>(64, 3));
  f.passEmpty("result", 256);
  f.passBuffer("odd", std::vector<uint32_t>(3, 4));
  return f.run(fault.grid, fault.block);
}

static void expectReports(const std::vector<Fault> &faults) {
  for (const Fault &fault : faults) {
    Status s = runBody(fault.faulty, fault);
    EXPECT_EQ(s.getKind(), fault.kind) << fault.name << ": " << s.message();
    for (const std::string &text : fault.says)
      EXPECT_NE(s.message().find(text), std::string::npos)
          << fault.name << ": no '" << text << "' in: " << s.message();
    // Every report names the kernel, the PTX line and the source line.
    for (const char *text : {"kernel 'k'", "PTX line ", "model.mlir:17"})
      EXPECT_NE(s.message().find(text), std::string::npos)
          << fault.name << ": " << s.message();
    s = runBody(fault.repaired, fault);
    EXPECT_TRUE(s.ok()) << fault.name << " repaired: " << s.message();
  }
}

TEST(EmulatorChecks, OutOfBounds) {
  expectReports({
      {"one past the end",
       ErrorKind::OutOfBounds,
       "ld.global.u32 %r2, [%x0+4];",
       "ld.global.u32 %r2, [%x0];",
       {"thread (63,0,0) of block (0,0,0)", "reads 4 bytes", "'weights'",
        "0 bytes past the end"}},
      {"before the start",
       ErrorKind::OutOfBounds,
       "st.global.u32 [%x1+-4], %r0;",
       "st.global.u32 [%x1], %r0;",
       {"thread (0,0,0)", "writes 4 bytes", "4 bytes before the start",
        "'result'"}},
      {"a vector half outside",
       ErrorKind::OutOfBounds,
       "ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%in+256];",
       "ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%in+240];",
       {"reads 16 bytes"}},
      {"scaled twice",
       ErrorKind::OutOfBounds,
       "mad.wide.u32 %x2, %t, 16, %in; ld.global.u32 %r2, [%x2];",
       "mad.wide.u32 %x2, %t, 4, %in; ld.global.u32 %r2, [%x2];",
       {"thread (16,0,0)"}},
      {"shared",
       ErrorKind::OutOfBounds,
       "st.shared.u32 [%s+4], %r0;",
       "st.shared.u32 [%s], %r0;",
       {"thread (63,0,0)", "shared memory, which has 256 bytes"}},
      {"local",
       ErrorKind::OutOfBounds,
       "st.local.u32 [frame+16], %r0;",
       "st.local.u32 [frame+12], %r0;",
       {"local memory"}},
      {"parameter",
       ErrorKind::OutOfBounds,
       "ld.param.u32 %r2, [odd+8];",
       "ld.param.u32 %r2, [odd+4];",
       {"parameter memory"}},
      {"generic",
       ErrorKind::OutOfBounds,
       "ld.u32 %r2, [%in+256];",
       "ld.u32 %r2, [%in+252];",
       {"'weights'"}},
      {"an atomic",
       ErrorKind::OutOfBounds,
       "atom.global.add.u32 %r2, [%in+1024], 1;",
       "atom.global.add.u32 %r2, [%in+252], 1;",
       {"'weights'"}},
      {"a wild pointer",
       ErrorKind::InvalidAddress,
       "mov.u64 %x2, 16; ld.global.u32 %r2, [%x2];",
       "ld.global.u32 %r2, [%in];",
       {"belongs to no allocation", "0x10"}},
      {"a store to a parameter",
       ErrorKind::ReadOnly,
       "mov.b64 %x2, out; cvta.param.u64 %x2, %x2; st.u32 [%x2], %r0;",
       "mov.b64 %x2, out; cvta.param.u64 %x2, %x2; ld.u32 %r2, [%x2];",
       {"constant"}},
  });
}

TEST(EmulatorChecks, Misaligned) {
  expectReports({
      {"word",
       ErrorKind::Misaligned,
       "ld.global.u32 %r2, [%in+2];",
       "ld.global.u16 %r2, [%in+2];",
       {"not a multiple of 4", "offset 2"}},
      {"vector",
       ErrorKind::Misaligned,
       "ld.global.v2.u32 {%r2,%r3}, [%in+4];",
       "ld.global.v2.u32 {%r2,%r3}, [%in+8];",
       {"not a multiple of 8"}},
      {"one lane only",
       ErrorKind::Misaligned,
       "setp.eq.u32 %p0, %t, 9; selp.u32 %r2, 1, 0, %p0; cvt.u64.u32 %x2, "
       "%r2; add.u64 %x2, %x2, %x0; ld.global.u32 %r2, [%x2];",
       "ld.global.u32 %r2, [%x0];",
       {"thread (9,0,0)"}},
      {"shared",
       ErrorKind::Misaligned,
       "st.shared.u64 [tile+4], %x0;",
       "st.shared.u64 [tile+8], %in;",
       {"shared memory"}},
      {"local",
       ErrorKind::Misaligned,
       "st.local.u64 [frame+4], %x0;",
       "st.local.u64 [frame+8], %x0;",
       {"local memory"}},
  });
}

TEST(EmulatorChecks, UninitializedGlobal) {
  Dim3 one{1, 1, 1};
  expectReports({
      {"never written",
       ErrorKind::UninitializedGlobal,
       "ld.global.u32 %r2, [%x1];",
       "st.global.u32 [%x1], %t; ld.global.u32 %r2, [%x1];",
       {"thread (0,0,0)", "'result'", "nobody has written"},
       one},
      {"one element missing",
       ErrorKind::UninitializedGlobal,
       "setp.ne.u32 %p0, %t, 40; @%p0 st.global.u32 [%x1], %t; "
       "bar.sync 0; ld.global.u32 %r2, [%x1];",
       "st.global.u32 [%x1], %t; bar.sync 0; ld.global.u32 %r2, [%x1];",
       {"thread (40,0,0)", "offset 160"},
       one},
      {"half a word",
       ErrorKind::UninitializedGlobal,
       "cvt.u16.u32 %h0, %t; st.global.u16 [%x1], %h0; "
       "ld.global.u32 %r2, [%x1];",
       "cvt.u16.u32 %h0, %t; st.global.u16 [%x1], %h0; "
       "ld.global.u16 %r2, [%x1];",
       {"reads 4 bytes"},
       one},
      {"by an atomic",
       ErrorKind::UninitializedGlobal,
       "atom.global.add.u32 %r2, [%out+8], 1;",
       "st.global.u32 [%out+8], %r0; atom.global.add.u32 %r2, [%out+8], 1;",
       {"'result'"},
       one,
       one},
      {"vector tail",
       ErrorKind::UninitializedGlobal,
       "st.global.v2.u32 [%out], {%r0,%r1}; "
       "ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%out];",
       "st.global.v2.u32 [%out], {%r0,%r1}; "
       "ld.global.v2.u32 {%r2,%r3}, [%out];",
       {"reads 16 bytes"},
       one,
       one},
  });
}

TEST(EmulatorChecks, MaskedLoads) {
  Dim3 one{1, 1, 1};
  expectReports({
      {"used beyond the end",
       ErrorKind::OutOfBounds,
       ".pragma \"used_bytes_mask 0x1f\"; "
       "ld.global.v2.u32 {%r2,%r3}, [%odd+8];",
       ".pragma \"used_bytes_mask 0x0f\"; "
       "ld.global.v2.u32 {%r2,%r3}, [%odd+8];",
       {"reads 1 byte", "0 bytes past the end", "'odd'"},
       one,
       one},
      {"no mask",
       ErrorKind::OutOfBounds,
       "ld.global.v2.u32 {%r2,%r3}, [%odd+8];",
       ".pragma \"used_bytes_mask 15\"; ld.global.v2.u32 {%r2,%r3}, [%odd+8];",
       {"reads 8 bytes", "4 bytes of it past the end"},
       one,
       one},
      {"the mask of another load",
       ErrorKind::OutOfBounds,
       ".pragma \"used_bytes_mask 0xf\"; ld.global.u32 %r4, [%odd]; "
       "ld.global.v2.u32 {%r2,%r3}, [%odd+8];",
       "ld.global.u32 %r4, [%odd]; .pragma \"used_bytes_mask 0xf\"; "
       "ld.global.v2.u32 {%r2,%r3}, [%odd+8];",
       {"reads 8 bytes"},
       one,
       one},
      {"misaligned as a whole",
       ErrorKind::Misaligned,
       ".pragma \"used_bytes_mask 0xf\"; ld.global.v2.u32 {%r2,%r3}, [%odd+4];",
       ".pragma \"used_bytes_mask 0xf0\"; ld.global.v2.u32 {%r2,%r3}, [%odd];",
       {"8 bytes"},
       one,
       one},
      {"uninitialised",
       ErrorKind::UninitializedGlobal,
       "st.global.u16 [%x1], %h0; st.global.u8 [%x1+3], %h0; "
       ".pragma \"used_bytes_mask 0x7\"; ld.global.u32 %r2, [%x1];",
       "st.global.u16 [%x1], %h0; st.global.u8 [%x1+3], %h0; "
       ".pragma \"used_bytes_mask 0xb\"; ld.global.u32 %r2, [%x1];",
       {"reads 1 byte", "offset 2 of", "nobody has written"},
       one},
      {"uninitialised, shared",
       ErrorKind::UninitializedShared,
       "st.shared.u16 [%s], %h0; ld.shared.u32 %r2, [%s];",
       "st.shared.u16 [%s], %h0; .pragma \"used_bytes_mask 3\"; "
       "ld.shared.u32 %r2, [%s];",
       {"reads 4 bytes"},
       one},
      {"a neighbour writes the rest",
       ErrorKind::SharedRace,
       "st.shared.u32 [%s], %r0; bar.sync 0; xor.b32 %r2, %s, 4; "
       "st.shared.u16 [%s+2], %h0; ld.shared.u32 %r3, [%r2];",
       "st.shared.u32 [%s], %r0; bar.sync 0; xor.b32 %r2, %s, 4; "
       "st.shared.u16 [%s+2], %h0; .pragma \"used_bytes_mask 0x3\"; "
       "ld.shared.u32 %r3, [%r2];",
       {},
       one},
      {"a neighbour writes a byte of it",
       ErrorKind::SharedRace,
       "st.shared.u32 [%s], %r0; bar.sync 0; xor.b32 %r2, %s, 4; "
       "st.shared.u32 [%s], %r0; .pragma \"used_bytes_mask 0x4\"; "
       "ld.shared.u32 %r3, [%r2];",
       "st.shared.u32 [%s], %r0; bar.sync 0; xor.b32 %r2, %s, 4; "
       "st.shared.u32 [%s], %r0; .pragma \"used_bytes_mask 0x0\"; "
       "ld.shared.u32 %r3, [%r2];",
       {},
       one},
      {"another block writes the rest",
       ErrorKind::GlobalRace,
       "setp.eq.u32 %p0, %c, 0; @%p0 st.global.u16 [%in+2], %h0; "
       "@!%p0 ld.global.u32 %r2, [%in];",
       "setp.eq.u32 %p0, %c, 0; @%p0 st.global.u16 [%in+2], %h0; "
       ".pragma \"used_bytes_mask 0x3\"; @!%p0 ld.global.u32 %r2, [%in];",
       {"'weights'"},
       {2, 1, 1},
       one},
  });
}

TEST(EmulatorChecks, UninitializedShared) {
  expectReports({
      {"never written",
       ErrorKind::UninitializedShared,
       "ld.shared.u32 %r2, [%s];",
       "st.shared.u32 [%s], %r0; ld.shared.u32 %r2, [%s];",
       {"offset 0 of 'tile'"}},
      {"not by this index",
       ErrorKind::UninitializedShared,
       "setp.lt.u32 %p0, %t, 63; @%p0 st.shared.u32 [%s], %r0; bar.sync 0; "
       "ld.shared.u32 %r2, [%s];",
       "st.shared.u32 [%s], %r0; bar.sync 0; ld.shared.u32 %r2, [%s];",
       {"thread (63,0,0)", "offset 252"}},
      {"not in this block",
       ErrorKind::UninitializedShared,
       "setp.eq.u32 %p0, %c, 0; @%p0 st.shared.u32 [%s], %r0; "
       "ld.shared.u32 %r2, [%s];",
       "st.shared.u32 [%s], %r0; ld.shared.u32 %r2, [%s];",
       {"block (1,0,0)"}},
      {"through a generic address",
       ErrorKind::UninitializedShared,
       "mov.u64 %x2, tile; cvta.shared.u64 %x2, %x2; ld.u32 %r2, [%x2];",
       "mov.u64 %x2, tile; cvta.shared.u64 %x2, %x2; st.shared.u32 [%s], %r0; "
       "bar.sync 0; ld.u32 %r2, [%x2];",
       {"shared memory"}},
      {"an accumulator not cleared",
       ErrorKind::UninitializedShared,
       "atom.shared.add.u32 %r2, [tile], 1;",
       "setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [tile], 0; bar.sync 0; "
       "atom.shared.add.u32 %r2, [tile], 1;",
       {"'tile'"}},
  });
}

TEST(EmulatorChecks, SharedRaces) {
  expectReports({
      {"read before the barrier",
       ErrorKind::SharedRace,
       "st.shared.u32 [%s], %t; xor.b32 %r2, %s, 128; "
       "setp.ge.u32 %p0, %t, 32; @%p0 ld.shared.u32 %r3, [%r2];",
       "st.shared.u32 [%s], %t; xor.b32 %r2, %s, 128; bar.sync 0; "
       "setp.ge.u32 %p0, %t, 32; @%p0 ld.shared.u32 %r3, [%r2];",
       {"thread (32,0,0)", "reads 4 bytes", "which warp 0 wrote",
        "no barrier in between"}},
      {"written before all have read",
       ErrorKind::SharedRace,
       "st.shared.u32 [%s], %t; bar.sync 0; ld.shared.u32 %r3, [tile]; "
       "setp.eq.u32 %p0, %t, 32; @%p0 st.shared.u32 [tile], 99;",
       "st.shared.u32 [%s], %t; bar.sync 0; ld.shared.u32 %r3, [tile]; "
       "bar.sync 0; setp.eq.u32 %p0, %t, 32; @%p0 st.shared.u32 [tile], 99;",
       {"writes 4 bytes", "which warp 0 read"}},
      {"two writers",
       ErrorKind::SharedRace,
       "st.shared.u32 [tile], %w;",
       "setp.eq.u32 %p0, %w, 0; @%p0 st.shared.u32 [tile], %w; bar.sync 0; "
       "@!%p0 st.shared.u32 [tile], %w;",
       {"writes 4 bytes", "which warp 0 wrote"}},
      {"a named barrier of the wrong warps",
       ErrorKind::SharedRace,
       "setp.eq.u32 %p0, %w, 1; st.shared.u32 [%s], %t; @%p0 bar.sync 1, 32; "
       "@%p0 ld.shared.u32 %r2, [%s+-128];",
       "setp.eq.u32 %p0, %w, 1; st.shared.u32 [%s], %t; bar.sync 1, 64; "
       "@%p0 ld.shared.u32 %r2, [%s+-128];",
       {"which warp 0 wrote"}},
      {"plain store beside atomics",
       ErrorKind::SharedRace,
       "setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [tile], 0; "
       "atom.shared.add.u32 %r2, [tile], 1;",
       "setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [tile], 0; bar.sync 0; "
       "atom.shared.add.u32 %r2, [tile], 1;",
       {"updates 4 bytes"}},
      {"the second pass of a loop",
       ErrorKind::SharedRace,
       "mov.u32 %r2, 0; xor.b32 %r4, %s, 128;\n"
       "L: st.shared.u32 [%s], %r2; bar.sync 0; ld.shared.u32 %r3, [%r4];\n"
       "add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 3; @%p0 bra L;",
       "mov.u32 %r2, 0; xor.b32 %r4, %s, 128;\n"
       "L: st.shared.u32 [%s], %r2; bar.sync 0; ld.shared.u32 %r3, [%r4];\n"
       "bar.sync 0; add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 3; "
       "@%p0 bra L;",
       {"'tile'"}},
  });
}

TEST(EmulatorChecks, SharedNeighboursDoNotRace) {
  // Warps that write different halves of one word, and the same value.
  Fault fault{"", ErrorKind::None, "", "", {}};
  Status s = runBody("cvt.u16.u32 %h0, %w; mad.lo.u32 %r2, %lane, 4, %r11; "
                     "mad.lo.u32 %r2, %w, 2, %r2; st.shared.u16 [%r2], %h0; "
                     "ld.shared.u16 %h1, [%r2];",
                     fault);
  EXPECT_TRUE(s.ok()) << s.message();
  s = runBody("st.shared.u32 [tile], 7;", fault);
  EXPECT_TRUE(s.ok()) << s.message();
}

TEST(EmulatorChecks, GlobalRaces) {
  expectReports({
      {"two blocks, one element",
       ErrorKind::GlobalRace,
       "st.global.u32 [%x1], %c;",
       "setp.lt.u32 %p0, %t, 32; add.u64 %x2, %x1, %x3; "
       "@%p0 st.global.u32 [%x2], %c;",
       {"block (1,0,0)", "which block (0,0,0) wrote", "'result'"}},
      {"overlapping tiles",
       ErrorKind::GlobalRace,
       "mul.wide.u32 %x4, %c, 124; setp.lt.u32 %p0, %t, 32; add.u64 %x2, "
       "%x1, %x4; @%p0 st.global.u32 [%x2], %t;",
       "setp.lt.u32 %p0, %t, 32; add.u64 %x2, %x1, %x3; "
       "@%p0 st.global.u32 [%x2], %t;",
       {"offset 124"}},
      {"reads what another block writes",
       ErrorKind::GlobalRace,
       "setp.ne.u32 %p0, %c, 0; @!%p0 ld.global.u32 %r2, [%x0]; "
       "@%p0 st.global.u32 [%x0], %t;",
       "setp.ne.u32 %p0, %c, 0; @!%p0 ld.global.u32 %r2, [%x0]; "
       "@!%p0 st.global.u32 [%x0], %t;",
       {"which block (0,0,0) read", "'weights'"}},
      {"reads what another block has written",
       ErrorKind::GlobalRace,
       "setp.ne.u32 %p0, %c, 0; @!%p0 st.global.u32 [%x0], %t; "
       "@%p0 ld.global.u32 %r2, [%x0];",
       "setp.ne.u32 %p0, %c, 0; @!%p0 st.global.u32 [%x0], %t; "
       "@!%p0 ld.global.u32 %r2, [%x0];",
       {"reads 4 bytes", "which block (0,0,0) wrote"}},
      {"a counter without atomics",
       ErrorKind::GlobalRace,
       "ld.global.u32 %r2, [%in]; add.u32 %r2, %r2, 1; setp.eq.u32 %p0, %t, "
       "0; @%p0 st.global.u32 [%in], %r2;",
       "setp.eq.u32 %p0, %t, 0; @%p0 red.global.add.u32 [%in], 1;",
       {"'weights'"}},
  });
}

TEST(EmulatorChecks, OrderedBlocksDoNotRace) {
  // A fence says that the kernel orders its blocks by itself.
  Fault fault{"", ErrorKind::None, "", "", {}};
  Status s = runBody("setp.eq.u32 %p0, %t, 0; @%p0 atom.add.acq_rel.gpu."
                     "global.u32 %r2, [%in], 1; st.global.u32 [%x1], %c;",
                     fault);
  EXPECT_TRUE(s.ok()) << s.message();
}

TEST(EmulatorChecks, BarrierDivergence) {
  expectReports({
      {"some lanes only",
       ErrorKind::BarrierDivergence,
       "setp.lt.u32 %p0, %t, 16; @!%p0 bra SKIP; bar.sync 0;\nSKIP: "
       "add.u32 %r2, %t, 1; xor.b32 %r3, %r2, %t;",
       "bar.sync 0; add.u32 %r2, %t, 1; xor.b32 %r3, %r2, %t;",
       {"threads 0-15", "threads 16-31", "'bar.sync'"}},
      {"two barriers in two arms",
       ErrorKind::BarrierDivergence,
       "and.b32 %r2, %t, 1; setp.eq.u32 %p0, %r2, 0; @%p0 bra EVEN;\n"
       "bar.sync 0; bra DONE;\nEVEN: bar.sync 0;\nDONE: mov.u32 %r3, 1;",
       "and.b32 %r2, %t, 1; setp.eq.u32 %p0, %r2, 0; @%p0 bra EVEN;\n"
       "mov.u32 %r3, 2; bra DONE;\nEVEN: mov.u32 %r3, 4;\nDONE: bar.sync 0;",
       {"other threads of its warp wait"}},
      {"a loop of different length",
       ErrorKind::BarrierDivergence,
       "mov.u32 %r2, 0;\nL: bar.sync 0; add.u32 %r2, %r2, 1; "
       "setp.le.u32 %p0, %r2, %lane; @%p0 bra L; mov.u32 %r3, 1;",
       "mov.u32 %r2, 0;\nL: bar.sync 0; add.u32 %r2, %r2, 1; "
       "setp.le.u32 %p0, %r2, 5; @%p0 bra L; mov.u32 %r3, 1;",
       {"'bar.sync'"}},
      {"a mask without oneself",
       ErrorKind::BarrierDivergence,
       "shfl.sync.bfly.b32 %r2, %t, 1, 31, 0xffff;",
       "shfl.sync.bfly.b32 %r2, %t, 1, 31, -1;",
       {"member mask", "thread (16,0,0)"}},
      {"lanes that never come",
       ErrorKind::BarrierDivergence,
       "setp.lt.u32 %p0, %lane, 16; @!%p0 bra SKIP; "
       "shfl.sync.bfly.b32 %r2, %t, 1, 31, -1;\nSKIP: mov.u32 %r3, 1; "
       "add.u32 %r3, %r3, 1;",
       "setp.lt.u32 %p0, %lane, 16; @!%p0 bra SKIP; "
       "shfl.sync.bfly.b32 %r2, %t, 1, 31, 0xffff;\nSKIP: mov.u32 %r3, 1; "
       "add.u32 %r3, %r3, 1;",
       {"threads 0-15", "'shfl.sync.bfly.b32'"}},
      {"different counts",
       ErrorKind::BarrierDivergence,
       "setp.eq.u32 %p0, %w, 0; @%p0 bar.sync 2, 64; @!%p0 bar.sync 2, 32;",
       "bar.sync 2, 64;",
       {"barrier 2", "64"}},
      {"no multiple of 32",
       ErrorKind::BarrierDivergence,
       "bar.sync 2, 48;",
       "bar.sync 2, 64;",
       {"48 threads"}},
  });
}

TEST(EmulatorChecks, Deadlock) {
  expectReports({
      {"a warp that does not come",
       ErrorKind::Deadlock,
       "setp.eq.u32 %p0, %w, 0; @%p0 bar.sync 1, 64;",
       "bar.sync 1, 64;",
       {"deadlocked", "threads 0-31 of warp 0 wait at", "'bar.sync'"}},
      {"too many expected",
       ErrorKind::Deadlock,
       "bar.sync 1, 96;",
       "bar.sync 1, 64;",
       {"threads 32-63 of warp 1"}},
      {"crossed barriers",
       ErrorKind::Deadlock,
       "setp.eq.u32 %p0, %w, 0; @%p0 bra A; bar.sync 1, 64; bar.sync 2, 64; "
       "bra D;\nA: bar.sync 2, 64; bar.sync 1, 64;\nD: mov.u32 %r2, 0;",
       "setp.eq.u32 %p0, %w, 0; @%p0 bra A; bar.sync 1, 64; bar.sync 2, 64; "
       "bra D;\nA: bar.sync 1, 64; bar.sync 2, 64;\nD: mov.u32 %r2, 0;",
       {"warp 0", "warp 1"}},
      {"nobody arrives",
       ErrorKind::Deadlock,
       "setp.eq.u32 %p0, %w, 0; @%p0 bar.sync 3, 64;",
       "setp.eq.u32 %p0, %w, 0; @%p0 bar.sync 3, 64; @!%p0 bar.arrive 3, 64;",
       {"deadlocked"}},
      {"a warp that has exited",
       ErrorKind::Deadlock,
       "setp.eq.u32 %p0, %w, 0; @%p0 exit; bar.sync 1, 64;",
       "setp.eq.u32 %p0, %w, 0; @%p0 exit; bar.sync 1, 32;",
       {"threads 32-63 of warp 1"}},
  });
}

TEST(EmulatorChecks, EndlessLoopAndTrap) {
  Fixture f;
  f.options.maxSteps = 100000;
  ASSERT_TRUE(f.parse(".visible .entry k() {\nL: bra L;\n}").ok());
  Status s = f.run({}, {32, 1, 1});
  EXPECT_EQ(s.getKind(), ErrorKind::StepLimit);
  EXPECT_NE(s.message().find("100000 instructions"), std::string::npos);
  // A grid that each block of is harmless, stopped at the same count whatever
  // the number of host threads.
  for (unsigned threads : {1u, 3u}) {
    Fixture h;
    h.options.threads = threads;
    h.options.maxLaunchSteps = 20000;
    ASSERT_TRUE(h.parse(".visible .entry k() { ret; }").ok());
    EXPECT_TRUE(h.run({20000, 1, 1}, {32, 1, 1}).ok());
    s = h.run({0x7fffffff, 65535, 1}, {32, 1, 1});
    EXPECT_EQ(s.getKind(), ErrorKind::StepLimit);
    EXPECT_EQ(s.message(),
              "FUS-7015: launch of 'k': its 140735340806145 blocks together "
              "run more than 20000 instructions, the limit of "
              "this launch");
  }
  Fixture g;
  ASSERT_TRUE(g.parse(".visible .entry k() {.reg .b32 %t; .reg .pred %p;\n"
                      "mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 5;\n"
                      "@%p trap;\nret;\n}")
                  .ok());
  s = g.run({}, {32, 1, 1});
  EXPECT_EQ(s.getKind(), ErrorKind::Trap);
  EXPECT_NE(s.message().find("thread (5,0,0)"), std::string::npos);
}

TEST(EmulatorChecks, UseAfterFree) {
  Fixture f;
  ASSERT_TRUE(f.parse(".visible .entry k(.param .u64 p) {\n.reg .b64 %x; .reg "
                      ".b32 %r;\nld.param.u64 %x, [p];\nld.global.u32 %r, "
                      "[%x];\nret;\n}")
                  .ok());
  uint64_t buffer = f.passBuffer("stale", std::vector<uint32_t>(4, 1));
  EXPECT_TRUE(f.run({}, {}).ok());
  ASSERT_TRUE(f.memory.free(buffer).ok());
  Status s = f.run({}, {});
  EXPECT_EQ(s.getKind(), ErrorKind::UseAfterFree);
  EXPECT_NE(s.message().find("'stale'"), std::string::npos) << s.message();
}

TEST(EmulatorChecks, ConstantIsReadOnly) {
  Fixture f;
  ASSERT_TRUE(f.parse(".const .align 4 .b32 c[2] = {1, 2};\n"
                      ".visible .entry k() {\n.reg .b64 %x;\n"
                      "mov.u64 %x, c;\nst.global.u32 [%x], 3;\nret;\n}")
                  .ok());
  EXPECT_EQ(f.run({}, {}).getKind(), ErrorKind::ReadOnly);
}

TEST(EmulatorChecks, ChecksCanBeLeftOut) {
  Fixture f;
  ASSERT_TRUE(f.parse(".visible .entry k(.param .u64 p) {\n"
                      ".shared .b32 s; .reg .b64 %x; .reg .b32 %r;\n"
                      "ld.param.u64 %x, [p]; ld.global.u32 %r, [%x];\n"
                      "ld.shared.u32 %r, [s]; mov.u32 %r, %tid.x;\n"
                      "st.shared.u32 [s], %r; st.global.u32 [%x], %r; ret;\n}")
                  .ok());
  f.passEmpty("p", 64);
  EXPECT_FALSE(f.run({4, 1, 1}, {64, 1, 1}).ok());
  f.options.checks = {false, false, false};
  Status s = f.run({4, 1, 1}, {64, 1, 1});
  EXPECT_TRUE(s.ok()) << s.message();
}
