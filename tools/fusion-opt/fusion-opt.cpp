//===- fusion-opt.cpp - Pass driver ---------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements fusion-opt, which runs any pass or named pipeline of the
// project, and those of MLIR, on a textual module. --list-phases prints the
// phases of the compiler, which are pipelines called fusion-<phase> and
// fusion-to-<phase>.
//
//===----------------------------------------------------------------------===//

#include "../CommandLine.h"
#include "fusion/InitAll.h"
#include "fusion/Target/PTX/KernelTargets.h"
#include "fusion/TransformOps/FusionTransformOps.h"
#include "mlir/Dialect/Linalg/TransformOps/DialectExtension.h"
#include "mlir/Dialect/SCF/TransformOps/SCFTransformOps.h"
#include "mlir/Dialect/Tensor/TransformOps/TensorTransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/LoopExtension/LoopExtension.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

namespace cl = llvm::cl;
using namespace mlir;
using namespace mlir::fusion;

namespace {
/// A crash on purpose, to test what is left of one. Not in --help.
class TestCrashPass
    : public PassWrapper<TestCrashPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestCrashPass)

  explicit TestCrashPass(StringRef kind) : kind(kind) {}
  StringRef getName() const override { return "TestCrash"; }
  void runOnOperation() override { injectFault(kind); }

private:
  std::string kind;
};
} // namespace

/// The exit status of the first error that is emitted in any context of the
/// tool, which makes its contexts itself.
static int firstErrorStatus = kExitOk;

/// Listens to the errors of passes. Handlers run newest first: this has to come
/// after MLIR's own, which is there when a pipeline is built.
static void watchErrors(MLIRContext *context) {
  context->getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
        firstErrorStatus == kExitOk)
      firstErrorStatus = getExitStatus(diagnostic.str());
    return failure(); // Others report it.
  });
}

/// Registers upstream's transform dialect with what it does to tensor programs:
/// fusion ops are tiled and fused by it as linalg ops are.
static void registerTransforms(DialectRegistry &registry) {
  registry.insert<transform::TransformDialect>();
  linalg::registerTransformDialectExtension(registry);
  scf::registerTransformDialectExtension(registry);
  tensor::registerTransformDialectExtension(registry);
  transform::registerLoopExtension(registry);
  mlir::fusion::registerTransformDialectExtension(registry);
}

/// Runs the passes on `input` and writes all of the result or nothing.
static int run(StringRef input, StringRef output, DialectRegistry &registry,
               const MlirOptMainConfig &config) {
  if (std::string error = checkOutput("-o", output, input); !error.empty())
    return reportError(error);
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(input);
  if (std::error_code error = buffer.getError())
    return reportError(ErrorCode::InputUnreadable,
                       input + ": " + error.message());
  // MLIR takes the buffer; a reproducer needs a text that stays.
  static std::string text;
  text = (*buffer)->getBuffer().str();
  setCrashInput(text);
  std::string result;
  llvm::raw_string_ostream os(result);
  // What MLIR prints before it refuses the result is of use on a terminal.
  bool direct = output == "-";
  raw_ostream &stream = direct ? static_cast<raw_ostream &>(llvm::outs()) : os;
  LogicalResult fine =
      MlirOptMain(stream, std::move(*buffer), registry, config);
  if (failed(fine))
    return firstErrorStatus != kExitOk ? firstErrorStatus : kExitDiagnosed;
  if (!direct)
    if (std::string error = writeOutput(output, result); !error.empty())
      return reportError(error);
  return kExitOk;
}

int main(int argc, char **argv) {
  installCrashHandlers("fusion-opt");
  for (StringRef argument : ArrayRef(argv, argc).drop_front())
    if (argument == "--list-phases" || argument == "-list-phases") {
      printPhases(llvm::outs());
      return kExitOk;
    }
  DialectRegistry registry;
  // Before upstream's, which know nothing of these kernels.
  registerKernelTargets(registry);
  // What a module has beside its tensor programs is any dialect of upstream.
  mlir::registerAllDialects(registry);
  mlir::fusion::registerAllDialects(registry);
  registerTransforms(registry);
  mlir::registerAllPasses();
  mlir::fusion::registerAllPasses();

  cl::opt<std::string> input(cl::Positional, cl::desc("<input file>"),
                             cl::init("-"));
  cl::opt<std::string> output("o", cl::desc("Output filename"),
                              cl::value_desc("filename"), cl::init("-"));
  cl::opt<std::string> testCrash("fusion-test-crash", cl::ReallyHidden);
  PageOptions pages(
      "fusion-opt", "Runs passes on MLIR, those of Fusion and of upstream",
      cl::getGeneralCategory(), [](StringRef name) -> std::string {
        if (const auto *pass = PassInfo::lookup(name))
          return pass->getPassDescription().str();
        if (const auto *pipeline = PassPipelineInfo::lookup(name))
          return pipeline->getPassDescription().str();
        return "";
      });
  std::string header = registerCLIOptions(
      "Fusion: tensor programs to fused GPU kernels\n", registry);
  if (std::optional<int> status =
          parseOptions(argc, argv, "fusion-opt", header))
    return *status;
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects()) {
    for (StringRef name : registry.getDialectNames())
      llvm::outs() << name << "\n";
    return kExitOk;
  }
  if (config.shouldListPasses()) {
    printRegisteredPasses();
    return kExitOk;
  }
  MlirOptMainConfig asked = config;
  config.setPassPipelineSetupFn([asked, &testCrash](PassManager &manager) {
    watchErrors(manager.getContext());
    traceCrashes(manager);
    if (!testCrash.empty())
      manager.addPass(std::make_unique<TestCrashPass>(testCrash));
    return asked.setupPassPipeline(manager);
  });
  return run(input, output, registry, config);
}
