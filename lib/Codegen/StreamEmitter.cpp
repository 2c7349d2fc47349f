//===- StreamEmitter.cpp - Tiles that blocks share ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements how blocks share the tiles that make up no whole round
// of them, along the contracted dimension: which segments a block has, what it
// hands to other blocks, and what it collects.
//
//===----------------------------------------------------------------------===//

#include "StreamEmitter.h"

#include "Scratch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <numeric>

using namespace mlir;
using namespace mlir::fusion;

LogicalResult StreamEmitter::refuse(const Twine &reason) const {
  return kernel.emitError(
             "FUS-3121: the schedule shares tiles among the blocks "
             "of the grid ('stream'), but ")
         << reason;
}

namespace {
/// Shares tiles among the blocks of a kernel.
class SegmentBuilder {
public:
  /// Of so many blocks this one has the number `block`, and the place `slot`
  /// for what it hands over.
  SegmentBuilder(const StreamEmitter &emitter, TileBuilder &builder,
                 const Grid &grid, Value slot, Value block, int64_t blocks)
      : emitter(emitter), builder(builder), grid(grid),
        kernel(builder.getKernel()), loc(builder.getLoc()), slot(slot),
        block(block), blocks(blocks) {}

  /// Opens the walk over the block's tiles and segments; returns the number of
  /// the tile.
  FailureOr<Value> build();
  /// The present segment.
  const Segment &getSegment() const { return segment; }

private:
  /// Finds the loop over the contracted dimension.
  LogicalResult findChunks();
  LogicalResult plan();
  /// Where the range of block `number` begins, in chunks of the shared tiles.
  Value cut(Value number);
  /// Opens a loop over so many tiles and segments; returns its variable.
  Value openLoop(Value count);
  /// Sets what the block has of tile `tile`, which begins with chunk `start`:
  /// the chunks from `from` to `to`.
  void setSegment(Value tile, Value start, Value from, Value to);

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value add(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubIOp::create(builder, loc, a, b);
  }
  Value mul(Value a, int64_t b) {
    return b == 1 ? a : arith::MulIOp::create(builder, loc, a, index(b));
  }
  Value div(Value a, int64_t b) {
    return b == 1 ? a : arith::DivUIOp::create(builder, loc, a, index(b));
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  Value isEqual(Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a, b);
  }

  const StreamEmitter &emitter;
  TileBuilder &builder;
  const Grid &grid;
  const ScheduledKernel &kernel;
  Location loc;
  Value slot, block;
  /// Blocks whose tiles follow each other go through them in step: what they
  /// have in common of the operands is read from memory once. Tiles and blocks
  /// are those of a team.
  int64_t blocks, team = 1, tiles = 0;
  /// Elements of a chunk, chunks of a tile, and shared tiles.
  int64_t chunk = 1, length = 0, shared = 0;
  /// What a tile is worth, and all of the shared ones: finishing counts too.
  int64_t worth = 0, work = 0;
  Value zero, one;
  Segment segment;
};
} // namespace

LogicalResult SegmentBuilder::findChunks() {
  std::optional<int64_t> steps;
  for (auto [id, dim] : llvm::enumerate(kernel.getSpace().getDims())) {
    AxisAttr axis = kernel.getDecision(id);
    AffineExpr whole = kernel.getWalkedExtent(id);
    if (!axis.isWalked() || whole == builder.getAffineConstantExpr(1))
      continue;
    if (steps)
      return emitter.refuse("the contraction has loops in each other");
    chunk = axis.getTile();
    auto known = dyn_cast<AffineConstantExpr>(whole);
    steps = known ? llvm::divideCeil(known.getValue(), chunk) : 0;
  }
  length = steps.value_or(0);
  return success();
}

LogicalResult SegmentBuilder::plan() {
  if (failed(findChunks()))
    return failure();
  auto total = dyn_cast<AffineConstantExpr>(grid.size);
  if (!total || length == 0)
    return emitter.refuse("sizes are not known at compile time");
  team = std::gcd(total.getValue(), blocks);
  tiles = total.getValue() / team;
  blocks /= team;
  shared = tiles < blocks ? tiles : tiles % blocks;
  if (shared != 0 && tiles > blocks)
    shared += blocks;
  worth = length + kernel.getMma().getStream();
  work = shared * worth;
  if (shared == 0)
    return emitter.refuse("all rounds are whole");
  if (shared * length < blocks)
    return emitter.refuse("there are " + Twine(blocks * team) +
                          " of them for " + Twine(shared * length * team) +
                          " chunks");
  if (llvm::maxUIntN(31) / blocks <= static_cast<uint64_t>(work))
    return emitter.refuse("there are too many chunks to count");
  return success();
}

