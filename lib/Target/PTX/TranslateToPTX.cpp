//===- TranslateToPTX.cpp - LLVM dialect to PTX text ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the translation of a module in the LLVM dialect to PTX
// text through LLVM's NVPTX backend.
//
//===----------------------------------------------------------------------===//

#include "fusion/Target/PTX/TranslateToPTX.h"

#include "LineTables.h"
#include "Selectable.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

// The entry points of the one LLVM target this file uses.
extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

using namespace mlir;
using namespace mlir::fusion;

static constexpr StringLiteral nvptxTriple = "nvptx64-nvidia-cuda";

/// The NVPTX target, registered on first use.
static const llvm::Target *getNVPTXTarget(std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  return llvm::TargetRegistry::lookupTarget(llvm::Triple(nvptxTriple), error);
}

namespace {
/// Turns errors of LLVM's backend into MLIR diagnostics.
class BackendDiagnostics final : public llvm::DiagnosticHandler {
public:
  BackendDiagnostics(Operation *module, bool &sawError)
      : module(module), sawError(sawError) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    sawError = true;
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    module->emitError() << "FUS-0703: LLVM's NVPTX backend refused the "
                           "module: "
                        << text
                        << "; this is a defect of the lowering, please report "
                           "it with this module";
    return true;
  }

private:
  Operation *module;
  bool &sawError;
};
} // namespace

/// The least version that knows what the module uses beyond the default
/// versions of the sm_90 chips: products of 8-bit floats by mma.sync, stores
/// that count at a barrier of another block.
static unsigned getNeededVersion(Operation *module) {
  unsigned version = 0;
  module->walk([&](Operation *op) {
    if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op)) {
      StringRef name = call.getIntrin();
      if (name.starts_with("llvm.nvvm.mma.") &&
          (name.contains("e4m3") || name.contains("e5m2")))
        version = std::max(version, 84u);
    } else if (auto text = dyn_cast<LLVM::InlineAsmOp>(op)) {
      if (text.getAsmString().starts_with("st.async"))
        version = std::max(version, 81u);
    }
  });
  return version;
}

/// The version to write for `chip`, or failure with a diagnostic when the one
/// asked for cannot name the chip.
static FailureOr<unsigned>
choosePTXVersion(Operation *module, const PTXChip &chip, unsigned requested) {
  if (requested == 0)
    return std::max(chip.defaultVersion, getNeededVersion(module));
  static constexpr unsigned known[] = {70, 71, 72, 73, 74, 75, 76, 77, 78, 80,
                                       81, 82, 83, 84, 85, 86, 87, 88, 90};
  if (!llvm::is_contained(known, requested))
    return module->emitError()
           << "FUS-0702: unknown PTX version " << requested / 10 << "."
           << requested % 10 << "; use 7.0 to 7.8, 8.0 to 8.8 or 9.0";
  if (requested < chip.minVersion)
    return module->emitError() << "FUS-0702: PTX version " << requested / 10
                               << "." << requested % 10 << " does not know "
                               << chip.name << "; use " << chip.minVersion / 10
                               << "." << chip.minVersion % 10 << " or later";
  return requested;
}

/// The target machine for `options`, or null with a diagnostic on `module`.
static std::unique_ptr<llvm::TargetMachine>
createTargetMachine(Operation *module, const PTXOptions &options) {
  const PTXChip *chip = lookupPTXChip(options.chip);
  if (!chip) {
    InFlightDiagnostic diag = module->emitError()
                              << "FUS-0701: unknown chip '" << options.chip
                              << "'; use one of ";
    llvm::interleaveComma(getPTXChips(), diag,
                          [&](const PTXChip &entry) { diag << entry.name; });
    return nullptr;
  }
  FailureOr<unsigned> version =
      choosePTXVersion(module, *chip, options.ptxVersion);
  if (failed(version))
    return nullptr;

  std::string error;
  const llvm::Target *target = getNVPTXTarget(error);
  if (!target) {
    module->emitError() << "FUS-0704: this LLVM has no NVPTX target (" << error
                        << "); build with one that has";
    return nullptr;
  }
  llvm::TargetOptions targetOptions;
  targetOptions.MCOptions.AsmVerbose = false;
  auto level = static_cast<llvm::CodeGenOptLevel>(
      std::min<unsigned>(options.optLevel, 3));
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      llvm::Triple(nvptxTriple), options.chip, ("+ptx" + Twine(*version)).str(),
      targetOptions, std::nullopt, std::nullopt, level));
}

