//===- BoundFloats.cpp - A program on bounded numbers ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that makes a program compute on numbers that
// carry a bound on their error.
//
//===----------------------------------------------------------------------===//

#include "Bounder.h"

#include "fusion/Reference/Passes.h"
#include "fusion/Support/ElementType.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_BOUNDFLOATSPASS
#include "fusion/Reference/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

static APFloat toF64(APFloat value) {
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value;
}

/// The f64 form of a constant tensor, null if it is not known how.
static DenseElementsAttr toF64(Attribute value) {
  if (auto dense = dyn_cast<DenseFPElementsAttr>(value))
    return dense.mapValues(
        Float64Type::get(value.getContext()),
        [](const APFloat &element) { return toF64(element).bitcastToAPInt(); });
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  bool isSplat = false;
  if (!blob || !DenseElementsAttr::isValidRawBuffer(resource.getType(),
                                                    blob->getData(), isSplat))
    return {};
  return toF64(
      DenseElementsAttr::getFromRawBuffer(resource.getType(), blob->getData()));
}

namespace {

class Bounder {
public:
  explicit Bounder(ModuleOp module)
      : module(module), values(module), builder(module) {}

  LogicalResult run();

private:
  void findSumsAndFlags();
  LogicalResult checkTypes();
  void retype();
  LogicalResult convert(Operation *op);
  LogicalResult convertConstant(arith::ConstantOp op);
  LogicalResult convertScalar(Operation *op);
  void convertExtract(tensor::ExtractOp op);
  LogicalResult convertStructure(Operation *op);
  void convertCalls(Operation *op);
  void convertExternalCall(Operation *op, func::FuncOp callee);
  bool isBoundedType(Type type) const {
    return isa<ComplexType>(getElementTypeOrSelf(type));
  }
  /// Makes an operand a bounded number.
  void bound(OpOperand &operand);

  ModuleOp module;
  BoundedValues values;
  BoundedBuilder builder;
  llvm::DenseMap<Operation *, DeclaredTypes> declared;
  llvm::DenseMap<Operation *, SmallVector<BoundedSumInfo>> sums;
  llvm::DenseMap<Operation *, int32_t> flags;
  llvm::DenseSet<Operation *> partsOfSums;
};

} // namespace

//===----------------------------------------------------------------------===//
// Before types change
//===----------------------------------------------------------------------===//

/// Calls `visit` with the ops in the body of `op` that depend on what a
/// reduction has so far.
static void walkCombining(linalg::GenericOp op,
                          function_ref<void(Operation *)> visit) {
  llvm::DenseSet<Value> dependent;
  Block *body = op.getBody();
  for (unsigned i = op.getNumDpsInputs(); i < body->getNumArguments(); ++i)
    dependent.insert(body->getArgument(i));
  for (Operation &inside : body->without_terminator()) {
    if (llvm::none_of(inside.getOperands(),
                      [&](Value x) { return dependent.contains(x); }))
      continue;
    dependent.insert_range(inside.getResults());
    visit(&inside);
  }
}

void Bounder::findSumsAndFlags() {
  module.walk([&](Operation *op) {
    if (isSigmoid(op))
      flags[op] |= kSigmoid;
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || generic.getNumReductionLoops() == 0)
      return;
    walkCombining(generic,
                  [&](Operation *inside) { flags[inside] |= kReordered; });
    SmallVector<BoundedSumInfo> found = findSums(generic);
    for (BoundedSumInfo &sum : found)
      for (Operation *part : {sum.add, sum.product})
        if (part)
          partsOfSums.insert(part);
    if (llvm::any_of(found, [](auto &sum) { return sum.add != nullptr; }))
      sums[op] = std::move(found);
  });
}

/// Types that a program on bounded numbers may have.
static bool isKnownType(Type type) {
  if (auto function = dyn_cast<FunctionType>(type))
    return llvm::all_of(function.getInputs(), isKnownType) &&
           llvm::all_of(function.getResults(), isKnownType);
  if (isa<NoneType>(type))
    return true;
  if (isa<ShapedType>(type) && !isa<RankedTensorType>(type))
    return false;
  Type element = getElementTypeOrSelf(type);
  return isa<FloatType>(element) ? getDType(element).has_value()
                                 : isa<IntegerType, IndexType>(element);
}

