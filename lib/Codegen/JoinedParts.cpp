//===- JoinedParts.cpp - Tiles of concatenations --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the tiles of concatenations. Where the schedule says so,
// a block finds the parts that its tile lies in, by a tree of branches that all
// of its threads take, and computes those alone; else it computes all parts
// that tiles may lie in and chooses element by element.
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"
#include "DataMovement.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <limits>

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// A tile of a concatenation.
class JoinEmitter {
public:
  JoinEmitter(tensor::ConcatOp op, ArrayRef<AffineExpr> coords,
              TileEvaluator &evaluator)
      : op(op), dim(op.getDim()), coords(coords), evaluator(evaluator),
        builder(evaluator.getBuilder()), axes(builder.getAxes()) {}

  FailureOr<Tile> emit();

private:
  /// A tensor that is joined, from `start` to `end` along the dimension.
  struct Part {
    Value tensor;
    AffineExpr start, end;
  };

  AffineExpr getCoord() const { return coords[dim]; }
  /// Finds the parts that elements of tiles may lie in.
  LogicalResult findParts();
  /// Whether elements of tiles may lie in `part`.
  bool mayHave(const Part &part) const;
  FailureOr<Tile> evaluate(const Part &part);
  FailureOr<Tile> select();

  /// Finds where the tile begins, when blocks are to branch.
  bool findPlace();
  /// `place` of the joined dimension, from where the axis begins.
  AffineExpr onAxis(AffineExpr place) const { return place - shift; }
  /// Where no tile has elements on both sides of `place`.
  bool isBetweenTiles(AffineExpr place) const;
  /// What is between tiles, as near the middle of `some` as can be, or the
  /// middle; never the first part.
  unsigned chooseMiddle(ArrayRef<Part> some) const;
  /// Elements of the tile in `some`, and those of `before` in front of them;
  /// without it none is there. Those behind are nobody's yet.
  FailureOr<Tile> emitBranches(ArrayRef<Part> some, std::optional<Tile> before);
  FailureOr<Tile> emitPart(const Part &part, std::optional<Tile> before);
  /// What `yes` emits where `condition` holds, and what `no` does elsewhere.
  FailureOr<Tile> branch(Value condition, function_ref<FailureOr<Tile>()> yes,
                         function_ref<FailureOr<Tile>()> no);
  LogicalResult emitBlock(scf::IfOp branch, Block *block,
                          function_ref<FailureOr<Tile>()> emit);
  Value compare(arith::CmpIPredicate predicate, AffineExpr place);
  Tile createZero() {
    Type element = op.getResultType().getElementType();
    return {builder.createConstant(builder.getZeroAttr(element)), {}};
  }

  tensor::ConcatOp op;
  /// The joined dimension.
  unsigned dim;
  ArrayRef<AffineExpr> coords;
  TileEvaluator &evaluator;
  TileBuilder &builder;
  TileAxes &axes;
  SmallVector<Part> parts;

  /// The coordinate along the joined dimension is that along `axis`, moved by
  /// `shift`.
  unsigned axis = 0;
  AffineExpr shift;
};
} // namespace

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

LogicalResult JoinEmitter::findParts() {
  AffineExpr start = builder.getAffineConstantExpr(0);
  for (Value input : op.getInputs()) {
    FailureOr<SmallVector<AffineExpr>> shape =
        builder.getKernel().getShapes().getShape(input);
    if (failed(shape))
      return failure();
    AffineExpr end = start + (*shape)[dim];
    parts.push_back({input, start, end});
    start = end;
  }
  // What lies past the end is nobody's, and may be anything.
  Part last = parts.back();
  llvm::erase_if(parts, [&](const Part &part) { return !mayHave(part); });
  if (parts.empty())
    parts.push_back(last);
  return success();
}

bool JoinEmitter::mayHave(const Part &part) const {
  auto bounds = getBounds(getCoord(), axes);
  auto start = dyn_cast<AffineConstantExpr>(part.start);
  auto end = dyn_cast<AffineConstantExpr>(part.end);
  if (part.start == part.end)
    return false;
  return !bounds || !start || !end ||
         (start.getValue() <= bounds->second && end.getValue() > bounds->first);
}

FailureOr<Tile> JoinEmitter::evaluate(const Part &part) {
  Coords source(coords);
  source[dim] = getCoord() - part.start;
  return evaluator.evaluate(part.tensor, source);
}

FailureOr<Tile> JoinEmitter::select() {
  SmallVector<Tile> tiles;
  for (const Part &part : parts) {
    FailureOr<Tile> tile = evaluate(part);
    if (failed(tile))
      return failure();
    tiles.push_back(*tile);
  }
  Tile result = tiles.back();
  for (unsigned number = parts.size() - 1; number-- > 0;)
    result = builder.select(builder.below(getCoord(), parts[number].end),
                            tiles[number], result);
  return result;
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

bool JoinEmitter::findPlace() {
  AffineExpr base = getCoord();
  shift = builder.getAffineConstantExpr(0);
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(base);
      sum && sum.getKind() == AffineExprKind::Add &&
      isa<AffineConstantExpr>(sum.getRHS())) {
    base = sum.getLHS();
    shift = sum.getRHS();
  }
  auto place = dyn_cast<AffineDimExpr>(base);
  if (!place)
    return false;
  axis = place.getPosition();
  const Axis &info = axes[axis];
  return info.dim && info.offset && !info.whole && info.lead == 0 &&
         builder.getKernel().getDecision(*info.dim).getParted();
}

