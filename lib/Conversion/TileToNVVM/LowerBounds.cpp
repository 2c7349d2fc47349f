//===- LowerBounds.cpp - The most and the least of parts of views ---------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search for the largest or smallest integer of a part
// of a view. Lanes of a warp look at one element each, and exchange what they
// found; a producer, which is a single thread, looks at all.
//
//===----------------------------------------------------------------------===//

#include "OpEmitter.h"
#include "fusion/Conversion/TileToNVVM/ProgramLowering.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fusion;

/// Elements that a thread reads together, so that their latency is there once.
/// Producers have few registers.
static constexpr int64_t kAtOnce = 8, kAtOnceAlone = 2;

namespace {
/// Builds one search.
class BoundSearch : public OpEmitter {
public:
  BoundSearch(ProgramLowering &lowering, tile::FindBoundOp op);

  /// Each of `threads` threads looks at every so manieth element, the first at
  /// `first`, at `atOnce` of them together; the result is what this one found.
  Value find(Value first, int64_t threads, int64_t atOnce);
  /// What all lanes of a warp found.
  Value exchange(Value found);

private:
  Value combine(Value a, Value b) {
    return op.getLeast() ? arith::MinSIOp::create(builder, a, b).getResult()
                         : arith::MaxSIOp::create(builder, a, b).getResult();
  }
  /// Element `number` of the part, in the order of memory.
  Value load(Value number);

  tile::FindBoundOp op;
  Value base;
  /// Of the view.
  SmallVector<Value> begins, sizes;
  int64_t elements = 1;
};
} // namespace

BoundSearch::BoundSearch(ProgramLowering &lowering, tile::FindBoundOp op)
    : OpEmitter(lowering), op(op) {
  auto view = op.getView().getDefiningOp<tile::MakeViewOp>();
  base = lowering.getScalar(view.getBase());
  sizes = getSizes(view);
  for (Value begin : op.getBegins())
    begins.push_back(lowering.getScalar(begin));
  for (int64_t size : op.getSizes())
    elements *= size;
}

Value BoundSearch::load(Value number) {
  Value place = builder.constantIndex(0), stride = builder.constantIndex(1);
  for (unsigned dim = sizes.size(); dim-- > 0;) {
    Value coord = begins[dim];
    if (int64_t size = op.getSizes()[dim]; size != 1) {
      Value count = builder.constantIndex(size);
      // Elements behind the last of the part lie along the first dimension.
      bool isOutermost = llvm::all_of(op.getSizes().take_front(dim),
                                      [](int64_t outer) { return outer == 1; });
      Value within =
          isOutermost ? number : arith::RemUIOp::create(builder, number, count);
      if (!isOutermost)
        number = arith::DivUIOp::create(builder, number, count);
      coord = arith::AddIOp::create(builder, coord, within);
    }
    Value last =
        arith::SubIOp::create(builder, sizes[dim], builder.constantIndex(1));
    coord = arith::MinSIOp::create(builder, coord, last);
    place = arith::AddIOp::create(
        builder, place, arith::MulIOp::create(builder, coord, stride));
    stride = arith::MulIOp::create(builder, stride, sizes[dim]);
  }
  Type type = op.getType();
  Value address = LLVM::GEPOp::create(builder, base.getType(), type, base,
                                      ArrayRef<LLVM::GEPArg>{place});
  return LLVM::LoadOp::create(builder, type, address,
                              type.getIntOrFloatBitWidth() / 8);
}

Value BoundSearch::find(Value first, int64_t threads, int64_t atOnce) {
  // Numbers beyond the part's last are of its last.
  auto visit = [&](Value start, int64_t count) {
    SmallVector<Value> values;
    for (int64_t i = 0; i < count; ++i) {
      Value number = start;
      if (i != 0)
        number = arith::AddIOp::create(builder, number,
                                       builder.constantIndex(i * threads));
      if (elements != 1)
        number = arith::MinSIOp::create(builder, number,
                                        builder.constantIndex(elements - 1));
      values.push_back(load(number));
    }
    Value found = values.front();
    for (Value value : ArrayRef(values).drop_front())
      found = combine(found, value);
    return found;
  };
  int64_t each = llvm::divideCeil(elements, threads);
  if (each <= atOnce)
    return visit(first, each);
  Value found = visit(first, atOnce);
  auto loop = scf::ForOp::create(
      builder, builder.constantIndex(atOnce), builder.constantIndex(each),
      builder.constantIndex(atOnce), ValueRange{found});
  OpBuilder::InsertionGuard guard(builder);
  if (!loop.getBody()->empty())
    loop.getBody()->getTerminator()->erase();
  builder.setInsertionPointToEnd(loop.getBody());
  Value start = arith::AddIOp::create(
      builder, first,
      arith::MulIOp::create(builder, loop.getInductionVar(),
                            builder.constantIndex(threads)));
  scf::YieldOp::create(builder,
                       combine(loop.getRegionIterArg(0), visit(start, atOnce)));
  return loop.getResult(0);
}

Value BoundSearch::exchange(Value found) {
  for (int32_t distance = 1; distance < kWarpThreads; distance *= 2)
    found = combine(found, builder.shuffle(found, builder.constant32(distance),
                                           NVVM::ShflKind::bfly));
  return found;
}

namespace {
struct FindBoundLowering : public TileOpLowering<tile::FindBoundOp> {
  LogicalResult lower(tile::FindBoundOp op,
                      ProgramLowering &lowering) const override {
    ThreadBuilder &builder = lowering.getBuilder();
    BoundSearch search(lowering, op);
    if (lowering.getRole().isProducer()) {
      lowering.set(op.getResult(), {search.find(builder.constantIndex(0),
                                                /*threads=*/1, kAtOnceAlone)});
      return success();
    }
    Value lane = builder.toIndex(lowering.getThreads().getLane());
    lowering.set(op.getResult(),
                 {search.exchange(search.find(lane, kWarpThreads, kAtOnce))});
    return success();
  }
};
} // namespace

void mlir::fusion::populateBoundLowerings(LoweringSet &lowerings) {
  lowerings.add<FindBoundLowering>();
}
