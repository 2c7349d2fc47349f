//===- MmaOperands.h - Operands of matrix instructions ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how elements become the registers that matrix instructions
// read.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_TILETONVVM_MMAOPERANDS_H
#define FUSION_LIB_CONVERSION_TILETONVVM_MMAOPERANDS_H

#include "fusion/Conversion/TileToNVVM/ThreadBuilder.h"

namespace mlir::fusion {

/// One register of 32 bits (64: an f64) from the elements that share it; f32
/// is rounded to tf32. Pairs are made of integers' bits unless `plainFactors`.
Value packOperand(ThreadBuilder &builder, ArrayRef<Value> elements,
                  bool plainFactors);

/// Packs consecutive scalars into registers of 32 bits, as products in flight
/// read them: f32 is rounded to tf32, of which the instruction would cut off
/// the rest.
Scalars packWords(ThreadBuilder &builder, const Scalars &scalars,
                  bool plainFactors);

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_TILETONVVM_MMAOPERANDS_H
