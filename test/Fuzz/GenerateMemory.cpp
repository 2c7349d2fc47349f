//===- GenerateMemory.cpp - Loads, stores and atomics ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the memory access of random programs.
//
//===----------------------------------------------------------------------===//

#include "GeneratorImpl.h"

#include <iterator>
#include <string_view>

using namespace fusionfuzz;

/// Leaves an offset into shared or local memory in %r9, most often aligned and
/// inside.
void Generator::emitSharedAddress(unsigned size) {
  unsigned choice = in.next();
  unsigned mask = 0xff & ~(size - 1);
  if (choice >= 250)
    mask |= 0x300;
  if (choice == 249)
    mask |= 3;
  std::string from = choice & 1 ? "%tid" : readRegister('r');
  if (from == "%tid")
    emit("mul.lo.u32 %r9, %r8, " + number(size) + ";");
  emit("and.b32 %r9, " + (from == "%tid" ? "%r9" : from) + ", " + number(mask) +
       ";");
}

/// An address operand for `size` bytes; sets `space` to the modifier.
std::string Generator::address(unsigned size, const char *&space, bool isStore,
                               bool isStrong) {
  int offset = in.oneIn(32)  ? int(in.below(17)) * 4 - 8
               : in.oneIn(4) ? int(16 * in.below(2))
                             : 0;
  std::string plus = offset ? "+" + std::to_string(offset) : std::string();
  switch (in.below(8)) {
  case 0:
  case 1:
    space = ".shared";
    emitSharedAddress(size);
    emit("add.u32 %r9, %r9, tile;");
    return "[%r9" + plus + "]";
  case 2:
    space = in.oneIn(2) ? ".shared" : ".shared::cta";
    if (in.oneIn(8))
      return "[dyn+" + number(in.below(40) * 4) + "]";
    return "[tile+" +
           number(in.oneIn(24) ? 4 * in.below(68)
                               : size * in.below(256 / size)) +
           "]";
  case 3:
    space = ".local";
    emitSharedAddress(size);
    emit("and.b32 %r9, %r9, 63;");
    emit("add.u32 %r9, %r9, frame;");
    return "[%r9" + plus + "]";
  case 4:
    // Generic, of any space.
    space = "";
    emitSharedAddress(size);
    emit("and.b32 %r9, %r9, 63;");
    emit("cvt.u64.u32 %x9, %r9;");
    if (in.oneIn(3) && !isStrong) {
      emit("add.u64 %x9, %x9, %x6;");
      return "[%x9" + plus + "]";
    }
    emit(std::string("cvta.") + (in.oneIn(2) ? "local" : "shared") +
         ".u64 %x8, 0;");
    emit("add.u64 %x9, %x9, %x8;");
    return "[%x9" + plus + "]";
  default:
    space = ".global";
    emitSharedAddress(size);
    emit("cvt.u64.u32 %x9, %r9;");
    if (isStrong) {
      // Blocks race over what several of them reach by strong access, and
      // nobody reports it, so that each keeps to its own slice.
      emit("and.b64 %x9, %x9, 0xfc;");
      emit("add.u64 %x9, %x9, %x6;");
      return "[%x9]";
    }
    bool own = isStore || in.oneIn(2);
    if (isStore && in.oneIn(32))
      own = false;
    emit(std::string("add.u64 %x9, %x9, ") + (own ? "%x6;" : "%x7;"));
    return "[%x9" + plus + "]";
  }
}

namespace {
struct AccessType {
  const char *name;
  unsigned size;
  char kind; ///< Of register.
};
} // namespace

static const AccessType accessTypes[] = {
    {"u8", 1, 'h'},  {"s8", 1, 'r'},   {"b16", 2, 'h'}, {"s16", 2, 'r'},
    {"u16", 2, 'h'}, {"b32", 4, 'r'},  {"u32", 4, 'r'}, {"s32", 4, 'x'},
    {"f32", 4, 'f'}, {"b64", 8, 'x'},  {"u64", 8, 'x'}, {"f64", 8, 'd'},
    {"b8", 1, 'r'},  {"b128", 16, 'q'}};

