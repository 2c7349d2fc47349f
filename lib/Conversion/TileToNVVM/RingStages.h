//===- RingStages.h - Stages of rings of buffers ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares where the buffers and barriers of a ring's stages lie.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_TILETONVVM_RINGSTAGES_H
#define FUSION_LIB_CONVERSION_TILETONVVM_RINGSTAGES_H

#include "fusion/Conversion/TileToNVVM/ProgramLowering.h"

namespace mlir::fusion {

/// A stage of a ring at a position, and the parity of its round.
struct RingStage {
  SharedPlace buffers, full, empty;
  Value parity;
};

/// The stage of the ring `ring` at position `at`.
RingStage getStage(ProgramLowering &lowering, Value ring, Value at);

/// The coordinates of a box as the tensor copy engine wants them: 32 bits, from
/// the fastest dimension on. The box begins `start` along `dims` further.
SmallVector<Value> getBoxCoordinates(ProgramLowering &lowering,
                                     ValueRange coordinates,
                                     ArrayRef<int64_t> dims,
                                     ArrayRef<int32_t> start);

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_TILETONVVM_RINGSTAGES_H
