//===- Reference.cpp - The program, evaluated on the CPU ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the oracle: it compiles a function for the CPU, and
// moves tensors in and out of the compiled code.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/Reference.h"

#include "JitRuntime.h"
#include "ProgramFacts.h"
#include "StaticSizes.h"

#include "fusion/Analysis/Contraction.h"
#include "fusion/Preprocessing/Passes.h"
#include "fusion/Preprocessing/Pipeline.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include <algorithm>
#include <cstring>

using namespace mlir;
using namespace mlir::fusion;

static constexpr StringLiteral kEntry = "fusion_reference_entry";

Reference::Reference(Location loc, ReferenceMode mode, Signature signature)
    : loc(loc), mode(mode), signature(std::move(signature)) {}

Reference::~Reference() = default;

/// Turns scalar results into tensors of rank 0, so that every result comes
/// back as a buffer descriptor.
static void returnTensors(func::FuncOp function) {
  SmallVector<Type> results;
  for (Type type : function.getResultTypes())
    results.push_back(
        isa<RankedTensorType>(type) ? type : RankedTensorType::get({}, type));
  function.walk([&](func::ReturnOp op) {
    OpBuilder b(op);
    for (OpOperand &operand : op->getOpOperands()) {
      Type wanted = results[operand.getOperandNumber()];
      if (operand.get().getType() != wanted)
        operand.set(tensor::FromElementsOp::create(b, op.getLoc(), wanted,
                                                   operand.get()));
    }
  });
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(), results));
}

/// Drops what attributes of the fusion dialect say to the planner: they are
/// about tensors, and do not verify on buffers. What it allows to be rounded is
/// read later.
static void dropContracts(ModuleOp module) {
  module.walk([](Operation *op) {
    SmallVector<StringAttr> dropped;
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      if (attribute.getName().getValue().starts_with("fusion.") &&
          attribute.getName() != kTF32AttrName)
        dropped.push_back(attribute.getName());
    for (StringAttr name : dropped)
      op->removeDiscardableAttr(name);
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      function.removeArgAttrsAttr();
      function.removeResAttrsAttr();
    }
  });
}

/// Leaves `entry` as the only public function, under a name that no library
/// has, with the C interface through which it is called.
static LogicalResult isolateEntry(ModuleOp module, func::FuncOp entry) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function != entry)
      function.setPrivate();
  if (failed(SymbolTable::replaceAllSymbolUses(
          entry, StringAttr::get(module.getContext(), kEntry), module)))
    return failure();
  dropContracts(module);
  entry.setName(kEntry);
  entry.setPublic();
  module.getContext()->loadDialect<tensor::TensorDialect>();
  entry->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                 UnitAttr::get(module.getContext()));
  returnTensors(entry);
  return success();
}

/// TOSA as linalg. Programs may use what TOSA's profiles do not allow.
static void addTosaPasses(OpPassManager &pm) {
  tosa::addTosaToLinalgPasses(pm, TosaToLinalgOptions(),
                              TosaToLinalgNamedOptions(), std::nullopt);
  TosaToArithPassOptions arith;
  arith.includeApplyRescale = true;
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createTosaToArithPass(arith));
  functions.addPass(createTosaToTensorPass());
}

/// Lowers `module` to the LLVM dialect, with a call of `beforePromotion` when
/// the program is decomposed and still computes in its own types. On failure,
/// `message` is the first error and `place` where it is.
static LogicalResult lower(ModuleOp module, ReferenceMode mode,
                           function_ref<void()> beforePromotion,
                           std::string &message, Location &place) {
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
            message.empty()) {
          message = diagnostic.str();
          place = diagnostic.getLocation();
        }
        return success(diagnostic.getSeverity() != DiagnosticSeverity::Remark);
      });
  if (failed(verifyStaticSizes(module)))
    return failure();
  PassManager input(module.getContext());
  input.addPass(createLowerGlobalsPass());
  input.addPass(createSymbolDCEPass());
  addTosaPasses(input);
  if (failed(input.run(module)) || failed(decomposeFusionOps(module, true)))
    return failure();
  beforePromotion();
  PassManager pm(module.getContext());
  buildReferencePipeline(pm, mode);
  return pm.run(module);
}

