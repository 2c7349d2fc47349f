//===- EmitPTX.cpp - Pass that writes PTX -----------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that writes each gpu.module as PTX text.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Target/PTX/PTXResourceInfo.h"
#include "fusion/Target/PTX/Passes.h"
#include "fusion/Target/PTX/TranslateToPTX.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

namespace mlir::fusion {
#define GEN_PASS_DEF_EMITPTXPASS
#include "fusion/Target/PTX/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

/// Writes one comment line a kernel.
static void printResources(llvm::raw_ostream &os, const PTXResourceInfo &info) {
  for (const PTXKernelResources &kernel : info.kernels) {
    os << "// resources " << kernel.name << ": registers " << kernel.registers
       << ", stack " << kernel.stackBytes << ", spill stores "
       << kernel.spillStoreBytes << ", spill loads " << kernel.spillLoadBytes
       << ", shared " << kernel.staticSharedBytes << ", barriers "
       << kernel.barriers << "\n";
    for (const std::string &advisory : kernel.advisories)
      os << "// advisory " << kernel.name << ": " << advisory << "\n";
  }
  for (const std::string &advisory : info.advisories)
    os << "// advisory: " << advisory << "\n";
}

namespace {
struct EmitPTX final : fusion::impl::EmitPTXPassBase<EmitPTX> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerPTXTranslations(registry);
  }

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    PTXOptions options;
    std::string chip = this->chip;
    if (chip.empty()) {
      FailureOr<TargetInfo> target = resolveTarget(module);
      if (failed(target))
        return signalPassFailure();
      chip = target->name.str();
    }
    options.chip = chip;
    options.ptxVersion = ptxVersion;
    options.optLevel = optLevel;
    options.lineInfo = lineInfo;
    FailureOr<std::string> text = translateToPTX(module, options);
    if (failed(text))
      return signalPassFailure();
    module->setDiscardableAttr("fusion_tile.ptx",
                               StringAttr::get(&getContext(), *text));

    std::string report;
    if (assemble) {
      PTXAssemblerOptions assembler;
      assembler.chip = chip;
      assembler.lineInfo = lineInfo;
      llvm::Expected<std::optional<PTXResourceInfo>> info =
          readPTXResources(*text, assembler);
      if (!info) {
        module.emitError() << llvm::toString(info.takeError());
        return signalPassFailure();
      }
      llvm::raw_string_ostream os(report);
      if (*info)
        printResources(os, **info);
    }
    if (print) {
      // Modules are written from several threads; each text stays whole.
      static std::mutex mutex;
      std::lock_guard<std::mutex> lock(mutex);
      llvm::outs() << *text << report;
      llvm::outs().flush();
    }
  }
};
} // namespace
