//===- Generator.cpp - Random PTX programs from bytes ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the structure of random programs: declarations, control
// flow and what crosses lanes. Arithmetic comes from the table in
// Templates.cpp.
//
//===----------------------------------------------------------------------===//

#include "GeneratorImpl.h"
#include "Templates.h"

#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

using namespace fusionfuzz;

std::string Generator::readRegister(char kind) {
  switch (kind) {
  case 'h':
    return "%h" + number(in.below(4));
  case 'r':
    return "%r" + number(in.below(8));
  case 'x':
    return "%x" + number(in.below(6));
  case 'q':
    return "%q" + number(in.below(2));
  case 'f':
    return "%f" + number(in.below(6));
  case 'd':
    return "%d" + number(in.below(4));
  default:
    return "%p" + number(in.below(4));
  }
}

/// A register for the letter of a template; a constant now and then, where it
/// is only read.
std::string Generator::operand(char letter) {
  static const char *const integers[] = {
      "0",  "1",  "-1",         "31",         "32",     "33",    "7",
      "64", "-2", "0x7fffffff", "0x80000000", "0xffff", "65535", "255"};
  static const char *const floats[] = {"0f00000000", "0f3F800000", "0fBF800000",
                                       "0f7F800000", "0fFFC00000", "0f00000001",
                                       "0f7F7FFFFF", "0f4F000000"};
  static const char *const doubles[] = {
      "0d0000000000000000", "0d3FF0000000000000", "0d7FF0000000000000",
      "0d8000000000000001", "0dFFF8000000000000", "0d43E0000000000000"};
  if (letter >= 'A' && letter <= 'Z')
    return readRegister(char(letter + 32));
  unsigned choice = in.next();
  if (choice < 200)
    return readRegister(letter);
  switch (letter) {
  case 'h':
  case 'r':
  case 'x':
    return integers[choice % std::size(integers)];
  case 'f':
    return floats[choice % std::size(floats)];
  case 'd':
    return doubles[choice % std::size(doubles)];
  default:
    return readRegister(letter);
  }
}

std::string Generator::guard() {
  unsigned choice = in.next();
  if (choice < 200)
    return "";
  return (choice & 1 ? "@%p" : "@!%p") + number(choice >> 1 & 3) + " ";
}

void Generator::emitTemplate() {
  std::string text = guard();
  for (const char *c = templates[in.below(numTemplates)]; *c; ++c) {
    if (*c == '$')
      text += number(in.below(256));
    else
      text += *c == '~' ? operand(*++c) : std::string(1, *c);
  }
  emit(text + ";");
}

/// A member mask, most often one that the executing lanes can agree on.
std::string Generator::memberMask() {
  static const char *const masks[] = {"%r8", "0xffff", "%r0", "0"};
  if (in.oneIn(32))
    return pick(masks);
  if (nesting == 0 || in.oneIn(4))
    return "-1";
  emit("activemask.b32 %r9;");
  return "%r9";
}

void Generator::emitCollective() {
  std::string mask = memberMask();
  std::string before = in.oneIn(24) ? guard() : "";
  std::string r = readRegister('r'), a = readRegister('r'),
              p = readRegister('p');
  static const char *const modes[] = {"up", "down", "bfly", "idx"};
  static const char *const reductions[] = {"add.u32", "min.s32", "max.u32",
                                           "and.b32", "or.b32",  "xor.b32",
                                           "add.s32", "min.u32", "max.s32"};
  static const char *const votes[] = {"all", "any", "uni"};
  switch (in.below(8)) {
  case 0:
  case 1:
    emit(before + "shfl.sync." + pick(modes) + ".b32 " + r + "|" + p + ", " +
         a + ", " + operand('r') + ", " + number(in.below(32)) + ", " + mask +
         ";");
    return;
  case 2:
    emit(before + "vote.sync." + pick(votes) + ".pred " + p + ", !" +
         readRegister('p') + ", " + mask + ";");
    return;
  case 3:
    emit(before + "vote.sync.ballot.b32 " + r + ", " + p + ", " + mask + ";");
    return;
  case 4:
    emit(before + "redux.sync." + pick(reductions) + " " + r + ", " + a + ", " +
         mask + ";");
    return;
  case 5:
    if (in.oneIn(2))
      emit(before + "match.any.sync.b64 " + r + ", " + readRegister('x') +
           ", " + mask + ";");
    else
      emit(before + "match.all.sync.b32 " + r + "|" + p + ", " + a + ", " +
           mask + ";");
    return;
  case 6:
    emit(before + "elect.sync " + r + "|" + p + ", " + mask + ";");
    return;
  default:
    emit(before +
         (in.oneIn(2) ? "activemask.b32 " + r : "bar.warp.sync " + mask) + ";");
    return;
  }
}

