//===- OpLabels.cpp - Short names for computations ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the short names that kernels and remarks are built from.
// Names carry no meaning: nothing is decided by them.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fusion;

/// True when `value`, inside a structured op or outside, is the constant 0.
static bool isZero(Value value) {
  // An element of a tensor of zeros.
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto op =
            dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp()))
      value = op.getMatchingOpOperand(argument)->get();
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

/// The name of a scalar op; empty for those not worth a word.
static StringRef getScalarLabel(Operation *op) {
  if (isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>(op))
    return llvm::any_of(op->getOperands(), isZero) ? "relu" : "max";
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return "add"; })
      .Case<arith::SubFOp, arith::SubIOp>([](auto) { return "sub"; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return "mul"; })
      .Case<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(
          [](auto) { return "div"; })
      .Case<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>(
          [](auto) { return "min"; })
      .Case<arith::MaxUIOp>([](auto) { return "max"; })
      .Case<arith::MinUIOp>([](auto) { return "min"; })
      .Case<arith::NegFOp>([](auto) { return "neg"; })
      .Case<arith::CmpFOp, arith::CmpIOp>([](auto) { return "compare"; })
      .Case<arith::SelectOp>([](auto) { return "select"; })
      .Case<arith::TruncFOp, arith::ExtFOp, arith::TruncIOp, arith::ExtSIOp,
            arith::ExtUIOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp,
            arith::FPToUIOp>([](auto) { return "cast"; })
      .Case<tensor::ExtractOp>([](auto) { return "gather"; })
      .Default([](Operation *op) -> StringRef {
        if (op->getName().getDialectNamespace() == "math")
          return op->getName().stripDialect();
        return "";
      });
}

/// Well-known functions, by the scalar ops they are made of.
static StringRef getFunctionLabel(const llvm::StringSet<> &words,
                                  bool dividesConstant) {
  auto has = [&](StringRef word) { return words.contains(word); };
  if (has("erf") && has("mul"))
    return "gelu";
  if (has("tanh") && has("mul") && has("add"))
    return "gelu";
  if (has("exp") && has("div") && has("add"))
    return dividesConstant && !has("mul") ? "sigmoid" : "silu";
  return "";
}

/// The name of a body that moves elements only.
static StringRef getMoveLabel(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 1)
    return "copy";
  AffineMap input = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  if (input.getNumResults() < op.getNumLoops())
    return "broadcast";
  return input.isIdentity() ? "copy" : "transpose";
}

static std::string getReductionLabel(linalg::LinalgOp op) {
  if (std::optional<RescaledSums> sums = matchRescaledSums(op))
    return sums->linear ? "max_exp_linear_sum" : "max_exp_sum";
  if (matchMoments(op))
    return "moments";
  // The combiner is what the carried value goes into.
  for (BlockArgument argument : op.getRegionOutputArgs())
    for (Operation *user : argument.getUsers()) {
      StringRef word = getScalarLabel(user);
      if (word == "add")
        return "sum";
      if (!word.empty() && word != "compare" && word != "select")
        return ("reduce_" + word).str();
    }
  return "reduce";
}

std::string mlir::fusion::getOpLabel(Operation *op, NodeKind kind) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    if (kind == NodeKind::Contraction)
      return llvm::all_of(
                 linalgOp.getIndexingMapsArray(),
                 [](AffineMap map) { return map.isProjectedPermutation(true); })
                 ? "matmul"
                 : "conv";
    if (kind == NodeKind::Reduction)
      return getReductionLabel(linalgOp);
    SmallVector<StringRef> words;
    llvm::StringSet<> seen;
    op->getRegion(0).walk([&](Operation *inner) {
      StringRef word = getScalarLabel(inner);
      if (!word.empty() && seen.insert(word).second)
        words.push_back(word);
    });
    bool dividesConstant = false;
    op->getRegion(0).walk([&](arith::DivFOp division) {
      dividesConstant |= matchPattern(division.getLhs(), m_Constant());
    });
    StringRef function = getFunctionLabel(seen, dividesConstant);
    if (!function.empty())
      return function.str();
    if (words.empty())
      return isa<linalg::FillOp>(op) ? "fill" : getMoveLabel(linalgOp).str();
    // A conversion beside real work goes without saying.
    if (words.size() > 1)
      llvm::erase(words, "cast");
    if (words.size() > 3)
      words.resize(3);
    return llvm::join(words, "_");
  }
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case<tensor::PadOp>([](auto) { return "pad"; })
      .Case<tensor::ConcatOp>([](auto) { return "concat"; })
      .Case<tensor::ExtractSliceOp>([](auto) { return "slice"; })
      .Case<tensor::InsertSliceOp>([](auto) { return "insert"; })
      .Default(
          [](Operation *op) { return op->getName().stripDialect().str(); });
}
