//===- RingStages.cpp - Stages of rings of buffers ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the places of a ring's buffers and barriers.
//
//===----------------------------------------------------------------------===//

#include "RingStages.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

SmallVector<Value> mlir::fusion::getBoxCoordinates(ProgramLowering &lowering,
                                                   ValueRange coordinates,
                                                   ArrayRef<int64_t> dims,
                                                   ArrayRef<int32_t> start) {
  ThreadBuilder &builder = lowering.getBuilder();
  SmallVector<Value> result;
  for (Value coordinate : coordinates)
    result.push_back(builder.toI32(lowering.getScalar(coordinate)));
  for (auto [dim, offset] : llvm::zip(dims, start))
    if (offset != 0)
      result[dim] = arith::AddIOp::create(builder, result[dim],
                                          builder.constant32(offset));
  // The instruction counts dimensions from the fastest.
  std::reverse(result.begin(), result.end());
  return result;
}

RingStage mlir::fusion::getStage(ProgramLowering &lowering, Value ring,
                                 Value at) {
  ThreadBuilder &builder = lowering.getBuilder();
  auto make = ring.getDefiningOp<tile::MakeRingOp>();
  tile::RingType type = make.getType();
  int64_t stages = type.getStages();
  Value stage, round = at;
  if (stages > 1 && llvm::isPowerOf2_64(stages)) {
    stage = arith::AndIOp::create(builder, at, builder.constant32(stages - 1));
    round = arith::ShRUIOp::create(builder, at,
                                   builder.constant32(llvm::Log2_64(stages)));
  } else if (stages > 1) {
    stage = arith::RemUIOp::create(builder, at, builder.constant32(stages));
    round = arith::DivUIOp::create(builder, at, builder.constant32(stages));
  }
  int64_t begin = *make.getOffset();
  int64_t barriers = begin + stages * type.getStageBytes();
  RingStage result;
  result.buffers = {begin, stage, type.getStageBytes()};
  result.full = {barriers, stage, kBarrierBytes};
  result.empty = {barriers + stages * kBarrierBytes, stage, kBarrierBytes};
  result.parity = arith::AndIOp::create(builder, round, builder.constant32(1));
  return result;
}
