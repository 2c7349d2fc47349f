//===- CascadeBody.cpp - Bodies whose reductions share one walk -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the roles of what a body computes in one walk. The last
// reductions and contractions say what is walked; everything that they depend
// on has to be known in each step, or be repaired when it changes.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/CascadeBody.h"

#include "fusion/Analysis/Cascades.h"
#include "fusion/Analysis/Lookups.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Support/LinearExpr.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::fusion;

/// Instances that depend on a contraction, themselves not counted.
static SmallVector<bool> findContracted(const KernelBody &body) {
  SmallVector<bool> contracted(body.getInstances().size());
  for (auto [i, instance] : llvm::enumerate(body.getInstances()))
    for (unsigned producer : instance.producers)
      contracted[i] = contracted[i] || contracted[producer] ||
                      body.getNode(body.getInstances()[producer]).kind ==
                          NodeKind::Contraction;
  return contracted;
}

bool mlir::fusion::hasCascade(const KernelBody &body) {
  SmallVector<bool> contracted = findContracted(body);
  for (auto [i, instance] : llvm::enumerate(body.getInstances()))
    if (contracted[i] && body.getNode(instance).kind == NodeKind::Contraction)
      return true;
  return false;
}

SmallVector<unsigned> mlir::fusion::getPreparing(const KernelBody &body,
                                                 unsigned last) {
  llvm::SmallSetVector<unsigned, 8> found;
  found.insert(last);
  for (unsigned i = 0; i < found.size(); ++i)
    for (unsigned producer : body.getInstances()[found[i]].producers)
      found.insert(producer);
  SmallVector<unsigned> preparing(found.getArrayRef());
  llvm::sort(preparing);
  return preparing;
}

namespace {
class CascadeAnalysis {
public:
  explicit CascadeAnalysis(const KernelBody &body)
      : body(body), instances(body.getInstances()),
        contracted(findContracted(body)) {}

  CascadeBody run();

private:
  /// Each finds a part of the result; false where there is a problem.
  bool findRoles();
  bool findWalk();
  bool findOwned();
  bool checkRepairs();
  CascadeProblem findCopyProblem(unsigned number) const;
  CascadeProblem findPreparedProblem(unsigned contraction,
                                     unsigned number) const;
  bool findPrepared(unsigned contraction);
  bool checkOthers();
  bool checkOutputs();
  AffineExpr getLimitSymbol(const LimitSymbol &symbol);
  void findLimits();

  bool fail(CascadeProblem problem, unsigned instance) {
    result.problem = problem;
    result.culprit = instance;
    return false;
  }
  NodeKind getKind(unsigned instance) const {
    return body.getNode(instances[instance]).kind;
  }

  const KernelBody &body;
  ArrayRef<BodyInstance> instances;
  SmallVector<bool> contracted;
  CascadeBody result;
};
} // namespace

bool CascadeAnalysis::findRoles() {
  for (unsigned i = 0; i < instances.size(); ++i) {
    NodeKind kind = getKind(i);
    if (kind == NodeKind::Pointwise)
      continue;
    auto op = dyn_cast<linalg::LinalgOp>(body.getNode(instances[i]).op);
    if (!op || kind == NodeKind::Scan || matchGroupedSum(op) ||
        body.getNode(instances[i]).granuleLoop >= 0)
      return fail(CascadeProblem::Form, i);
    if (contracted[i])
      result.members.push_back(i);
    else if (kind == NodeKind::Contraction)
      result.inner.push_back(i);
    else
      return fail(CascadeProblem::Form, i);
  }
  return true;
}

bool CascadeAnalysis::findWalk() {
  DimMask reduced = body.getReducedMask(instances[result.members.front()]);
  for (unsigned member : result.members)
    if (body.getReducedMask(instances[member]) != reduced)
      return fail(CascadeProblem::SeveralWalks, member);
  if (reduced == 0)
    return fail(CascadeProblem::SeveralWalks, result.members.front());
  result.reduced = reduced;
  // Of equal ones the last.
  double longest = 0;
  for (unsigned dim = 0; dim < body.getExtents().size(); ++dim)
    if (reduced >> dim & 1 && body.getExtents()[dim] >= longest) {
      longest = body.getExtents()[dim];
      result.walked = dim;
    }
  for (unsigned inner : result.inner)
    if ((instances[inner].outerMask & reduced) != reduced ||
        (body.getReducedMask(instances[inner]) & reduced))
      return fail(CascadeProblem::SeveralWalks, inner);
  return true;
}