bool JoinEmitter::isBetweenTiles(AffineExpr place) const {
  return onAxis(place).isMultipleOf(axes[axis].tile);
}

unsigned JoinEmitter::chooseMiddle(ArrayRef<Part> some) const {
  unsigned middle = some.size() / 2;
  for (unsigned away = 0; away <= middle; ++away)
    for (unsigned place : {middle - away, middle + away})
      if (place > 0 && place < some.size() && isBetweenTiles(some[place].start))
        return place;
  return middle;
}

Value JoinEmitter::compare(arith::CmpIPredicate predicate, AffineExpr place) {
  return arith::CmpIOp::create(builder, builder.getLoc(), predicate,
                               axes[axis].offset,
                               builder.getSize(onAxis(place)));
}

LogicalResult JoinEmitter::emitBlock(scf::IfOp branch, Block *block,
                                     function_ref<FailureOr<Tile>()> emit) {
  ScopeStack &scopes = builder.getScopes();
  scopes.enterBranch(branch, block);
  FailureOr<Tile> tile = emit();
  if (failed(tile))
    return failure();
  scopes.insertInnermost();
  Value value = builder.broadcast(*tile, axes.getAxesOf(coords)).value;
  scopes.leaveBranch(builder.getLoc(), value);
  return success();
}

FailureOr<Tile> JoinEmitter::branch(Value condition,
                                    function_ref<FailureOr<Tile>()> yes,
                                    function_ref<FailureOr<Tile>()> no) {
  SmallVector<unsigned> all = axes.getAxesOf(coords);
  Type type = builder.getTileType(all, op.getResultType().getElementType());
  auto branch = scf::IfOp::create(builder, builder.getLoc(), type, condition,
                                  /*withElseRegion=*/true);
  if (failed(emitBlock(branch, branch.thenBlock(), yes)) ||
      failed(emitBlock(branch, branch.elseBlock(), no)))
    return failure();
  return Tile{branch.getResult(0), all};
}

FailureOr<Tile> JoinEmitter::emitPart(const Part &part,
                                      std::optional<Tile> before) {
  // Before the first part and behind the last one no branch tells tiles apart.
  TileAxes::AssumedBounds bounds{builder.getAffineDimExpr(axis),
                                 std::numeric_limits<int64_t>::min(),
                                 std::numeric_limits<int64_t>::max()};
  bool begins = isBetweenTiles(part.start);
  if (auto start = dyn_cast<AffineConstantExpr>(onAxis(part.start));
      start && begins && part.start != parts.front().start)
    bounds.least = start.getValue();
  if (auto end = dyn_cast<AffineConstantExpr>(onAxis(part.end));
      end && isBetweenTiles(part.end) && part.end != parts.back().end)
    bounds.most = end.getValue() - 1;
  axes.getAssumedBounds().push_back(bounds);
  FailureOr<Tile> tile = evaluate(part);
  axes.getAssumedBounds().pop_back();
  if (failed(tile) || !before || begins)
    return tile;
  Tile isBefore = builder.below(getCoord(), part.start);
  return builder.select(isBefore, *before, *tile);
}

FailureOr<Tile> JoinEmitter::emitBranches(ArrayRef<Part> some,
                                          std::optional<Tile> before) {
  if (some.size() == 1)
    return emitPart(some.front(), before);
  unsigned number = chooseMiddle(some);
  AffineExpr place = some[number].start;
  ArrayRef<Part> left = some.take_front(number),
                 right = some.drop_front(number);
  Value isLeft = compare(arith::CmpIPredicate::slt, place);
  auto emitLeft = [&] { return emitBranches(left, before); };
  if (isBetweenTiles(place))
    return branch(isLeft, emitLeft,
                  [&] { return emitBranches(right, before); });
  // A tile may have elements of both.
  FailureOr<Tile> known = branch(isLeft, emitLeft, [&] {
    return FailureOr<Tile>(before ? *before : createZero());
  });
  if (failed(known))
    return failure();
  Value isRight = compare(arith::CmpIPredicate::sgt, place - axes[axis].tile);
  return branch(
      isRight, [&] { return emitBranches(right, *known); },
      [&] { return known; });
}

FailureOr<Tile> JoinEmitter::emit() {
  if (failed(findParts()))
    return failure();
  if (parts.size() == 1)
    return evaluate(parts.front());
  if (!findPlace())
    return select();
  return emitBranches(parts, /*before=*/std::nullopt);
}

FailureOr<Tile> mlir::fusion::evaluateMoved(tensor::ConcatOp op,
                                            ArrayRef<AffineExpr> coords,
                                            TileEvaluator &evaluator) {
  return JoinEmitter(op, coords, evaluator).emit();
}
