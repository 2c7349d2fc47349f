//===- ScopeStack.cpp - Nested scopes of a program ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the scopes of a tile program.
//
//===----------------------------------------------------------------------===//

#include "ScopeStack.h"

using namespace mlir;
using namespace mlir::fusion;

unsigned ScopeStack::getDepthOf(Value value) const {
  auto *scope = llvm::find_if(scopes, [&](const Scope &one) {
    return one.block == value.getParentBlock();
  });
  return scope == scopes.end() ? getDepth() : scope - scopes.begin();
}

void ScopeStack::open(Block *block) {
  scopes.push_back({block});
  builder.setInsertionPointToEnd(block);
}

void ScopeStack::push(Operation *nested, Block *block) {
  Scope scope{block};
  scope.previous = scopes.back().nested;
  scopes.back().nested = nested;
  scopes.push_back(std::move(scope));
  builder.setInsertionPointToEnd(block);
}

void ScopeStack::enter(scf::ForOp loop) {
  // The loop of no results has got its yield.
  Block *body = loop.getBody();
  if (loop.getInitArgs().empty())
    body->getTerminator()->erase();
  push(loop, body);
}

scf::ForOp ScopeStack::leave(Location loc, ValueRange yielded) {
  builder.setInsertionPointToEnd(scopes.back().block);
  scf::YieldOp::create(builder, loc, yielded);
  Operation *previous = scopes.back().previous;
  scopes.pop_back();
  auto loop = cast<scf::ForOp>(scopes.back().nested);
  scopes.back().nested = previous;
  builder.setInsertionPointAfter(loop);
  return loop;
}

void ScopeStack::enterBranch(Operation *branch, Block *block) {
  push(branch, block);
  scopes.back().isBranch = true;
}

void ScopeStack::leaveBranch(Location loc, ValueRange yielded) {
  builder.setInsertionPointToEnd(scopes.back().block);
  scf::YieldOp::create(builder, loc, yielded);
  Operation *previous = scopes.back().previous;
  scopes.pop_back();
  Operation *branch = std::exchange(scopes.back().nested, previous);
  builder.setInsertionPointAfter(branch);
}

unsigned ScopeStack::getComputedDepth(unsigned depth) const {
  for (unsigned inner = getDepth(); inner > depth; --inner)
    if (scopes[inner].isBranch)
      return inner;
  return depth;
}

void ScopeStack::insertAt(unsigned depth) {
  Scope &scope = scopes[depth];
  if (scope.nested)
    builder.setInsertionPoint(scope.nested);
  else
    builder.setInsertionPointToEnd(scope.block);
}

static std::pair<void *, std::vector<const void *>>
makeKey(Value tensor, ArrayRef<AffineExpr> coords) {
  std::vector<const void *> key;
  for (AffineExpr coord : coords)
    key.push_back(coord.getAsOpaquePointer());
  return {tensor.getAsOpaquePointer(), key};
}

const Tile *ScopeStack::find(Value tensor, ArrayRef<AffineExpr> coords,
                             unsigned depth) const {
  auto key = makeKey(tensor, coords);
  for (unsigned scope = depth; scope < scopes.size(); ++scope) {
    if (scope > depth && !scopes[scope].isBranch)
      continue;
    auto known = scopes[scope].tiles.find(key);
    if (known != scopes[scope].tiles.end())
      return &known->second;
  }
  return nullptr;
}

const Tile *ScopeStack::findIndices(AffineExpr coord, unsigned depth) const {
  for (unsigned scope = depth; scope < scopes.size(); ++scope) {
    if (scope > depth && !scopes[scope].isBranch)
      continue;
    const auto &tiles = scopes[scope].indexTiles;
    auto known = tiles.find(coord.getAsOpaquePointer());
    if (known != tiles.end())
      return &known->second;
  }
  return nullptr;
}

void ScopeStack::remember(Value tensor, ArrayRef<AffineExpr> coords,
                          unsigned depth, Tile tile) {
  scopes[depth].tiles[makeKey(tensor, coords)] = std::move(tile);
}

void ScopeStack::setRunning(Value tensor, ArrayRef<AffineExpr> coords,
                            Tile tile) {
  remember(tensor, coords, getDepth(), std::move(tile));
  Operation *source = tensor.getDefiningOp();
  DenseSet<Operation *> &users = scopes.back().runningUsers;
  SmallVector<Operation *> worklist{source};
  while (!worklist.empty()) {
    Operation *next = worklist.pop_back_val();
    if (!users.insert(next).second)
      continue;
    for (Operation *user : next->getUsers())
      worklist.push_back(source->getBlock()->findAncestorOpInBlock(*user));
  }
}

unsigned ScopeStack::getRunningDepth(Value tensor) const {
  Operation *op = tensor.getDefiningOp();
  for (unsigned depth = scopes.size(); op && depth-- > 0;)
    if (scopes[depth].runningUsers.contains(op))
      return depth;
  return 0;
}

SmallVector<ScopeStack::Scope> ScopeStack::setAside(unsigned depth) {
  SmallVector<Scope> inner(std::make_move_iterator(scopes.begin() + depth + 1),
                           std::make_move_iterator(scopes.end()));
  scopes.resize(depth + 1);
  return inner;
}

void ScopeStack::putBack(SmallVector<Scope> inner) {
  llvm::move(inner, std::back_inserter(scopes));
}
