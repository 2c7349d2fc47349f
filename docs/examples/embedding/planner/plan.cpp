//===- plan.cpp - The planner in a compiler of one's own ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file has a pass manager and a dialect of its own, takes two passes of
// Fusion, and plans the kernels of the functions that it chooses. What becomes
// of the kernels is its own business: it prints them.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/CostInterface.h"
#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Dialect/Fusion/FusionInterfaces.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/FusionPlanning/Passes.h"
#include "fusion/Preprocessing/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Format.h"

using namespace mlir;

// clang-format off
#include "OwnDialect.h.inc"
#include "OwnDialect.cpp.inc"
// clang-format on
#define GET_OP_CLASSES
#include "OwnOps.h.inc"
#define GET_OP_CLASSES
#include "OwnOps.cpp.inc"

namespace {
/// Kernels of this compiler start one another: a launch takes half of the time.
class OwnCosts : public fusion::CostInterface {
public:
  using CostInterface::CostInterface;

  void priceKernel(const fusion::KernelBody &body,
                   const fusion::TargetInfo &target,
                   fusion::KernelEstimate &estimate) const override {
    estimate.time.total -= estimate.time.launch / 2;
  }
};
} // namespace

void own::OwnDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "OwnOps.cpp.inc"
      >();
  addInterfaces<OwnCosts>();
}

/// What the op means. From here on it fuses as any op of linalg does.
FailureOr<SmallVector<Value>> own::SquaredReluOp::decompose(OpBuilder &b) {
  Value relu = fusion::ReluOp::create(b, getLoc(), getInput());
  return SmallVector<Value>{arith::MulFOp::create(b, getLoc(), relu, relu)};
}

namespace {
/// Partitions a function into kernels, if it is marked with `own.plan`.
class PlanPass
    : public PassWrapper<PlanPass, InterfacePass<FunctionOpInterface>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlanPass)

  void runOnOperation() override {
    FunctionOpInterface func = getOperation();
    if (func->hasAttr("own.plan") && failed(plan(func)))
      signalPassFailure();
  }

private:
  static LogicalResult plan(FunctionOpInterface func) {
    // The module's own, with the constants that it has.
    auto target = fusion::resolveTarget(func);
    if (failed(target) || failed(fusion::prepareForPlanning(func)))
      return failure();
    auto graph =
        fusion::ComputeGraph::build(func.getFunctionBody().front(), {});
    if (failed(graph))
      return failure();
    // The planner is a function: it changes nothing.
    fusion::FusionPlan plan = fusion::planFusion(*graph, *target, {});
    for (const fusion::PlannedKernel &kernel : plan.kernels)
      llvm::outs() << "kernel " << kernel.name << " of " << kernel.nodes.size()
                   << " ops saves " << int64_t(kernel.savedBytes) << " bytes and takes "
                   << llvm::format("%.2f", kernel.estimate.seconds() * 1e6)
                   << " us\n";
    return fusion::formKernels(func, *graph, plan);
  }
};
} // namespace

static const char program[] = R"(
module attributes {fusion.target = #fusion.target<chip = "sm_90a",
    fitted = {chip = {numSMs = 114, clockHz = 1.75e9}}>} {
  func.func @chosen(%x: tensor<512x512xf32>, %y: tensor<512x512xf32>)
      -> tensor<512x512xf32> attributes {own.plan} {
    %0 = own.squared_relu %x : tensor<512x512xf32>
    %1 = arith.addf %0, %y : tensor<512x512xf32>
    return %1 : tensor<512x512xf32>
  }
  func.func @other(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
    %0 = own.squared_relu %x : tensor<512x512xf32>
    return %0 : tensor<512x512xf32>
  }
})";

int main() {
  DialectRegistry registry;
  registry.insert<own::OwnDialect, fusion::FusionDialect, arith::ArithDialect,
                  func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                  tensor::TensorDialect>();
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program, &context);
  if (!module)
    return 1;
  PassManager manager(&context);
  manager.addPass(fusion::createDecomposePass());
  manager.addNestedPass<func::FuncOp>(fusion::createGeneralizePass());
  manager.addNestedPass<func::FuncOp>(std::make_unique<PlanPass>());
  if (failed(manager.run(*module)))
    return 1;
  module->print(llvm::outs());
  return 0;
}
