//===- BodyEvaluator.h - Tiles of scalars in a body -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the evaluation of the scalar computation in the body of a
// structured operation on whole tiles.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_BODYEVALUATOR_H
#define FUSION_LIB_CODEGEN_BODYEVALUATOR_H

#include "TileEvaluator.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::fusion {

/// Evaluates what is asked for of a body, given the loops' coordinates and
/// tiles already known for some of its values.
class BodyEvaluator {
public:
  BodyEvaluator(TileEvaluator &evaluator, Block *block)
      : evaluator(evaluator), builder(evaluator.getBuilder()), block(block) {}
  /// Of the body of `op`, whose inputs are read at `loopCoords`.
  BodyEvaluator(TileEvaluator &evaluator, linalg::LinalgOp op,
                ArrayRef<AffineExpr> loopCoords);

  /// A tensor that an argument of the body is an element of, and where.
  struct Operand {
    Value tensor;
    Coords coords;
  };

  Block *getBlock() const { return block; }
  TileEvaluator &getEvaluator() const { return evaluator; }
  /// Operands read on demand, by block argument.
  const DenseMap<Value, Operand> &getOperands() const { return operands; }
  void setOperand(Value argument, Operand operand) {
    operands[argument] = std::move(operand);
  }
  void setTile(Value value, Tile tile) { tiles[value] = std::move(tile); }
  /// Says that `value` is a coordinate; null: that it is none.
  void setCoordinate(Value value, AffineExpr coord) {
    knownCoords[value] = coord;
  }

  FailureOr<Tile> evaluate(Value value);

private:
  /// The values of the body that `compute` needs as tiles for `value`.
  SmallVector<Value> getTileOperands(Value value);
  /// The coordinate that `value`, a float, is made of.
  std::optional<AffineExpr> getConverted(Value value);
  /// All that `coord` can be is from `low` to `high`.
  bool isWithin(AffineExpr coord, int64_t low, int64_t high) const;
  /// All that `coord` can be is among the integers of `type`.
  bool fits(AffineExpr coord, Type type) const;
  /// `value`, whose operands are tiles already.
  FailureOr<Tile> compute(Value value);
  FailureOr<Tile> computeExtract(tensor::ExtractOp extract);
  /// `value` as a coordinate, if it is one.
  std::optional<AffineExpr> getCoordinate(Value value, unsigned depth = 0);
  std::optional<AffineExpr> computeCoordinate(Value value, unsigned depth);
  std::optional<AffineExpr> computeArithmetic(Operation *op, unsigned depth);
  std::optional<AffineExpr> computeDivision(Operation *op, unsigned depth);
  std::optional<AffineExpr> computeApply(affine::AffineApplyOp op,
                                         unsigned depth);
  /// `expr` is not negative, so that divisions of it are floors.
  bool isNatural(AffineExpr expr) const;

  TileEvaluator &evaluator;
  TileBuilder &builder;
  Block *block;
  Coords loopCoords;
  DenseMap<Value, Tile> tiles;
  DenseMap<Value, AffineExpr> knownCoords;
  DenseMap<Value, Operand> operands;
};

/// The coordinates of the parallel loops of `op` where result `result` is at
/// `coords`.
FailureOr<Coords> bindLoops(linalg::LinalgOp op, unsigned result,
                            ArrayRef<AffineExpr> coords);

/// Where the elements of `operand` of `op` lie that it reads at `loopCoords`.
Coords getOperandCoords(linalg::LinalgOp op, OpOperand &operand,
                        ArrayRef<AffineExpr> loopCoords);

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_BODYEVALUATOR_H
