//===- SlotAllocator.cpp - Places of a kernel's values --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the layout of a kernel's registers, constants and
// variables.
//
//===----------------------------------------------------------------------===//

#include "Decode/SlotAllocator.h"
#include "Support.h"

#include <algorithm>

using namespace fusionemu;

static constexpr uint64_t maxLocalBytes = 512 * 1024;
static constexpr uint64_t maxRegisterBytes = uint64_t(1) << 24;

/// Marks a slot of the constant part of the register file until its place is
/// known.
static constexpr int32_t constantFlag = int32_t(1) << 30;

int32_t SlotAllocator::allocateRegister(unsigned bytes) {
  uint64_t size = uint64_t(bytes) * warpSize;
  uint64_t begin = (kernel.registerBytes + 63) / 64 * 64;
  if (begin + size > maxRegisterBytes) {
    errors.failSyntax("the kernel has too many registers");
    return 0;
  }
  kernel.registerBytes = uint32_t(begin + size);
  return int32_t(begin);
}

int32_t SlotAllocator::getSink() {
  constexpr unsigned widest = 16;
  if (sinkSlot < 0)
    sinkSlot = allocateRegister(widest);
  return sinkSlot;
}

int32_t SlotAllocator::takeConstant(unsigned bytes) {
  uint64_t begin = (constantBytes + 63) / 64 * 64;
  constantBytes = uint32_t(begin + bytes * warpSize);
  return int32_t(begin) | constantFlag;
}

std::optional<int32_t> SlotAllocator::takeCheckedConstant(unsigned bytes) {
  uint64_t begin = (constantBytes + 63) / 64 * 64;
  if (begin + 16 * warpSize > maxRegisterBytes) {
    errors.failSyntax("the kernel has too many constants");
    return std::nullopt;
  }
  return takeConstant(bytes);
}

static uint64_t truncate(uint64_t value, unsigned bytes) {
  return bytes >= 8 ? value : value & ((uint64_t(1) << (bytes * 8)) - 1);
}

int32_t SlotAllocator::constantSlot(unsigned bytes, uint64_t low,
                                    uint64_t high) {
  low = truncate(low, bytes);
  auto key = std::make_pair(bytes, std::make_pair(low, high));
  auto known = constants.find(key);
  if (known != constants.end())
    return known->second;
  std::optional<int32_t> taken = takeCheckedConstant(bytes);
  if (!taken)
    return 0;
  int32_t slot = *taken;
  kernel.constants.push_back({slot, uint8_t(bytes), low, high});
  return constants[key] = slot;
}

int32_t SlotAllocator::addressSlot(uint32_t variable, unsigned bytes,
                                   uint64_t addend) {
  auto key = std::make_pair(variable, std::make_pair(bytes, addend));
  auto known = addressSlots.find(key);
  if (known != addressSlots.end())
    return known->second;
  std::optional<int32_t> taken = takeCheckedConstant(bytes);
  if (!taken)
    return 0;
  int32_t slot = *taken;
  kernel.relocations.push_back({slot, uint8_t(bytes), variable, addend});
  return addressSlots[key] = slot;
}

int32_t SlotAllocator::dynamicSharedSlot(unsigned bytes, uint64_t addend) {
  // No variable has this number.
  auto key = std::make_pair(~uint32_t(0), std::make_pair(bytes, addend));
  auto known = addressSlots.find(key);
  if (known != addressSlots.end())
    return known->second;
  int32_t slot = takeConstant(bytes);
  dynamicShared.push_back({slot, uint8_t(bytes), addend, 0});
  return addressSlots[key] = slot;
}

namespace {
struct SpecialName {
  const char *name;
  Special special;
  uint8_t bytes;
};
} // namespace

