//===- SizeRequirements.cpp - What dynamic sizes must fulfil --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the conditions on dynamic sizes under which no access of
// a function is out of bounds and every assertion of it holds. The runtime
// checks them before every launch; what holds for all sizes is left out.
//
//===----------------------------------------------------------------------===//

#include "EntryBuilder.h"
#include "fusion/Analysis/SizeConditions.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include <functional>

using namespace mlir;
using namespace mlir::fusion;
using fusionpkg::ExprId;
using fusionpkg::ExprOp;

namespace {
/// Collects conditions from the operations of one function.
class SizeRequirements {
public:
  SizeRequirements(SymbolicShapes &shapes,
                   std::function<ExprId(AffineExpr)> convert,
                   fusionpkg::Entry &entry)
      : shapes(shapes), convert(std::move(convert)), entry(entry) {
    for (const fusionpkg::Symbol &symbol : entry.symbols)
      names.push_back(symbol.name);
  }

  /// Fails, with an error, where `op` requires what never holds.
  LogicalResult visit(Operation *op);

private:
  void visitLinalg(linalg::LinalgOp op);
  void visitExpand(tensor::ExpandShapeOp op);
  void visitCast(tensor::CastOp op);
  void visitConcat(tensor::ConcatOp op);
  void visitAssert(cf::AssertOp op);
  void visitSlice(OffsetSizeAndStrideOpInterface slice, Value of);

  void requireEqual(AffineExpr lhs, AffineExpr rhs, const Twine &what);
  /// `last` is below `size`, unless there is nothing to access because one of
  /// `counts` is zero.
  void requireBelow(AffineExpr last, AffineExpr size,
                    ArrayRef<AffineExpr> counts, const Twine &what);
  void add(ExprId condition, const Twine &what);

  SymbolicShapes &shapes;
  std::function<ExprId(AffineExpr)> convert;
  fusionpkg::Entry &entry;
  std::vector<std::string> names;
  DenseSet<ExprId> known;
  Operation *current = nullptr;
  bool isPossible = true;
};
} // namespace

void SizeRequirements::add(ExprId condition, const Twine &what) {
  std::optional<int64_t> value = entry.exprs.getConstant(condition);
  if (value && *value == 0 && isPossible) {
    isPossible = false;
    (void)emitCodedError(current->getLoc(), ErrorCode::AssertionFails,
                         what + " of " + current->getName().getStringRef() +
                             " does not fit, whatever the inputs are");
  }
  if (value || !known.insert(condition).second)
    return;
  std::string message =
      (what + " of " + current->getName().getStringRef() + ": " +
       entry.exprs.print(condition, names) + " does not hold")
          .str();
  entry.requirements.push_back({condition, std::move(message)});
}

void SizeRequirements::requireEqual(AffineExpr lhs, AffineExpr rhs,
                                    const Twine &what) {
  if (lhs != rhs)
    add(entry.exprs.eq(convert(lhs), convert(rhs)), what);
}

void SizeRequirements::requireBelow(AffineExpr last, AffineExpr size,
                                    ArrayRef<AffineExpr> counts,
                                    const Twine &what) {
  fusionpkg::ExprPool &pool = entry.exprs;
  if (auto constant = dyn_cast<AffineConstantExpr>(size - last))
    if (constant.getValue() > 0)
      return;
  ExprId condition = pool.lt(convert(last), convert(size));
  for (AffineExpr count : counts)
    if (!isa<AffineConstantExpr>(count))
      condition =
          pool.logicalOr(pool.eq(convert(count), pool.constant(0)), condition);
  add(condition, what);
}

void SizeRequirements::visitLinalg(linalg::LinalgOp op) {
  MLIRContext *context = op.getContext();
  unsigned numLoops = op.getNumLoops();
  SmallVector<AffineExpr> extents(numLoops), last(numLoops);
  auto forEachDim = [&](auto callback) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      FailureOr<SmallVector<AffineExpr>> shape = shapes.getShape(operand.get());
      if (failed(shape))
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (auto [dim, expr] : llvm::enumerate(map.getResults()))
        callback(operand.getOperandNumber(), dim, expr, (*shape)[dim]);
    }
  };
  auto isLoop = [](AffineExpr expr) { return isa<AffineDimExpr>(expr); };
  forEachDim([&](unsigned operand, unsigned dim, AffineExpr expr,
                 AffineExpr size) {
    if (!isLoop(expr))
      return;
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (!extents[loop]) {
      extents[loop] = size;
      last[loop] = size - 1;
      return;
    }
    requireEqual(size, extents[loop],
                 "dimension " + Twine(dim) + " of operand " + Twine(operand));
  });
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (!extents[loop])
      extents[loop] = last[loop] = getAffineConstantExpr(0, context);
  forEachDim([&](unsigned operand, unsigned dim, AffineExpr expr,
                 AffineExpr size) {
    if (isLoop(expr))
      return;
    // Indices are largest at the last iterations, since coefficients of
    // windows are positive.
    requireBelow(expr.replaceDims(last), size, extents,
                 "dimension " + Twine(dim) + " of operand " + Twine(operand));
  });
}