bool CascadeAnalysis::findOwned() {
  DimMask kept = ~DimMask(0), all = 0, contractions = 0;
  for (unsigned member : result.members) {
    kept &= instances[member].outerMask;
    all |= instances[member].outerMask;
    if (getKind(member) == NodeKind::Contraction)
      contractions |= instances[member].outerMask;
  }
  for (unsigned inner : result.inner)
    kept &= instances[inner].outerMask;
  result.rows = kept;
  result.columns = all & ~kept;
  if (contractions != all)
    return fail(CascadeProblem::Dimensions, result.members.back());
  for (unsigned member : result.members) {
    DimMask own = instances[member].outerMask;
    bool contracts = getKind(member) == NodeKind::Contraction;
    if (own != (contracts ? all : kept))
      return fail(CascadeProblem::Dimensions, member);
  }
  // Where both read one tensor, columns may be what the inner ones contract.
  for (unsigned inner : result.inner)
    if (instances[inner].outerMask != (kept | result.reduced) ||
        (body.getReducedMask(instances[inner]) & all))
      return fail(CascadeProblem::Dimensions, inner);
  return true;
}

bool CascadeAnalysis::checkRepairs() {
  SmallVector<linalg::LinalgOp> earlier;
  for (unsigned member : result.members) {
    auto op = cast<linalg::LinalgOp>(body.getNode(instances[member]).op);
    FailureOr<CascadeLinks> links = matchRepairs(op, earlier);
    if (failed(links))
      return fail(CascadeProblem::NoRepair, member);
    for (const Deferral &deferral : links->deferrals)
      if (!llvm::is_contained(result.deferred, deferral.application))
        result.deferred.push_back(deferral.application);
    earlier.push_back(op);
  }
  return true;
}

/// Copies bring operands from memory as they are, a part of them, or rows that
/// tables name.
CascadeProblem CascadeAnalysis::findCopyProblem(unsigned number) const {
  const BodyInstance &instance = instances[number];
  Operation *op = body.getNode(instance).op;
  if (!instance.producers.empty())
    return CascadeProblem::ComputedOperand;
  if (isa<tensor::ExtractSliceOp>(op))
    return CascadeProblem::None;
  std::optional<Lookup> lookup = matchLookup(op->getResult(0));
  if (!lookup)
    return CascadeProblem::ComputedOperand;
  // Blocks have one element of what all results keep, of all else tiles.
  for (auto [loop, coord] : llvm::enumerate(instance.loops))
    if ((body.getMask(coord) & ~result.rows) && !hasCopiedRuns(*lookup, loop))
      return CascadeProblem::LookedUpRows;
  return CascadeProblem::None;
}

/// Whether copies bring what `access` reads in boxes along all of `dims`:
/// coordinates are these dimensions, moved at most, but for those of blocks.
static bool isCopied(const KernelBody &body, const BodyAccess &access,
                     DimMask dims) {
  if ((access.mask & dims) != dims)
    return false;
  return llvm::all_of(access.coords, [&](AffineExpr coord) {
    if (!(body.getMask(coord) & dims))
      return true;
    if (auto sum = dyn_cast<AffineBinaryOpExpr>(coord))
      if (sum.getKind() == AffineExprKind::Add &&
          isa<AffineConstantExpr>(sum.getRHS()))
        coord = sum.getLHS();
    return isa<AffineDimExpr>(coord);
  });
}

/// An operand that stays for the walk is computed before it, of whatever is in
/// memory. One of each step is computed of what comes in copies.
CascadeProblem CascadeAnalysis::findPreparedProblem(unsigned contraction,
                                                    unsigned number) const {
  const BodyInstance &operand = instances[number];
  if (!(operand.mask & result.reduced))
    return CascadeProblem::None;
  SmallVector<unsigned> preparing = getPreparing(body, number);
  for (unsigned other : preparing)
    if (findCopyProblem(other) == CascadeProblem::LookedUpRows)
      return CascadeProblem::LookedUpRows;
  // Of all other dimensions a block has one element at a time.
  DimMask tile = operand.mask & ~result.getRepeated() &
                 (result.columns | result.reduced |
                  body.getReducedMask(instances[contraction]));
  auto isLookedUp = [&](unsigned other) {
    return (instances[other].mask & tile) == tile &&
           matchLookup(body.getNode(instances[other]).op->getResult(0));
  };
  bool hasCopy = llvm::any_of(preparing, isLookedUp) ||
                 llvm::any_of(body.getInputs(), [&](const BodyAccess &access) {
                   return llvm::is_contained(preparing, access.instance) &&
                          isCopied(body, access, tile);
                 });
  return hasCopy ? CascadeProblem::None : CascadeProblem::ComputedOperand;
}