static const SpecialName specialNames[] = {
    {"%tid.x", Special::TidX, 4},
    {"%tid.y", Special::TidY, 4},
    {"%tid.z", Special::TidZ, 4},
    {"%ntid.x", Special::NTidX, 4},
    {"%ntid.y", Special::NTidY, 4},
    {"%ntid.z", Special::NTidZ, 4},
    {"%ctaid.x", Special::CtaIdX, 4},
    {"%ctaid.y", Special::CtaIdY, 4},
    {"%ctaid.z", Special::CtaIdZ, 4},
    {"%nctaid.x", Special::NCtaIdX, 4},
    {"%nctaid.y", Special::NCtaIdY, 4},
    {"%nctaid.z", Special::NCtaIdZ, 4},
    {"%laneid", Special::LaneId, 4},
    {"%warpid", Special::WarpId, 4},
    {"%nwarpid", Special::NWarpId, 4},
    {"%smid", Special::SmId, 4},
    {"%nsmid", Special::NSmId, 4},
    {"%gridid", Special::GridId, 8},
    {"%lanemask_eq", Special::LaneMaskEq, 4},
    {"%lanemask_lt", Special::LaneMaskLt, 4},
    {"%lanemask_le", Special::LaneMaskLe, 4},
    {"%lanemask_gt", Special::LaneMaskGt, 4},
    {"%lanemask_ge", Special::LaneMaskGe, 4},
    {"%dynamic_smem_size", Special::DynamicSharedSize, 4},
    {"%total_smem_size", Special::TotalSharedSize, 4},
    {"%aggr_smem_size", Special::TotalSharedSize, 4},
    {"%reserved_smem_offset_begin", Special::Zero, 4},
    {"%reserved_smem_offset_end", Special::Zero, 4},
    {"%reserved_smem_offset_cap", Special::Zero, 4},
    {"%clusterid.x", Special::ClusterIdX, 4},
    {"%clusterid.y", Special::ClusterIdY, 4},
    {"%clusterid.z", Special::ClusterIdZ, 4},
    {"%nclusterid.x", Special::NClusterIdX, 4},
    {"%nclusterid.y", Special::NClusterIdY, 4},
    {"%nclusterid.z", Special::NClusterIdZ, 4},
    {"%cluster_ctaid.x", Special::ClusterCtaIdX, 4},
    {"%cluster_ctaid.y", Special::ClusterCtaIdY, 4},
    {"%cluster_ctaid.z", Special::ClusterCtaIdZ, 4},
    {"%cluster_nctaid.x", Special::ClusterNCtaIdX, 4},
    {"%cluster_nctaid.y", Special::ClusterNCtaIdY, 4},
    {"%cluster_nctaid.z", Special::ClusterNCtaIdZ, 4},
    {"%cluster_ctarank", Special::ClusterCtaRank, 4},
    {"%cluster_nctarank", Special::ClusterNCtaRank, 4},
};

bool SlotAllocator::findSpecial(std::string_view name, unsigned &bytes,
                                int32_t &slot) {
  auto known = specials.find(name);
  if (known != specials.end()) {
    bytes = known->second.first;
    slot = known->second.second;
    return true;
  }
  for (const SpecialName &s : specialNames) {
    if (name != s.name)
      continue;
    bytes = s.bytes;
    slot = takeConstant(bytes);
    kernel.specials.push_back({s.special, s.bytes, slot});
    specials[name] = {bytes, slot};
    return true;
  }
  return false;
}

bool SlotAllocator::placeShared(const VariableSyntax &v, int64_t &where) {
  if (v.isExtern && v.size != 0)
    return errors.failUnsupported(
        "shared variable '" + std::string(v.name) +
        "', which is defined in another module, is not "
        "supported");
  if (v.unsizedArray || v.isExtern) {
    // All such arrays start together, behind everything of a known size.
    kernel.info.usesDynamicShared = true;
    sharedAlign = std::max(sharedAlign, v.align);
    where = -1;
    return true;
  }
  sharedEnd = uint32_t(alignUp(sharedEnd, v.align));
  if (v.size > 0x1000000 || sharedEnd + v.size > 0x1000000)
    return errors.failSyntax("shared variables exceed 16 MiB");
  where = sharedEnd;
  kernel.sharedVariables.push_back(
      {std::string(v.name), sharedEnd, uint32_t(v.size)});
  sharedEnd += uint32_t(v.size);
  return true;
}

bool SlotAllocator::placeLocal(const VariableSyntax &v, int64_t &where) {
  localEnd = alignUp(localEnd, v.align);
  where = int64_t(localEnd);
  localEnd += v.size;
  if (v.size > maxLocalBytes || localEnd > maxLocalBytes)
    return errors.failSyntax("local variables exceed 512 KiB");
  return true;
}

/// Gives a slot of the constant part its final place.
static void settle(int32_t &slot, uint32_t registerBytes) {
  if (slot >= 0 && (slot & constantFlag))
    slot = (slot & ~constantFlag) + int32_t(registerBytes);
}

bool SlotAllocator::finish() {
  kernel.registerBytes = uint32_t(alignUp(kernel.registerBytes, 64));
  uint64_t total = uint64_t(kernel.registerBytes) + constantBytes;
  if (total > maxRegisterBytes)
    return errors.failSyntax("the kernel has too many registers");
  for (Instruction &I : kernel.code)
    for (int32_t *slot : {&I.dst, &I.a, &I.b, &I.c, &I.d})
      settle(*slot, kernel.registerBytes);
  for (int32_t &slot : kernel.extraOperands)
    settle(slot, kernel.registerBytes);
  kernel.dynamicSharedOffset =
      uint32_t(alignUp(sharedEnd, std::max(sharedAlign, 16u)));
  for (Constant &constant : dynamicShared) {
    constant.low += kernel.dynamicSharedOffset + kernel.ownSharedBits;
    kernel.constants.push_back(constant);
  }
  for (Constant &constant : kernel.constants)
    settle(constant.slot, kernel.registerBytes);
  for (Relocation &relocation : kernel.relocations)
    settle(relocation.slot, kernel.registerBytes);
  for (SpecialSlot &special : kernel.specials)
    settle(special.slot, kernel.registerBytes);
  kernel.fileBytes = uint32_t(total);
  kernel.info.staticSharedBytes = sharedEnd;
  kernel.info.localBytes = uint32_t(alignUp(localEnd, 16));
  return true;
}
