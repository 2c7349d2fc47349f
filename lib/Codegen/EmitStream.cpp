//===- EmitStream.cpp - Tiles that blocks of a grid share -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the part of the tile emitter that shares the tiles that
// make up no whole round of the blocks, along the contracted dimension: which
// segments a block has, what it hands to other blocks, and what it collects.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "fusion/Executable/PackageModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <numeric>

using namespace mlir;
using namespace mlir::fusion;

LogicalResult TileEmitter::refuseStream(const Twine &reason) {
  return kernel.emitError(
             "FUS-3121: the schedule shares tiles among the blocks "
             "of the grid ('stream'), but ")
         << reason;
}

FailureOr<Value> TileEmitter::emitSegments(Value slot, Value block,
                                           int64_t blocks) {
  auto total = dyn_cast<AffineConstantExpr>(gridSize);
  std::optional<int64_t> steps;
  int64_t chunk = 1;
  for (auto [id, dim] : llvm::enumerate(space.getDims())) {
    AxisAttr axis = schedule.getAxes()[id];
    if (axis.getKind() != AxisKind::Loop || dim.getStaticExtent() == 1)
      continue;
    if (steps)
      return refuseStream("the contraction has loops in each other");
    chunk = axis.getTile();
    steps = llvm::divideCeil(dim.getStaticExtent().value_or(0), chunk);
  }
  if (!total || !steps || *steps == 0)
    return refuseStream("sizes are not known at compile time");
  // Blocks whose tiles follow each other go through them in step: what they
  // have in common of the operands is read from memory once. From here on tiles
  // and blocks are those of a team.
  int64_t team = std::gcd(total.getValue(), blocks);
  int64_t tiles = total.getValue() / team, length = *steps;
  blocks /= team;
  int64_t shared = tiles < blocks ? tiles : tiles % blocks;
  if (shared != 0 && tiles > blocks)
    shared += blocks;
  // What a tile is worth, and all of the shared ones: finishing counts too.
  int64_t worth = length + schedule.getMma().getStream();
  int64_t work = shared * worth;
  if (shared == 0)
    return refuseStream("all rounds are whole");
  if (shared * length < blocks)
    return refuseStream("there are " + Twine(blocks * team) + " of them for " +
                        Twine(shared * length * team) + " chunks");
  if (llvm::maxUIntN(31) / blocks <= static_cast<uint64_t>(work))
    return refuseStream("there are too many chunks to count");

  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto add = [&](Value a, Value b) -> Value {
    return arith::AddIOp::create(builder, loc, a, b);
  };
  auto sub = [&](Value a, Value b) -> Value {
    return arith::SubIOp::create(builder, loc, a, b);
  };
  auto mul = [&](Value a, int64_t b) -> Value {
    return b == 1 ? a : arith::MulIOp::create(builder, loc, a, index(b));
  };
  auto div = [&](Value a, int64_t b) -> Value {
    return b == 1 ? a : arith::DivUIOp::create(builder, loc, a, index(b));
  };
  auto select = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  };
  Value zero = index(0), one = index(1);
  Value member = arith::RemUIOp::create(builder, loc, block, index(team));
  block = div(block, team);
  // This block's range of the shared tiles' chunks, and the tiles it meets.
  auto cut = [&](Value number) -> Value {
    Value place = div(mul(number, work), blocks);
    Value tile = div(place, worth);
    Value chunks = arith::MinUIOp::create(
        builder, loc, sub(place, mul(tile, worth)), index(length));
    return add(mul(tile, length), chunks);
  };
  Value begin = cut(block), end = cut(add(block, one));
  Value last = div(sub(end, one), length);
  Value count = add(sub(last, div(begin, length)), one);
  int64_t rounds = (tiles - shared) / blocks;
  auto loop =
      scf::ForOp::create(builder, loc, zero, add(count, index(rounds)), one);
  loop.getBody()->getTerminator()->erase();
  Scope scope{loop.getBody()};
  scopes.back().nested = loop;
  scopes.push_back(std::move(scope));
  builder.setInsertionPointToEnd(loop.getBody());

  // Whole tiles come first, which all blocks begin at the same time; then the
  // segments, the last first: it is the one that another block may wait for.
  Value number = loop.getInductionVar();
  Value isShared = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::uge, number, index(rounds));
  Value own = add(mul(number, blocks), add(block, index(shared)));
  Value tile = select(isShared, sub(last, sub(number, index(rounds))), own);
  Value start = mul(tile, length);
  Value from = arith::MaxUIOp::create(builder, loc, start,
                                      select(isShared, begin, zero));
  Value to =
      arith::MinUIOp::create(builder, loc, add(start, index(length)),
                             select(isShared, end, index(tiles * length)));
  Stream &segments = stream.emplace();
  segments.begin = mul(sub(from, start), length == 1 ? 1 : chunk);
  segments.end = mul(sub(to, start), chunk);
  segments.owns = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        segments.end, index(length * chunk));
  // The block that has the tile's first chunk; no other tile has any before
  // it, so that a block with all of a tile collects nothing.
  int64_t distanceOfTeams = team * schedule.getMma().getCluster();
  Value isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        segments.begin, zero);
  Value first = sub(
      div(add(mul(add(mul(tile, worth), one), blocks), index(work - 1)), work),
      one);
  Value distance = mul(sub(block, first), distanceOfTeams);
  segments.slot = slot;
  segments.firstSlot = select(isWhole, slot, sub(slot, distance));
  segments.slotStep = distanceOfTeams;
  segments.numSlots = blocks * distanceOfTeams;
  return add(mul(tile, team), member);
}

