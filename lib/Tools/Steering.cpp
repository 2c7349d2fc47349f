//===- Steering.cpp - Fusions asked for by name ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements contracts on ops that options name.
//
//===----------------------------------------------------------------------===//

#include "fusion/Tools/Steering.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Report/Question.h"
#include "fusion/Support/ErrorCodes.h"
#include "fusion/Support/OpSources.h"
#include "fusion/Tools/ToolSupport.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// An op that a name can mean.
struct Candidate {
  Operation *op;
  ExplainedOperation called;
};
} // namespace

/// What reports call `op`.
static std::string getLabel(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return op->getName().stripDialect().str();
  if (linalg::isaContractionOpInterface(linalgOp) ||
      linalg::isaConvolutionOpInterface(linalgOp))
    return getOpLabel(op, NodeKind::Contraction);
  return getOpLabel(op, linalgOp.getNumReductionLoops() ? NodeKind::Reduction
                                                        : NodeKind::Pointwise);
}

/// The part of `text` up to the place `place` of it, both from 1 on.
static StringRef takeUntil(StringRef text, FileLineColLoc place) {
  size_t at = 0;
  for (unsigned line = 1; line < place.getLine(); ++line)
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  return text.take_front(at + place.getColumn() - 1);
}

/// Adds "%a" and "%b" of "%a, %b = " before the place of `op`, if that is one
/// of the text that was loaded.
static void addResultNames(Operation *op, const llvm::SourceMgr &sourceMgr,
                           std::vector<std::string> &names) {
  StringRef text = getProgramText(sourceMgr);
  StringRef file = sourceMgr.getMemoryBuffer(sourceMgr.getMainFileID())
                       ->getBufferIdentifier();
  auto place = dyn_cast<FileLineColLoc>(op->getLoc());
  if (!place || text.empty() || place.getFilename() != file)
    return;
  StringRef before = takeUntil(text, place).rtrim();
  if (!before.consume_back("="))
    return;
  before = before.substr(before.rfind('\n') + 1);
  for (StringRef part : llvm::split(before, ',')) {
    // "%a:2" has two results.
    StringRef name = part.trim().split(':').first;
    if (name.starts_with("%"))
      names.push_back(name.str());
  }
}

/// True for ops that contracts are about: they compute a tensor.
static bool isCandidate(Operation *op) {
  return llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>) &&
         !isa<tensor::EmptyOp>(op) && !matchPattern(op, m_Constant());
}

static std::vector<Candidate> findCandidates(ModuleOp module,
                                             const llvm::SourceMgr &sourceMgr) {
  std::vector<Candidate> candidates;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<FunctionOpInterface, ModuleOp>(op))
      return WalkResult::advance();
    if (isCandidate(op)) {
      OpSources sources = getOpSources(op->getLoc());
      Candidate &candidate =
          candidates.emplace_back(Candidate{op, {getLabel(op), {}, {}}});
      candidate.called.sources = std::move(sources.places);
      candidate.called.names = std::move(sources.names);
      candidate.called.names.push_back(op->getName().getStringRef().str());
      addResultNames(op, sourceMgr, candidate.called.names);
    }
    // Contracts are about whole ops, not about what these have inside.
    return WalkResult::skip();
  });
  return candidates;
}

/// "matmul:17 (%sum)".
static std::string describe(const Candidate &candidate) {
  const ExplainedOperation &called = candidate.called;
  std::string text = called.label;
  if (!called.sources.empty())
    text += ":" + StringRef(called.sources.front()).rsplit(':').second.str();
  for (StringRef name : called.names)
    if (name != candidate.op->getName().getStringRef())
      return text + " (" + name.str() + ")";
  return text;
}

/// The op called `name`; null with an error text with a code.
static Operation *findOperation(ArrayRef<Candidate> candidates, StringRef name,
                                StringRef option, std::string &error) {
  SmallVector<const Candidate *> found;
  for (const Candidate &candidate : candidates)
    if (isCalled(candidate.called, name))
      found.push_back(&candidate);
  if (found.size() == 1)
    return found.front()->op;
  constexpr size_t kMostListed = 12;
  bool isUnknown = found.empty();
  if (isUnknown)
    for (const Candidate &candidate : candidates)
      found.push_back(&candidate);
  SmallVector<std::string> listed;
  for (const Candidate *candidate : ArrayRef(found).take_front(kMostListed))
    listed.push_back(describe(*candidate));
  if (found.size() > kMostListed)
    listed.push_back(std::to_string(found.size() - kMostListed) + " more");
  error =
      formatError(ErrorCode::NoSuchOperation,
                  option +
                      (isUnknown ? ": no operation is called '"
                                 : ": several operations are called '") +
                      name + "': " + (listed.empty() ? "there is none" : "") +
                      llvm::join(listed, ", "));
  return nullptr;
}

std::string fusion::steer(ModuleOp module, const llvm::SourceMgr &sourceMgr,
                          const SteeringOptions &options) {
  std::vector<Candidate> candidates = findCandidates(module, sourceMgr);
  const std::pair<StringRef, ArrayRef<std::string>> lists[] = {
      {FusionDialect::kMustAttrName, options.must},
      {FusionDialect::kNeverAttrName, options.never}};
  std::vector<std::pair<Operation *, StringRef>> asked;
  for (auto [attribute, names] : lists)
    for (StringRef name : names) {
      std::string error;
      std::string option = "--" + attribute.rsplit('.').second.str();
      Operation *op = findOperation(candidates, name, option, error);
      if (!op)
        return error;
      StringRef other = attribute == FusionDialect::kMustAttrName
                            ? FusionDialect::kNeverAttrName
                            : FusionDialect::kMustAttrName;
      if (op->hasAttr(other) || llvm::is_contained(asked, std::pair(op, other)))
        return formatError(ErrorCode::BadCommandLine,
                           option + "=" + name + ": the operation has " +
                               other + " too, which excludes it",
                           "ask for one of them");
      asked.emplace_back(op, attribute);
    }
  Builder builder(module.getContext());
  for (auto [op, attribute] : asked)
    op->setAttr(attribute, builder.getUnitAttr());
  if (options.maxKernels)
    for (auto function : module.getOps<FunctionOpInterface>())
      if (function.isPublic() && !function.isExternal())
        function->setAttr(FusionDialect::kMaxKernelsAttrName,
                          builder.getI64IntegerAttr(options.maxKernels));
  return "";
}