Value SegmentBuilder::cut(Value number) {
  Value place = div(mul(number, work), blocks);
  Value tile = div(place, worth);
  Value chunks = arith::MinUIOp::create(
      builder, loc, sub(place, mul(tile, worth)), index(length));
  return add(mul(tile, length), chunks);
}

Value SegmentBuilder::openLoop(Value count) {
  auto loop = scf::ForOp::create(builder, loc, zero, count, one);
  builder.getScopes().enter(loop);
  return loop.getInductionVar();
}

void SegmentBuilder::setSegment(Value tile, Value start, Value from, Value to) {
  segment.begin = mul(sub(from, start), length == 1 ? 1 : chunk);
  segment.end = mul(sub(to, start), chunk);
  segment.owns = isEqual(segment.end, index(length * chunk));
  // The block that has the tile's first chunk; no other tile has any before
  // it, so that a block with all of a tile collects nothing.
  int64_t distanceOfTeams = team * kernel.getMma().getCluster();
  Value isWhole = isEqual(segment.begin, zero);
  Value first = sub(
      div(add(mul(add(mul(tile, worth), one), blocks), index(work - 1)), work),
      one);
  Value distance = mul(sub(block, first), distanceOfTeams);
  segment.slot = slot;
  segment.firstSlot = select(isWhole, slot, sub(slot, distance));
  segment.slotStep = distanceOfTeams;
  segment.numSlots = blocks * distanceOfTeams;
}

FailureOr<Value> SegmentBuilder::build() {
  if (failed(plan()))
    return failure();
  zero = index(0);
  one = index(1);
  Value member = arith::RemUIOp::create(builder, loc, block, index(team));
  block = div(block, team);
  // This block's range of the shared tiles' chunks, and the tiles it meets.
  Value begin = cut(block), end = cut(add(block, one));
  Value last = div(sub(end, one), length);
  Value count = add(sub(last, div(begin, length)), one);
  int64_t rounds = (tiles - shared) / blocks;
  Value number = openLoop(add(count, index(rounds)));
  // Whole tiles come first, which all blocks begin at the same time; then the
  // segments, the last first: it is the one that another block may wait for.
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
  setSegment(tile, start, from, to);
  return add(mul(tile, team), member);
}

FailureOr<Value> StreamEmitter::openSegments(Value slot, Value block,
                                             int64_t blocks) {
  SegmentBuilder segments(*this, builder, grid, slot, block, blocks);
  FailureOr<Value> tile = segments.build();
  if (succeeded(tile))
    segment = segments.getSegment();
  return tile;
}

FailureOr<SmallVector<Value>> StreamEmitter::shareSums(scf::ForOp loop,
                                                       ValueRange sums) {
  if (given)
    return refuse("the kernel has several contractions");
  FailureOr<Scratch> scratch =
      makeScratch(countBytes(sums), segment->numSlots, builder);
  if (failed(scratch))
    return refuse("there are too many of them to signal to each other");
  auto [slots, signals] = *scratch;
  contraction = loop;
  loop.setLowerBound(segment->begin);
  loop.setUpperBound(segment->end);
  Value truth = arith::ConstantIntOp::create(builder, loc, 1, 1);
  Value gives = arith::XOrIOp::create(builder, loc, segment->owns, truth);
  given = scf::IfOp::create(builder, loc, gives,
                            /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(given.thenBlock());
    tile::PublishOp::create(builder, loc, sums, slots, signals, segment->slot);
  }
  // In the order of blocks, so that the sum is the same in every run.
  Value step = arith::ConstantIndexOp::create(builder, loc, segment->slotStep);
  auto collect = scf::ForOp::create(builder, loc, segment->firstSlot,
                                    segment->slot, step, sums);
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

LogicalResult StreamEmitter::guardFinish() {
  if (!given)
    return refuse("nothing in the kernel is a product of two operands");
  Block *block = given->getBlock();
  builder.setInsertionPointAfter(given);
  auto guarded = scf::IfOp::create(builder, loc, segment->owns,
                                   /*withElseRegion=*/false);
  Operation *end = guarded.thenBlock()->getTerminator();
  for (Operation &op : llvm::make_early_inc_range(
           llvm::make_range(std::next(guarded->getIterator()), block->end())))
    op.moveBefore(end);
  // Tiles that only the owner needs.
  SmallVector<Operation *> before;
  for (Operation &op :
       llvm::make_range(block->begin(), contraction->getIterator()))
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
