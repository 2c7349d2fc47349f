//===- FormulaCalls.cpp - Formulas in compiled references ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements calls of formulas: how operations are taken out of a
// program, and how compiled code passes tensors to them.
//
//===----------------------------------------------------------------------===//

#include "FormulaCalls.h"

#include "fusion/Analysis/Contraction.h"
#include "fusion/Reference/Formulas.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fusion;

/// The prefix of the external functions that stand for ops.
static constexpr StringLiteral kPrefix = "fusion_formula_";
/// A scalar takes this many words: the value, or its bits and those of its
/// error.
static constexpr int64_t kScalarWords = 2;

//===----------------------------------------------------------------------===//
// Out of the program
//===----------------------------------------------------------------------===//

/// The sizes of the results of `op` that their types lack.
static FailureOr<SmallVector<Value>> getDynamicSizes(OpBuilder &b,
                                                     Operation *op) {
  ReifiedRankedShapedTypeDims shapes;
  if (failed(reifyResultShapes(b, op, shapes)))
    return failure();
  SmallVector<Value> sizes;
  for (auto [result, shape] : llvm::zip(op->getResults(), shapes))
    for (auto [dim, size] : llvm::enumerate(shape))
      if (cast<RankedTensorType>(result.getType()).isDynamicDim(dim))
        sizes.push_back(getValueOrCreateConstantIndexOp(b, op->getLoc(), size));
  return sizes;
}

void FormulaTable::outline(ModuleOp module, Operation *op) {
  OpBuilder b(op);
  FailureOr<SmallVector<Value>> sizes = getDynamicSizes(b, op);
  if (failed(sizes))
    return;
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  SmallVector<Type> types;
  for (Value value : used)
    types.push_back(value.getType());

  // A function of the clone keeps it, with its operands as arguments.
  std::string name = (kPrefix + Twine(calls.size())).str();
  auto formula = std::make_unique<FormulaCall>();
  OpBuilder inside = OpBuilder::atBlockEnd(ops->getBody());
  formula->function =
      func::FuncOp::create(inside, op->getLoc(), name,
                           b.getFunctionType(types, op->getResultTypes()));
  Block *body = formula->function.addEntryBlock();
  IRMapping mapping;
  mapping.map(used.getArrayRef(), body->getArguments());
  inside.setInsertionPointToEnd(body);
  formula->op = inside.clone(*op, mapping);
  if (allowsTF32(op))
    formula->op->setAttr(kTF32AttrName, b.getUnitAttr());
  func::ReturnOp::create(inside, op->getLoc(), formula->op->getResults());

  SmallVector<Value> arguments(used.begin(), used.end());
  llvm::append_range(arguments, *sizes);
  types.append(sizes->size(), b.getIndexType());
  OpBuilder outside = OpBuilder::atBlockEnd(module.getBody());
  auto callee =
      func::FuncOp::create(outside, op->getLoc(), name,
                           b.getFunctionType(types, op->getResultTypes()));
  callee.setPrivate();
  auto call = func::CallOp::create(b, op->getLoc(), callee, arguments);
  op->replaceAllUsesWith(call.getResults());
  op->erase();
  calls.push_back(std::move(formula));
}

void FormulaTable::outline(ModuleOp module) {
  // Sizes may take any of these.
  module.getContext()
      ->loadDialect<affine::AffineDialect, arith::ArithDialect,
                    tensor::TensorDialect>();
  ops = ModuleOp::create(module.getLoc());
  SmallVector<Operation *> found;
  module.walk([&](Operation *op) {
    if (hasFormula(op))
      found.push_back(op);
  });
  for (Operation *op : found)
    outline(module, op);
}

//===----------------------------------------------------------------------===//
// Into compiled code
//===----------------------------------------------------------------------===//

static bool isBoundedType(Type type) {
  return isa<ComplexType>(getElementTypeOrSelf(type));
}

namespace {

/// Writes the words that describe the values of a call.
class WordWriter {
public:
  WordWriter(ImplicitLocOpBuilder &b, Value words) : b(b), words(words) {}