LogicalResult Bounder::checkTypes() {
  WalkResult walk = module.walk([&](Operation *op) {
    SmallVector<Type> types(op->getResultTypes());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(types, block.getArgumentTypes());
    for (Type type : types)
      if (!isKnownType(type)) {
        op->emitOpError("has a value of type ")
            << type << ", which the reference does not know";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

void Bounder::retype() {
  module.walk([&](Operation *op) {
    for (Type type : op->getOperandTypes())
      declared[op].operands.push_back(getElementTypeOrSelf(type));
    for (Type type : op->getResultTypes())
      declared[op].results.push_back(getElementTypeOrSelf(type));
  });
  for (auto function : module.getOps<func::FuncOp>()) {
    // Those follow their one call.
    if (function.isExternal())
      continue;
    SmallVector<Type> arguments, results(function.getResultTypes());
    for (auto [i, type] : llvm::enumerate(results))
      if (values.isBounded(function, i))
        type = builder.getBoundedType(type);
    for (Value argument : function.getArguments())
      arguments.push_back(values.isBounded(argument)
                              ? builder.getBoundedType(argument.getType())
                              : argument.getType());
    function.setFunctionType(
        FunctionType::get(module.getContext(), arguments, results));
  }
  auto change = [&](Value value) {
    if (values.isBounded(value))
      value.setType(builder.getBoundedType(value.getType()));
  };
  module.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), change);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), change);
  });
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void Bounder::bound(OpOperand &operand) {
  Value value = operand.get();
  if (isBoundedType(value.getType()))
    return;
  OpBuilder b(operand.getOwner());
  Location loc = operand.getOwner()->getLoc();
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor)
    operand.set(builder.fromInteger(b, loc, value));
  else if (value.getDefiningOp<tensor::EmptyOp>())
    operand.set(tensor::EmptyOp::create(
        b, loc, tensor::getMixedSizes(b, loc, value), builder.getType()));
  else
    operand.set(builder.fromTensor(b, loc, value));
  if (tensor && operand.get().getType() != builder.getBoundedType(tensor))
    operand.set(tensor::CastOp::create(b, loc, builder.getBoundedType(tensor),
                                       operand.get()));
}

LogicalResult Bounder::convertConstant(arith::ConstantOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value result;
  if (auto scalar = dyn_cast<FloatAttr>(op.getValue())) {
    result =
        builder.constant(b, loc, toF64(scalar.getValue()).convertToDouble());
  } else {
    DenseElementsAttr dense = toF64(op.getValue());
    if (!dense)
      return op.emitOpError("has a value that the reference cannot convert");
    if (dense.isSplat()) {
      auto type = cast<RankedTensorType>(op.getType());
      Value empty =
          tensor::EmptyOp::create(b, loc, type.getShape(), builder.getType());
      Value value = builder.constant(
          b, loc, dense.getSplatValue<APFloat>().convertToDouble());
      result = linalg::FillOp::create(b, loc, value, empty).getResult(0);
    } else {
      Value numbers = arith::ConstantOp::create(b, loc, dense);
      result = builder.fromTensor(b, loc, numbers);
    }
  }
  op.getResult().replaceAllUsesWith(result);
  op.erase();
  return success();
}

LogicalResult Bounder::convertScalar(Operation *op) {
  ScalarBounder scalar(builder, op, declared[op], flags.lookup(op));
  FailureOr<SmallVector<Value>> results = scalar.convert();
  if (failed(results))
    return op->emitOpError("is not known to the reference");
  for (auto [result, value] : llvm::zip_equal(op->getResults(), *results))
    result.replaceAllUsesWith(value);
  op->erase();
  return success();
}

/// An element at an open place is not known.
void Bounder::convertExtract(tensor::ExtractOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value isOpen;
  for (OpOperand &index : op.getIndicesMutable()) {
    if (!isBoundedType(index.get().getType()))
      continue;
    Value open = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE,
                                       builder.getError(b, loc, index.get()),
                                       builder.f64(b, loc, 0));
    isOpen = isOpen ? arith::OrIOp::create(b, loc, isOpen, open) : open;
    index.set(builder.toInteger(b, loc, index.get(), b.getIndexType()));
  }
  if (!isOpen)
    return;
  op.getResult().setType(op.getTensor().getType().getElementType());
  b.setInsertionPointAfter(op);
  Value element = op.getResult();
  if (!isBoundedType(element.getType()))
    element = builder.fromInteger(b, loc, element);
  Value unknown = builder.create(
      b, loc, builder.getValue(b, loc, element),
      builder.f64(b, loc, std::numeric_limits<double>::infinity()));
  Value result = arith::SelectOp::create(b, loc, isOpen, unknown, element);
  op.getResult().replaceUsesWithIf(result, [&](OpOperand &use) {
    return !use.getOwner()->isBeforeInBlock(result.getDefiningOp()) &&
           use.getOwner() != result.getDefiningOp();
  });
}

