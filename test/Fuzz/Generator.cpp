//===- Generator.cpp - Random PTX programs from bytes ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the structure of random programs: declarations, memory
// access, control flow and what crosses lanes. Arithmetic comes from the table
// in Templates.cpp.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"

#include "Templates.h"

#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

using namespace fusionfuzz;

namespace {
/// Hands out the bytes of the input, and zeros behind them.
class Bytes {
public:
  Bytes(const uint8_t *data, size_t size) : at(data), end(data + size) {}
  unsigned next() { return at == end ? 0 : *at++; }
  /// A number below `limit`, which is at most 65536.
  unsigned below(unsigned limit) {
    unsigned value = next();
    if (limit > 256)
      value = value << 8 | next();
    return value % limit;
  }
  bool oneIn(unsigned n) { return below(n) == n - 1; }
  bool empty() const { return at == end; }

private:
  const uint8_t *at, *end;
};

class Generator {
public:
  Generator(const uint8_t *data, size_t size) : in(data, size) {}
  Program run();

private:
  void emit(const std::string &line) { body += "  " + line + "\n"; }
  std::string number(unsigned n) { return std::to_string(n); }
  std::string newLabel() { return "L" + number(labels++); }
  template <size_t n>
  const char *pick(const char *const (&choices)[n]) {
    return choices[in.below(n)];
  }

  std::string readRegister(char kind);
  std::string operand(char letter);
  std::string memberMask();
  std::string guard();
  void emitTemplate();
  void emitSharedAddress(unsigned size);
  std::string address(unsigned size, const char *&space, bool isStore,
                      bool isStrong);
  void emitLoad();
  void emitStore();
  void emitAtomic();
  void emitCollective();
  void emitBarrier();
  void emitAsync();
  void chooseMap();
  void emitTensor();
  void emitMatrix();
  void emitBranch(unsigned depth);
  void emitLoop(unsigned depth);
  void emitTable(unsigned depth);
  void emitCall();
  void emitBlock(unsigned depth);

  Bytes in;
  Program program;
  std::string body;
  unsigned labels = 0;
  bool oneBlock = false;
  /// Inside branches and loops, which threads enter on their own.
  unsigned nesting = 0;
};
} // namespace

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

