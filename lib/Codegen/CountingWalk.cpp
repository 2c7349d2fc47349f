//===- CountingWalk.cpp - Walks of what counts ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements walks of those elements that a mask of data leaves. The
// threads of a block look at a chunk of what the mask compares together; what
// may count in the block's tile is listed in the order of the walk, so that a
// sum has the same order in every run. An element that is listed and does not
// count after all is what the mask makes of it.
//
//===----------------------------------------------------------------------===//

#include "CountingWalk.h"

#include "LimitedWalk.h"
#include "fusion/Dialect/Tile/IR/SharedLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

/// Room for `count` elements in shared memory.
static tile::BufferType getBufferType(int64_t count, IntegerType element) {
  MLIRContext *context = element.getContext();
  auto layout = tile::SharedLayout::linear({count}, element.getWidth() / 8);
  return tile::BufferType::get(context, {count}, element,
                               tile::SharedAttr::get(context, layout));
}

LogicalResult CountingWalk::list(ArrayRef<Reduction> group) {
  FailureOr<Tile> counting = findCounting(chunk, group, evaluator);
  if (failed(counting))
    return failure();
  builder.getScopes().insertInnermost();
  auto byte = builder.getI8Type(), word = builder.getI32Type();
  Tile all = builder.broadcast(*counting, {chunk});
  Value bytes = arith::ExtUIOp::create(
      builder, loc, builder.getTileType(all.axes, byte), all.value);
  auto reserve = [&](IntegerType element) {
    return tile::AllocOp::create(
        builder, loc, getBufferType(axes[chunk].tile, element), IntegerAttr());
  };
  Value flags = reserve(byte);
  numbers = reserve(word);
  tile::LocalStoreOp::create(builder, loc, bytes, flags);
  count = tile::ListFlagsOp::create(builder, loc, builder.getIndexType(), flags,
                                    numbers);
  // Before the loops, in which it would be one of each step.
  tile::BarrierOp::create(builder, loc);
  return success();
}

scf::ForOp CountingWalk::openLoop(Value begin, int64_t most, int64_t step,
                                  ValueRange inits) {
  Value end = count;
  if (most) {
    Value past =
        arith::AddIOp::create(builder, loc, begin, builder.createIndex(most));
    end = arith::MinUIOp::create(builder, loc, past, count);
  }
  auto loop = scf::ForOp::create(builder, loc, begin, end,
                                 builder.createIndex(step), inits);
  builder.getScopes().enter(loop);
  return loop;
}

void CountingWalk::closeLoop(ValueRange yielded) {
  ScopeStack &scopes = builder.getScopes();
  scopes.leave(loc, yielded);
  axes.unbindFrom(scopes.getDepth() + 1);
}

CountingWalk::Element CountingWalk::bind(scf::ForOp loop, int64_t ahead) {
  Value number = loop.getInductionVar(), isListed;
  if (ahead != 0) {
    number =
        arith::AddIOp::create(builder, loc, number, builder.createIndex(ahead));
    isListed = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                     number, count);
    Value last =
        arith::SubIOp::create(builder, loc, count, builder.createIndex(1));
    number = arith::MinUIOp::create(builder, loc, number, last);
  }
  Value place = tile::LocalElementOp::create(builder, loc, builder.getI32Type(),
                                             numbers, number);
  place =
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), place);
  const Axis whole = axes[chunk];
  Axis axis;
  axis.dim = whole.dim;
  axis.extent = whole.extent;
  axis.offset = arith::AddIOp::create(builder, loc, whole.offset, place);
  axis.depth = builder.getScopes().getDepth();
  axis.exact = true;
  unsigned added = axes.add(axis);
  axes.bind(*axis.dim, added);
  return {added, isListed};
}
