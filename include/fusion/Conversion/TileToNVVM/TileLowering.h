//===- TileLowering.h - How one kind of operation is lowered ----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what a lowering of tile operations to the code of a thread
// is, and the sets that lowerings are found in. They are to
// `OpConversionPattern` and `RewritePatternSet` what a tile is to its scalars:
// a value has as many as a thread holds of it. docs/Rationale/TileLevel.md says
// how to add one.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_CONVERSION_TILETONVVM_TILELOWERING_H
#define FUSION_CONVERSION_TILETONVVM_TILELOWERING_H

#include "mlir/IR/Operation.h"
#include <memory>

namespace mlir::fusion {

class ProgramLowering;

/// Lowers operations of one kind, or of any. It holds nothing of a program:
/// what operations have to know of each other is state of `ProgramLowering`.
class TileLowering {
public:
  virtual ~TileLowering();

  /// The operations it is for; none stands for all.
  std::optional<TypeID> getRoot() const { return root; }

  /// Gives the kernel parameters besides the program's arguments, before there
  /// is a kernel.
  virtual LogicalResult addParameters(ProgramLowering &lowering) const;
  /// Describes those to the launch, and inserts what the kernel does once,
  /// before its first operation.
  virtual LogicalResult beginKernel(ProgramLowering &lowering) const;

  /// False for operations that another lowering is for.
  virtual bool matchesOperation(Operation *op) const = 0;
  /// Inserts the code of `op` and sets the scalars of its results. Emits an
  /// error where it fails.
  virtual LogicalResult lowerOperation(Operation *op,
                                       ProgramLowering &lowering) const = 0;

protected:
  explicit TileLowering(std::optional<TypeID> root) : root(root) {}

private:
  std::optional<TypeID> root;
};

/// Lowers operations `OpT`.
template <typename OpT>
class TileOpLowering : public TileLowering {
public:
  TileOpLowering() : TileLowering(TypeID::get<OpT>()) {}

  virtual bool matches(OpT op) const { return true; }
  virtual LogicalResult lower(OpT op, ProgramLowering &lowering) const = 0;

private:
  bool matchesOperation(Operation *op) const final {
    return matches(cast<OpT>(op));
  }
  LogicalResult lowerOperation(Operation *op,
                               ProgramLowering &lowering) const final {
    return lower(cast<OpT>(op), lowering);
  }
};

/// Lowers operations that have no code: their users look at them.
template <typename OpT>
class NoCodeLowering : public TileOpLowering<OpT> {
public:
  LogicalResult lower(OpT op, ProgramLowering &lowering) const override {
    return success();
  }
};

/// Lowerings by the operations that they are for. Of those that match an
/// operation the one added last is taken, and one for all operations only
/// where there is no other.
class LoweringSet {
public:
  /// Adds one of each of `Lowerings`, made of `args`.
  template <typename... Lowerings, typename... Args>
  LoweringSet &add(const Args &...args) {
    (insert(std::make_unique<Lowerings>(args...)), ...);
    return *this;
  }

  /// Null if there is none.
  const TileLowering *find(Operation *op) const;
  /// All, in the order in which they were added.
  ArrayRef<std::unique_ptr<TileLowering>> getLowerings() const {
    return lowerings;
  }

private:
  void insert(std::unique_ptr<TileLowering> lowering);

  SmallVector<std::unique_ptr<TileLowering>, 0> lowerings;
  DenseMap<TypeID, SmallVector<const TileLowering *, 1>> byRoot;
  SmallVector<const TileLowering *, 1> forAll;
};

} // namespace mlir::fusion

#endif // FUSION_CONVERSION_TILETONVVM_TILELOWERING_H
