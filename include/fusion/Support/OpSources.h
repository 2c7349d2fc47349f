//===- OpSources.h - Where an op comes from ---------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what reports and options call an op by: the places in the
// program that its location has, and names that front doors gave it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SUPPORT_OPSOURCES_H
#define FUSION_SUPPORT_OPSOURCES_H

#include "mlir/IR/Location.h"
#include <string>
#include <vector>

namespace mlir::fusion {

struct OpSources {
  /// "model.py:17", without folders, and names of front doors; each once, at
  /// most kMostSources of either, of a fused op the first. Valid UTF-8.
  std::vector<std::string> places, names;
};
constexpr size_t kMostSources = 4;

OpSources getOpSources(Location loc);

} // namespace mlir::fusion

#endif // FUSION_SUPPORT_OPSOURCES_H
