//===- AcceptFunctions.cpp - Functions that are taken or left -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the trial of each function of a module by itself. A
// phase fails as a whole, and leaves the IR somewhere in between: a copy goes
// through it, and takes the function's place if it comes out.
//
//===----------------------------------------------------------------------===//

#include "fusion/Pipelines/AcceptFunctions.h"
#include "fusion/Pipelines/Compiler.h"
#include "fusion/Pipelines/Passes.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_ACCEPTFUNCTIONSPASS
#include "fusion/Pipelines/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// One function
//===----------------------------------------------------------------------===//

/// Adds to `used` the symbols of `table` that `op` names, and what these name.
static void addUsedSymbols(Operation *op, const SymbolTable &table,
                           llvm::SetVector<Operation *> &used) {
  std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(op);
  if (!uses)
    return;
  for (const SymbolTable::SymbolUse &use : *uses) {
    Operation *symbol = table.lookup(use.getSymbolRef().getRootReference());
    if (symbol && used.insert(symbol))
      addUsedSymbols(symbol, table, used);
  }
}

OwningOpRef<ModuleOp> fusion::isolateFunction(func::FuncOp func) {
  auto module = func->getParentOfType<ModuleOp>();
  llvm::SetVector<Operation *> used;
  used.insert(func);
  addUsedSymbols(func, SymbolTable(module), used);
  OwningOpRef<ModuleOp> program = ModuleOp::create(module.getLoc());
  for (NamedAttribute attribute : module->getDiscardableAttrs())
    program.get()->setDiscardableAttr(attribute.getName(),
                                      attribute.getValue());
  for (Operation *symbol : used) {
    Operation *copy = symbol->clone();
    if (copy->getNumRegions() != 0 && isa<func::FuncOp>(copy))
      SymbolTable::setSymbolVisibility(
          copy, symbol == func ? SymbolTable::Visibility::Public
                               : SymbolTable::Visibility::Private);
    program->push_back(copy);
  }
  return program;
}

LogicalResult
fusion::collectDiagnostics(MLIRContext *context, std::vector<Diagnostic> &said,
                           function_ref<LogicalResult()> callback) {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    said.push_back(std::move(diagnostic));
  });
  return callback();
}

LogicalResult fusion::tryFunction(func::FuncOp func,
                                  const PipelineBuilder &build,
                                  OwningOpRef<ModuleOp> &program,
                                  std::vector<Diagnostic> &said) {
  program = isolateFunction(func);
  return collectDiagnostics(func.getContext(), said, [&] {
    PassManager manager(func.getContext(), ModuleOp::getOperationName());
    build(manager);
    return manager.run(*program);
  });
}

/// Says `error` again, with `severity`, and that it is about `func`.
static void repeatError(Diagnostic &error, func::FuncOp func,
                        DiagnosticSeverity severity) {
  std::string text = error.str();
  if (!findErrorNumber(text))
    text = formatError(ErrorCode::CompileFailed, text);
  InFlightDiagnostic again =
      func.getContext()->getDiagEngine().emit(error.getLocation(), severity);
  again << text;
  for (Diagnostic &note : error.getNotes()) {
    // What was printed is a copy that is gone.
    std::string noted = note.str();
    if (!StringRef(noted).starts_with("see current operation"))
      again.attachNote(note.getLocation()) << noted;
  }
  again.attachNote(func.getLoc())
      << "'" << func.getName() << "' is not compiled";
}

void fusion::reportTrial(func::FuncOp func, std::vector<Diagnostic> &said,
                         bool isRefused, DiagnosticSeverity severity) {
  bool hasError = false;
  for (Diagnostic &diagnostic : said) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error) {
      func.getContext()->getDiagEngine().emit(std::move(diagnostic));
      continue;
    }
    hasError = true;
    repeatError(diagnostic, func, severity);
  }
  if (!isRefused || hasError)
    return;
  Diagnostic silent(func.getLoc(), DiagnosticSeverity::Error);
  silent << "a phase failed without a reason";
  repeatError(silent, func, severity);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Functions of `module` with a body: those that may be called from outside
/// first.
static SmallVector<func::FuncOp> getCandidates(ModuleOp module) {
  SmallVector<func::FuncOp> candidates;
  for (bool isPublic : {true, false})
    for (auto func : module.getOps<func::FuncOp>())
      if (!func.isExternal() && func.isPublic() == isPublic)
        candidates.push_back(func);
  return candidates;
}

