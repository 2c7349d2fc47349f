//===- LayoutGroups.h - Tiles that share one layout -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the groups of values whose layouts must agree, with what
// the layout of each has to serve.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTGROUPS_H
#define FUSION_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTGROUPS_H

#include "fusion/Dialect/Tile/Transforms/AccessAnalysis.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace mlir::fusion::tile {

inline bool isTile(Value value) {
  return isa<RankedTensorType>(value.getType());
}

/// Values that share one layout.
struct LayoutGroup {
  SmallVector<Value> values; // in program order
  SmallVector<int64_t> shape;
  /// Accesses of memory on this group's values.
  SmallVector<Access> accesses;
  /// Dimensions that a reduction or scan of the group combines.
  llvm::SmallBitVector reduced;
  /// Those that a reduction and what reduces its results again leave none of.
  llvm::SmallBitVector reducedAtLast;
  /// Values of an element that reductions combine.
  unsigned numReduced = 0;
  /// Those that a scan goes through in order, and the scans.
  llvm::SmallBitVector scanned;
  SmallVector<ScanOp> scans;
  /// A loop carries it, and reduces it in each step.
  bool isReducedInSteps = false;
  bool isAccumulator = false;
  /// Threads have whole rows along memory.
  bool hasRows = false;
  /// The layout that the instruction of the group's products gives it.
  std::optional<LinearLayout> fragment;
  std::optional<LinearLayout> layout;

  /// Whether warps that share the depth of a product have a sum each.
  bool hasSumOfEachWarp() const { return isAccumulator && shape.size() == 3; }
};

/// The groups of all tiles of a program.
class LayoutGroups {
public:
  explicit LayoutGroups(ProgramOp program);

  MutableArrayRef<LayoutGroup> getAll() { return groups; }
  /// The group of a value that the program had when groups were made: not of
  /// a conversion.
  LayoutGroup &of(Value value) {
    return groups[numbers.lookup(
        *classes.findLeader(value.getAsOpaquePointer()))];
  }
  /// Whether `op` is in a loop that carries what it reduces in each step.
  bool isInSteps(Operation *op);
  /// The layout that an operand in registers must have for its product.
  std::optional<LinearLayout> getOperandLayout(OpOperand &use);

private:
  void join(Value a, Value b) {
    if (isTile(a) && isTile(b))
      classes.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  }
  /// Puts values that operations tie together into one class.
  void joinValues(Operation *op);
  /// Makes a group of each class.
  void makeGroups(ArrayRef<Value> values);
  /// Notes what the group's layout has to serve at `op`.
  void noteUse(Operation *op);
  void noteReduction(ReduceOp reduce);
  void noteAccess(Value accessed, const Access &access);
  /// Whether `loop` carries a tile of `group`.
  bool carries(scf::ForOp loop, const LayoutGroup &group);

  int64_t numWarps;
  llvm::EquivalenceClasses<void *> classes;
  DenseMap<void *, unsigned> numbers;
  std::vector<LayoutGroup> groups;
};

/// The layout of a tile of `shape` whose parts have layout `part` each: which
/// part an element is in is a matter of registers.
LinearLayout getLayoutOfParts(const LinearLayout &part,
                              ArrayRef<int64_t> shape);

/// `layout`, or another one of its tile, in which parts of shape `share` are
/// registers of threads.
LinearLayout getSharedOutLayout(const LinearLayout &layout,
                                ArrayRef<int64_t> share, int64_t numWarps);

/// The layout in which what no access of memory is made of goes to a buffer
/// of shared memory in the widest accesses.
std::optional<LinearLayout> getBufferLayout(const LayoutGroup &group,
                                            int64_t numWarps);

} // namespace mlir::fusion::tile

#endif // FUSION_LIB_DIALECT_TILE_TRANSFORMS_LAYOUTGROUPS_H
