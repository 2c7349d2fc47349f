//===- Edits.cpp - Ways to make a program smaller -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the edits of fusion-reduce on the IR.
//
//===----------------------------------------------------------------------===//

#include "Edits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Looking
//===----------------------------------------------------------------------===//

std::string fusion::printProgram(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().useLocalScope());
  return text + "\n";
}

static func::FuncOp getFunction(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && function.getBody().hasOneBlock())
      return function;
  return nullptr;
}

/// Whether an op only gives others what they start from.
static bool makesSpace(Operation &op) {
  return op.hasTrait<OpTrait::ConstantLike>() ||
         isa<tensor::EmptyOp, linalg::FillOp, tensor::DimOp>(op);
}

ProgramSize fusion::measure(ModuleOp module) {
  ProgramSize size = {};
  auto countElements = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return;
    uint64_t elements = 1;
    for (int64_t extent : tensor.getShape())
      elements *= ShapedType::isDynamic(extent) ? 64 : uint64_t(extent);
    size[4] += elements + tensor.getRank();
  };
  module.walk([&](Operation *op) {
    size[0] += !makesSpace(*op);
    ++size[1];
    for (Type type : op->getResultTypes())
      countElements(type);
  });
  for (auto function : module.getOps<func::FuncOp>()) {
    size[2] += function.getNumArguments();
    size[3] += function.getNumResults();
    for (Type type : function.getArgumentTypes())
      countElements(type);
  }
  size[5] = printProgram(module).size();
  return size;
}

/// Whether an op takes only the place, or the sizes, of an operand.
static bool leavesUnread(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.getMatchingBlockArgument(&use).use_empty();
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return isa<linalg::LinalgDialect>(op->getDialect()) &&
           destination.isDpsInit(&use);
  return isa<tensor::DimOp>(op);
}

unsigned fusion::countUninitialisedReads(ModuleOp module) {
  unsigned count = 0;
  module.walk([&](tensor::EmptyOp op) {
    for (OpOperand &use : op->getUses())
      count += !leavesUnread(use);
  });
  return count;
}

//===----------------------------------------------------------------------===//
// Removing what is not used
//===----------------------------------------------------------------------===//