/// Runs LLVM's middle end over `llvmModule`.
static void optimize(llvm::Module &llvmModule, llvm::TargetMachine &machine,
                     unsigned optLevel) {
  llvm::PipelineTuningOptions tuning;
  // Kernels arrive vectorised; what these would add are packed half operations
  // in an order that differs from the one the program states.
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  llvm::LoopAnalysisManager loopAnalyses;
  llvm::FunctionAnalysisManager functionAnalyses;
  llvm::CGSCCAnalysisManager cgsccAnalyses;
  llvm::ModuleAnalysisManager moduleAnalyses;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(moduleAnalyses);
  builder.registerCGSCCAnalyses(cgsccAnalyses);
  builder.registerFunctionAnalyses(functionAnalyses);
  builder.registerLoopAnalyses(loopAnalyses);
  builder.crossRegisterProxies(loopAnalyses, functionAnalyses, cgsccAnalyses,
                               moduleAnalyses);
  llvm::OptimizationLevel level = llvm::OptimizationLevel::O3;
  if (optLevel == 0)
    level = llvm::OptimizationLevel::O0;
  else if (optLevel == 1)
    level = llvm::OptimizationLevel::O1;
  else if (optLevel == 2)
    level = llvm::OptimizationLevel::O2;
  llvm::ModulePassManager passes =
      optLevel == 0 ? builder.buildO0DefaultPipeline(level)
                    : builder.buildPerModuleDefaultPipeline(level);
  passes.run(llvmModule, moduleAnalyses);
}

/// Keeps the instructions of products of warpgroups where they are. Two
/// branches that begin with the same ones would else have them before the
/// branch, which then lies between products and the wait for them: ptxas runs
/// these one after the other (C7514).
static void keepProducts(llvm::Module &llvmModule) {
  for (llvm::Function &function : llvmModule)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      auto *text =
          call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand())
               : nullptr;
      if (text && StringRef(text->getAsmString()).contains("wgmma."))
        call->addFnAttr(llvm::Attribute::NoMerge);
    }
}

/// `text` without the empty debug section that the backend writes next to line
/// tables: it says nothing, and readers of PTX need not know sections.
static std::string dropEmptySections(StringRef text) {
  static constexpr StringLiteral section = "\t.section\t.debug_macinfo\t{\t}\n";
  size_t at = text.find(section);
  if (at == StringRef::npos)
    return text.str();
  return (text.take_front(at) + text.drop_front(at + section.size())).str();
}

void mlir::fusion::registerPTXTranslations(DialectRegistry &registry) {
  registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

FailureOr<std::string> mlir::fusion::translateToPTX(Operation *module,
                                                    const PTXOptions &options) {
  std::unique_ptr<llvm::TargetMachine> machine =
      createTargetMachine(module, options);
  if (!machine)
    return failure();

  // The backend ends the process on an instruction that it cannot select, so
  // what it cannot select must not reach it.
  if (failed(checkSelectable(module)))
    return failure();

  OwningOpRef<Operation *> copy = module->clone();
  if (options.lineInfo)
    attachLineTables(*copy);
  else
    stripLineTables(*copy);

  bool sawError = false;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(
      std::make_unique<BackendDiagnostics>(module, sawError));
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(*copy, context, "fusion");
  if (!llvmModule)
    return module->emitError()
           << "FUS-0703: the module could not be written as LLVM IR; this is "
              "a "
              "defect of the lowering, please report it with this module";
  llvmModule->setTargetTriple(machine->getTargetTriple());
  llvmModule->setDataLayout(machine->createDataLayout());
  keepProducts(*llvmModule);
  optimize(*llvmModule, *machine, options.optLevel);
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile))
    return module->emitError()
           << "FUS-0704: this LLVM's NVPTX target cannot write text; build "
              "with one that can";
  codegen.run(*llvmModule);
  if (sawError)
    return failure();
  return dropEmptySections(StringRef(text.data(), text.size()));
}
