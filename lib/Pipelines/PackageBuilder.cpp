//===- PackageBuilder.cpp - From the last IR to a package -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the reading of kernels and entries off a module.
//
//===----------------------------------------------------------------------===//

#include "PackageBuilder.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Support/CrashReport.h"
#include "fusion/Support/ErrorCodes.h"
#include "fusion/Target/PTX/PTXResourceInfo.h"
#include "fusion/Target/PTX/TranslateToPTX.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Threading.h"
#include "llvm/Support/Path.h"
#include <numeric>

using namespace mlir;
using namespace mlir::fusion;

/// The oldest driver, as cuDriverGetVersion tells it, that loads PTX of this
/// version; 0 if unknown.
static uint32_t getDriverVersion(unsigned ptxVersion) {
  // PTX 7.0 to 7.8 came with CUDA 11.0 to 11.8, and 8.0 to 8.5 with 12.0 to
  // 12.5; from there on the numbers part.
  switch (ptxVersion) {
  case 86:
    return 12070;
  case 87:
    return 12080;
  case 88:
    return 12090;
  default:
    break;
  }
  if (ptxVersion >= 70 && ptxVersion <= 78)
    return 11000 + (ptxVersion - 70) * 10;
  if (ptxVersion >= 80 && ptxVersion <= 85)
    return 12000 + (ptxVersion - 80) * 10;
  if (ptxVersion >= 90 && ptxVersion <= 99)
    return 13000 + (ptxVersion - 90) * 10;
  return 0;
}

/// "model.mlir:12", without folders: packages do not depend on where the
/// program lay. Empty if unknown.
static std::string getSource(Location loc) {
  std::string source;
  loc->walk([&](Location part) {
    auto place = dyn_cast<FileLineColLoc>(part);
    if (!place)
      return WalkResult::advance();
    source = (llvm::sys::path::filename(place.getFilename().getValue()) + ":" +
              Twine(place.getLine()))
                 .str();
    return WalkResult::interrupt();
  });
  return source;
}

