//===- InitAll.h - Registration of dialects and passes ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the functions that register every dialect, extension, pass
// and pipeline of the project: the one header that an embedding tool needs.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_INITALL_H
#define FUSION_INITALL_H

#include "fusion/Codegen/Passes.h"
#include "fusion/Conversion/MathExpansion/Passes.h"
#include "fusion/Conversion/TileToNVVM/Passes.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Dialect/Fusion/Transforms/BufferizableOpInterfaceImpl.h"
#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"
#include "fusion/FusionPlanning/Passes.h"
#include "fusion/HostLowering/Passes.h"
#include "fusion/Pipelines/Passes.h"
#include "fusion/Pipelines/Phases.h"
#include "fusion/Preprocessing/Passes.h"
#include "fusion/Preprocessing/Pipeline.h"
#include "fusion/Scheduling/Passes.h"
#include "fusion/Target/PTX/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/AllInterfaces.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/TensorTilingInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"

namespace mlir::fusion {

/// Registers the upstream dialects that programs and phases use, with the
/// interface implementations that the passes rely on.
inline void registerUpstreamDialects(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect, gpu::GPUDialect,
                  index::IndexDialect, LLVM::LLVMDialect, NVVM::NVVMDialect,
                  linalg::LinalgDialect, math::MathDialect,
                  memref::MemRefDialect, ml_program::MLProgramDialect,
                  scf::SCFDialect, tensor::TensorDialect, tosa::TosaDialect,
                  ub::UBDialect, vector::VectorDialect>();
  affine::registerValueBoundsOpInterfaceExternalModels(registry);
  arith::registerValueBoundsOpInterfaceExternalModels(registry);
  func::registerInlinerExtension(registry);
  linalg::registerAllDialectInterfaceImplementations(registry);
  scf::registerValueBoundsOpInterfaceExternalModels(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  tensor::registerTilingInterfaceExternalModels(registry);
  tensor::registerValueBoundsOpInterfaceExternalModels(registry);
}

/// Registers every dialect that a module of the project may hold.
inline void registerAllDialects(DialectRegistry &registry) {
  registerUpstreamDialects(registry);
  registry.insert<FusionDialect, tile::TileDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
}

/// Registers every pass and named pipeline of the project with the global
/// registry, for tools that take them by name.
inline void registerAllPasses() {
  registerFusionCodegenPasses();
  registerFusionHostLoweringPasses();
  registerFusionMathExpansionPasses();
  registerFusionPipelinesPasses();
  registerFusionPlanningPasses();
  registerFusionPreprocessingPasses();
  registerFusionSchedulingPasses();
  registerFusionTargetPTXPasses();
  registerFusionTileToNVVMPasses();
  registerInputPipeline();
  registerPhasePipelines();
  tile::registerFusionTilePasses();
}

} // namespace mlir::fusion

#endif // FUSION_INITALL_H
