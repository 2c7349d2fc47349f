//===- FusionToHost.cpp - Host code that launches kernels -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the compilation of the functions of a module that are to
// be offloaded, in a module of their own, and what is left of them.
//
//===----------------------------------------------------------------------===//

#include "HostBody.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Executable/Package.h"
#include "fusion/HostLowering/Passes.h"
#include "fusion/Pipelines/AcceptFunctions.h"
#include "fusion/Pipelines/Compiler.h"
#include "fusion/Pipelines/Phases.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_FUSIONTOHOSTPASS
#include "fusion/HostLowering/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

namespace {
enum class Form { Runtime, Gpu };

class HostCompiler {
public:
  HostCompiler(ModuleOp module, Form form, HostMemory memory, bool partial,
               const CompileOptions &options)
      : module(module), form(form), memory(memory), partial(partial),
        options(options) {}

  LogicalResult run();

private:
  LogicalResult checkFunction(func::FuncOp func);
  /// Whether `func` can be compiled; if not, says why by remarks.
  bool accepts(func::FuncOp func);
  /// Finds the functions to compile.
  LogicalResult findFunctions();
  OwningOpRef<ModuleOp> createProgram();
  LogicalResult addCallees(Operation *root, SymbolTable &program);
  LogicalResult writeBodies(StringRef bytes);

  ModuleOp module;
  Form form;
  HostMemory memory;
  bool partial;
  const CompileOptions &options;
  SmallVector<func::FuncOp> functions;
  /// Functions of tensors for those of `functions` that are of memrefs.
  OwningOpRef<ModuleOp> kernels;
};
} // namespace

LogicalResult HostCompiler::checkFunction(func::FuncOp func) {
  auto refuse = [&](const Twine &cause) {
    return emitCodedError(func.getLoc(), ErrorCode::OffloadFunction,
                          "'" + func.getName() + "' " + cause);
  };
  if (func.isExternal())
    return refuse("has no body");
  auto isTensor = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.getEncoding();
  };
  for (Type type : func.getArgumentTypes())
    if (!isTensor(type) && !type.isIntOrIndexOrFloat())
      return refuse("takes a value of type " +
                    llvm::formatv("{0}", type).str());
  for (Type type : func.getResultTypes())
    if (!isTensor(type))
      return refuse("gives a value of type " +
                    llvm::formatv("{0}", type).str());
  // Memrefs have a byte for each, packages one for two.
  for (Type type :
       llvm::concat<const Type>(func.getArgumentTypes(), func.getResultTypes()))
    if (getElementTypeOrSelf(type).isInteger(4))
      return refuse("takes or gives elements of 4 bits");
  return success();
}

