//===- SlotAllocator.h - Places of a kernel's values ---------- -*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the layout of a kernel's registers, constants and
// variables.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_SLOTALLOCATOR_H
#define FUSION_LIB_RUNTIME_EMULATOR_SLOTALLOCATOR_H

#include "Decode/DecodeErrors.h"
#include "Machine/Context.h"

#include <map>
#include <optional>

namespace fusionemu {

/// Gives the values of one kernel slots in its register file, and its variables
/// places in memory.
class SlotAllocator {
public:
  SlotAllocator(Kernel &kernel, DecodeErrors &errors)
      : kernel(kernel), errors(errors) {}

  int32_t allocateRegister(unsigned bytes);
  /// A slot for what nobody reads.
  int32_t getSink();
  int32_t constantSlot(unsigned bytes, uint64_t low, uint64_t high = 0);
  int32_t addressSlot(uint32_t variable, unsigned bytes, uint64_t addend);
  /// A slot with the offset of the dynamic shared memory, plus `addend`.
  int32_t dynamicSharedSlot(unsigned bytes, uint64_t addend);
  /// The slot of special register `name`, and its size; false if there is none.
  bool findSpecial(std::string_view name, unsigned &bytes, int32_t &slot);

  /// The place of a shared variable; -1 for the dynamic shared memory.
  bool placeShared(const VariableSyntax &variable, int64_t &where);
  bool placeLocal(const VariableSyntax &variable, int64_t &where);
  /// Gives constants their places behind all registers.
  bool finish();

private:
  /// The next slot of constants, of so many bytes a lane.
  int32_t takeConstant(unsigned bytes);
  /// The same; none, with an error, where there are too many.
  std::optional<int32_t> takeCheckedConstant(unsigned bytes);

  Kernel &kernel;
  DecodeErrors &errors;
  std::map<std::pair<unsigned, std::pair<uint64_t, uint64_t>>, int32_t>
      constants;
  std::map<std::string_view, std::pair<unsigned, int32_t>> specials;
  /// The slots of addresses, so that decoding stays linear in the text.
  std::map<std::pair<uint32_t, std::pair<unsigned, uint64_t>>, int32_t>
      addressSlots;
  /// Constants that wait for the offset of the dynamic shared memory; `low`
  /// is what to add to it.
  std::vector<Constant> dynamicShared;
  uint32_t constantBytes = 0;
  uint32_t sharedEnd = 0, sharedAlign = 1;
  uint64_t localEnd = 0;
  int32_t sinkSlot = -1;
};

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_SLOTALLOCATOR_H