void SizeRequirements::visitExpand(tensor::ExpandShapeOp op) {
  FailureOr<SmallVector<AffineExpr>> source = shapes.getShape(op.getSrc());
  FailureOr<SmallVector<AffineExpr>> result = shapes.getShape(op.getResult());
  if (failed(source) || failed(result))
    return;
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    AffineExpr product = getAffineConstantExpr(1, op.getContext());
    for (int64_t part : group)
      product = product * (*result)[part];
    requireEqual(product, (*source)[dim],
                 "the split of dimension " + Twine(dim));
  }
}

void SizeRequirements::visitCast(tensor::CastOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  FailureOr<SmallVector<AffineExpr>> source = shapes.getShape(op.getSource());
  if (!type || failed(source))
    return;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (ShapedType::isStatic(size))
      requireEqual((*source)[dim], getAffineConstantExpr(size, op.getContext()),
                   "dimension " + Twine(dim));
}

void SizeRequirements::visitConcat(tensor::ConcatOp op) {
  FailureOr<SmallVector<AffineExpr>> first =
      shapes.getShape(op.getInputs().front());
  for (auto [number, input] : llvm::enumerate(op.getInputs())) {
    FailureOr<SmallVector<AffineExpr>> shape = shapes.getShape(input);
    if (failed(first) || failed(shape))
      return;
    for (auto [dim, size] : llvm::enumerate(*shape))
      if (dim != op.getDim())
        requireEqual(size, (*first)[dim],
                     "dimension " + Twine(dim) + " of operand " +
                         Twine(number));
  }
}

void SizeRequirements::visitSlice(OffsetSizeAndStrideOpInterface slice,
                                  Value of) {
  FailureOr<SmallVector<AffineExpr>> shape = shapes.getShape(of);
  if (failed(shape))
    return;
  AffineExpr zero = getAffineConstantExpr(0, slice->getContext());
  for (auto [dim, offset, size, stride] : llvm::zip_equal(
           llvm::seq<size_t>(0, shape->size()), slice.getMixedOffsets(),
           slice.getMixedSizes(), slice.getMixedStrides())) {
    FailureOr<AffineExpr> first = shapes.getIndex(offset);
    FailureOr<AffineExpr> count = shapes.getIndex(size);
    FailureOr<AffineExpr> step = shapes.getIndex(stride);
    if (failed(first) || failed(count) || failed(step))
      continue;
    std::string what = ("dimension " + Twine(dim)).str();
    add(entry.exprs.le(convert(zero), convert(*first)), what);
    add(entry.exprs.le(convert(zero), convert(*count)), what);
    requireBelow(*first + (*count - 1) * *step, (*shape)[dim], {*count}, what);
  }
}

void SizeRequirements::visitAssert(cf::AssertOp op) {
  // Others were resolved in the input phase.
  FailureOr<ExprId> condition =
      convertCondition(op.getArg(), shapes, entry.exprs);
  if (succeeded(condition))
    add(*condition, "the assertion \"" + op.getMsg() + "\"");
}

LogicalResult SizeRequirements::visit(Operation *op) {
  current = op;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](linalg::LinalgOp linalgOp) { visitLinalg(linalgOp); })
      .Case([&](tensor::ExpandShapeOp expand) { visitExpand(expand); })
      .Case([&](tensor::CastOp cast) { visitCast(cast); })
      .Case([&](tensor::ConcatOp concat) { visitConcat(concat); })
      .Case([&](cf::AssertOp assertion) { visitAssert(assertion); })
      .Case([&](tensor::ExtractSliceOp slice) {
        visitSlice(slice, slice.getSource());
      })
      .Case([&](tensor::InsertSliceOp slice) {
        visitSlice(slice, slice.getDest());
      });
  return success(isPossible);
}

LogicalResult EntryBuilder::addRequirements() {
  SizeRequirements requirements(
      shapes, [&](AffineExpr expr) { return convert(expr); }, entry);
  return failure(func.walk([&](Operation *op) {
                       return failed(requirements.visit(op))
                                  ? WalkResult::interrupt()
                                  : WalkResult::advance();
                     })
                     .wasInterrupted());
}
