//===- Compiler.cpp - From a module to a package --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the compiler as one function.
//
//===----------------------------------------------------------------------===//

#include "fusion/Pipelines/Compiler.h"
#include "PackageBuilder.h"
#include "Report.h"
#include "ReportGraph.h"
#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Executable/BufferPlan.h"
#include "fusion/Executable/Package.h"
#include "fusion/FusionPlanning/FusionKind.h"
#include "fusion/InitAll.h"
#include "fusion/Pipelines/AcceptFunctions.h"
#include "fusion/Pipelines/Phases.h"
#include "fusion/Pipelines/TargetFile.h"
#include "fusion/Support/CrashReport.h"
#include "fusion/Support/ErrorCodes.h"
#include "fusion/Target/PTX/TranslateToPTX.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"

using namespace mlir;
using namespace mlir::fusion;

void fusion::registerAllForTools(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerPTXTranslations(registry);
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

namespace {
/// One compilation.
class Compilation {
public:
  Compilation(ModuleOp module, const CompileOptions &options)
      : module(module), options(options) {}

  FailureOr<std::string> run(CompileReport *report);

private:
  LogicalResult readOptions();
  LogicalResult runPhase(const PhaseInfo &info);
  LogicalResult runPasses(const PhaseInfo &info);
  /// Times `work` until what it returns is gone, if that is asked for.
  TimingScope time(StringRef work);
  PhaseOptions getPhaseOptions() const;
  /// Leaves functions out that a phase before tiles refuses.
  LogicalResult dropRefused(std::vector<std::string> &refused);
  FailureOr<std::string> pack(CompileReport &report);

  LogicalResult writeFile(const Twine &name, StringRef text);
  LogicalResult dump(const PhaseInfo &info);
  /// Calls `callback` with the name and the text of each kernel.
  void forEachPTX(function_ref<void(StringRef, StringRef)> callback);
  /// Adds to the report what it has beside the decisions, if that is asked for.
  void explain(const KernelsByPlanName &kernels,
               const fusionpkg::PackageModel *model, CompileReport &report);
  /// Names that the planner gave to the kernels of `model`.
  KernelsByPlanName getPlanNames(const fusionpkg::PackageModel &model);

  ModuleOp module;
  const CompileOptions &options;
  Phase last = Phase::Package;
  std::string target;
  /// With its own constants, where the module or a file has some.
  std::optional<TargetInfo> targetInfo;
  std::vector<Ledger> ledgers;
  /// What the report says of functions and phases, if it asks for these.
  llvm::json::Array functions;
  std::vector<PhaseText> phases;
};
} // namespace

LogicalResult Compilation::readOptions() {
  if (!options.compileTo.empty()) {
    std::optional<Phase> phase = findPhase(options.compileTo);
    if (!phase)
      return emitCodedError(module.getLoc(), ErrorCode::UnknownPhase,
                            "'" + options.compileTo + "' is no phase");
    last = *phase;
  }
  FailureOr<TargetInfo> known =
      resolveTarget(module, options.target, options.defaultTarget);
  if (failed(known))
    return failure();
  targetInfo = *known;
  target = known->name.str();
  DictionaryAttr constants = getDeclaredConstants(module, target);
  if (!options.targetFile.empty()) {
    FailureOr<DictionaryAttr> read =
        readTargetFile(options.targetFile, *known, module.getLoc());
    if (failed(read))
      return failure();
    constants = *read;
  }
  setTarget(module, *known, constants);
  return success();
}

PhaseOptions Compilation::getPhaseOptions() const {
  PhaseOptions phaseOptions;
  phaseOptions.target = target;
  phaseOptions.fuse = options.fuse;
  phaseOptions.fastNumerics = options.fastNumerics;
  phaseOptions.largestValue = options.largestValue;
  phaseOptions.lineInfo = options.lineInfo;
  phaseOptions.opaqueFloats = options.opaqueFloats;
  return phaseOptions;
}

LogicalResult Compilation::dropRefused(std::vector<std::string> &refused) {
  auto build = [&](OpPassManager &manager) {
    for (const PhaseInfo &info : getPhases())
      if (info.phase <= std::min(last, Phase::Schedule))
        buildPhasePipeline(info.phase, manager, getPhaseOptions());
  };
  return fusion::dropRefused(module, build, refused);
}

TimingScope Compilation::time(StringRef work) {
  return options.timing ? options.timing->nest(work) : TimingScope();
}

LogicalResult Compilation::runPasses(const PhaseInfo &info) {
  TimingScope timing = time(info.name);
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  manager.enableVerifier(options.verifyEachPass);
  traceCrashes(manager);
  manager.enableTiming(timing);
  PhaseOptions phaseOptions = getPhaseOptions();
  phaseOptions.planObserver = [&](FunctionOpInterface,
                                  const ComputeGraph &graph,
                                  const FusionPlan &plan) {
    ledgers.push_back(plan.ledger);
    if (options.detail >= ReportDetail::Graph)
      functions.push_back(describePlan(graph, plan, *targetInfo));
  };
  buildPhasePipeline(info.phase, manager, phaseOptions);
  if (manager.size() == 0)
    return success();
  if (failed(manager.run(module)))
    return failure();
  return options.verifyEachPass ? success() : verify(module);
}

LogicalResult Compilation::runPhase(const PhaseInfo &info) {
  llvm::PrettyStackTraceFormat trace("in the phase '%s'", info.name.data());
  if (options.onPhase)
    options.onPhase(info.name);
  if (info.phase == Phase::Plan)
    injectFaultFromEnvironment();
  bool hasError = false;
  LogicalResult result = failure();
  {
    ScopedDiagnosticHandler handler(
        module.getContext(), [&](Diagnostic &diagnostic) {
          hasError |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
          // Others report it.
          return failure();
        });
    result = runPasses(info);
  }
  if (failed(result)) {
    // No refusal without a reason.
    if (!hasError)
      emitCodedError(module.getLoc(), ErrorCode::CompileFailed,
                     "the " + info.name + " phase failed without a reason");
    return failure();
  }
  if (options.detail >= ReportDetail::Phases && info.phase != Phase::Package)
    phases.push_back(describePhase(
        module, info, [&](function_ref<void(StringRef, StringRef)> callback) {
          forEachPTX(callback);
        }));
  return dump(info);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

LogicalResult Compilation::writeFile(const Twine &name, StringRef text) {
  llvm::SmallString<128> path(options.dumpPhasesTo);
  if (std::error_code error = llvm::sys::fs::create_directories(path))
    return emitCodedError(module.getLoc(), ErrorCode::OutputUnwritable,
                          "cannot make the folder '" + path +
                              "': " + error.message());
  llvm::sys::path::append(path, name);
  if (fusionpkg::Error error =
          fusionpkg::writeFileAtomically(path.str().str(), text.str()))
    return emitCodedError(module.getLoc(), ErrorCode::OutputUnwritable,
                          error.getCause());
  return success();
}

void Compilation::forEachPTX(
    function_ref<void(StringRef, StringRef)> callback) {
  for (auto gpuModule : module.getOps<gpu::GPUModuleOp>())
    if (auto ptx = gpuModule->getAttrOfType<StringAttr>("fusion_tile.ptx"))
      callback(gpuModule.getName(), ptx.getValue());
}

LogicalResult Compilation::dump(const PhaseInfo &info) {
  if (options.dumpPhasesTo.empty() || info.phase == Phase::Package)
    return success();
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  os << "\n";
  if (failed(writeFile(getDumpName(info), text)))
    return failure();
  LogicalResult result = success();
  if (info.phase == Phase::Ptx)
    forEachPTX([&](StringRef name, StringRef ptx) {
      if (succeeded(result))
        result = writeFile(name + ".ptx", ptx);
    });
  return result;
}

//===----------------------------------------------------------------------===//
// The package
//===----------------------------------------------------------------------===//

KernelsByPlanName
Compilation::getPlanNames(const fusionpkg::PackageModel &model) {
  KernelsByPlanName byProgram, result;
  for (const fusionpkg::Kernel &kernel : model.kernels)
    byProgram[kernel.name] = &kernel;
  module.walk([&](KernelOp kernel) {
    if (auto program = kernel->getAttrOfType<FlatSymbolRefAttr>("program"))
      result[kernel.getKernelName()] = byProgram.lookup(program.getValue());
  });
  return result;
}

/// Bytes that the kernels of an entry have between them at once, of the entry
/// with most; -1 where the run alone knows.
static int64_t getWorkspaceBytes(const fusionpkg::PackageModel &model) {
  int64_t bytes = 0;
  for (const fusionpkg::Entry &entry : model.entries) {
    if (!entry.symbols.empty())
      return -1;
    fusionpkg::ExprValues values(entry.exprs.getNodes(), nullptr, 0);
    fusionpkg::Result<fusionpkg::BufferPlan> plan =
        fusionpkg::planWorkspace(entry, values);
    if (!plan)
      return -1;
    bytes = std::max(bytes, plan->bytes);
  }
  return bytes;
}

void Compilation::explain(const KernelsByPlanName &kernels,
                          const fusionpkg::PackageModel *model,
                          CompileReport &report) {
  if (options.detail < ReportDetail::Graph)
    return;
  report.explanation = makeExplanation(std::move(functions), report, kernels);
  report.explanation["target"] = describeTarget(*targetInfo);
  llvm::json::Object kinds;
  for (FusionKind kind : getAllKinds())
    kinds[stringifyKind(kind)] = describeKind(kind);
  report.explanation["fusion_kinds"] = std::move(kinds);
  if (!model)
    return;
  llvm::json::Array entries;
  for (const fusionpkg::Entry &entry : model->entries)
    entries.push_back(describeEntry(*model, entry, kRepresentativeSize));
  report.explanation["entries"] = std::move(entries);
}

FailureOr<std::string> Compilation::pack(CompileReport &report) {
  TimingScope timing = time("package");
  FailureOr<fusionpkg::PackageModel> model = buildPackageModel(module, target);
  if (failed(model))
    return failure();
  if (options.runPtxas) {
    TimingScope assembling = timing.nest("ptxas");
    if (failed(assemblePackage(*model, options.lineInfo, module)))
      return failure();
  }
  KernelsByPlanName kernels = getPlanNames(*model);
  fillReport(ledgers, kernels, report);
  explain(kernels, &*model, report);
  report.workspaceBytes = getWorkspaceBytes(*model);
  // Of kernels that start together planning did not know.
  report.predictedUs = 0;
  for (const fusionpkg::Entry &entry : model->entries) {
    report.predictedUs += entry.summary.predictedMicroseconds;
    report.launches +=
        llvm::count_if(entry.steps, [](const fusionpkg::Step &step) {
          return step.kind == fusionpkg::StepKind::Launch;
        });
  }
  model->ledgerJson = report.ledgerJson;
  fusionpkg::Result<std::string> bytes = fusionpkg::writePackage(*model);
  if (!bytes)
    return module.emitError(bytes.getError().str());
  if (!options.dumpPhasesTo.empty() &&
      failed(writeFile("07-package.fpk", *bytes)))
    return failure();
  return std::move(*bytes);
}

FailureOr<std::string> Compilation::run(CompileReport *report) {
  if (failed(readOptions()))
    return failure();
  std::vector<std::string> refused;
  if (options.partial && failed(dropRefused(refused)))
    return failure();
  for (const PhaseInfo &info : getPhases())
    if (info.phase <= last && failed(runPhase(info)))
      return failure();

  CompileReport ownReport;
  CompileReport &result = report ? *report : ownReport;
  result.refused = std::move(refused);
  std::string package;
  if (last == Phase::Package) {
    FailureOr<std::string> bytes = pack(result);
    if (failed(bytes))
      return failure();
    package = std::move(*bytes);
  } else {
    fillReport(ledgers, {}, result);
    explain({}, /*model=*/nullptr, result);
  }
  result.phases = std::move(phases);
  forEachPTX([&](StringRef name, StringRef ptx) {
    result.ptx += ("// kernel " + name + "\n" + ptx).str();
  });
  return package;
}

FailureOr<std::string> fusion::compileToPackage(ModuleOp module,
                                                const CompileOptions &options,
                                                CompileReport *report) {
  return Compilation(module, options).run(report);
}
