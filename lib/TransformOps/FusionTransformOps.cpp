//===- FusionTransformOps.cpp - Scripts of plans and schedules ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the ops by which scripts of the transform dialect plan,
// schedule and compile kernels. What the phases report as errors becomes the
// failure of an op, which a script may go on from where nothing was changed.
//
//===----------------------------------------------------------------------===//

#include "fusion/TransformOps/FusionTransformOps.h"
#include "ScriptedSchedules.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Dialect/Fusion/PairContracts.h"
#include "fusion/InitAll.h"
#include "fusion/Pipelines/AcceptFunctions.h"
#include "fusion/Pipelines/Phases.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::fusion;
using transform::TransformOpInterface;

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

/// Refuses `payload`, which `op` was given.
static DiagnosedSilenceableFailure
refusePayload(TransformOpInterface op, Operation *payload, const Twine &cause) {
  DiagnosedSilenceableFailure failure =
      emitSilenceableFailure(op)
      << formatError(ErrorCode::ScriptPayload, cause);
  failure.attachNote(payload->getLoc()) << "the op that is meant";
  return failure;
}

/// Adds to `failure` the errors of `said`: the first is its text.
static DiagnosedSilenceableFailure
addErrors(DiagnosedSilenceableFailure failure,
          ArrayRef<const Diagnostic *> errors) {
  for (const Diagnostic *error : errors.drop_front(errors.empty() ? 0 : 1))
    failure.attachNote(error->getLocation()) << error->str();
  return failure;
}

/// The failure of `op` for what `said` has errors about; other diagnostics are
/// emitted. Silenceable if `payload` is as it was.
static DiagnosedSilenceableFailure makeFailure(TransformOpInterface op,
                                               Operation *payload,
                                               std::vector<Diagnostic> &said,
                                               bool isSilenceable) {
  SmallVector<const Diagnostic *> errors;
  for (Diagnostic &diagnostic : said)
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      errors.push_back(&diagnostic);
  std::string text = errors.empty() ? formatError(ErrorCode::CompileFailed,
                                                  "a phase gave no reason")
                                    : errors.front()->str();
  Location place =
      errors.empty() ? payload->getLoc() : errors.front()->getLocation();
  DiagnosedSilenceableFailure failure = isSilenceable
                                            ? emitSilenceableFailure(op) << text
                                            : emitDefiniteFailure(op, text);
  failure.attachNote(place) << "it is about this";
  return addErrors(std::move(failure), errors);
}

/// Emits what `said` has beside errors.
static void repeatOthers(MLIRContext *context, std::vector<Diagnostic> &said) {
  for (Diagnostic &diagnostic : said)
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      context->getDiagEngine().emit(std::move(diagnostic));
}

//===----------------------------------------------------------------------===//
// Contracts
//===----------------------------------------------------------------------===//

