//===- CompiledFunction.cpp - Expanded math on the host -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the compilation of a function whose math is expanded as
// for a GPU, to code that the host runs.
//
//===----------------------------------------------------------------------===//

#include "CompiledFunction.h"

#include "ApproximateInstructions.h"

#include "fusion/Conversion/MathExpansion/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <cstdio>
#include <cstdlib>

using namespace llvm;

struct CompiledFunction::State {
  std::unique_ptr<orc::LLJIT> jit;
};

[[noreturn]] static void fail(const Twine &text) {
  std::fprintf(stderr, "%s\n", text.str().c_str());
  std::abort();
}

template <typename T>
static T check(Expected<T> value) {
  if (!value)
    fail(toString(value.takeError()));
  return std::move(*value);
}

/// LLVM IR of `text` with its math expanded.
static std::unique_ptr<Module> lower(StringRef text, bool fast,
                                     LLVMContext &context) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, mlir::arith::ArithDialect,
                  mlir::math::MathDialect, mlir::LLVM::LLVMDialect,
                  mlir::vector::VectorDialect, mlir::scf::SCFDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::MLIRContext mlirContext(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &mlirContext);
  if (!module)
    fail("cannot parse: " + text);
  mlir::PassManager passes(&mlirContext);
  mlir::fusion::ExpandMathPassOptions options;
  options.fast = fast;
  passes.addPass(mlir::fusion::createExpandMathPass(options));
  passes.addPass(mlir::createSCFToControlFlowPass());
  passes.addPass(mlir::createConvertVectorToLLVMPass());
  passes.addPass(mlir::createArithToLLVMConversionPass());
  passes.addPass(mlir::createConvertControlFlowToLLVMPass());
  passes.addPass(mlir::createConvertFuncToLLVMPass());
  passes.addPass(mlir::createReconcileUnrealizedCastsPass());
  if (mlir::failed(passes.run(*module)))
    fail("cannot lower: " + text);
  return mlir::translateModuleToLLVMIR(*module, context);
}

CompiledFunction::CompiledFunction(StringRef text, bool fast)
    : state(std::make_unique<State>()) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  auto context = std::make_unique<LLVMContext>();
  std::unique_ptr<Module> module = lower(text, fast, *context);
  for (const HostFunction &function : hostFunctions())
    if (Function *intrinsic = module->getFunction(function.intrinsic))
      intrinsic->setName(function.symbol);

  // No CPU with bf16 conversions: x86's flush subnormals.
  auto machine = check(orc::JITTargetMachineBuilder::detectHost());
  machine.setCodeGenOptLevel(CodeGenOptLevel::Default);
  if (machine.getTargetTriple().isX86() &&
      sys::getHostCPUFeatures().lookup("avx2"))
    machine = orc::JITTargetMachineBuilder(machine.getTargetTriple())
                  .setCPU("x86-64-v3");
  state->jit = check(orc::LLJITBuilder()
                         .setJITTargetMachineBuilder(std::move(machine))
                         .create());
  orc::SymbolMap symbols;
  for (const HostFunction &function : hostFunctions())
    symbols[state->jit->mangleAndIntern(function.symbol)] = {
        orc::ExecutorAddr::fromPtr(function.address),
        JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  orc::JITDylib &library = state->jit->getMainJITDylib();
  if (Error error = library.define(orc::absoluteSymbols(std::move(symbols))))
    fail(toString(std::move(error)));
  module->setDataLayout(state->jit->getDataLayout());
  if (Error error = state->jit->addIRModule(
          orc::ThreadSafeModule(std::move(module), std::move(context))))
    fail(toString(std::move(error)));
  address = check(state->jit->lookup("f")).toPtr<void *>();
}

CompiledFunction::~CompiledFunction() = default;
