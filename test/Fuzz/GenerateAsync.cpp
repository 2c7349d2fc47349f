//===- GenerateAsync.cpp - Copies and matrix products ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the asynchronous copies, the tensor copies and the
// matrix instructions of random programs.
//
//===----------------------------------------------------------------------===//

#include "GeneratorImpl.h"

#include <iterator>
#include <string_view>

using namespace fusionfuzz;

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
