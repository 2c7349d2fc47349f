//===- MoveScales.h - Scales of rows moved past products --------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the rewrite (s * x) W = s * (x W), where s is the same
// along the contracted dimension: a norm before a product becomes statistics
// beside it and a scale after it. It changes roundings.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_MOVESCALES_H
#define FUSION_FUSIONPLANNING_MOVESCALES_H

#include "fusion/FusionPlanning/PricedRewrites.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace mlir::fusion {

/// An elementwise operation whose result is the operand of products only, and
/// that multiplies or divides by a factor that the products do not contract.
struct MovableScale {
  linalg::GenericOp producer;
  /// The input that is the factor, and the operation of the body that applies
  /// it.
  unsigned input = 0;
  Operation *application = nullptr;
  /// The operands of products that are the result.
  SmallVector<OpOperand *> uses;
};

/// The scale of `producer` that can be moved past its users, if there is one.
std::optional<MovableScale> findMovableScale(linalg::GenericOp producer);

/// Moves `scale` past the products; the producer is erased.
void moveScale(const MovableScale &scale);

/// The move of all such scales; it is forbidden unless results `mayRound` in
/// another order.
PricedRewrite getScaleRewrite(bool mayRound);

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_MOVESCALES_H