/// Puts what became of `func` in its place, with all that came beside it and
/// what is said of the module, its target.
static void replaceFunction(func::FuncOp func, ModuleOp program) {
  auto module = func->getParentOfType<ModuleOp>();
  SymbolTable symbols(module), own(program);
  auto result = own.lookup<func::FuncOp>(func.getName());
  result.setVisibility(func.getVisibility());
  for (Operation &op :
       llvm::make_early_inc_range(program.getBody()->getOperations())) {
    if (&op == result || !isa<SymbolOpInterface>(op))
      continue;
    if (symbols.lookup(SymbolTable::getSymbolName(&op)))
      (void)own.renameToUnique(&op, {&symbols});
    op.moveBefore(func);
  }
  result->moveBefore(func);
  for (NamedAttribute attribute : program->getDiscardableAttrs())
    module->setDiscardableAttr(attribute.getName(), attribute.getValue());
  func.erase();
}

void fusion::acceptFunctions(ModuleOp module, const PipelineBuilder &build) {
  // Callees that have been inlined where they were accepted.
  llvm::StringSet<> inlined;
  for (func::FuncOp func : getCandidates(module)) {
    bool isUnused =
        func.isPrivate() && SymbolTable::symbolKnownUseEmpty(func, module);
    if (isUnused && inlined.contains(func.getName()))
      func.erase();
    if (isUnused)
      continue;
    llvm::SetVector<Operation *> used;
    addUsedSymbols(func, SymbolTable(module), used);
    OwningOpRef<ModuleOp> program;
    std::vector<Diagnostic> said;
    bool isRefused = failed(tryFunction(func, build, program, said));
    reportTrial(func, said, isRefused, DiagnosticSeverity::Remark);
    if (isRefused)
      continue;
    for (Operation *symbol : used)
      inlined.insert(SymbolTable::getSymbolName(symbol));
    replaceFunction(func, *program);
  }
}

LogicalResult fusion::dropRefused(ModuleOp module, const PipelineBuilder &build,
                                  std::vector<std::string> &refused) {
  SymbolTable symbols(module);
  llvm::SetVector<Operation *> taken;
  std::vector<std::pair<func::FuncOp, std::vector<Diagnostic>>> left;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal() || !func.isPublic())
      continue;
    OwningOpRef<ModuleOp> program;
    std::vector<Diagnostic> said;
    if (failed(tryFunction(func, build, program, said))) {
      left.emplace_back(func, std::move(said));
      continue;
    }
    // What else was said is said again.
    taken.insert(func);
    addUsedSymbols(func, symbols, taken);
  }
  bool isNothing = taken.empty() && !left.empty();
  for (auto &[func, said] : left) {
    refused.push_back(func.getName().str());
    reportTrial(func, said, /*isRefused=*/true,
                isNothing ? DiagnosticSeverity::Error
                          : DiagnosticSeverity::Warning);
    // Others may call it all the same.
    func.setPrivate();
  }
  if (isNothing)
    return failure();
  for (Operation &op : llvm::make_early_inc_range(
           llvm::reverse(module.getBody()->getOperations())))
    if (!taken.contains(&op))
      op.erase();
  return success();
}

namespace {
class AcceptFunctionsPass
    : public fusion::impl::AcceptFunctionsPassBase<AcceptFunctionsPass> {
public:
  using Base::Base;
  explicit AcceptFunctionsPass(PipelineBuilder build)
      : build(std::move(build)) {}

  /// Those of any pipeline.
  void getDependentDialects(DialectRegistry &registry) const override {
    registerAllForTools(registry);
  }

  LogicalResult initialize(MLIRContext *context) override {
    if (build)
      return success();
    std::string cause;
    llvm::raw_string_ostream os(cause);
    OpPassManager parsed(ModuleOp::getOperationName());
    if (failed(parsePassPipeline(pipeline, parsed, os)))
      return emitCodedError(UnknownLoc::get(context), ErrorCode::BadCommandLine,
                            "'" + pipeline + "' is no pipeline of modules: " +
                                StringRef(cause).trim());
    // Pass managers are built anew for each function.
    build = [text = std::string(pipeline)](OpPassManager &manager) {
      (void)parsePassPipeline(text, manager);
    };
    return success();
  }

  void runOnOperation() override { acceptFunctions(getOperation(), build); }

private:
  PipelineBuilder build;
};
} // namespace

std::unique_ptr<Pass> fusion::createAcceptFunctionsPass(PipelineBuilder build) {
  return std::make_unique<AcceptFunctionsPass>(std::move(build));
}
