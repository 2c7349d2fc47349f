//===- NearIndex.cpp - Where computed coordinates lie about ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the reading of computed coordinates. The gradient of a
// maximum over windows looks up, for each element of the image, the windows
// that it lies in: at (i + 1) / 2 and one before, neither less than zero nor
// past the last. These are neighbours for neighbours, as at affine coordinates.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/NearIndex.h"

#include "fusion/Analysis/Exchanges.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

/// Operations that a coordinate is looked for behind, each as often as it is
/// used.
static constexpr unsigned kMaxOps = 128;

namespace {
class IndexReader {
public:
  explicit IndexReader(MLIRContext *context) : context(context) {}

  /// `value`, in the body of `op`, whose loops are `loops`.
  std::optional<AffineExpr> read(Value value, linalg::LinalgOp op,
                                 ArrayRef<AffineExpr> loops);

private:
  std::optional<AffineExpr> readElement(Value tensor,
                                        SmallVector<AffineExpr> coords);
  std::optional<AffineExpr> readOp(Operation *def, linalg::LinalgOp op,
                                   ArrayRef<AffineExpr> loops);
  std::optional<AffineExpr> readBinary(Operation *def, linalg::LinalgOp op,
                                       ArrayRef<AffineExpr> loops);

  MLIRContext *context;
  unsigned budget = kMaxOps;
};
} // namespace

/// From coordinates of `tensor` to those of `source`, which has the same
/// dimensions but for those of one element; false when it has others.
static bool dropUnits(Value tensor, Value source,
                      SmallVector<AffineExpr> &coords) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto sourceType = cast<RankedTensorType>(source.getType());
  AffineExpr zero = getAffineConstantExpr(0, source.getContext());
  SmallVector<AffineExpr> result;
  unsigned dim = 0;
  auto skipUnits = [&] {
    while (dim < coords.size() && type.getDimSize(dim) == 1)
      ++dim;
  };
  for (int64_t size : sourceType.getShape()) {
    if (size == 1) {
      result.push_back(zero);
      continue;
    }
    skipUnits();
    if (dim == coords.size() || type.getDimSize(dim) != size)
      return false;
    result.push_back(coords[dim++]);
  }
  skipUnits();
  if (dim != coords.size())
    return false;
  coords = std::move(result);
  return true;
}

/// The value that `tensor` is outside of a kernel that takes it, or inside of
/// the one that gives it.
static Value throughKernels(Value tensor) {
  while (true) {
    auto argument = dyn_cast<BlockArgument>(tensor);
    if (auto taken =
            argument ? dyn_cast<KernelOp>(argument.getOwner()->getParentOp())
                     : KernelOp()) {
      if (argument.getArgNumber() >= taken.getInputs().size())
        return tensor;
      tensor = taken.getInputs()[argument.getArgNumber()];
    } else if (auto given = tensor.getDefiningOp<KernelOp>()) {
      unsigned number = cast<OpResult>(tensor).getResultNumber();
      tensor = given.getBlock().getTerminator()->getOperand(number);
    } else {
      return tensor;
    }
  }
}

std::optional<AffineExpr>
IndexReader::readElement(Value tensor, SmallVector<AffineExpr> coords) {
  tensor = throughKernels(tensor);
  Operation *def = tensor.getDefiningOp();
  if (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(def)) {
    Value source = def->getOperand(0);
    if (!dropUnits(tensor, source, coords))
      return std::nullopt;
    return readElement(source, coords);
  }
  auto op = dyn_cast_if_present<linalg::GenericOp>(def);
  if (!op || op->getNumResults() != 1 || op.getNumReductionLoops() != 0)
    return std::nullopt;
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!out.isPermutation())
    return std::nullopt;
  SmallVector<AffineExpr> loops(coords.size());
  for (auto [dim, coord] : llvm::enumerate(coords))
    loops[out.getDimPosition(dim)] = coord;
  return read(op.getBody()->getTerminator()->getOperand(0), op, loops);
}

std::optional<AffineExpr> IndexReader::readBinary(Operation *def,
                                                  linalg::LinalgOp op,
                                                  ArrayRef<AffineExpr> loops) {
  std::optional<AffineExpr> lhs = read(def->getOperand(0), op, loops);
  std::optional<AffineExpr> rhs =
      lhs ? read(def->getOperand(1), op, loops) : std::nullopt;
  if (!rhs)
    return std::nullopt;
  if (std::optional<AffineExpr> linear = combineLinearly(def, *lhs, *rhs))
    return linear;
  auto constant = dyn_cast<AffineConstantExpr>(*rhs);
  if (!constant)
    return std::nullopt;
  int64_t by = constant.getValue();
  if (isa<arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(def))
    return lhs;
  if (by > 0 && isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(def))
    return lhs->floorDiv(by);
  return std::nullopt;
}

std::optional<AffineExpr> IndexReader::readOp(Operation *def,
                                              linalg::LinalgOp op,
                                              ArrayRef<AffineExpr> loops) {
  if (auto index = dyn_cast<linalg::IndexOp>(def))
    return loops[index.getDim()];
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(
          def))
    return read(def->getOperand(0), op, loops);
  // Of a choice between neighbours either is near.
  if (auto select = dyn_cast<arith::SelectOp>(def)) {
    auto yes = read(select.getTrueValue(), op, loops);
    auto no = read(select.getFalseValue(), op, loops);
    bool areNear = yes && no &&
                   isa<AffineConstantExpr>(simplifyAffineExpr(
                       *yes - *no, op.getNumLoops(), /*numSymbols=*/0));
    return areNear ? no : std::nullopt;
  }
  if (def->getNumOperands() == 2)
    return readBinary(def, op, loops);
  return std::nullopt;
}

std::optional<AffineExpr> IndexReader::read(Value value, linalg::LinalgOp op,
                                            ArrayRef<AffineExpr> loops) {
  if (budget == 0)
    return std::nullopt;
  --budget;
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)) &&
      number.getSignificantBits() <= 64)
    return getAffineConstantExpr(number.getSExtValue(), context);
  // Conditions.
  if (value.getType().isInteger(1))
    return getAffineConstantExpr(0, context);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != op.getBlock())
      return std::nullopt;
    OpOperand *operand = op.getMatchingOpOperand(argument);
    if (!op.isDpsInput(operand) ||
        !isa<RankedTensorType>(operand->get().getType()))
      return std::nullopt;
    AffineMap map = op.getMatchingIndexingMap(operand);
    return readElement(
        operand->get(),
        llvm::map_to_vector(map.getResults(), [&](AffineExpr coord) {
          return coord.replaceDims(loops);
        }));
  }
  Operation *def = value.getDefiningOp();
  if (def->getBlock() != op.getBlock() || def->getNumResults() != 1)
    return std::nullopt;
  return readOp(def, op, loops);
}

std::optional<AffineExpr> mlir::fusion::getNearIndex(linalg::LinalgOp op,
                                                     Value index) {
  MLIRContext *context = op->getContext();
  SmallVector<AffineExpr> loops;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    loops.push_back(getAffineDimExpr(loop, context));
  return IndexReader(context).read(index, op, loops);
}