FailureOr<TileEmitter::Scratch> TileEmitter::makeScratch(ValueRange sums,
                                                         int64_t numSlots) {
  int64_t bytes = 0;
  for (Value sum : sums) {
    int64_t bits =
        tile::getTileElementType(sum.getType()).getIntOrFloatBitWidth();
    for (int64_t size : tile::getTileShape(sum.getType()))
      bits *= size;
    bytes += bits / 8;
  }
  constexpr int64_t kWord = 4;
  int64_t signalBytes = numSlots * schedule.getWarps() * kWord;
  if (signalBytes > fusionpkg::kSignalBytes)
    return failure();
  auto pointer = LLVM::LLVMPointerType::get(context, /*addressSpace=*/1);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&program.getBody().front());
  Scratch scratch;
  scratch.slots =
      tile::ScratchOp::create(builder, loc, pointer, bytes * numSlots,
                              /*signals=*/false);
  scratch.signals = tile::ScratchOp::create(builder, loc, pointer, signalBytes,
                                            /*signals=*/true);
  return scratch;
}

FailureOr<SmallVector<Value>> TileEmitter::shareSums(scf::ForOp loop,
                                                     ValueRange sums) {
  if (stream->given)
    return refuseStream("the kernel has several contractions");
  FailureOr<Scratch> scratch = makeScratch(sums, stream->numSlots);
  if (failed(scratch))
    return refuseStream("there are too many of them to signal to each other");
  auto [slots, signals] = *scratch;
  stream->loop = loop;
  loop.setLowerBound(stream->begin);
  loop.setUpperBound(stream->end);
  Value truth = arith::ConstantIntOp::create(builder, loc, 1, 1);
  Value gives = arith::XOrIOp::create(builder, loc, stream->owns, truth);
  stream->given = scf::IfOp::create(builder, loc, gives,
                                    /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(stream->given.thenBlock());
    tile::PublishOp::create(builder, loc, sums, slots, signals, stream->slot);
  }
  // In the order of blocks, so that the sum is the same in every run.
  Value step = arith::ConstantIndexOp::create(builder, loc, stream->slotStep);
  auto collect = scf::ForOp::create(builder, loc, stream->firstSlot,
                                    stream->slot, step, sums);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(collect.getBody());
    auto more = tile::CollectOp::create(builder, loc, sums.getTypes(),
                                        collect.getRegionIterArgs(), slots,
                                        signals, collect.getInductionVar());
    scf::YieldOp::create(builder, loc, more.getResults());
  }
  return llvm::to_vector_of<Value>(collect.getResults());
}

LogicalResult TileEmitter::guardFinish() {
  if (!stream->given)
    return refuseStream("nothing in the kernel is a product of two operands");
  Block *block = stream->given->getBlock();
  builder.setInsertionPointAfter(stream->given);
  auto guarded = scf::IfOp::create(builder, loc, stream->owns,
                                   /*withElseRegion=*/false);
  Operation *end = guarded.thenBlock()->getTerminator();
  for (Operation &op : llvm::make_early_inc_range(
           llvm::make_range(std::next(guarded->getIterator()), block->end())))
    op.moveBefore(end);
  // Tiles that only the owner needs.
  SmallVector<Operation *> before;
  for (Operation &op :
       llvm::make_range(block->begin(), stream->loop->getIterator()))
    before.push_back(&op);
  for (Operation *op : llvm::reverse(before))
    if (op->getNumRegions() == 0 && !op->use_empty() &&
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>) &&
        llvm::all_of(op->getUsers(), [&](Operation *user) {
          return guarded->isProperAncestor(user);
        }))
      op->moveBefore(&guarded.thenBlock()->front());
  return success();
}
