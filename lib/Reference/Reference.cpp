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

#include "BoundedRuntime.h"
#include "FusionOps.h"
#include "JitRuntime.h"
#include "StaticSizes.h"

#include "fusion/Analysis/Contraction.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Preprocessing/Passes.h"
#include "fusion/Preprocessing/Pipeline.h"
#include "fusion/Reference/Passes.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
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

Reference::Reference(Location loc, Signature signature)
    : loc(loc), signature(std::move(signature)),
      formulas(std::make_unique<FormulaTable>()) {}

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
  module.getContext()->loadDialect<tensor::TensorDialect, FusionDialect>();
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

/// Erases shapes as TOSA writes them, which nothing reads any more.
static void eraseShapes(ModuleOp module) {
  SmallVector<tosa::ConstShapeOp> shapes;
  module.walk([&](tosa::ConstShapeOp op) { shapes.push_back(op); });
  for (tosa::ConstShapeOp op : shapes)
    if (op->use_empty())
      op->erase();
}

/// Lowers `module` to the LLVM dialect, with a call of `onBounded` when the
/// program is on tensors of bounded numbers. On failure, `message` is the first
/// error and `place` where it is.
static LogicalResult lower(ModuleOp module, FormulaTable &formulas,
                           function_ref<void()> onBounded, std::string &message,
                           Location &place) {
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
            message.empty()) {
          message = diagnostic.str();
          place = diagnostic.getLocation();
        }
        return success(diagnostic.getSeverity() != DiagnosticSeverity::Remark);
      });
  if (failed(raiseForeignOps(module)) || failed(verifyStaticSizes(module)) ||
      failed(nameSoftmaxOps(module)))
    return failure();
  PassManager input(module.getContext());
  input.addPass(createLowerGlobalsPass());
  input.addPass(createSymbolDCEPass());
  // Before anything folds constants of dynamic sizes.
  input.addPass(createElementwiseToGenericPass());
  addTosaPasses(input);
  input.addPass(createRepairedSumsPass());
  if (failed(input.run(module)))
    return failure();
  eraseShapes(module);
  if (failed(lowerFusionOps(module, formulas)))
    return failure();
  PassManager bounding(module.getContext()), lowering(module.getContext());
  buildBoundingPipeline(bounding);
  buildReferencePipeline(lowering);
  if (failed(bounding.run(module)))
    return failure();
  onBounded();
  formulas.expand(module);
  return lowering.run(module);
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