void Generator::emitBarrier() {
  // Where threads are on their own a barrier is most often an error.
  if (nesting != 0 && !in.oneIn(8))
    return emitTemplate();
  std::string before = in.oneIn(24) ? guard() : "";
  std::string p = readRegister('p');
  switch (in.below(10)) {
  case 0:
    emit(before + "barrier.cta.sync " +
         (in.oneIn(8) ? operand('r') : number(in.below(16))) +
         (in.oneIn(8) ? ", " + number(32 * in.below(4)) : std::string()) + ";");
    return;
  case 1:
    if (in.oneIn(4))
      emit(before + "bar.arrive " + number(in.below(17)) + ", " +
           number(32 * in.below(4)) + ";");
    return;
  case 2:
    emit(before + "barrier.cta.red.popc.u32 " + readRegister('r') + ", 1, " +
         p + ";");
    return;
  case 3:
    emit(before + "bar.red.or.pred " + readRegister('p') + ", 2, !" + p + ";");
    return;
  case 4:
    // Fences that order blocks switch the detector of races between them off.
    emit(oneBlock && in.oneIn(2) ? "fence.acq_rel.gpu;" : "membar.cta;");
    return;
  case 5:
    emit(before + "barrier.cluster.arrive.aligned;");
    emit("barrier.cluster.wait.aligned;");
    return;
  default:
    emit(before + "bar.sync 0;");
    return;
  }
}

void Generator::emitBranch(unsigned depth) {
  std::string otherwise = newLabel(), end = newLabel();
  emit("@" + std::string(in.oneIn(2) ? "!" : "") + readRegister('p') + " bra " +
       otherwise + ";");
  emitBlock(depth - 1);
  if (in.oneIn(2)) {
    emit("bra.uni " + end + ";");
    emit(otherwise + ":");
    emitBlock(depth - 1);
  } else {
    emit(otherwise + ":");
  }
  emit(end + ":");
}

void Generator::emitLoop(unsigned depth) {
  std::string top = newLabel(), counter = "%r" + number(10 + depth);
  emit("and.b32 " + counter + ", " + operand('r') + ", 7;");
  emit(top + ":");
  emitBlock(depth - 1);
  if (in.oneIn(24))
    emit(guard() + "ret;");
  emit("sub.u32 " + counter + ", " + counter + ", 1;");
  emit("setp.gt.s32 %p4, " + counter + ", 0;");
  emit("@%p4 bra " + top + ";");
}

void Generator::emitTable(unsigned depth) {
  std::string list = newLabel(), end = newLabel();
  unsigned count = 1 + in.below(4);
  std::string names;
  std::vector<std::string> targets;
  for (unsigned i = 0; i < count; ++i) {
    targets.push_back(newLabel());
    names += (i ? ", " : "") + targets.back();
  }
  emit(list + ": .branchtargets " + names + ";");
  std::string index = readRegister('r');
  // Now and then beyond the table.
  emit("and.b32 %r9, " + index + ", " + number(in.oneIn(16) ? 7 : 3) + ";");
  if (!in.oneIn(16))
    emit("min.u32 %r9, %r9, " + number(count - 1) + ";");
  emit("brx.idx %r9, " + list + ";");
  for (const std::string &target : targets) {
    emit(target + ":");
    emitBlock(depth - 1);
    if (in.oneIn(2))
      emit("bra " + end + ";");
  }
  emit(end + ":");
}

void Generator::emitCall() {
  emit("{ .param .b32 a; .param .b32 b;");
  emit("st.param.b32 [a], " + readRegister('r') + ";");
  emit(guard() + "call.uni (b), callee, (a);");
  emit("ld.param.b32 " + readRegister('r') + ", [b]; }");
}

void Generator::emitBlock(unsigned depth) {
  nesting = 3 - depth;
  unsigned count = 1 + in.below(8);
  for (unsigned i = 0; i < count && !in.empty() && body.size() < 12000; ++i) {
    unsigned choice = in.below(64);
    if (choice < 28)
      emitTemplate();
    else if (choice < 34)
      emitLoad();
    else if (choice < 40)
      emitStore();
    else if (choice < 43)
      emitAtomic();
    else if (choice < 48)
      emitCollective();
    else if (choice < 51)
      emitBarrier();
    else if (choice < 53)
      emitAsync();
    else if (choice < 54)
      emitTensor();
    else if (choice < 55)
      emitMatrix();
    else if (depth == 0)
      emitTemplate();
    else if (choice < 58)
      emitBranch(depth);
    else if (choice < 61)
      emitLoop(depth);
    else if (choice < 62)
      emitTable(depth);
    else if (choice < 63)
      emitCall();
    else if (in.oneIn(4))
      emit(guard() + "exit;");
    nesting = 3 - depth;
  }
}