/// Puts `fusion.must` or `fusion.never` on `ops`.
static DiagnosedSilenceableFailure addSingleContracts(TransformOpInterface op,
                                                      ArrayRef<Operation *> ops,
                                                      bool isMust) {
  StringRef other =
      isMust ? FusionDialect::kNeverAttrName : FusionDialect::kMustAttrName;
  for (Operation *target : ops)
    if (target->hasAttr(other))
      return refusePayload(op, target, "an op has '" + other + "' already");
  for (Operation *target : ops)
    target->setAttr(isMust ? FusionDialect::kMustAttrName
                           : FusionDialect::kNeverAttrName,
                    UnitAttr::get(op->getContext()));
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure
transform::FusionContractOp::apply(transform::TransformRewriter &,
                                   transform::TransformResults &,
                                   transform::TransformState &state) {
  SmallVector<Operation *> first(state.getPayloadOps(getTarget())), second;
  if (getOther())
    llvm::append_range(second, state.getPayloadOps(getOther()));
  FunctionOpInterface func;
  for (Operation *target : llvm::concat<Operation *>(first, second)) {
    auto own = target->getParentOfType<FunctionOpInterface>();
    if (!own || llvm::none_of(target->getResultTypes(),
                              llvm::IsaPred<RankedTensorType>))
      return refusePayload(*this, target,
                           "a contract is for an op, in a function, that "
                           "computes tensors");
    if (getOther() && func && own != func)
      return refusePayload(*this, target,
                           "ops of several functions share no kernel");
    func = own;
  }
  bool isMust = getKind() == ContractKind::Must;
  if (!getOther())
    return addSingleContracts(*this, first, isMust);
  addPairContract(first, second, isMust);
  return DiagnosedSilenceableFailure::success();
}

void transform::FusionContractOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  modifiesPayload(effects);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

LogicalResult transform::FusionPlanOp::verify() {
  if (getMaxKernels() && static_cast<int64_t>(*getMaxKernels()) < 1)
    return emitOpError("max_kernels must be positive");
  return success();
}

/// Why `op` cannot be planned; empty if it can.
static StringRef findPlanObstacle(Operation *op) {
  auto func = dyn_cast<FunctionOpInterface>(op);
  if (!func || func.isExternal() || !func.getFunctionBody().hasOneBlock())
    return "a plan is for functions of one block";
  bool isPlanned = func->walk([](KernelOp) { return WalkResult::interrupt(); })
                       .wasInterrupted();
  return isPlanned ? "a function has kernels already" : "";
}

DiagnosedSilenceableFailure
transform::FusionPlanOp::apply(transform::TransformRewriter &rewriter,
                               transform::TransformResults &results,
                               transform::TransformState &state) {
  PhaseOptions options;
  options.target = getTargetChip().value_or("").str();
  options.fastNumerics = getFastNumerics();
  options.printLedger = getPrintLedger();
  options.demandedBy = "a script";
  SmallVector<Operation *> planned, kernels;
  SmallVector<Operation *> targets(state.getPayloadOps(getTarget()));
  for (Operation *target : targets)
    if (StringRef obstacle = findPlanObstacle(target); !obstacle.empty())
      return refusePayload(*this, target, obstacle);
  for (Operation *target : targets) {
    // A plan that fails leaves a function somewhere in between.
    OpBuilder builder(target);
    Operation *copy = builder.clone(*target);
    if (std::optional<uint64_t> limit = getMaxKernels())
      copy->setAttr(FusionDialect::kMaxKernelsAttrName,
                    builder.getI64IntegerAttr(*limit));
    std::vector<Diagnostic> said;
    LogicalResult result = collectDiagnostics(getContext(), said, [&] {
      PassManager manager(getContext(), copy->getName().getStringRef());
      buildPlanPipeline(manager, options);
      return manager.run(copy);
    });
    repeatOthers(getContext(), said);
    if (failed(result)) {
      copy->erase();
      return makeFailure(*this, target, said, /*isSilenceable=*/true);
    }
    rewriter.eraseOp(target);
    planned.push_back(copy);
    copy->walk([&](KernelOp kernel) { kernels.push_back(kernel); });
  }
  results.set(cast<OpResult>(getPlanned()), planned);
  results.set(cast<OpResult>(getKernels()), kernels);
  return DiagnosedSilenceableFailure::success();
}

void transform::FusionPlanOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  consumesHandle(getTargetMutable(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  modifiesPayload(effects);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

LogicalResult transform::FusionScheduleOp::verify() {
  if (getExactly() && (getTileSizes() || getWarps() || getStages()))
    return emitOpError("asks for one schedule and for what it is to be like");
  if (getTileSizes() &&
      llvm::any_of(*getTileSizes(), [](int64_t size) { return size < 0; }))
    return emitOpError("tile sizes must not be negative");
  for (std::optional<uint64_t> number : {getWarps(), getStages()})
    if (number && static_cast<int64_t>(*number) < 1)
      return emitOpError("warps and stages must be positive");
  return success();
}

DiagnosedSilenceableFailure
transform::FusionScheduleOp::apply(transform::TransformRewriter &,
                                   transform::TransformResults &,
                                   transform::TransformState &state) {
  ScheduleRequest request;
  if (getTileSizes())
    request.tileSizes = *getTileSizes();
  request.warps = getWarps();
  request.stages = getStages();
  if (getExactly())
    request.exactly = *getExactly();
  for (Operation *target : state.getPayloadOps(getTarget())) {
    auto kernel = dyn_cast<KernelOp>(target);
    if (!kernel || !kernel->getParentOfType<FunctionOpInterface>())
      return refusePayload(*this, target,
                           "a schedule is for a fusion.kernel of a function");
    std::vector<Diagnostic> said;
    LogicalResult result = collectDiagnostics(
        getContext(), said, [&] { return scheduleAsAsked(kernel, request); });
    repeatOthers(getContext(), said);
    if (failed(result))
      return makeFailure(*this, target, said, /*isSilenceable=*/true);
  }
  return DiagnosedSilenceableFailure::success();
}

void transform::FusionScheduleOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getTargetMutable(), effects);
  modifiesPayload(effects);
}

//===----------------------------------------------------------------------===//
// PTX
//===----------------------------------------------------------------------===//

DiagnosedSilenceableFailure
transform::FusionEmitOp::apply(transform::TransformRewriter &,
                               transform::TransformResults &results,
                               transform::TransformState &state) {
  PhaseOptions options;
  options.target = getTargetChip().value_or("").str();
  options.fastNumerics = getFastNumerics();
  options.lineInfo = getLineInfo();
  SmallVector<Operation *> targets(state.getPayloadOps(getTarget())), made;
  for (Operation *target : targets)
    if (!isa<ModuleOp>(target))
      return refusePayload(*this, target, "PTX is emitted for modules");
  for (Operation *target : targets) {
    llvm::SmallPtrSet<Operation *, 8> before;
    auto module = cast<ModuleOp>(target);
    for (auto gpuModule : module.getOps<gpu::GPUModuleOp>())
      before.insert(gpuModule);
    std::vector<Diagnostic> said;
    LogicalResult result = collectDiagnostics(getContext(), said, [&] {
      PassManager manager(getContext(), ModuleOp::getOperationName());
      buildPhases(Phase::Schedule, Phase::Ptx, manager, options);
      return manager.run(target);
    });
    repeatOthers(getContext(), said);
    if (failed(result))
      return makeFailure(*this, target, said, /*isSilenceable=*/false);
    for (auto gpuModule : module.getOps<gpu::GPUModuleOp>())
      if (!before.contains(gpuModule))
        made.push_back(gpuModule);
  }
  results.set(cast<OpResult>(getEmitted()), targets);
  results.set(cast<OpResult>(getGpuModules()), made);
  return DiagnosedSilenceableFailure::success();
}

void transform::FusionEmitOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  consumesHandle(getTargetMutable(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  modifiesPayload(effects);
}

//===----------------------------------------------------------------------===//
// The extension
//===----------------------------------------------------------------------===//

namespace {
class FusionTransformExtension
    : public transform::TransformDialectExtension<FusionTransformExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FusionTransformExtension)
  using Base::Base;

  /// registerTransformOps() would do the same, and check the ops by a function
  /// that MLIR's libraries have only when they are built with assertions, as
  /// this project is.
  template <typename... Ops>
  static void addOps(Dialect &dialect) {
    (RegisteredOperationName::insert<Ops>(dialect), ...);
  }

  void init() {
    declareDependentDialect<FusionDialect>();
    // What phases make.
    declareGeneratedDialect<arith::ArithDialect>();
    declareGeneratedDialect<cf::ControlFlowDialect>();
    declareGeneratedDialect<FusionDialect>();
    declareGeneratedDialect<gpu::GPUDialect>();
    declareGeneratedDialect<LLVM::LLVMDialect>();
    declareGeneratedDialect<linalg::LinalgDialect>();
    declareGeneratedDialect<math::MathDialect>();
    declareGeneratedDialect<NVVM::NVVMDialect>();
    declareGeneratedDialect<scf::SCFDialect>();
    declareGeneratedDialect<tensor::TensorDialect>();
    declareGeneratedDialect<tile::TileDialect>();
    declareGeneratedDialect<vector::VectorDialect>();
    addCustomInitializationStep([](MLIRContext *context) {
      addOps<
#define GET_OP_LIST
#include "fusion/TransformOps/FusionTransformOps.cpp.inc"
          >(*context->getLoadedDialect<transform::TransformDialect>());
    });
  }
};
} // namespace

#include "fusion/TransformOps/FusionTransformEnums.cpp.inc"
#define GET_OP_CLASSES
#include "fusion/TransformOps/FusionTransformOps.cpp.inc"

void fusion::registerTransformDialectExtension(DialectRegistry &registry) {
  registry.addExtensions<FusionTransformExtension>();
}
