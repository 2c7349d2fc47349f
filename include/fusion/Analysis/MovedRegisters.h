//===- MovedRegisters.h - Registers moved between warps ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how warps that load and warps that multiply share out the
// registers of a multiprocessor (setmaxnreg).
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_MOVEDREGISTERS_H
#define FUSION_ANALYSIS_MOVEDREGISTERS_H

#include <cstdint>

namespace mlir::fusion {

/// Registers of a thread of the warps that load, and of those that multiply.
struct MovedRegisters {
  int64_t producer, consumer;
};

/// The shares beside four warps that load, of 8, 12 or 16 that multiply: of 8
/// the larger one where these hold operands beside their sums.
constexpr MovedRegisters getMovedRegisters(int64_t consumerWarps,
                                           bool holdsOperands) {
  if (consumerWarps == 12)
    return {24, 160};
  if (consumerWarps == 16)
    return {24, 112};
  return holdsOperands ? MovedRegisters{24, 240} : MovedRegisters{40, 232};
}

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_MOVEDREGISTERS_H