void fusion::removeUnused(ModuleOp module) {
  func::FuncOp function = getFunction(module);
  if (!function)
    return;
  SmallVector<Operation *> ops;
  for (Operation &op : function.front().without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
  llvm::BitVector unused(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    if (argument.use_empty())
      unused.set(argument.getArgNumber());
  (void)function.eraseArguments(unused);
}

//===----------------------------------------------------------------------===//
// Edits of the function
//===----------------------------------------------------------------------===//

static bool eraseFunction(ModuleOp module, unsigned place) {
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  if (functions.size() < 2 || place >= functions.size())
    return false;
  functions[place].erase();
  return true;
}

static void eraseResults(func::FuncOp function, llvm::BitVector erased) {
  (void)function.eraseResults(erased);
  function.front().getTerminator()->eraseOperands(erased);
}

/// Keeps one result alone, or (behind those places) drops one.
static bool dropResults(ModuleOp module, unsigned place) {
  func::FuncOp function = getFunction(module);
  unsigned count = function ? function.getNumResults() : 0;
  if (count < 2 || place >= 2 * count)
    return false;
  llvm::BitVector erased(count, place < count);
  erased.flip(place % count);
  eraseResults(function, erased);
  return true;
}

/// Returns the result of some op in the place of the only result.
static bool returnEarlier(ModuleOp module, unsigned place) {
  func::FuncOp function = getFunction(module);
  if (!function || function.getNumResults() != 1)
    return false;
  unsigned at = 0;
  for (Operation &op : function.front().without_terminator())
    for (Value result : op.getResults())
      if (isa<RankedTensorType>(result.getType()) && !makesSpace(op) &&
          at++ == place) {
        function.front().getTerminator()->setOperand(0, result);
        function.setFunctionType(FunctionType::get(function.getContext(),
                                                   function.getArgumentTypes(),
                                                   result.getType()));
        return true;
      }
  return false;
}

unsigned fusion::countOps(ModuleOp module) {
  func::FuncOp function = getFunction(module);
  return function ? llvm::range_size(function.front().without_terminator()) : 0;
}

void fusion::cutOps(ModuleOp module, unsigned begin, unsigned end) {
  func::FuncOp function = getFunction(module);
  SmallVector<Operation *> ops;
  for (auto [i, op] : llvm::enumerate(function.front().without_terminator()))
    if (i >= begin && i < end && !makesSpace(op))
      ops.push_back(&op);
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (!result.use_empty() &&
          succeeded(function.insertArgument(
              function.getNumArguments(), result.getType(), {}, op->getLoc())))
        result.replaceAllUsesWith(
            function.getArgument(function.getNumArguments() - 1));
}

/// Takes one argument for another of its type.
static bool mergeArguments(ModuleOp module, unsigned place) {
  func::FuncOp function = getFunction(module);
  unsigned at = 0;
  for (BlockArgument from :
       function ? function.getArguments() : ArrayRef<BlockArgument>())
    for (BlockArgument to :
         function.getArguments().take_front(from.getArgNumber()))
      if (from.getType() == to.getType() && at++ == place) {
        from.replaceAllUsesWith(to);
        return true;
      }
  return false;
}

//===----------------------------------------------------------------------===//
// Edits of ops
//===----------------------------------------------------------------------===//

/// Takes an operand of an op, or an argument of its block, for its result.
static bool bypass(ModuleOp module, unsigned place) {
  unsigned at = 0;
  WalkResult walk = module.walk([&](Operation *op) {
    if (op->getNumResults() != 1 || isa<tensor::EmptyOp>(op))
      return WalkResult::advance();
    SmallVector<Value> others(op->getOperands());
    if (!isa<func::FuncOp>(op->getParentOp()))
      llvm::append_range(others, op->getBlock()->getArguments());
    for (Value other : others)
      if (other.getType() == op->getResult(0).getType() && at++ == place) {
        op->getResult(0).replaceAllUsesWith(other);
        op->erase();
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return walk.wasInterrupted();
}

/// Has two uses read one value: an operand becomes another of its op.
static bool repeatOperand(ModuleOp module, unsigned place) {
  unsigned at = 0;
  WalkResult walk = module.walk([&](Operation *op) {
    for (OpOperand &from : op->getOpOperands())
      for (Value to : op->getOperands().take_front(from.getOperandNumber()))
        if (from.get() != to && from.get().getType() == to.getType() &&
            at++ == place) {
          from.set(to);
          return WalkResult::interrupt();
        }
    return WalkResult::advance();
  });
  return walk.wasInterrupted();
}

/// Removes a discardable attribute of an op or an argument.
static bool dropAttribute(ModuleOp module, unsigned place) {
  unsigned at = 0;
  WalkResult walk = module.walk([&](Operation *op) {
    for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
      if (at++ == place) {
        op->removeDiscardableAttr(attribute.getName());
        return WalkResult::interrupt();
      }
    auto function = dyn_cast<func::FuncOp>(op);
    for (unsigned i = 0; function && i < function.getNumArguments(); ++i)
      for (NamedAttribute attribute :
           mlir::function_interface_impl::getArgAttrs(function, i))
        if (at++ == place) {
          function.removeArgAttr(i, attribute.getName());
          return WalkResult::interrupt();
        }
    return WalkResult::advance();
  });
  return walk.wasInterrupted();
}

/// Drops operands and results of linalg ops that their bodies do not use.
static bool tidyBodies(ModuleOp module, unsigned place) {
  if (place)
    return false;
  RewritePatternSet patterns(module.getContext());
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  GreedyRewriteConfig config;
  config.enableFolding(false).enableConstantCSE(false);
  (void)applyPatternsGreedily(module, std::move(patterns), config);
  module.walk([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
  return true;
}

ArrayRef<EditKind> fusion::getEditKinds() {
  static const EditKind kinds[] = {
      {"erase a function", eraseFunction},
      {"drop results", dropResults},
      {"return an earlier value", returnEarlier},
      {"bypass an op", bypass},
      {"tidy bodies", tidyBodies},
      {"repeat an operand", repeatOperand},
      {"merge arguments", mergeArguments},
      {"drop an attribute", dropAttribute},
  };
  return kinds;
}
