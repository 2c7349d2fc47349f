//===- ElementType.h - Element types of host tensors and packages -*- C++
//-*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the map from MLIR types to the element types that host
// tensors and packages have.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SUPPORT_ELEMENTTYPE_H
#define FUSION_SUPPORT_ELEMENTTYPE_H

#include "fusion/Executable/PackageModel.h"
#include "mlir/IR/Types.h"
#include <optional>

namespace mlir::fusion {

/// The element type of host tensors and packages for `type`, if there is one.
std::optional<fusionpkg::DType> getDType(Type type);

} // namespace mlir::fusion

#endif // FUSION_SUPPORT_ELEMENTTYPE_H
