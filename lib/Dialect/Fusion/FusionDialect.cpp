//===- FusionDialect.cpp - The fusion dialect -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the registration of the fusion dialect and the
// verification of its discardable attributes.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "Tiling.h"
#include "fusion/Dialect/Fusion/FusionBufferOps.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Dialect/Fusion/PairContracts.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::fusion;

#include "fusion/Dialect/Fusion/FusionDialect.cpp.inc"

namespace {
/// Every op may move into the caller of its function: all are pure, and their
/// regions hold what the op's own verifier allows.
struct FusionInlinerInterface : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void FusionDialect::initialize() {
  addInterfaces<FusionInlinerInterface>();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "fusion/Dialect/Fusion/FusionOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "fusion/Dialect/Fusion/FusionBufferOps.cpp.inc"
      >();
  attachTiling<
#define GET_OP_LIST
#include "fusion/Dialect/Fusion/FusionOps.cpp.inc"
      >(getContext());
}

/// Verifies `fusion.must` and `fusion.never`, which exclude each other.
static LogicalResult verifyContract(Operation *op, NamedAttribute attribute) {
  if (!isa<UnitAttr>(attribute.getValue()))
    return op->emitOpError() << "attribute '" << attribute.getName().getValue()
                             << "' must be a unit attribute";
  if (op->hasAttr(FusionDialect::kMustAttrName) &&
      op->hasAttr(FusionDialect::kNeverAttrName))
    return op->emitOpError()
           << "cannot have both '" << FusionDialect::kMustAttrName << "' and '"
           << FusionDialect::kNeverAttrName << "'";
  return success();
}

static LogicalResult verifyMaxKernels(Operation *op, Attribute value) {
  if (!isa<FunctionOpInterface>(op))
    return op->emitOpError()
           << "attribute '" << FusionDialect::kMaxKernelsAttrName
           << "' is only valid on functions";
  auto limit = dyn_cast<IntegerAttr>(value);
  if (!limit || !limit.getType().isInteger(64) || limit.getInt() < 1)
    return op->emitOpError()
           << "attribute '" << FusionDialect::kMaxKernelsAttrName
           << "' must be a positive 64-bit integer, got " << value;
  return success();
}

LogicalResult
FusionDialect::verifyOperationAttribute(Operation *op,
                                        NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kMustAttrName || name == kNeverAttrName)
    return verifyContract(op, attribute);
  if (name == kRepackAttrName) {
    if (!isa<StringAttr>(attribute.getValue()))
      return op->emitOpError() << "attribute '" << name << "' must be a string";
    return success();
  }
  if (name == "fusion.tf32") {
    if (!isa<UnitAttr>(attribute.getValue()))
      return op->emitOpError()
             << "attribute '" << name << "' must be a unit attribute";
    return success();
  }
  if (name == kInPlaceAttrName) {
    if (!isa<tensor::InsertSliceOp, tensor::ExtractSliceOp>(op) ||
        !isa<UnitAttr>(attribute.getValue()))
      return op->emitOpError() << "attribute '" << name
                               << "' must be a unit attribute of a "
                                  "'tensor.insert_slice' or a "
                                  "'tensor.extract_slice'";
    return success();
  }
  if (name == kPartAttrName) {
    auto part = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    if (!part || part.size() != 2 || part[0] < 0 || part[1] < 0)
      return op->emitOpError()
             << "attribute '" << name
             << "' must be an array of two non-negative 64-bit integers";
    return success();
  }
  if (name == kTogetherAttrName || name == kApartAttrName) {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    if (!numbers || llvm::any_of(numbers.asArrayRef(),
                                 [](int64_t number) { return number < 0; }))
      return op->emitOpError()
             << "attribute '" << name
             << "' must be an array of non-negative 64-bit integers";
    return success();
  }
  if (name == kOffloadAttrName) {
    if (!isa<FunctionOpInterface, scf::ExecuteRegionOp>(op) ||
        !isa<UnitAttr>(attribute.getValue()))
      return op->emitOpError() << "attribute '" << name
                               << "' must be a unit attribute of a function or "
                                  "of a 'scf.execute_region'";
    return success();
  }
  if (name == kMaxKernelsAttrName)
    return verifyMaxKernels(op, attribute.getValue());
  if (name == kPlanAttrName) {
    if (!isa<FunctionOpInterface>(op) ||
        !isa<DictionaryAttr>(attribute.getValue()))
      return op->emitOpError()
             << "attribute '" << name << "' must be a dictionary on a function";
    return success();
  }
  if (name == kTargetAttrName) {
    if (!isa<ModuleOp>(op))
      return op->emitOpError()
             << "attribute '" << name << "' is only valid on modules";
    if (!isa<TargetAttr>(attribute.getValue()))
      return op->emitOpError() << "attribute '" << name
                               << "' must be a #fusion.target attribute, got "
                               << attribute.getValue();
    return success();
  }
  return op->emitOpError() << "unknown attribute '" << name
                           << "' of the fusion dialect";
}

/// Verifies that one result is the memory of argument `index` of `function`.
static LogicalResult verifyOverwritten(FunctionOpInterface function,
                                       unsigned index, Attribute value) {
  StringRef name = FusionDialect::kOverwrittenByAttrName;
  auto error = [&]() {
    return function.emitOpError()
           << "attribute '" << name << "' of argument #" << index;
  };
  auto result = dyn_cast<IntegerAttr>(value);
  if (!result || !result.getType().isInteger(64))
    return error() << " must be a 64-bit integer, got " << value;
  if (result.getInt() < 0 || result.getInt() >= function.getNumResults())
    return error() << " is " << result.getInt() << ", but the function has "
                   << function.getNumResults() << " results";
  Type type = function.getArgumentTypes()[index];
  Type written = function.getResultTypes()[result.getInt()];
  // Memrefs are what bufferization makes of them.
  if (!isa<RankedTensorType, MemRefType>(type) || type != written)
    return error() << " needs one ranked tensor type for both: the argument is "
                   << type << ", result #" << result.getInt() << " is "
                   << written;
  for (unsigned other = 0; other < index; ++other)
    if (function.getArgAttr(other, name) == value)
      return error() << " and of argument #" << other << " name one result";
  return success();
}

LogicalResult
FusionDialect::verifyRegionArgAttribute(Operation *op, unsigned regionIndex,
                                        unsigned argIndex,
                                        NamedAttribute attribute) {
  StringRef name = attribute.getName();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (name == kOverwrittenByAttrName && function)
    return verifyOverwritten(function, argIndex, attribute.getValue());
  if (name != kDimsAttrName)
    return op->emitOpError() << "unknown argument attribute '" << name
                             << "' of the fusion dialect";
  auto type =
      function
          ? dyn_cast<RankedTensorType>(function.getArgumentTypes()[argIndex])
          : RankedTensorType();
  if (!type)
    return op->emitOpError() << "attribute '" << name << "' of argument #"
                             << argIndex << " is only valid on ranked tensors";
  auto names = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!names || !llvm::all_of(names, llvm::IsaPred<StringAttr>))
    return op->emitOpError() << "attribute '" << name << "' of argument #"
                             << argIndex << " must be an array of strings";
  if (static_cast<int64_t>(names.size()) != type.getRank())
    return op->emitOpError()
           << "attribute '" << name << "' of argument #" << argIndex << " has "
           << names.size() << " names for rank " << type.getRank();
  return success();
}
