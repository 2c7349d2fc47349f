//===- HostBody.cpp - Host code in the place of a program -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the buffers and sizes of host code.
//
//===----------------------------------------------------------------------===//

#include "HostBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::fusion;
using fusionpkg::ExprId;
using fusionpkg::ExprNode;
using fusionpkg::ExprOp;

static MemRefType getMemRefType(RankedTensorType type) {
  return MemRefType::get(type.getShape(), type.getElementType());
}

HostBody::HostBody(func::FuncOp func, const fusionpkg::Entry &entry,
                   HostMemory memory)
    : OpBuilder(func.getContext()), func(func), entry(entry), memory(memory) {
  func.eraseBody();
  setInsertionPointToEnd(func.addEntryBlock());
  addBuffers();
  addOutputs();
}

void HostBody::addBuffers() {
  for (Value argument : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    inputs.push_back(!type ? argument
                           : bufferization::ToBufferOp::create(
                                 *this, getLoc(), getMemRefType(type), argument,
                                 /*read_only=*/true));
  }
}

Value HostBody::beginStream() {
  return gpu::WaitOp::create(*this, getLoc(),
                             gpu::AsyncTokenType::get(getContext()),
                             ValueRange())
      .getAsyncToken();
}

void HostBody::waitFor(Value token) {
  gpu::WaitOp::create(*this, getLoc(), Type(), ValueRange(token));
}

Value HostBody::allocateOnDevice(MemRefType type, ValueRange sizes,
                                 Value &token) {
  auto alloc = gpu::AllocOp::create(
      *this, getLoc(), TypeRange{type, token.getType()}, ValueRange(token),
      sizes, /*symbolOperands=*/ValueRange(), /*hostShared=*/UnitAttr());
  token = alloc.getAsyncToken();
  return alloc.getMemref();
}

void HostBody::copyOnDevice(Value to, Value from, Value &token) {
  token = gpu::MemcpyOp::create(*this, getLoc(), token.getType(),
                                ValueRange(token), to, from)
              .getAsyncToken();
}

Value HostBody::createOutput(MemRefType type, ValueRange sizes) {
  if (memory == HostMemory::Host) {
    constexpr int64_t kAlignment = 64;
    return memref::AllocOp::create(*this, getLoc(), type, sizes,
                                   getI64IntegerAttr(kAlignment));
  }
  Value token = beginStream();
  Value output = allocateOnDevice(type, sizes, token);
  waitFor(token);
  return output;
}

void HostBody::copy(Value to, Value from) {
  if (memory == HostMemory::Host) {
    memref::CopyOp::create(*this, getLoc(), from, to);
    return;
  }
  Value token = beginStream();
  copyOnDevice(to, from, token);
  waitFor(token);
}

void HostBody::addOutputs() {
  if (isGivenOutputs()) {
    size_t first = inputs.size() - entry.outputs.size();
    outputs.assign(inputs.begin() + first, inputs.end());
    inputs.resize(first);
    return;
  }
  for (auto [spec, type] :
       llvm::zip_equal(entry.outputs, func.getResultTypes())) {
    auto memref = getMemRefType(cast<RankedTensorType>(type));
    SmallVector<Value> dynamic;
    for (auto [dim, size] : llvm::enumerate(memref.getShape()))
      if (ShapedType::isDynamic(size))
        dynamic.push_back(evaluate(spec.dims[dim]));
    outputs.push_back(createOutput(memref, dynamic));
    if (spec.overwrites)
      copy(outputs.back(), inputs[*spec.overwrites]);
  }
  // Where an output is an input's memory it is both.
  for (auto [spec, output] : llvm::zip_equal(entry.outputs, outputs))
    if (spec.overwrites)
      inputs[*spec.overwrites] = output;
}

void HostBody::finish() {
  SmallVector<Value> results;
  if (isGivenOutputs()) {
    func::ReturnOp::create(*this, getLoc(), results);
    return;
  }
  for (auto [output, type] : llvm::zip_equal(outputs, func.getResultTypes()))
    results.push_back(bufferization::ToTensorOp::create(
        *this, getLoc(), type, output, /*restrict=*/true, /*writable=*/true));
  func::ReturnOp::create(*this, getLoc(), results);
}

Value HostBody::getAddress(Value memref) {
  return asI64(
      memref::ExtractAlignedPointerAsIndexOp::create(*this, getLoc(), memref));
}

