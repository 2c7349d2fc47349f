//===- PackPairs.h - Two 16-bit floats in a register ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how pairs of 16-bit floats that come from integers of few
// bits are computed two at a time.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_TILETONVVM_PACKPAIRS_H
#define FUSION_LIB_CONVERSION_TILETONVVM_PACKPAIRS_H

#include "mlir/IR/Builders.h"

namespace mlir::fusion {

/// The vector of `low` and `high`, f16 or bf16, when both are integers of at
/// most 8 bits that were loaded as parts of vectors, with a factor of that type
/// perhaps: bit for bit what `low` and `high` are. Null for anything else.
Value packPair(OpBuilder &builder, Location loc, Value low, Value high);

/// How far apart the elements of a pair best are in a row of elements that
/// begins with `first` and `second`: as many as half a register holds of what
/// they are unpacked from, so that one shift places both. 1 where that does not
/// matter.
unsigned getPairDistance(Value first, Value second);

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_TILETONVVM_PACKPAIRS_H