static const char *const loadHints[] = {
    "", "", "", ".ca", ".cg", ".L1::no_allocate", ".L2::128B"};

void Generator::emitLoad() {
  const AccessType &type = accessTypes[in.below(std::size(accessTypes))];
  unsigned count = type.size <= 8 && in.oneIn(4) ? 2 : 1;
  if (count == 2 && type.size <= 4 && in.oneIn(2))
    count = 4;
  const char *order = in.oneIn(8) ? ".volatile" : "";
  const char *space;
  std::string from = address(type.size * count, space, false, *order != 0);
  std::string to = readRegister(type.kind);
  for (unsigned i = 1; i < count; ++i)
    to += ", " + readRegister(type.kind);
  if (count > 1)
    to = "{" + to + "}";
  emit(guard() + "ld" + order + space + (*order ? "" : pick(loadHints)) +
       (count > 1 ? ".v" + number(count) : "") + "." + type.name + " " + to +
       ", " + from + ";");
}

void Generator::emitStore() {
  const AccessType &type = accessTypes[in.below(std::size(accessTypes))];
  unsigned count = type.size <= 8 && in.oneIn(4) ? 2 : 1;
  if (count == 2 && type.size <= 4 && in.oneIn(2))
    count = 4;
  static const char *const orders[] = {
      "", "", "", ".volatile", ".relaxed.cta", ".release.cta"};
  const char *order = pick(orders);
  const char *space;
  std::string to = address(type.size * count, space, true, *order != 0);
  if (std::string_view(space) == ".local")
    order = "";
  std::string from = readRegister(type.kind);
  for (unsigned i = 1; i < count; ++i)
    from += ", " + readRegister(type.kind);
  if (count > 1)
    from = "{" + from + "}";
  emit(guard() + "st" + order + space +
       (count > 1 ? ".v" + number(count) : "") + "." + type.name + " " + to +
       ", " + from + ";");
}

void Generator::emitAtomic() {
  static const char *const operations[] = {
      "add.u32 r",      "add.s32 r",  "min.s32 r",         "max.u32 r",
      "and.b32 r",      "or.b32 r",   "xor.b32 r",         "add.u64 x",
      "max.s64 x",      "xor.b64 x",  "inc.u32 r",         "dec.u32 r",
      "exch.b32 r",     "exch.b64 x", "cas.b32 r",         "cas.b64 x",
      "add.f32 f",      "add.f64 d",  "add.noftz.f16x2 r", "cas.b16 h",
      "add.noftz.f16 h"};
  std::string_view operation = pick(operations);
  char kind = operation.back();
  std::string name(operation.substr(0, operation.size() - 2));
  bool shared = in.oneIn(2);
  emitSharedAddress(kind == 'q' ? 16 : 8);
  std::string where = "[%r9]";
  if (shared) {
    emit("add.u32 %r9, %r9, cells;");
  } else {
    emit("and.b32 %r9, %r9, 120;");
    emit("cvt.u64.u32 %x9, %r9;");
    emit("add.u64 %x9, %x9, %x10;");
    where = "[%x9]";
  }
  bool isCas = name.substr(0, 3) == "cas";
  bool canReduce = !isCas && name.substr(0, 4) != "exch" && in.oneIn(2);
  static const char *const scopes[] = {"", ".gpu", ".relaxed.cta",
                                       ".acq_rel.cta", ".sys"};
  std::string text = guard() + (canReduce ? "red" : "atom") + pick(scopes) +
                     (shared ? ".shared." : ".global.") + name + " ";
  if (!canReduce)
    text += readRegister(kind) + ", ";
  text += where + ", " + readRegister(kind);
  if (isCas)
    text += ", " + readRegister(kind);
  emit(text + ";");
}
