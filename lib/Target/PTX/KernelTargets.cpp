//===- KernelTargets.cpp - Targets that passes attach to kernels ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what targets of kernels do: NVVM's is MLIR's own, those
// of other makers refuse.
//
//===----------------------------------------------------------------------===//

#include "fusion/Target/PTX/KernelTargets.h"
#include "fusion/Target/PTX/TranslateToPTX.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/LLVMIR/XeVMDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"
#include "mlir/Target/LLVM/NVVM/Target.h"

using namespace mlir;

namespace {
/// A target that the instructions of kernels do not exist for: code generation
/// would end the process at the first of them.
template <typename TargetAttr>
struct RefusedTarget
    : gpu::TargetAttrInterface::ExternalModel<RefusedTarget<TargetAttr>,
                                              TargetAttr> {
  std::optional<SmallVector<char, 0>>
  serializeToObject(Attribute target, Operation *module,
                    const gpu::TargetOptions &) const {
    module->emitError("FUS-3403: kernels are made of NVIDIA's instructions, "
                      "which '")
        << target.getDialect().getNamespace()
        << "' has no code for; attach an 'nvvm' target";
    return std::nullopt;
  }
  Attribute createObject(Attribute, Operation *, const SmallVector<char, 0> &,
                         const gpu::TargetOptions &) const {
    return {};
  }
};
} // namespace

void mlir::fusion::registerKernelTargets(DialectRegistry &registry) {
  registerPTXTranslations(registry);
  NVVM::registerNVVMTargetInterfaceExternalModels(registry);
  registry.addExtension(+[](MLIRContext *context, ROCDL::ROCDLDialect *) {
    ROCDL::ROCDLTargetAttr::attachInterface<
        RefusedTarget<ROCDL::ROCDLTargetAttr>>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, spirv::SPIRVDialect *) {
    spirv::TargetEnvAttr::attachInterface<RefusedTarget<spirv::TargetEnvAttr>>(
        *context);
  });
  registry.addExtension(+[](MLIRContext *context, xevm::XeVMDialect *) {
    xevm::XeVMTargetAttr::attachInterface<RefusedTarget<xevm::XeVMTargetAttr>>(
        *context);
  });
}