/// Copies what `root` calls, and what that calls.
LogicalResult HostCompiler::addCallees(Operation *root, SymbolTable &program) {
  WalkResult result = root->walk([&](func::CallOp call) {
    if (program.lookup(call.getCallee()))
      return WalkResult::advance();
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (!callee)
      return WalkResult::advance();
    Operation *copy = callee->clone();
    copy->removeAttr(FusionDialect::kOffloadAttrName);
    SymbolTable::setSymbolVisibility(copy, SymbolTable::Visibility::Private);
    program.insert(copy);
    return failed(addCallees(copy, program)) ? WalkResult::interrupt()
                                             : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// A module of the functions alone.
OwningOpRef<ModuleOp> HostCompiler::createProgram() {
  OwningOpRef<ModuleOp> program = ModuleOp::create(module.getLoc());
  if (Attribute target = module->getAttr(FusionDialect::kTargetAttrName))
    program.get()->setAttr(FusionDialect::kTargetAttrName, target);
  SymbolTable symbols(*program);
  for (func::FuncOp func : functions) {
    auto kernel = kernels->lookupSymbol<func::FuncOp>(func.getName());
    func::FuncOp copy = kernel ? kernel.clone() : func.clone();
    copy->removeAttr(FusionDialect::kOffloadAttrName);
    copy.setPublic();
    symbols.insert(copy);
  }
  for (auto func : llvm::to_vector(program->getOps<func::FuncOp>()))
    if (failed(addCallees(func, symbols)))
      return nullptr;
  return program;
}

LogicalResult HostCompiler::writeBodies(StringRef bytes) {
  fusionpkg::Result<fusionpkg::PackageModel> model =
      fusionpkg::readPackage(bytes.data(), bytes.size());
  if (!model)
    return module.emitError(model.getError().str());
  if (form == Form::Gpu)
    addKernelBinaries(module, *model);
  for (func::FuncOp func : functions) {
    auto entry =
        llvm::find_if(model->entries, [&](const fusionpkg::Entry &entry) {
          return entry.name == func.getName();
        });
    func->removeAttr(FusionDialect::kOffloadAttrName);
    LogicalResult written = form == Form::Gpu
                                ? writeGpuLaunches(func, *entry, *model, memory)
                                : writeRuntimeCall(func, *entry, bytes, memory);
    if (failed(written))
      return failure();
  }
  return success();
}

bool HostCompiler::accepts(func::FuncOp func) {
  PhaseOptions phaseOptions;
  phaseOptions.target = options.target;
  phaseOptions.fastNumerics = options.fastNumerics;
  auto build = [&](OpPassManager &manager) {
    buildPhases(Phase::Input, Phase::Schedule, manager, phaseOptions);
  };
  std::vector<Diagnostic> said;
  OwningOpRef<ModuleOp> program;
  LogicalResult taken = collectDiagnostics(module.getContext(), said,
                                           [&] { return checkFunction(func); });
  func->removeAttr(FusionDialect::kOffloadAttrName);
  if (succeeded(taken))
    taken = tryFunction(func, build, program, said);
  // Other diagnostics of what is taken come when it is compiled.
  if (failed(taken))
    reportTrial(func, said, /*isRefused=*/true, DiagnosticSeverity::Remark);
  return succeeded(taken);
}

LogicalResult HostCompiler::findFunctions() {
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func->hasAttr(FusionDialect::kOffloadAttrName))
      continue;
    if (partial && !accepts(func))
      continue;
    if (!partial && failed(checkFunction(func)))
      return failure();
    functions.push_back(func);
  }
  return success();
}

/// Removes attributes of the dialect, which nothing reads any more, from a
/// module that has no ops of it: whoever goes on with it need not know them.
static void dropAttributes(ModuleOp module) {
  auto isOurs = [](NamedAttribute attribute) {
    return isa_and_present<FusionDialect>(attribute.getNameDialect());
  };
  bool isUsed = module
                    .walk([&](Operation *op) {
                      return isa_and_present<FusionDialect>(op->getDialect())
                                 ? WalkResult::interrupt()
                                 : WalkResult::advance();
                    })
                    .wasInterrupted();
  if (isUsed)
    return;
  auto dropFrom = [&](Operation *op) {
    for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
      if (isOurs(attribute))
        op->removeDiscardableAttr(attribute.getName());
  };
  dropFrom(module);
  for (auto func : module.getOps<FunctionOpInterface>()) {
    dropFrom(func);
    for (unsigned index = 0; index < func.getNumArguments(); ++index)
      for (NamedAttribute attribute : llvm::to_vector(func.getArgAttrs(index)))
        if (isOurs(attribute))
          func.removeArgAttr(index, attribute.getName());
  }
}

LogicalResult HostCompiler::run() {
  if (failed(findFunctions()))
    return failure();
  kernels = ModuleOp::create(module.getLoc());
  llvm::append_range(functions, outlineBufferKernels(module, *kernels));
  if (functions.empty())
    return success();
  OwningOpRef<ModuleOp> program = createProgram();
  if (!program)
    return failure();
  FailureOr<std::string> bytes = compileToPackage(*program, options, nullptr);
  if (failed(bytes) || failed(writeBodies(*bytes)))
    return failure();
  dropAttributes(module);
  return success();
}

namespace {
struct FusionToHostPass
    : public fusion::impl::FusionToHostPassBase<FusionToHostPass> {
  using Base::Base;

  /// The compiler's own, and those of host code.
  void getDependentDialects(DialectRegistry &registry) const override {
    registerAllForTools(registry);
    registry
        .insert<bufferization::BufferizationDialect, cf::ControlFlowDialect,
                gpu::GPUDialect, LLVM::LLVMDialect, memref::MemRefDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto refuse = [&](const Twine &option, StringRef value) {
      emitCodedError(module.getLoc(), ErrorCode::HostOption,
                     option + " '" + value + "' is not known");
      signalPassFailure();
    };
    if (form != "runtime" && form != "gpu")
      return refuse("form", form);
    if (memory != "host" && memory != "device")
      return refuse("memory", memory);
    CompileOptions options;
    options.target = target;
    options.fastNumerics = fastNumerics;
    if (failed(outlineOffloads(module, findAll)) ||
        failed(HostCompiler(module, form == "gpu" ? Form::Gpu : Form::Runtime,
                            memory == "host" ? HostMemory::Host
                                             : HostMemory::Device,
                            partial || findAll, options)
                   .run()))
      signalPassFailure();
  }
};
} // namespace