  void write(Value word) {
    if (word.getType().isIndex())
      word = arith::IndexCastOp::create(b, b.getI64Type(), word);
    memref::StoreOp::create(
        b, word, words,
        ValueRange{arith::ConstantIndexOp::create(b, position++)});
  }
  void writeBuffer(Value buffer) {
    write(memref::ExtractAlignedPointerAsIndexOp::create(b, buffer));
    int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
    for (int64_t dim = 0; dim < rank; ++dim)
      write(memref::DimOp::create(b, buffer, dim));
  }
  void writeScalar(Value scalar) {
    auto bits = [&](Value number) {
      return arith::BitcastOp::create(b, b.getI64Type(), number);
    };
    if (isBoundedType(scalar.getType())) {
      write(bits(complex::ReOp::create(b, scalar)));
      write(bits(complex::ImOp::create(b, scalar)));
      return;
    }
    if (scalar.getType().isIndex() || scalar.getType().isInteger(64))
      write(scalar);
    else
      write(arith::ExtSIOp::create(b, b.getI64Type(), scalar));
    ++position;
  }

private:
  ImplicitLocOpBuilder &b;
  Value words;
  int64_t position = 0;
};

} // namespace

static int64_t countWords(TypeRange types) {
  int64_t count = 0;
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    count += tensor ? 1 + tensor.getRank() : kScalarWords;
  }
  return count;
}

static MemRefType getBufferType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

void FormulaTable::expand(func::CallOp call, FormulaCall &formula,
                          func::FuncOp callee) {
  ImplicitLocOpBuilder b(call.getLoc(), call);
  unsigned numArguments = formula.function.getNumArguments();
  ValueRange arguments = call.getOperands().take_front(numArguments);
  ValueRange sizes = call.getOperands().drop_front(numArguments);
  int64_t numWords =
      countWords(arguments.getTypes()) + countWords(call.getResultTypes());
  auto words =
      memref::AllocOp::create(b, MemRefType::get({numWords}, b.getI64Type()));
  WordWriter writer(b, words);
  for (Value argument : arguments) {
    formula.boundedArguments.push_back(isBoundedType(argument.getType()));
    if (!isa<TensorType>(argument.getType())) {
      writer.writeScalar(argument);
      continue;
    }
    auto buffer = bufferization::ToBufferOp::create(
        b, getBufferType(argument.getType()), argument, /*read_only=*/true);
    // Each call reads for itself: were two merged into the first, the tensor
    // might be overwritten before the second call.
    buffer->setAttr("formula",
                    b.getI64IntegerAttr(reinterpret_cast<int64_t>(&formula)));
    writer.writeBuffer(buffer);
  }
  SmallVector<Value> buffers;
  for (Type type : call.getResultTypes()) {
    formula.boundedResults.push_back(isBoundedType(type));
    MemRefType bufferType = getBufferType(type);
    ValueRange own = sizes.take_front(bufferType.getNumDynamicDims());
    sizes = sizes.drop_front(own.size());
    buffers.push_back(memref::AllocOp::create(b, bufferType, own));
    writer.writeBuffer(buffers.back());
  }
  Value self = arith::ConstantIntOp::create(
      b, b.getI64Type(), reinterpret_cast<int64_t>(&formula));
  Value all = memref::CastOp::create(
      b, MemRefType::get({ShapedType::kDynamic}, b.getI64Type()), words);
  func::CallOp::create(b, kFormulaSymbol, TypeRange(), ValueRange{self, all});
  // Not writable: another call that reads a result reads this buffer, and what
  // folds to that is not seen as a read of the tensor.
  for (auto [result, buffer] : llvm::zip(call.getResults(), buffers))
    result.replaceAllUsesWith(bufferization::ToTensorOp::create(
        b, result.getType(), buffer, /*restrict=*/true, /*writable=*/false));
  call.erase();
  callee.erase();
}

