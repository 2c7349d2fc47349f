//===- DecodeRare.cpp - Instructions that are seldom used -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements instructions too rare to be built for each host
// instruction set: fns, cvt.pack, saturating multiply-add, SIMD video
// instructions and cache policies.
//
//===----------------------------------------------------------------------===//

#include "Decode/Families.h"

#include <algorithm>

using namespace fusionemu;

/// Sets the executing lanes of the 32-bit register `dst` to f(lane).
template <typename F>
static Next setLanes(Context &c, const Instruction &I, F f) {
  uint32_t *d = c.slot<uint32_t>(I.dst);
  for (unsigned i = 0; i < warpSize; ++i)
    if ((c.exec >> i) & 1)
      d[i] = f(i);
  return Next::Continue;
}

static int32_t saturate(int64_t x, int64_t low, int64_t high) {
  return int32_t(std::min(std::max(x, low), high));
}

/// The n-th set bit of a, counted from bit b; n is c, and its sign says which
/// way.
static uint32_t findNthSet(uint32_t mask, uint32_t base, int32_t offset) {
  if (offset == 0)
    return base < 32 && (mask >> base) & 1 ? base : ~uint32_t(0);
  int step = offset > 0 ? 1 : -1;
  int64_t left = (offset > 0 ? int64_t(offset) : -int64_t(offset)) - 1;
  for (int64_t at = base; at >= 0 && at < 32; at += step)
    if (((mask >> at) & 1) && left-- == 0)
      return uint32_t(at);
  return ~uint32_t(0);
}
static Next findNthSetLanes(Context &c, const Instruction &I) {
  const auto *a = c.slot<uint32_t>(I.a), *b = c.slot<uint32_t>(I.b);
  const auto *n = c.slot<int32_t>(I.c);
  return setLanes(c, I,
                  [=](unsigned i) { return findNthSet(a[i], b[i], n[i]); });
}

static bool decodeFns(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  if (modifiers.takeType() != Type::U32)
    return d.failInstruction();
  return d.emitSimple(findNthSetLanes, Type::U32, 3);
}

/// mad.hi.sat.s32, or mad24.hi.sat.s32 when aux is set.
static Next madHighSaturated(Context &c, const Instruction &I) {
  const auto *a = c.slot<int32_t>(I.a), *b = c.slot<int32_t>(I.b),
             *e = c.slot<int32_t>(I.c);
  bool is24 = I.aux;
  return setLanes(c, I, [=](unsigned i) {
    int64_t product = is24 ? (int64_t(int32_t(uint32_t(a[i]) << 8) >> 8) *
                              (int32_t(uint32_t(b[i]) << 8) >> 8)) >>
                                 16
                           : (int64_t(a[i]) * b[i]) >> 32;
    // Of the 24-bit product only 32 bits remain.
    if (is24)
      product = int32_t(product);
    return uint32_t(saturate(product + e[i], INT32_MIN, INT32_MAX));
  });
}

bool fusionemu::decodeMadSaturated(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const InstructionSyntax &syntax = d.getSyntax();
  bool is24 = syntax.name == "mad24";
  if (modifiers.takeType() != Type::S32)
    return d.failInstruction();
  return d.emitSimple(madHighSaturated, Type::S32, 3, is24 ? 1 : 0);
}

/// cvt.pack: a above b, each of aux & 0xff bits, signed if bit 8 is set; what
/// of the register c is left comes above them.
static Next packLanes(Context &c, const Instruction &I) {
  const auto *a = c.slot<int32_t>(I.a), *b = c.slot<int32_t>(I.b);
  const auto *above = c.slot<uint32_t>(I.c);
  unsigned bits = I.aux & 0xff;
  bool isSigned = I.aux & 0x100;
  int64_t low = isSigned ? -(int64_t(1) << (bits - 1)) : 0;
  int64_t high = (int64_t(1) << (isSigned ? bits - 1 : bits)) - 1;
  uint32_t mask = (uint32_t(1) << bits) - 1;
  return setLanes(c, I, [=](unsigned i) {
    uint32_t pair = (uint32_t(saturate(a[i], low, high)) & mask) << bits |
                    (uint32_t(saturate(b[i], low, high)) & mask);
    return bits == 16 ? pair : above[i] << (2 * bits) | pair;
  });
}

bool fusionemu::decodeCvtPack(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  static const struct {
    const char *name;
    unsigned bits;
    bool isSigned;
  } kinds[] = {{"u16", 16, false}, {"s16", 16, true}, {"u8", 8, false},
               {"s8", 8, true},    {"u4", 4, false},  {"s4", 4, true},
               {"u2", 2, false},   {"s2", 2, true}};
  bool sat = modifiers.take("sat");
  unsigned bits = 0;
  bool isSigned = false;
  for (const auto &kind : kinds)
    if (bits == 0 && modifiers.take(kind.name)) {
      bits = kind.bits;
      isSigned = kind.isSigned;
    }
  if (!sat || bits == 0 || !modifiers.take("s32") ||
      (bits != 16 && !modifiers.take("b32")))
    return d.failInstruction();
  return d.emitSimple(packLanes, Type::S32, bits == 16 ? 2 : 3,
                      bits | (isSigned ? 0x100 : 0));
}

