//===- TensorMapWords.h - Tensor maps as numbers ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how host code tells a library of GPU functions what tensor
// map to encode: as an array of 64-bit integers. The sizes and strides are
// computed by the host code; all else is known when it is compiled.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_EXECUTABLE_TENSORMAPWORDS_H
#define FUSION_EXECUTABLE_TENSORMAPWORDS_H

#include "fusion/Executable/PackageModel.h"

namespace fusionpkg {

/// A tensor map whose sizes, strides and offset are expressions, as a list of
/// either: numbers, or expressions of the map's entry.
struct TensorMapWord {
  bool isExpr = false;
  int64_t value = 0; // an ExprId if isExpr
};

/// The words of `map`: kind, type, swizzle, tf32, rank, the number of strides,
/// the number of element strides, that of box elements, that of corners,
/// channels and pixels; then sizes, strides, element strides, box, lower and
/// upper corners.
std::vector<TensorMapWord> writeTensorMapWords(const TensorMap &map);

/// The map that `words` tell, whose expressions are constants of `exprs`. Its
/// buffer is 0 and it begins where that does. Nothing where the words do not
/// make sense.
std::optional<TensorMap> readTensorMapWords(const int64_t *words, size_t count,
                                            ExprPool &exprs);

} // namespace fusionpkg

#endif // FUSION_EXECUTABLE_TENSORMAPWORDS_H