Program Generator::run() {
  static const unsigned blocks[] = {32, 64, 33, 128, 96, 31, 128, 1};
  program.block.x = blocks[in.below(std::size(blocks))];
  program.grid.x = 1 + in.below(maxBlocks);
  if (in.oneIn(4) && program.grid.x % 2 == 0)
    program.cluster = {2, 1, 1};
  else
    program.cluster = {1, 1, 1};
  oneBlock = program.grid.x == 1;
  program.dynamicSharedBytes = 16 * in.below(9);
  program.scalar = in.next() * 0x01010101u;
  chooseMap();
  while (!in.empty() && body.size() < 12000)
    emitBlock(3);

  std::string &text = program.text;
  text = R"(.version 8.7
.target sm_100a
.address_size 64
.extern .shared .align 16 .b8 dyn[];
.func (.param .b32 r) callee(.param .b32 x)
{
  .reg .b32 %r<3>; .reg .pred %p;
  ld.param.b32 %r1, [x];
  setp.lt.s32 %p, %r1, 0;
  @%p ret;
  mad.lo.u32 %r1, %r1, 3, 1;
  st.param.b32 [r], %r1;
  ret;
}
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 sum,
                  .param .u32 scalar, .param .align 64 .b8 map[128])
{
  .reg .pred %p<5>; .reg .b16 %h<4>; .reg .b32 %r<14>; .reg .b64 %x<11>;
  .reg .f32 %f<6>; .reg .f64 %d<4>; .reg .b128 %q<2>;
  .shared .align 128 .b8 tile[272];
  .shared .align 16 .b8 cells[256];
  .shared .align 8 .b8 bars[32];
  .local .align 16 .b8 frame[80];
  mov.u32 %r8, %tid.x;
  ld.param.u32 %r7, [scalar];
  ld.param.u64 %x7, [in];
  ld.param.u64 %x6, [out];
  ld.param.u64 %x10, [sum];
  mov.u32 %r9, %ctaid.x;
  mul.wide.u32 %x9, %r9, )" +
         std::to_string(sliceBytes) + R"(;
  add.u64 %x6, %x6, %x9;
  mov.u32 %r0, %r8;
  mad.lo.u32 %r1, %r8, 0x9e3779b9, %r7;
  xor.b32 %r2, %r1, %r9;
  shl.b32 %r3, %r8, 2;
  mul.wide.u32 %x0, %r1, %r2;
  mad.wide.u32 %x1, %r8, 8, %x7;
  cvt.u16.u32 %h0, %r1;
  cvt.rn.f32.s32 %f0, %r1;
  cvt.rn.f64.f32 %d0, %f0;
  ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%x7+16];
  ld.global.v2.f64 {%d1, %d2}, [%x7+64];
  setp.lt.u32 %p0, %r1, %r7;
  setp.eq.u32 %p1, %r8, 0;
  // Everything of shared memory but the last part of tile gets a value.
  mov.u32 %r10, %r8;
INIT:
  setp.lt.u32 %p4, %r10, 32;
  @!%p4 bra INITIALISED;
  shl.b32 %r9, %r10, 3;
  add.u32 %r12, %r9, tile;
  st.shared.v2.b32 [%r12], {%r10, %r7};
  add.u32 %r12, %r9, cells;
  st.shared.u64 [%r12], %x0;
  add.u32 %r10, %r10, %ntid.x;
  bra INIT;
INITIALISED:
  @%p1 mbarrier.init.shared::cta.b64 [bars], 1;
  @%p1 mbarrier.init.shared::cta.b64 [bars+8], %ntid.x;
  @%p1 mbarrier.init.shared::cta.b64 [bars+16], 2;
  bar.sync 0;
)" + body +
         R"(
  mad.wide.u32 %x9, %r8, 4, %x6;
  xor.b32 %r0, %r0, %r1; xor.b32 %r2, %r2, %r3; xor.b32 %r4, %r4, %r5;
  xor.b32 %r0, %r0, %r2; xor.b32 %r4, %r4, %r6; xor.b32 %r0, %r0, %r4;
  st.global.u32 [%x9], %r0;
  ret;
}
)";
  return std::move(program);
}

Program fusionfuzz::generate(const uint8_t *data, size_t size) {
  return Generator(data, size).run();
}