FailureOr<std::unique_ptr<Reference>> Reference::create(ModuleOp module,
                                                        StringRef entryName) {
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
      new Reference(loc, std::move(*signature)));

  DialectRegistry registry;
  registerReferenceDialects(registry);
  module.getContext()->appendDialectRegistry(registry);

  OwningOpRef<ModuleOp> copy = module.clone();
  auto entry = copy->lookupSymbol<func::FuncOp>(name);
  std::string message;
  Location place = loc;
  auto onBounded = [&] {
    auto function = copy->lookupSymbol<func::FuncOp>(kEntry);
    for (Type type : function.getResultTypes())
      reference->isBounded.push_back(
          isa<ComplexType>(getElementTypeOrSelf(type)));
  };
  if (failed(isolateEntry(*copy, entry)) ||
      failed(lower(*copy, *reference->formulas, onBounded, message, place))) {
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

/// Integers as compiled code stores them: an i4 takes a byte.
static DType getStoredType(DType declared) {
  return declared == DType::I4 ? DType::I8 : declared;
}

static void copyIntegers(const HostTensor &from, HostTensor &to) {
  if (from.getDType() == to.getDType())
    std::copy_n(from.data(), from.getNumBytes(), to.data());
  else
    for (int64_t i = 0, e = from.getNumElements(); i < e; ++i)
      to.setInteger(i, from.getInteger(i));
}

namespace {
/// An input as compiled code reads it. Compiled code may write to it.
struct StoredInput {
  HostTensor integers;
  std::vector<Bounded> numbers;
  SmallVector<int64_t> descriptor;
  void *pointer = nullptr;

  explicit StoredInput(const HostTensor &input) {
    if (isFloat(input)) {
      numbers.reserve(input.getNumElements());
      for (int64_t i = 0, e = input.getNumElements(); i < e; ++i)
        numbers.push_back(input.getDouble(i));
    } else {
      integers = createTensor(getStoredType(input.getDType()), input.getDims());
      copyIntegers(input, integers);
      // Compiled code takes the high bits of what is narrower than a byte for
      // 0.
      if (input.getDType() == DType::I4)
        for (uint64_t byte = 0; byte < integers.getNumBytes(); ++byte)
          integers.data()[byte] &= 15;
    }
    descriptor = createDescriptor(data(), input.getDims());
    pointer = descriptor.data();
  }
  void *data() {
    return numbers.empty() ? static_cast<void *>(integers.data())
                           : static_cast<void *>(numbers.data());
  }
};
} // namespace

ReferenceTensor Reference::takeOutput(unsigned index, const int64_t *descriptor,
                                      bool isOpen) const {
  const TensorSignature &output = signature.outputs[index];
  size_t rank = output.shape.size();
  ReferenceTensor result;
  result.dtype = output.dtype;
  result.dims.assign(descriptor + 3, descriptor + 3 + rank);
  result.isBounded = isBounded[index];
  // Results have the identity layout, so that a copy of the range is exact.
  if (result.isBounded) {
    auto *data =
        reinterpret_cast<const Bounded *>(descriptor[1]) + descriptor[2];
    int64_t count = 1;
    for (int64_t extent : result.dims)
      count *= extent;
    // What nothing wrote is no number.
    for (const Bounded &element : ArrayRef(data, count))
      result.elements.emplace_back(element.value, element.error);
  } else {
    HostTensor stored = createTensor(getStoredType(output.dtype), result.dims);
    size_t width = fusionpkg::getStorageBits(stored.getDType()) / 8;
    if (stored.getNumBytes())
      std::memcpy(stored.data(),
                  reinterpret_cast<const uint8_t *>(descriptor[1]) +
                      descriptor[2] * width,
                  stored.getNumBytes());
    result.integers = createTensor(output.dtype, result.dims);
    copyIntegers(stored, result.integers);
  }
  if (!isOpen)
    return result;
  // Which way the program went is not known, nor is anything that it gave.
  for (int64_t i = 0, e = result.integers.getNumElements(); i < e; ++i)
    result.elements.push_back(
        static_cast<double>(result.integers.getInteger(i)));
  for (Bounded &element : result.elements)
    element = Bounded::unknown(element.value);
  result.isBounded = true;
  return result;
}

LogicalResult Reference::run(ArrayRef<HostTensor> inputs,
                             SmallVectorImpl<ReferenceTensor> &outputs) {
  if (inputs.size() != signature.inputs.size())
    return emitCodedError(loc, ErrorCode::WrongInput,
                          Twine(inputs.size()) + " inputs where " +
                              Twine(signature.inputs.size()) + " are declared");
  std::vector<StoredInput> stored;
  stored.reserve(inputs.size());
  for (auto [i, input] : llvm::enumerate(inputs)) {
    std::string problem =
        signature.inputs[i].describeMismatch(input.getDType(), input.getDims());
    if (!problem.empty())
      return emitCodedError(loc, ErrorCode::WrongInput,
                            "input " + Twine(i) + " " + problem);
    stored.emplace_back(input);
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
                            ? stored[i].data()
                            : static_cast<void *>(&stored[i].pointer));

  JitMemory memory;
  std::string message;
  takeNoteOfOpen();
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

  bool isOpen = takeNoteOfOpen();
  outputs.clear();
  const int64_t *words = results.data();
  for (unsigned i = 0; i < signature.outputs.size(); ++i) {
    outputs.push_back(takeOutput(i, words, isOpen));
    words += 3 + 2 * signature.outputs[i].shape.size();
  }
  return success();
}
