//===- Run.cpp - The interpreter's loop -----------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the loop that runs one fragment of a warp.
//
//===----------------------------------------------------------------------===//

#include "Exec/Lanes.h"
#include "Machine/ReadQueue.h"
#include "ProfileImpl.h"

using namespace fusionemu;

namespace fusionemu {
namespace FUSIONEMU_ISA {

namespace {
/// What is watched of the registers that instructions name.
enum class Watch { None, Loads, All };

template <bool profiled, Watch watch>
Next runFragment(Context &c, uint64_t budget) {
  const Instruction *code = c.kernel->code.data();
  uint64_t instructions = 0, laneInstructions = 0;
  uint64_t left = budget;
  Next next = Next::Continue;
  for (; left != 0; --left) {
    const Instruction &I = code[c.pc++];
    uint32_t exec = c.active & (c.preds[I.guard] ^ I.guardXor);
    if (exec == 0)
      continue;
    c.exec = exec;
    c.full = (exec | ~c.warp->live) == ~uint32_t(0);
    instructions += I.counted;
    laneInstructions += unsigned(__builtin_popcount(exec)) * I.counted;
    if constexpr (watch == Watch::All) {
      if (!trackRegisters(c)) {
        next = Next::Fail;
        break;
      }
    } else if (watch == Watch::Loads && c.warp->reads->live) {
      followReads(c);
    }
    if constexpr (profiled)
      next = runCounted(c, I);
    else
      next = I.handler(c, I);
    if (__builtin_expect(next != Next::Continue, 0)) {
      --left;
      break;
    }
  }
  c.warp->steps += budget - left;
  c.counters.instructions += instructions;
  c.counters.laneInstructions += laneInstructions;
  return next;
}
} // namespace

Next run(Context &c, uint64_t budget) {
  if (c.kernel->usesWgmma)
    return c.profile ? runFragment<true, Watch::All>(c, budget)
                     : runFragment<false, Watch::All>(c, budget);
  if (c.warp->reads)
    return c.profile ? runFragment<true, Watch::Loads>(c, budget)
                     : runFragment<false, Watch::Loads>(c, budget);
  return c.profile ? runFragment<true, Watch::None>(c, budget)
                   : runFragment<false, Watch::None>(c, budget);
}

} // namespace FUSIONEMU_ISA
} // namespace fusionemu