static llvm::Expected<std::unique_ptr<ExecutionEngine>>
createEngine(ModuleOp module) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  auto transformer = makeOptimizingTransformer(
      /*optLevel=*/2, /*sizeLevel=*/0, machine->get());
  ExecutionEngineOptions options;
  options.transformer = transformer;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Default;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  return ExecutionEngine::create(module, options, std::move(*machine));
}

FailureOr<std::unique_ptr<Reference>>
Reference::create(ModuleOp module, StringRef entryName, ReferenceMode mode) {
  FailureOr<func::FuncOp> original = findEntry(module, entryName);
  if (failed(original))
    return failure();
  FailureOr<Signature> signature = fusion::getSignature(*original);
  if (failed(signature))
    return failure();
  Location loc = original->getLoc();
  std::string name = original->getName().str();
  if (signature->outputs.empty())
    return emitCodedError(loc, ErrorCode::ReferenceUnsupported,
                          "'" + name + "' has no results to check",
                          "return at least one tensor");
  std::unique_ptr<Reference> reference(
      new Reference(loc, mode, std::move(*signature)));

  DialectRegistry registry;
  registerReferenceDialects(registry);
  module.getContext()->appendDialectRegistry(registry);

  OwningOpRef<ModuleOp> copy = module.clone();
  auto entry = copy->lookupSymbol<func::FuncOp>(name);
  std::string message;
  Location place = loc;
  auto analyse = [&] {
    auto function = copy->lookupSymbol<func::FuncOp>(kEntry);
    std::vector<bool> derived = findFloatDerivedResults(function);
    std::vector<double> epsilons = findCoarsestEpsilons(function);
    std::vector<double> sumErrors = findSumErrors(function);
    for (auto [i, output] : llvm::enumerate(reference->signature.outputs)) {
      output.derivesFromFloat = derived[i];
      output.coarsestEpsilon = epsilons[i];
      output.sumError = sumErrors[i];
    }
  };
  if (failed(isolateEntry(*copy, entry)) ||
      failed(lower(*copy, mode, analyse, message, place))) {
    if (findErrorNumber(message))
      return emitError(place) << message;
    return emitCodedError(place, ErrorCode::ReferenceUnsupported,
                          "the CPU reference cannot evaluate '" + name +
                              "': " + message);
  }
  llvm::Expected<std::unique_ptr<ExecutionEngine>> engine = createEngine(*copy);
  if (!engine)
    return emitCodedError(loc, ErrorCode::ReferenceUnsupported,
                          "the CPU reference cannot compile '" + name +
                              "': " + llvm::toString(engine.takeError()));
  registerJitSymbols(**engine);
  auto function = (*engine)->lookupPacked(("_mlir_ciface_" + kEntry).str());
  if (!function)
    return emitCodedError(loc, ErrorCode::ReferenceUnsupported,
                          "the CPU reference cannot link '" + name +
                              "': " + llvm::toString(function.takeError()));
  reference->engine = std::move(*engine);
  reference->function = *function;
  return reference;
}

//===----------------------------------------------------------------------===//
// Tensors in and out
//===----------------------------------------------------------------------===//

/// Compiled code reads a buffer through words: allocated pointer, aligned
/// pointer, offset, extents, strides.
static SmallVector<int64_t> createDescriptor(void *data,
                                             ArrayRef<int64_t> shape) {
  SmallVector<int64_t> words{reinterpret_cast<int64_t>(data),
                             reinterpret_cast<int64_t>(data), 0};
  words.append(shape.begin(), shape.end());
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  words.append(strides);
  return words;
}

/// How compiled code stores elements of `declared`: a float in Float64 mode is
/// an f64, and an i4 takes a byte.
static DType getStoredType(DType declared, ReferenceMode mode) {
  if (mode == ReferenceMode::Float64 && fusionpkg::isFloat(declared))
    return DType::F64;
  return declared == DType::I4 ? DType::I8 : declared;
}