/// mbarriers and copies; what they copy to is read like other shared memory.
void Generator::emitAsync() {
  // The last one is never initialised here.
  std::string bar =
      "[bars+" + number(in.oneIn(24) ? 24 : 8 * in.below(3)) + "]";
  std::string p = readRegister('p');
  std::string before = in.oneIn(4) ? guard() : "";
  unsigned bytes = 16 * (1 + in.below(4));
  if (in.oneIn(16))
    bytes += 4;
  std::string tile = "[tile+" + number(16 * in.below(18)) + "]";
  static const char *const directed[] = {"arrive", "arrive_drop"};
  switch (in.below(16)) {
  case 0:
    if (!in.oneIn(4))
      return;
    emit("setp.eq.u32 " + p + ", %r8, 0;");
    if (in.oneIn(2))
      emit("@" + p + " mbarrier.inval.shared.b64 " + bar + ";");
    emit("@" + p + " mbarrier.init.shared::cta.b64 " + bar + ", " +
         number(in.below(66)) + ";");
    emit("fence.mbarrier_init.release.cluster;");
    emit("bar.sync 0;");
    return;
  case 1:
    emit(before + "mbarrier." + pick(directed) + ".shared.b64 %x0, " + bar +
         ";");
    return;
  case 2:
    emit(before + "mbarrier.arrive.expect_tx.shared::cta.b64 _, " + bar + ", " +
         number(bytes) + ";");
    return;
  case 3:
    emit(before + "mbarrier.test_wait.shared::cta.b64 " + p + ", " + bar +
         ", %x0;");
    return;
  case 4:
    emit(before + "mbarrier.try_wait.parity.shared::cta.b64 " + p + ", " + bar +
         ", " + number(in.below(2)) + ";");
    return;
  case 5: {
    std::string again = newLabel();
    emit(again + ":");
    emit("mbarrier.try_wait.parity.shared::cta.b64 " + p + ", " + bar + ", " +
         number(in.below(2)) + ";");
    emit("@!" + p + " bra " + again + ";");
    return;
  }
  case 6:
    emit(before +
         (in.oneIn(8) ? "mbarrier.inval.shared.b64 " + bar
                      : "mbarrier.pending_count.b64 %r1, %x0") +
         ";");
    return;
  case 7:
  case 8:
    emitSharedAddress(16);
    emit("cvt.u64.u32 %x9, %r9;");
    emit("add.u64 %x9, %x9, %x7;");
    emit("add.u32 %r9, %r9, tile;");
    emit(before + "cp.async.cg.shared.global [%r9], [%x9], 16" +
         (in.oneIn(4) ? ", " + operand('r') : std::string()) + ";");
    return;
  case 9:
    emit("cp.async.commit_group;");
    return;
  case 10:
    emit("cp.async.wait_group " + number(in.below(3)) + ";");
    return;
  case 11:
    emit("setp.eq.u32 " + p + ", %r8, 0;");
    emit("@" + p + " cp.async.bulk.shared::cluster.global" +
         ".mbarrier::complete_tx::bytes " + tile + ", [%x7+" +
         number(16 * in.below(66)) + "], " + number(bytes) + ", " + bar + ";");
    return;
  case 12:
    emit("fence.proxy.async.shared::cta;");
    emit("setp.eq.u32 " + p + ", %r8, 0;");
    emit("@" + p + " cp.async.bulk.global.shared::cta.bulk_group [%x6+" +
         number(16 * in.below(28)) + "], " + tile + ", " + number(bytes) + ";");
    return;
  case 13:
    emit(before + "cp.async.bulk.commit_group;");
    emit(before + "cp.async.bulk.wait_group" + (in.oneIn(2) ? ".read " : " ") +
         number(in.below(2)) + ";");
    return;
  case 14:
    emit(before + "cp.async.mbarrier.arrive.noinc.shared.b64 " + bar + ";");
    return;
  default:
    emit("mapa.shared::cluster.u32 %r9, tile, " + number(in.below(3)) + ";");
    emit(before + (in.oneIn(2) ? "ld.shared::cluster.u32 %r1, [%r9];"
                               : "st.shared::cluster.u32 [%r9], %r2;"));
    return;
  }
}

/// A map of `in`, of 1 to 3 dimensions and with a box that often fits.
void Generator::chooseMap() {
  using namespace fusionemu;
  static const TensorMapType types[] = {TensorMapType::F32, TensorMapType::BF16,
                                        TensorMapType::U8, TensorMapType::F64};
  TensorMapInfo &map = program.map;
  map.type = types[in.below(std::size(types))];
  map.rank = 1 + in.below(3);
  uint32_t size = getElementBits(map.type) / 8;
  map.dims[0] = 32 / size;
  map.dims[1] = 4 + in.below(5);
  map.dims[2] = 4;
  map.strides[0] = 32;
  map.strides[1] = 32 * map.dims[1];
  map.box[0] = in.oneIn(8) ? in.below(64) : 16 / size * (1 + in.below(2));
  map.box[1] = 1 + in.below(4);
  map.box[2] = 1 + in.below(2);
  if (in.oneIn(4))
    map.swizzle = TensorMapSwizzle(in.below(8));
  if (in.oneIn(16))
    map.elementStrides[1] = in.below(4);
  if (in.oneIn(16))
    program.damagedByte = in.below(tensorMapBytes);
}

