//===- WarpRole.cpp - Whose code is being lowered -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the barriers among warps that share a role.
//
//===----------------------------------------------------------------------===//

#include "fusion/Conversion/TileToNVVM/WarpRole.h"
#include "fusion/Conversion/TileToNVVM/ThreadIndex.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

/// Barrier 0 is the whole block's; from this one on each group of consumers has
/// one, and then one for each of its warpgroups.
static constexpr int32_t kConsumerBarrier = 1;
static constexpr int32_t kWarpgroupBarriers = kConsumerBarrier + 1;

void WarpRole::createBarrier(Value number, int32_t threads) {
  if (group) {
    int32_t each = 1 + llvm::divideCeil(numWarps, kWarpgroupWarps);
    number = arith::AddIOp::create(
        builder, number,
        arith::MulIOp::create(builder, group, builder.constant32(each)));
  }
  NVVM::BarrierOp::create(builder, /*res=*/Type(), number,
                          builder.constant32(threads),
                          NVVM::BarrierReductionAttr(),
                          /*reductionPredicate=*/Value());
}

void WarpRole::createBarrier() {
  if (isConsumer())
    createBarrier(builder.constant32(kConsumerBarrier),
                  numWarps * kWarpThreads);
  else
    NVVM::BarrierOp::create(builder);
}

void WarpRole::createWarpgroupBarrier(Value number) {
  createBarrier(arith::AddIOp::create(builder, number,
                                      builder.constant32(kWarpgroupBarriers)),
                kWarpgroupWarps * kWarpThreads);
}
