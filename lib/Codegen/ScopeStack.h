//===- ScopeStack.h - Nested scopes of a program ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the scopes of a tile program: the loops and branches
// around what is emitted now, and the tiles that are known in each.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_SCOPESTACK_H
#define FUSION_LIB_CODEGEN_SCOPESTACK_H

#include "Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include <map>

namespace mlir::fusion {

/// The loops and branches around each other whose body is emitted now. The
/// outermost scope, of depth 0, is the body of the program.
class ScopeStack {
public:
  /// One loop or branch, and the tiles that were computed in it.
  struct Scope {
    Block *block;
    /// Not all blocks of the grid come here: what is asked for here is computed
    /// here, whatever loops it depends on.
    bool isBranch = false;
    /// The operation of `block` that new operations go before, or null for the
    /// end: the loop or branch of the next scope.
    Operation *nested = nullptr;
    /// What `nested` of the scope around was before this one was opened.
    Operation *previous = nullptr;
    std::map<std::pair<void *, std::vector<const void *>>, Tile> tiles;
    std::map<const void *, Tile> indexTiles;
    /// What needs the results so far of reductions along the loop.
    DenseSet<Operation *> runningUsers;
  };

  explicit ScopeStack(OpBuilder &builder) : builder(builder) {}

  /// The depth of the innermost scope.
  unsigned getDepth() const { return scopes.size() - 1; }
  /// The block of the innermost scope.
  Block &getBlock() const { return *scopes.back().block; }

  /// The depth of the scope that `value` is computed in; the innermost one's
  /// where that is none.
  unsigned getDepthOf(Value value) const;

  /// Makes the end of `block` the outermost scope.
  void open(Block *block);
  /// Makes `loop`, which has no yield yet, the innermost scope.
  void enter(scf::ForOp loop);
  /// Ends the innermost scope; returns its loop.
  scf::ForOp leave(Location loc, ValueRange yielded);

  /// Makes `block`, without a terminator, of `branch`, which is in the
  /// innermost scope, the innermost one.
  void enterBranch(Operation *branch, Block *block);
  /// Ends the innermost scope, a branch.
  void leaveBranch(Location loc, ValueRange yielded);
  /// The scope that computes what needs no scope inside that of depth `depth`:
  /// a branch inside of it, or itself.
  unsigned getComputedDepth(unsigned depth) const;

  /// Points the builder at the end of the scope of depth `depth`.
  void insertAt(unsigned depth);
  void insertInnermost() { insertAt(getDepth()); }

  /// The tile of `tensor` at `coords` if it was computed in the scope of depth
  /// `depth`, or for it in a branch, else null.
  const Tile *find(Value tensor, ArrayRef<AffineExpr> coords,
                   unsigned depth) const;
  void remember(Value tensor, ArrayRef<AffineExpr> coords, unsigned depth,
                Tile tile);
  /// Says that `tile`, in the innermost scope, is the result so far of a
  /// reduction, the tile of `tensor` at `coords`.
  void setRunning(Value tensor, ArrayRef<AffineExpr> coords, Tile tile);
  /// The innermost scope whose loop changes `tensor`, whatever its coordinates.
  unsigned getRunningDepth(Value tensor) const;
  /// The tile of the indices at `coord`, by the same rules.
  const Tile *findIndices(AffineExpr coord, unsigned depth) const;
  void rememberIndices(AffineExpr coord, unsigned depth, Tile tile) {
    scopes[depth].indexTiles[coord.getAsOpaquePointer()] = std::move(tile);
  }

  /// Makes the scope of depth `depth` the innermost one; returns those inside.
  SmallVector<Scope> setAside(unsigned depth);
  void putBack(SmallVector<Scope> inner);

private:
  void push(Operation *nested, Block *block);

  OpBuilder &builder;
  SmallVector<Scope> scopes;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_SCOPESTACK_H
