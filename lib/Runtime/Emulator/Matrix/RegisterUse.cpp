//===- RegisterUse.cpp - Registers under wgmma ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the watch over registers while wgmma uses them: nobody
// touches an accumulator in flight or overwrites a fragment of A, and a
// wgmma.fence stands between other accesses and the wgmma.
//
//===----------------------------------------------------------------------===//

#include "Machine/ReadQueue.h"
#include "Matrix/Wgmma.h"

using namespace fusionemu;

/// The wgmma in flight that uses the register.
static std::string describeUser(const Context &c, int32_t slot) {
  const Kernel &kernel = *c.kernel;
  for (const PendingWgmma &pending : c.warp->wgmmas) {
    const WgmmaOp &op = kernel.wgmmas[pending.index];
    for (auto [first, count] :
         {std::pair(op.firstD, op.countD), std::pair(op.firstA, op.countA)})
      for (uint32_t k = 0; k < count; ++k)
        if (kernel.extraOperands[first + k] == slot)
          return describePlace(c, pending.pc);
  }
  return "a wgmma";
}

bool fusionemu::trackRegisters(Context &c) {
  Warp &w = *c.warp;
  const Kernel &kernel = *c.kernel;
  const InstructionInfo &info = kernel.infos[c.here()];
  uint64_t now = ++w.registerTime;
  if (w.reads && w.reads->live)
    followReads(c);
  if (info.uses == 0 || kernel.code[c.here()].handler == wgmmaIssue)
    return true;
  const RegisterUse *uses = &kernel.registerUses[info.firstUse];
  for (uint32_t k = 0; k < info.uses && c.checkAsync; ++k) {
    uint8_t use = w.registerUse[uses[k].slot / 32];
    if (use == 0 || (use == wgmmaReads && !uses[k].isWrite))
      continue;
    fail(c, ErrorKind::InFlight, unsigned(__builtin_ctz(c.exec)),
         std::string(uses[k].isWrite ? "writes" : "reads") +
             " a register that is still in use by " +
             describeUser(c, uses[k].slot) +
             ": wgmma.wait_group is missing in between");
    return false;
  }
  // A copy is as old as what it copies: assemblers give both one place.
  bool isCopy = info.uses == 2 && info.spelling.substr(0, 4) == "mov.";
  uint64_t written = writtenAt(now);
  for (uint32_t k = 0; k < info.uses; ++k) {
    uint64_t &access = w.registerWrite[uses[k].slot / 32];
    if (uses[k].isWrite)
      continue;
    if (isCopy)
      written = access & readFlag ? writtenAt(w.wgmmaFence) : access;
    // Only what no fence has ordered need be known of a write.
    else if (timeOf(access) <= w.wgmmaFence)
      access = writtenAt(now) | readFlag;
  }
  for (uint32_t k = 0; k < info.uses; ++k)
    if (uses[k].isWrite)
      w.registerWrite[uses[k].slot / 32] = written;
  return true;
}
