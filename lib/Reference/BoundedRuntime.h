//===- BoundedRuntime.h - Bounded numbers for compiled code -----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file names the functions on bounded numbers that compiled code of the
// reference calls, and what it asks of them.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_BOUNDEDRUNTIME_H
#define FUSION_LIB_REFERENCE_BOUNDEDRUNTIME_H

#include "fusion/Reference/Bounded.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::fusion {

/// What is computed. The results of the first group are rounded to a format.
enum class BoundedOp : int32_t {
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  Pow,
  Atan2,
  Fma,
  Round, // to the format
  // Exact ones.
  Minimum,
  Maximum,
  MinNumber,
  MaxNumber,
  CopySign,
  Abs,
  Floor,
  Ceil,
  Trunc,
  RoundAway,
  RoundEven,
  Select,
  // Truth values.
  Less,
  LessEqual,
  Equal,
  NotEqual,
  Unordered,
  IsNaN,
  IsInf,
  IsFinite,
  And,
  Or,
  Xor,
  // Integers; the format is their width.
  IntAdd,
  IntSub,
  IntMul,
  IntMin,
  IntMax,
  Narrow,
  ToUnsigned,    // what the bits are as an unsigned number
  FloatToSigned, // to that width
  FloatToUnsigned,
  // Bits of a float in the format.
  ToBits,
  FromBits,
  // Function f is FirstFunction + f.
  FirstFunction = 64
};

/// What else is known of an operation.
enum BoundedFlags : int32_t {
  kApproximate = 1, // has the flag afn
  kMayDrop = 2,     // its rounding may be left out
  kReordered = 4,   // is part of a reduction, which may run in any order
  kSigmoid = 8,     // is a quotient by 1 + exp(x), or 1 + tanh(x)
  kRepaired = 16    // rounds times a factor that is divided by afterwards
};

/// (op, value, error, value, error, value, error, format, flags) -> Bounded.
constexpr llvm::StringLiteral kBoundedCall = "fusion_reference_bounded";
/// (integer) -> Bounded.
constexpr llvm::StringLiteral kFromIntegerCall = "fusion_reference_from_int";
/// (sum, error, magnitude, squares, shift, initial value, its error, count,
/// factors, format, kind) -> Bounded, rounded to the format. `factors` is the
/// DType of the factors, or -1 for a sum that has none; bit 0 of `kind`: tf32,
/// bit 1: factors of a repaired sum, rounded one by one.
constexpr llvm::StringLiteral kFinishSumCall = "fusion_reference_finish_sum";
/// (error) : an open number decides what the program does next.
constexpr llvm::StringLiteral kNoteOpenCall = "fusion_reference_note_open";

/// Calls `add` with each function and its name.
void forEachBoundedCall(
    llvm::function_ref<void(llvm::StringRef name, void *function)> add);

/// True when noteOpen was called with an error on this thread since the last
/// call of this function.
bool takeNoteOfOpen();

} // namespace mlir::fusion

#endif // FUSION_LIB_REFERENCE_BOUNDEDRUNTIME_H