static void copyElements(const HostTensor &from, HostTensor &to) {
  int64_t count = from.getNumElements();
  if (from.getDType() == to.getDType())
    std::copy_n(from.data(), from.getNumBytes(), to.data());
  else if (isFloat(from))
    for (int64_t i = 0; i < count; ++i)
      to.setDouble(i, from.getDouble(i));
  else
    for (int64_t i = 0; i < count; ++i)
      to.setInteger(i, from.getInteger(i));
}

LogicalResult Reference::run(ArrayRef<HostTensor> inputs,
                             SmallVectorImpl<HostTensor> &outputs) {
  if (inputs.size() != signature.inputs.size())
    return emitCodedError(loc, ErrorCode::WrongInput,
                          Twine(inputs.size()) + " inputs where " +
                              Twine(signature.inputs.size()) + " are declared");
  // Compiled code may write to its arguments: it gets copies.
  std::vector<HostTensor> stored(inputs.size());
  std::vector<SmallVector<int64_t>> descriptors(inputs.size());
  std::vector<void *> pointers(inputs.size());
  for (auto [i, input] : llvm::enumerate(inputs)) {
    const TensorSignature &wanted = signature.inputs[i];
    DType storedType = getStoredType(wanted.dtype, mode);
    bool isWidened =
        input.getDType() == storedType && mode == ReferenceMode::Float64;
    std::string problem = wanted.describeMismatch(
        isWidened ? wanted.dtype : input.getDType(), input.getDims());
    if (!problem.empty())
      return emitCodedError(loc, ErrorCode::WrongInput,
                            "input " + Twine(i) + " " + problem);
    stored[i] = createTensor(storedType, input.getDims());
    copyElements(input, stored[i]);
    descriptors[i] = createDescriptor(stored[i].data(), input.getDims());
    pointers[i] = descriptors[i].data();
  }

  size_t resultWords = 0;
  for (const TensorSignature &output : signature.outputs)
    resultWords += 3 + 2 * output.shape.size();
  std::vector<int64_t> results(resultWords);
  void *resultPointer = results.data();

  // The packed interface takes the address of each argument.
  std::vector<void *> arguments{&resultPointer};
  for (size_t i = 0; i < inputs.size(); ++i)
    arguments.push_back(signature.inputs[i].isScalar
                            ? static_cast<void *>(stored[i].data())
                            : static_cast<void *>(&pointers[i]));

  JitMemory memory;
  std::string message;
  switch (memory.call(function, arguments.data(), message)) {
  case JitOutcome::Done:
    break;
  case JitOutcome::Fault:
    return emitCodedError(loc, ErrorCode::ReferenceFault,
                          "the CPU reference stopped at a check: " +
                              StringRef(message).trim());
  case JitOutcome::OutOfMemory:
    return emitCodedError(loc, ErrorCode::ReferenceOutOfMemory,
                          "the CPU reference ran out of memory");
  }

  outputs.clear();
  const int64_t *words = results.data();
  for (const TensorSignature &output : signature.outputs) {
    size_t rank = output.shape.size();
    HostTensor result =
        createTensor(getStoredType(output.dtype, mode),
                     std::vector<int64_t>(words + 3, words + 3 + rank));
    size_t elementBytes = fusionpkg::getStorageBits(result.getDType()) / 8;
    // Results have the identity layout, so that a copy of the range is exact.
    if (result.getNumBytes())
      std::memcpy(result.data(),
                  reinterpret_cast<const uint8_t *>(words[1]) +
                      words[2] * elementBytes,
                  result.getNumBytes());
    words += 3 + 2 * rank;
    if (output.dtype == DType::I4) {
      HostTensor packed = createTensor(DType::I4, result.getDims());
      copyElements(result, packed);
      result = std::move(packed);
    }
    outputs.push_back(std::move(result));
  }
  return success();
}
