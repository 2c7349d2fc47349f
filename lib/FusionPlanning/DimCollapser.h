//===- DimCollapser.h - Dimensions of a block that fall together -*- C++ -*-==//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what finds dimensions that lie side by side in the tensors
// of a block, and makes one of them: in kernels, which then walk tensors as
// memory does, and in functions, where reshapes between operations then have
// nothing left to do.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_FUSIONPLANNING_DIMCOLLAPSER_H
#define FUSION_LIB_FUSIONPLANNING_DIMCOLLAPSER_H

#include "fusion/Analysis/FlatIndices.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/SmallBitVector.h"
#include <optional>

namespace mlir::fusion {

/// Lets the dimensions of one block fall together. Between each dimension of a
/// tensor and the next is a boundary. Boundaries that loops make one are a
/// class; a class goes, or stays, as a whole.
class DimCollapser {
public:
  explicit DimCollapser(Block &block) : block(block) {}
  virtual ~DimCollapser() = default;

protected:
  /// Products have a choice of their own; other bodies are rewritten.
  static bool isRewritten(linalg::LinalgOp op);

  /// Finds the boundaries of the block's tensors and their classes.
  void addAll();

  /// `op` does not let boundary `dim` of `value`, a tensor that it reads or
  /// computes, fall: its class stays.
  virtual void refuse(Operation *op, Value value, unsigned dim);
  /// Boundary `dim` of `value` may fall if those that `op` joins it with do.
  virtual void noteJoined(Operation *op, Value value, unsigned dim) {}
  /// Dimensions of which a view makes one have boundary `dim` of `value`, the
  /// view's tensor with more dimensions, between them.
  virtual void addSplit(Operation *view, Value value, unsigned dim);
  /// May `operand`, which has some of the loops that become one, but not all,
  /// be read at parts of the one that they become?
  virtual bool mayReadParts(OpOperand &operand) { return false; }
  /// May `operand` stay as it is where loops become one, and be read at places
  /// computed from that one's coordinate?
  virtual bool mayStay(OpOperand &operand) { return false; }
  /// May a body compute the indices of loops from that of the one that they
  /// become?
  virtual bool splitsIndices() const { return false; }
  /// May dimensions of sizes that are not known fall together?
  virtual bool takesDynamic() const { return false; }
  /// May rows of which a slice takes some be one dimension with what lies in
  /// them? What others walk together with the slice then has another dimension.
  virtual bool joinsParts() { return true; }

  void refuseAll(Operation *op, ValueRange values);
  unsigned getBoundary(Value value, unsigned dim) const {
    return boundaries.lookup(value) + dim;
  }

  /// Makes the classes final; returns those that stay.
  llvm::SmallBitVector compressClasses();
  /// Lets the boundaries of the classes `chosen` fall.
  void letFall(const llvm::SmallBitVector &chosen);

  /// True when dimensions `dim` and `dim` + 1 of `value` become one.
  bool falls(Value value, unsigned dim) const {
    return fallen.test(getBoundary(value, dim));
  }
  bool changes(Value value) const;
  SmallVector<ReassociationIndices> getGroups(Value value) const;
  RankedTensorType getCollapsedType(Value value) const;
  /// The sizes of `groups` of dimensions of `sizes`.
  static SmallVector<OpFoldResult>
  joinSizes(OpBuilder &builder, ArrayRef<OpFoldResult> sizes,
            ArrayRef<ReassociationIndices> groups);

  /// Rewrites the operations and the types of all tensors.
  void rewriteInside();

  Block &block;
  /// The number of each tensor's first boundary.
  DenseMap<Value, unsigned> boundaries;
  SmallVector<Value> tensors;
  llvm::IntEqClasses classes;
  llvm::SmallBitVector blocked;
  /// Boundaries that stay where others of their loops fall.
  llvm::SmallBitVector staying;
  /// The boundaries that fall.
  llvm::SmallBitVector fallen;

private:
  void addTensor(Value value);
  void addTensors();
  void addLinalgOp(linalg::LinalgOp op);
  void addScan(ScanOp op);
  void addSize(tensor::DimOp op);
  void addView(Operation *op);
  void addMove(Operation *op);
  void addOp(Operation *op);
  /// True when some operation tells apart what `boundary` is between.
  bool isBlocked(unsigned boundary) const;
  /// True when every element of loop `first` is followed by one of `second` in
  /// `operand` if it has either, but for loops of one element, `units`, between
  /// them.
  bool areOneIn(OpOperand &operand, const llvm::SmallBitVector &units,
                unsigned first, unsigned second);
  /// True when they are so in each of the tensors of `op` that may not stay.
  bool areOneLoop(linalg::LinalgOp op, const FlatIndices &indices,
                  const llvm::SmallBitVector &units, unsigned first,
                  unsigned second);

  /// A coordinate that stays of an operand, and the loops that it runs through
  /// by itself.
  struct Kept {
    AffineExpr expr;
    SmallVector<unsigned> loops;
  };
  /// The coordinates of `value` that stay of `map`, one for each group: the
  /// first that is of several elements.
  SmallVector<Kept> getKept(Value value, AffineMap map,
                            const llvm::SmallBitVector &units) const;
  void rewriteGeneric(linalg::GenericOp op);
  void rewriteScan(ScanOp op);
  void rewriteMove(Operation *op);
  void rewriteSizes();
  void rewriteViews();
  void rewriteEmpties();
};

} // namespace mlir::fusion

#endif // FUSION_LIB_FUSIONPLANNING_DIMCOLLAPSER_H