/// A function that is evaluated elsewhere takes and gives what its call has;
/// sizes are integers.
void Bounder::convertExternalCall(Operation *op, func::FuncOp callee) {
  OpBuilder b(op);
  for (auto [operand, type] :
       llvm::zip(op->getOpOperands(), callee.getArgumentTypes()))
    if (type.isIndex() && isBoundedType(operand.get().getType()))
      operand.set(builder.decide(b, op->getLoc(), operand.get(), type));
  callee.setFunctionType(
      b.getFunctionType(op->getOperandTypes(), op->getResultTypes()));
}

/// Calls and returns pass what the function declares.
void Bounder::convertCalls(Operation *op) {
  func::FuncOp function;
  TypeRange wanted;
  if (isa<func::ReturnOp>(op)) {
    function = op->getParentOfType<func::FuncOp>();
    wanted = function.getResultTypes();
  } else {
    function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        op, cast<func::CallOp>(op).getCalleeAttr());
    wanted = function.getArgumentTypes();
    if (function.isExternal())
      return convertExternalCall(op, function);
  }
  for (auto [operand, type] : llvm::zip_equal(op->getOpOperands(), wanted))
    if (isBoundedType(type))
      bound(operand);
}

/// An op that moves elements: what it moves has one type, and sizes, places and
/// conditions are integers.
LogicalResult Bounder::convertStructure(Operation *op) {
  llvm::DenseSet<OpOperand *> moved;
  for (const MovedValues &values : getMovedValues(op)) {
    moved.insert_range(values.from);
    if (llvm::any_of(values.to,
                     [&](Value x) { return isBoundedType(x.getType()); }))
      for (OpOperand *operand : values.from)
        bound(*operand);
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    convertExtract(extract);
  // Terminators belong to the op around them.
  if (op->hasTrait<OpTrait::IsTerminator>() && !isa<scf::ConditionOp>(op))
    return success();
  OpBuilder b(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (moved.contains(&operand) || !isBoundedType(value.getType()) ||
        isa<tensor::DimOp>(op))
      continue;
    if (isa<RankedTensorType>(value.getType()))
      return op->emitOpError("depends on floats in a way that is not known to "
                             "the reference");
    if (auto condition = dyn_cast<scf::ConditionOp>(op);
        condition && operand.getOperandNumber() != 0)
      continue;
    Type type = declared[op].operands[operand.getOperandNumber()];
    operand.set(builder.decide(b, op->getLoc(), value, type));
  }
  return success();
}

LogicalResult Bounder::convert(Operation *op) {
  if (isa<func::FuncOp, ModuleOp>(op) || partsOfSums.contains(op))
    return success();
  if (isa<func::ReturnOp, func::CallOp>(op)) {
    convertCalls(op);
    return success();
  }
  auto isBounded = [&](Type type) { return isBoundedType(type); };
  bool touches = llvm::any_of(op->getOperandTypes(), isBounded) ||
                 llvm::any_of(op->getResultTypes(), isBounded) ||
                 op->getNumRegions() != 0;
  if (!touches)
    return success();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return convertConstant(constant);
  StringRef dialect = op->getName().getDialectNamespace();
  if (isa<ub::PoisonOp>(op)) {
    OpBuilder b(op);
    if (isa<ShapedType>(op->getResult(0).getType()))
      return success();
    op->getResult(0).replaceAllUsesWith(builder.constant(
        b, op->getLoc(), 0, std::numeric_limits<double>::infinity()));
    op->erase();
    return success();
  }
  bool isTensor = llvm::any_of(op->getResultTypes(),
                               [](Type type) { return isa<ShapedType>(type); });
  if ((dialect == "arith" || dialect == "math" || dialect == "index") &&
      !isTensor)
    return convertScalar(op);
  return convertStructure(op);
}

LogicalResult Bounder::run() {
  if (failed(checkTypes()))
    return failure();
  findSumsAndFlags();
  // Ops that are made on the way are on bounded numbers already. Bodies come
  // before the ops around them, whose operands they change.
  SmallVector<Operation *> ops;
  module.walk<WalkOrder::PostOrder>([&](Operation *op) { ops.push_back(op); });
  retype();
  for (Operation *op : ops) {
    if (failed(convert(op)))
      return failure();
    if (auto it = sums.find(op); it != sums.end())
      splitSums(builder, cast<linalg::GenericOp>(op), it->second);
  }
  return success();
}

LogicalResult fusion::boundFloats(ModuleOp module) {
  return Bounder(module).run();
}

namespace {
struct BoundFloatsPass : fusion::impl::BoundFloatsPassBase<BoundFloatsPass> {
  void runOnOperation() override {
    if (failed(fusion::boundFloats(getOperation())))
      signalPassFailure();
  }
};
} // namespace