bool CascadeAnalysis::findPrepared(unsigned contraction) {
  for (unsigned producer : instances[contraction].producers) {
    if (contracted[producer] || getKind(producer) != NodeKind::Pointwise)
      continue;
    CascadeProblem problem = findCopyProblem(producer);
    if (problem == CascadeProblem::ComputedOperand) {
      problem = findPreparedProblem(contraction, producer);
      if (problem == CascadeProblem::None &&
          !llvm::is_contained(result.prepared, producer))
        result.prepared.push_back(producer);
    }
    if (problem != CascadeProblem::None)
      return fail(problem, producer);
  }
  return true;
}

bool CascadeAnalysis::checkOthers() {
  DimMask owned = result.rows | result.columns | result.reduced;
  // What only operands of contractions are made of has all dimensions that
  // these contract.
  llvm::SmallBitVector isOperand(instances.size()), isRead(instances.size());
  for (unsigned i = instances.size(); i-- > 0;) {
    bool contracts = getKind(i) == NodeKind::Contraction;
    if (contracts && !findPrepared(i))
      return false;
    for (unsigned producer : instances[i].producers) {
      if (contracts || isOperand.test(i))
        isOperand.set(producer);
      if (!contracts && (!isOperand.test(i) || isRead.test(i)))
        isRead.set(producer);
    }
  }
  for (unsigned i = 0; i < instances.size(); ++i)
    if (getKind(i) == NodeKind::Pointwise && (instances[i].mask & ~owned) &&
        (isRead.test(i) || !isOperand.test(i)))
      return fail(CascadeProblem::Dimensions, i);
  return true;
}

bool CascadeAnalysis::checkOutputs() {
  // What a member has so far is repaired later, and what is made of it is not.
  SmallVector<bool> running(instances.size());
  for (auto [i, instance] : llvm::enumerate(instances))
    running[i] = llvm::is_contained(result.members, i) ||
                 llvm::any_of(instance.producers, [&](unsigned producer) {
                   return running[producer];
                 });
  for (const BodyOutput &output : body.getOutputs()) {
    if (output.mask & result.reduced) {
      if (output.mask != (result.rows | result.reduced) ||
          running[output.instance])
        return fail(CascadeProblem::StoredSteps, output.instance);
      result.storesSteps = true;
      continue;
    }
    if (output.mask != (result.rows | result.columns) &&
        output.mask != result.rows)
      return fail(CascadeProblem::Dimensions, output.instance);
  }
  return true;
}

AffineExpr CascadeAnalysis::getLimitSymbol(const LimitSymbol &symbol) {
  // Elements that differ along the walk limit no part of it.
  for (AffineExpr coord : symbol.coords)
    if (body.getMask(coord) & result.reduced)
      return {};
  unsigned number =
      llvm::find(result.limitSymbols, symbol) - result.limitSymbols.begin();
  if (number == result.limitSymbols.size())
    result.limitSymbols.push_back(symbol);
  return getAffineSymbolExpr(number, symbol.value.getContext());
}

void CascadeAnalysis::findLimits() {
  unsigned numDims = body.getExtents().size();
  auto isInput = [&](Value tensor) {
    return llvm::any_of(body.getInputs(), [&](const BodyAccess &input) {
      return body.getGraph().getValue(input.value).ssa == tensor;
    });
  };
  for (unsigned member : result.members) {
    const BodyInstance &instance = instances[member];
    bool hasSymbols = llvm::any_of(instance.loops, [](AffineExpr loop) {
      bool found = false;
      loop.walk([&](AffineExpr part) { found |= isa<AffineSymbolExpr>(part); });
      return found;
    });
    SmallVector<AffineExpr, 2> limits;
    if (!hasSymbols)
      limits =
          findLimitsAt(cast<linalg::LinalgOp>(body.getNode(instance).op),
                       instance.loops, isInput, [&](const LimitSymbol &symbol) {
                         return getLimitSymbol(symbol);
                       });
    unsigned numSymbols = result.limitSymbols.size();
    for (AffineExpr &limit : limits)
      limit = simplifyAffineExpr(limit, numDims, numSymbols);
    // Those that blocks can solve for the walked dimension, once.
    llvm::erase_if(limits, [&](AffineExpr limit) {
      std::optional<LinearExpr> linear = getLinear(limit, numDims, numSymbols);
      if (!linear || linear->factors[result.walked] == 0)
        return true;
      for (unsigned dim = 0; dim < numDims; ++dim)
        if (result.getRepeated() >> dim & 1 && linear->factors[dim] != 0)
          return true;
      return false;
    });
    if (member == result.members.front())
      result.limits = std::move(limits);
    else
      intersectLimits(result.limits, limits);
  }
}

CascadeBody CascadeAnalysis::run() {
  if (findRoles() && findWalk() && findOwned() && checkRepairs() &&
      checkOthers() && checkOutputs())
    findLimits();
  return result;
}

CascadeBody mlir::fusion::analyzeCascade(const KernelBody &body) {
  return CascadeAnalysis(body).run();
}