void FormulaTable::expand(ModuleOp module) {
  if (calls.empty())
    return;
  module.getContext()
      ->loadDialect<bufferization::BufferizationDialect,
                    memref::MemRefDialect>();
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  Type words = MemRefType::get({ShapedType::kDynamic}, b.getI64Type());
  func::FuncOp::create(b, module.getLoc(), kFormulaSymbol,
                       b.getFunctionType({b.getI64Type(), words}, {}))
      .setPrivate();
  SmallVector<func::CallOp> found;
  module.walk([&](func::CallOp call) {
    if (call.getCallee().starts_with(kPrefix))
      found.push_back(call);
  });
  for (func::CallOp call : found) {
    size_t index;
    call.getCallee().drop_front(kPrefix.size()).getAsInteger(10, index);
    expand(call, *calls[index],
           module.lookupSymbol<func::FuncOp>(call.getCallee()));
  }
}

//===----------------------------------------------------------------------===//
// At run time
//===----------------------------------------------------------------------===//

namespace {

/// Reads what WordWriter has written.
class WordReader {
public:
  explicit WordReader(const int64_t *words) : words(words) {}

  void *readPointer() { return reinterpret_cast<void *>(*words++); }
  Shape readShape(int64_t rank) {
    Shape shape(words, words + rank);
    words += rank;
    return shape;
  }
  BoundedTensor readScalar(Type type, bool isBounded) {
    BoundedTensor scalar(type, {}, isBounded);
    if (isBounded)
      scalar[0] = Bounded(llvm::bit_cast<double>(words[0]),
                          llvm::bit_cast<double>(words[1]));
    else
      scalar.integer(0) = words[0];
    words += kScalarWords;
    return scalar;
  }

private:
  const int64_t *words;
};

} // namespace

/// Bytes that compiled code takes for an integer.
static unsigned getIntegerBytes(Type type) {
  return type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

static int64_t loadInteger(const uint8_t *data, unsigned bytes, Type type) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, bytes);
  // A truth value is 0 or 1.
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return width == 1 ? bits & 1 : llvm::SignExtend64(bits, width);
}

static BoundedTensor load(const void *data, Type element, const Shape &shape,
                          bool isBounded) {
  BoundedTensor tensor(element, shape, isBounded);
  if (isBounded) {
    if (tensor.size())
      std::memcpy(&tensor[0], data, tensor.size() * sizeof(Bounded));
    return tensor;
  }
  unsigned bytes = getIntegerBytes(element);
  for (int64_t n = 0; n < tensor.size(); ++n)
    tensor.integer(n) = loadInteger(
        static_cast<const uint8_t *>(data) + n * bytes, bytes, element);
  return tensor;
}

/// Stores `tensor`, or says why it cannot be.
static std::string store(const BoundedTensor &tensor, void *data,
                         const Shape &shape, bool isBounded) {
  if (tensor.getShape() != ArrayRef<int64_t>(shape))
    return "its documentation gives a result of another shape";
  unsigned bytes =
      isBounded ? sizeof(Bounded) : getIntegerBytes(tensor.getElementType());
  auto *to = static_cast<uint8_t *>(data);
  for (int64_t n = 0; n < tensor.size(); ++n, to += bytes) {
    Bounded number = isBounded ? tensor.getNumber(n) : Bounded();
    std::optional<int64_t> integer = isBounded ? 0 : tensor.getIndex(n);
    if (!integer)
      return "an integer of its result is not defined";
    std::memcpy(to, isBounded ? static_cast<void *>(&number) : &*integer,
                bytes);
  }
  return "";
}

std::string FormulaCall::run(const int64_t *words) const {
  WordReader reader(words);
  llvm::DenseMap<Value, BoundedTensor> values;
  func::FuncOp declared = function;
  for (auto [argument, isBounded] :
       llvm::zip(declared.getArguments(), boundedArguments)) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type) {
      values[argument] = reader.readScalar(argument.getType(), isBounded);
      continue;
    }
    void *data = reader.readPointer();
    values[argument] = load(data, type.getElementType(),
                            reader.readShape(type.getRank()), isBounded);
  }
  SmallVector<BoundedTensor> results = evaluateFormula(op, values);
  for (auto [result, isBounded] : llvm::zip(results, boundedResults)) {
    void *data = reader.readPointer();
    std::string problem =
        store(result, data, reader.readShape(result.getRank()), isBounded);
    if (!problem.empty())
      return ("'" + op->getName().getStringRef() + "': " + problem).str();
  }
  return "";
}