/// Tensor copies by one thread.
void Generator::emitTensor() {
  std::string rank = number(in.oneIn(16) ? 1 + in.below(5) : program.map.rank);
  std::string coordinates;
  for (char i = '0'; i != rank[0]; ++i)
    coordinates += (coordinates.empty() ? "" : ", ") +
                   (in.oneIn(4) ? operand('r') : number(in.below(8)));
  std::string tensor = "[map, {" + coordinates + "}]";
  std::string tile =
      "[tile+" + number(in.oneIn(8) ? 16 * in.below(18) : 0) + "]";
  std::string bar = "[bars+" + number(8 * in.below(3)) + "]";
  emit("setp.eq.u32 %p3, %r8, 0;");
  // Blocks that store the same elements race, which nobody looks for.
  unsigned choice = in.below(oneBlock ? 6 : 3);
  if (choice < 2) {
    // Any address will do for the rules about the rest.
    fusionemu::TensorMapInfo info = program.map;
    info.globalAddress = 256;
    bool fine = fusionemu::checkTensorMap(info).ok();
    emit("@%p3 mbarrier.arrive.expect_tx.shared::cta.b64 _, " + bar + ", " +
         number(fine ? uint32_t(fusionemu::getBoxBytes(info)) : 64) + ";");
    emit("@%p3 cp.async.bulk.tensor." + rank +
         "d.shared::cluster.global.mbarrier::complete_tx::bytes " + tile +
         ", " + tensor + ", " + bar + ";");
    return;
  }
  if (choice == 2) {
    emit("@%p3 cp.async.bulk.prefetch.tensor." + rank + "d.L2.global " +
         tensor + ";");
    return;
  }
  static const char *const operations[] = {"add", "min", "max", "and"};
  emit("fence.proxy.async.shared::cta;");
  if (choice == 3)
    emit("@%p3 cp.reduce.async.bulk.tensor." + rank + "d.global.shared::cta." +
         pick(operations) + ".bulk_group " + tensor + ", " + tile + ";");
  else
    emit("@%p3 cp.async.bulk.tensor." + rank +
         "d.global.shared::cta.bulk_group " + tensor + ", " + tile + ";");
  emit("cp.async.bulk.commit_group;");
  emit("cp.async.bulk.wait_group 0;");
}

/// Fragments and products of a whole warp, or of four.
void Generator::emitMatrix() {
  static const char *const instructions[] = {
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3},"
      " {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3}",
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, "
      "%f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3}",
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3},"
      " {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3}",
      "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r2, %r3},"
      " {%r4}, {%r5, %r6}",
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32.satfinite {%r0, %r1, "
      "%r2, %r3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r0, %r1, %r2, %r3}",
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%f0, %f1, %f2, "
      "%f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3}",
      "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d0, %d1}, {%d2}, "
      "{%d3}, {%d0, %d1}",
      "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1",
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%r9]",
      "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r4}, [%r9]",
      "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r9], {%r1, %r2}",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3},"
      " %x8, %x9, 1, 1, 1, 0, 0",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, "
      "%f3}, {%r0, %r1, %r2, %r3}, %x9, 1, -1, 1, 0",
      "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0, %r1, %r2, %r3},"
      " %x8, %x9, 0"};
  std::string instruction = pick(instructions);
  bool isGroup = instruction[0] == 'w';
  if (nesting != 0 && !in.oneIn(8))
    return emitTemplate();
  emitSharedAddress(16);
  emit("add.u32 %r9, %r9, tile;");
  if (isGroup) {
    // Descriptors: address, offsets and swizzle, in units of 16 bytes.
    for (const char *descriptor : {"%x8", "%x9"}) {
      uint64_t bits = in.below(16) | uint64_t(in.below(32)) << 16 |
                      uint64_t(in.below(32)) << 32;
      if (in.oneIn(4))
        bits |= uint64_t(in.below(4)) << 62;
      emit(std::string("mov.u64 ") + descriptor + ", " + std::to_string(bits) +
           ";");
    }
    emit("fence.proxy.async.shared::cta;");
    emit("bar.sync 0;");
    if (!in.oneIn(16))
      emit("wgmma.fence.sync.aligned;");
  }
  emit((in.oneIn(16) ? guard() : "") + instruction + ";");
  if (isGroup) {
    if (!in.oneIn(16))
      emit("wgmma.commit_group.sync.aligned;");
    if (!in.oneIn(16))
      emit("wgmma.wait_group.sync.aligned " + number(in.below(2)) + ";");
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
