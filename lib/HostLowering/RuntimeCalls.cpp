//===- RuntimeCalls.cpp - Host code that calls the runtime ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements host code as a call of fusionRtCallPackage()
// (fusion-rt/HostCalls.h).
//
//===----------------------------------------------------------------------===//

#include "HostBody.h"
#include "fusion-rt/HostCalls.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// Arrays of FusionRtTensor on the stack.
class TensorArrays {
public:
  explicit TensorArrays(HostBody &body)
      : body(body), pointer(LLVM::LLVMPointerType::get(body.getContext())),
        type(LLVM::LLVMStructType::getLiteral(
            body.getContext(), {body.getI64Type(), pointer, pointer,
                                body.getI32Type(), body.getI32Type()})) {}

  Value create(ArrayRef<Value> values,
               const std::vector<fusionpkg::TensorSpec> &specs);

private:
  Value createDims(Value memref);
  Value createScalar(Value scalar);
  Value createNull() {
    return LLVM::ZeroOp::create(body, body.getLoc(), pointer);
  }

  HostBody &body;
  Type pointer, type;
};
} // namespace

Value TensorArrays::createDims(Value memref) {
  int64_t rank = cast<MemRefType>(memref.getType()).getRank();
  Value dims = body.createStack(body.getI64Type(), std::max<int64_t>(rank, 1),
                                /*alignment=*/8);
  for (int64_t dim = 0; dim < rank; ++dim) {
    Value size = memref::DimOp::create(body, body.getLoc(), memref, dim);
    body.storeElement(dims, dim, body.asI64(size));
  }
  return dims;
}

/// Numbers lie as packages have them: index in 64 bits, i1 in a byte.
Value TensorArrays::createScalar(Value scalar) {
  Location loc = body.getLoc();
  if (scalar.getType().isIndex())
    scalar = body.asI64(scalar);
  if (scalar.getType().isInteger(1))
    scalar = arith::ExtUIOp::create(body, loc, body.getI8Type(), scalar);
  Value place = body.createStack(scalar.getType(), 1, /*alignment=*/8);
  body.storeElement(place, 0, scalar);
  return place;
}

Value TensorArrays::create(ArrayRef<Value> values,
                           const std::vector<fusionpkg::TensorSpec> &specs) {
  Location loc = body.getLoc();
  Value array = body.createStack(type, std::max<int64_t>(values.size(), 1),
                                 /*alignment=*/8);
  for (auto [number, value] : llvm::enumerate(values)) {
    bool isTensor = isa<MemRefType>(value.getType());
    int64_t rank =
        isTensor ? cast<MemRefType>(value.getType()).getRank() : int64_t(0);
    Value fields[] = {isTensor ? body.getAddress(value) : body.createI64(0),
                      isTensor ? createNull() : createScalar(value),
                      isTensor ? createDims(value) : createNull(),
                      body.createI32(static_cast<int64_t>(specs[number].dtype)),
                      body.createI32(rank)};
    Value tensor = LLVM::UndefOp::create(body, loc, type);
    for (auto [field, content] : llvm::enumerate(fields))
      tensor = LLVM::InsertValueOp::create(body, loc, tensor, content,
                                           static_cast<int64_t>(field));
    body.storeElement(array, number, tensor);
  }
  return array;
}

LogicalResult fusion::writeRuntimeCall(func::FuncOp func,
                                       const fusionpkg::Entry &entry,
                                       StringRef bytes, HostMemory memory) {
  auto module = func->getParentOfType<ModuleOp>();
  HostBody body(func, entry, memory);
  SmallVector<Value> inputs, outputs;
  for (unsigned i = 0; i < entry.inputs.size(); ++i)
    inputs.push_back(body.getInput(i));
  for (unsigned i = 0; i < entry.outputs.size(); ++i)
    outputs.push_back(body.getOutput(i));
  TensorArrays arrays(body);
  std::string name = entry.name;
  name.push_back('\0');
  int64_t kind = memory == HostMemory::Host ? FUSION_RT_MEMORY_HOST
                                            : FUSION_RT_MEMORY_DEVICE;
  Value arguments[] = {
      createBytes(body, module, "fusion_package", bytes),
      body.createI64(bytes.size()),
      createBytes(body, module, "fusion_entry_" + entry.name, name),
      arrays.create(inputs, entry.inputs),
      body.createI32(inputs.size()),
      arrays.create(outputs, entry.outputs),
      body.createI32(outputs.size()),
      body.createI32(kind)};
  Value status =
      body.callRuntime("fusionRtCallPackage", body.getI32Type(), arguments)
          .getResult();
  Value isFine = arith::CmpIOp::create(
      body, body.getLoc(), arith::CmpIPredicate::eq, status, body.createI32(0));
  cf::AssertOp::create(body, body.getLoc(), isFine,
                       "the kernels of '" + entry.name + "' were not launched");
  body.finish();
  return success();
}
