//===- Quantization.h - Formats of quantised numbers ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what is known of the formats of quantised numbers.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_FUSION_QUANTIZATION_H
#define FUSION_LIB_DIALECT_FUSION_QUANTIZATION_H

#include "fusion/Dialect/Fusion/FusionOps.h"

namespace mlir::fusion {

/// Whether two numbers share a byte.
inline bool isPacked(QuantFormat format) {
  return format == QuantFormat::Int4 || format == QuantFormat::UInt4;
}

} // namespace mlir::fusion

#endif // FUSION_LIB_DIALECT_FUSION_QUANTIZATION_H