namespace {
enum class Video : uint32_t { Add, Sub, AbsDiff, Min, Max };
} // namespace

/// A SIMD video instruction. aux: the operation, from bit 4 on whether a, b
/// and d are signed, .sat, .add, and whether there are four parts.
static Next videoLanes(Context &c, const Instruction &I) {
  const auto *a = c.slot<uint32_t>(I.a), *b = c.slot<uint32_t>(I.b),
             *e = c.slot<uint32_t>(I.c);
  Video op = Video(I.aux & 15);
  bool signedA = I.aux & 16, signedB = I.aux & 32, signedD = I.aux & 64;
  bool sat = I.aux & 128, adds = I.aux & 256;
  unsigned parts = I.aux & 512 ? 4 : 2, bits = 32 / parts;
  auto part = [=](uint32_t x, unsigned k, bool isSigned) {
    uint32_t up = x << (32 - bits * (k + 1));
    return isSigned ? int64_t(int32_t(up) >> (32 - bits))
                    : int64_t(up >> (32 - bits));
  };
  int64_t low = signedD ? -(int64_t(1) << (bits - 1)) : 0;
  int64_t high = (int64_t(1) << (signedD ? bits - 1 : bits)) - 1;
  return setLanes(c, I, [=](unsigned i) {
    uint32_t packed = 0, sum = e[i];
    for (unsigned k = 0; k < parts; ++k) {
      int64_t x = part(a[i], k, signedA), y = part(b[i], k, signedB), r = 0;
      switch (op) {
      case Video::Add:
        r = x + y;
        break;
      case Video::Sub:
        r = x - y;
        break;
      case Video::AbsDiff:
        r = x > y ? x - y : y - x;
        break;
      case Video::Min:
        r = std::min(x, y);
        break;
      case Video::Max:
        r = std::max(x, y);
        break;
      }
      if (sat)
        r = saturate(r, low, high);
      packed |= (uint32_t(r) & ((uint32_t(1) << (bits - 1) << 1) - 1))
                << (bits * k);
      sum += uint32_t(r);
    }
    return adds ? sum : packed;
  });
}

static bool decodeVideo(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const InstructionSyntax &syntax = d.getSyntax();
  std::string_view name = syntax.name;
  bool four = name.back() == '4';
  std::string_view stem = name.substr(0, name.size() - 1);
  Video op = stem == "vadd"       ? Video::Add
             : stem == "vsub"     ? Video::Sub
             : stem == "vabsdiff" ? Video::AbsDiff
             : stem == "vmin"     ? Video::Min
                                  : Video::Max;
  bool sat = modifiers.take("sat"), adds = modifiers.take("add");
  Type to = modifiers.takeType(), a = modifiers.takeType(),
       b = modifiers.takeType();
  for (Type type : {to, a, b})
    if (type != Type::U32 && type != Type::S32)
      return d.failInstruction();
  if (sat && adds)
    return d.failInstruction();
  uint32_t aux = uint32_t(op) | (a == Type::S32 ? 16 : 0) |
                 (b == Type::S32 ? 32 : 0) | (to == Type::S32 ? 64 : 0) |
                 (sat ? 128 : 0) | (adds ? 256 : 0) | (four ? 512 : 0);
  return d.emitSimple(videoLanes, Type::U32, 3, aux);
}

static bool decodeCreatePolicy(InstructionDecoder &d) {
  Modifiers &modifiers = d.getModifiers();
  const HandlerTable &handlers = d.getHandlers();
  // A policy says how long to keep what; there are no caches here, so that
  // any value will do.
  modifiers.takeOneOf({"fractional", "range", "cvt"});
  modifiers.takePrefix("L2");
  modifiers.take("global");
  if (modifiers.takeType() != Type::U64 || !d.needOperands(1, 4))
    return d.failInstruction();
  Instruction I = d.make(handlers.move(8));
  I.a = d.constantSlot(8, 0);
  if (!d.write(d.operand(0), Type::U64, I.dst))
    return false;
  return d.emitAll(I);
}

void fusionemu::addRareDecoders(DecodeTable &table) {
  table.insert({
      {"createpolicy", decodeCreatePolicy},
      {"fns", decodeFns},
      {"vabsdiff2", decodeVideo},
      {"vabsdiff4", decodeVideo},
      {"vadd2", decodeVideo},
      {"vadd4", decodeVideo},
      {"vmax2", decodeVideo},
      {"vmax4", decodeVideo},
      {"vmin2", decodeVideo},
      {"vmin4", decodeVideo},
      {"vsub2", decodeVideo},
      {"vsub4", decodeVideo},
  });
}
