//===- TensorMapRules.h - What a tensor map must keep ------- -*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the rules of tensor maps that hold whatever the sizes are.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_EXECUTABLE_TENSORMAPRULES_H
#define FUSION_LIB_EXECUTABLE_TENSORMAPRULES_H

#include "fusion/Executable/PackageModel.h"

namespace fusionpkg {

/// The first rule that `map` breaks as the end of a sentence about it, or null.
/// Ids are not looked at.
const char *findBrokenTensorMapRule(const TensorMap &map);

} // namespace fusionpkg

#endif // FUSION_LIB_EXECUTABLE_TENSORMAPRULES_H