Value HostBody::createIndex(int64_t value) {
  return arith::ConstantIndexOp::create(*this, getLoc(), value);
}
Value HostBody::createI64(int64_t value) {
  return arith::ConstantIntOp::create(*this, getLoc(), value, 64);
}
Value HostBody::createI32(int64_t value) {
  return arith::ConstantIntOp::create(*this, getLoc(), value, 32);
}
Value HostBody::asI64(Value index) {
  return arith::IndexCastOp::create(*this, getLoc(), getI64Type(), index);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Value HostBody::evaluateSymbol(int64_t number) {
  const fusionpkg::Symbol &symbol = entry.symbols[number];
  Value input = inputs[symbol.input];
  if (symbol.dim != fusionpkg::Symbol::kFromScalar)
    return memref::DimOp::create(*this, getLoc(), input, symbol.dim);
  if (input.getType().isIndex())
    return input;
  return arith::IndexCastOp::create(*this, getLoc(), getIndexType(), input);
}

Value HostBody::evaluateBinary(const ExprNode &node) {
  Location loc = getLoc();
  Value a = evaluate(node.lhs), b = evaluate(node.rhs);
  auto isTrue = [&](Value value) -> Value {
    return arith::CmpIOp::create(*this, loc, arith::CmpIPredicate::ne, value,
                                 createIndex(0));
  };
  auto asNumber = [&](Value condition) -> Value {
    return arith::SelectOp::create(*this, loc, condition, createIndex(1),
                                   createIndex(0));
  };
  auto compare = [&](arith::CmpIPredicate predicate) {
    return asNumber(arith::CmpIOp::create(*this, loc, predicate, a, b));
  };
  switch (node.op) {
  case ExprOp::Add:
    return arith::AddIOp::create(*this, loc, a, b);
  case ExprOp::Sub:
    return arith::SubIOp::create(*this, loc, a, b);
  case ExprOp::Mul:
    return arith::MulIOp::create(*this, loc, a, b);
  case ExprOp::FloorDiv:
    return arith::FloorDivSIOp::create(*this, loc, a, b);
  case ExprOp::CeilDiv:
    return arith::CeilDivSIOp::create(*this, loc, a, b);
  case ExprOp::Mod: {
    Value quotient = arith::FloorDivSIOp::create(*this, loc, a, b);
    Value whole = arith::MulIOp::create(*this, loc, quotient, b);
    return arith::SubIOp::create(*this, loc, a, whole);
  }
  case ExprOp::Min:
    return arith::MinSIOp::create(*this, loc, a, b);
  case ExprOp::Max:
    return arith::MaxSIOp::create(*this, loc, a, b);
  case ExprOp::Eq:
    return compare(arith::CmpIPredicate::eq);
  case ExprOp::Ne:
    return compare(arith::CmpIPredicate::ne);
  case ExprOp::Lt:
    return compare(arith::CmpIPredicate::slt);
  case ExprOp::Le:
    return compare(arith::CmpIPredicate::sle);
  case ExprOp::And:
    return asNumber(arith::AndIOp::create(*this, loc, isTrue(a), isTrue(b)));
  case ExprOp::Or:
    return asNumber(arith::OrIOp::create(*this, loc, isTrue(a), isTrue(b)));
  case ExprOp::Const:
  case ExprOp::Symbol:
    break;
  }
  llvm_unreachable("a leaf");
}

Value HostBody::evaluate(ExprId id) {
  if (Value known = sizes.lookup(id))
    return known;
  const ExprNode &node = entry.exprs.getNodes()[id];
  Value value = node.op == ExprOp::Const    ? createIndex(node.value)
                : node.op == ExprOp::Symbol ? evaluateSymbol(node.value)
                                            : evaluateBinary(node);
  return sizes[id] = value;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Value HostBody::createStack(Type type, int64_t count, unsigned alignment) {
  return LLVM::AllocaOp::create(*this, getLoc(),
                                LLVM::LLVMPointerType::get(getContext()), type,
                                createI64(count), alignment);
}

void HostBody::storeElement(Value array, int64_t index, Value value) {
  Value place = LLVM::GEPOp::create(
      *this, getLoc(), array.getType(), value.getType(), array,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  LLVM::StoreOp::create(*this, getLoc(), value, place);
}

LLVM::CallOp HostBody::callRuntime(StringRef name, Type result,
                                   ValueRange arguments) {
  auto module = func->getParentOfType<ModuleOp>();
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    OpBuilder::InsertionGuard guard(*this);
    setInsertionPointToStart(module.getBody());
    callee = LLVM::LLVMFuncOp::create(
        *this, getLoc(), name,
        LLVM::LLVMFunctionType::get(result,
                                    llvm::to_vector(arguments.getTypes())));
  }
  return LLVM::CallOp::create(*this, getLoc(), callee, arguments);
}

Value fusion::createBytes(HostBody &body, ModuleOp module, StringRef name,
                          StringRef bytes) {
  if (!module.lookupSymbol<LLVM::GlobalOp>(name)) {
    OpBuilder::InsertionGuard guard(body);
    body.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(body.getI8Type(), bytes.size());
    constexpr uint64_t kAlignment = 64;
    LLVM::GlobalOp::create(body, body.getLoc(), type, /*isConstant=*/true,
                           LLVM::Linkage::Internal, name,
                           body.getStringAttr(bytes), kAlignment);
  }
  return LLVM::AddressOfOp::create(
      body, body.getLoc(), LLVM::LLVMPointerType::get(body.getContext()), name);
}