/// Adds the kernel `func` of module number `module`.
static void addKernel(LLVM::LLVMFuncOp func, uint32_t module,
                      fusionpkg::PackageModel &model,
                      PackagedKernels &kernels) {
  fusionpkg::Kernel kernel;
  kernel.name = func.getName().str();
  kernel.module = module;
  kernel.source = getSource(func.getLoc());
  if (auto block = func->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid"))
    kernel.blockX = block.asArrayRef().front();
  if (auto shared =
          func->getAttrOfType<IntegerAttr>("fusion_tile.shared_bytes"))
    kernel.dynamicSharedBytes = shared.getInt();
  if (auto cluster = func->getAttrOfType<IntegerAttr>("fusion_tile.cluster"))
    kernel.clusterX = cluster.getInt();
  if (auto together = func->getAttrOfType<IntegerAttr>("fusion_tile.together"))
    kernel.together = together.getInt();

  PackagedKernel packaged;
  packaged.index = model.kernels.size();
  packaged.numParameters = func.getNumArguments();
  if (auto grid = func->getAttrOfType<AffineMapAttr>("fusion_tile.grid"))
    packaged.grid = grid.getValue();
  if (auto sizes =
          func->getAttrOfType<DenseI64ArrayAttr>("fusion_tile.size_arguments"))
    packaged.sizeArguments = llvm::to_vector(sizes.asArrayRef());
  packaged.scratches = func->getAttrOfType<ArrayAttr>("fusion_tile.scratches");
  packaged.tensorMaps =
      func->getAttrOfType<ArrayAttr>("fusion_tile.tensor_maps");
  kernels[kernel.name] = std::move(packaged);
  model.kernels.push_back(std::move(kernel));
}

/// What the planner predicted goes to the kernels that came of it.
static void addPredictions(func::FuncOp func, const PackagedKernels &kernels,
                           fusionpkg::PackageModel &model) {
  for (KernelOp op : func.getOps<KernelOp>()) {
    auto program = op->getAttrOfType<FlatSymbolRefAttr>("program");
    auto known = program ? kernels.find(program.getValue()) : kernels.end();
    EstimateAttr estimate = op.getEstimateAttr();
    if (known == kernels.end() || !estimate)
      continue;
    fusionpkg::Kernel &kernel = model.kernels[known->second.index];
    // Of kernels that start together, what the neediest takes.
    fusionpkg::KernelResources &needs = kernel.predicted;
    needs.registers =
        std::max<int64_t>(needs.registers, estimate.getRegisters());
    needs.sharedBytes =
        std::max<int64_t>(needs.sharedBytes, estimate.getSharedBytes());
    LaunchAttr launch = op.getLaunchAttr();
    kernel.predictedMicroseconds =
        launch ? launch.getTimeUs() : estimate.getTimeUs();
  }
}

FailureOr<fusionpkg::PackageModel> fusion::buildPackageModel(ModuleOp module,
                                                             StringRef target) {
  fusionpkg::PackageModel model;
  model.target = target.str();
  model.producer = ("fusion " + getVersion()).str();
  if (const PTXChip *chip = lookupPTXChip(target))
    model.ptxVersion = chip->defaultVersion;

  PackagedKernels kernels;
  for (auto gpuModule : module.getOps<gpu::GPUModuleOp>()) {
    auto ptx = gpuModule->getAttrOfType<StringAttr>("fusion_tile.ptx");
    if (!ptx)
      return gpuModule.emitError("FUS-4006: gpu.module has no PTX; run the "
                                 "phases before this one");
    fusionpkg::Module packaged;
    packaged.ptx = ptx.getValue().str();
    packaged.minDriverVersion = getDriverVersion(model.ptxVersion);
    model.modules.push_back(std::move(packaged));
    for (auto func : gpuModule.getOps<LLVM::LLVMFuncOp>())
      if (!func.isExternal() && func->hasAttr("nvvm.kernel"))
        addKernel(func, model.modules.size() - 1, model, kernels);
  }
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func.isPublic() || func.isExternal())
      continue;
    FailureOr<fusionpkg::Entry> entry = buildEntry(func, kernels, model);
    if (failed(entry))
      return failure();
    model.entries.push_back(std::move(*entry));
    addPredictions(func, kernels, model);
  }
  if (model.entries.empty())
    return emitCodedError(module.getLoc(), ErrorCode::NoSuchEntry,
                          "the module has no public function with a body",
                          "define a public func.func");
  return model;
}

LogicalResult fusion::assemblePackage(fusionpkg::PackageModel &model,
                                      bool lineInfo, ModuleOp module) {
  PTXAssemblerOptions options;
  options.chip = model.target;
  options.assembler = findPTXAssembler();
  options.lineInfo = lineInfo;
  options.keepCubin = true;
  if (options.assembler.empty())
    return success();

  std::vector<PTXResourceInfo> infos(model.modules.size());
  std::vector<std::string> errors(model.modules.size());
  // The longest first: one that begins last would be waited for alone.
  std::vector<size_t> order(infos.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order, [&](size_t a, size_t b) {
    return model.modules[a].ptx.size() > model.modules[b].ptx.size();
  });
  parallelForEach(module.getContext(), order, [&](size_t i) {
    llvm::Expected<std::optional<PTXResourceInfo>> info =
        readPTXResources(model.modules[i].ptx, options);
    if (!info)
      errors[i] = llvm::toString(info.takeError());
    else if (*info)
      infos[i] = std::move(**info);
  });
  for (const std::string &error : errors)
    if (!error.empty())
      return module.emitError(error);
  for (auto [packaged, info] : llvm::zip_equal(model.modules, infos))
    packaged.cubin.assign(info.cubin.begin(), info.cubin.end());
  for (fusionpkg::Kernel &kernel : model.kernels) {
    const PTXKernelResources *resources =
        infos[kernel.module].lookup(kernel.name);
    if (!resources)
      continue;
    kernel.measured.registers = resources->registers;
    kernel.measured.spillBytes =
        resources->spillStoreBytes + resources->spillLoadBytes;
    kernel.staticSharedBytes = resources->staticSharedBytes;
    kernel.measured.sharedBytes =
        resources->staticSharedBytes + kernel.dynamicSharedBytes;
  }
  return success();
}
