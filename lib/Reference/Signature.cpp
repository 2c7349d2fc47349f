//===- Signature.cpp - What a function takes and gives --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the reading of an entry function's signature.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/Signature.h"

#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fusion;

std::string TensorSignature::getTypeString() const {
  std::string text = fusionpkg::getDTypeName(dtype);
  text += "[";
  for (auto [i, extent] : llvm::enumerate(shape))
    text += (i ? "," : "") +
            (extent == kDynamic ? std::string("?") : std::to_string(extent));
  return text + "]";
}

std::string
TensorSignature::describeMismatch(DType other,
                                  const std::vector<int64_t> &dims) const {
  bool fits = other == dtype && dims.size() == shape.size();
  for (size_t dim = 0; fits && dim < dims.size(); ++dim)
    fits =
        dims[dim] >= 0 && (shape[dim] == kDynamic || shape[dim] == dims[dim]);
  if (fits)
    return "";
  TensorSignature given;
  given.dtype = other;
  given.shape = dims;
  return "is " + given.getTypeString() + " where " + getTypeString() +
         " is declared";
}

/// The part of the signature for one operand or result, without names.
static FailureOr<TensorSignature>
getTensorSignature(func::FuncOp function, Type type, const Twine &what) {
  TensorSignature tensor;
  std::optional<DType> dtype = getDType(getElementTypeOrSelf(type));
  auto ranked = dyn_cast<RankedTensorType>(type);
  tensor.isScalar = type.isIntOrIndexOrFloat();
  if (!dtype || (!ranked && !tensor.isScalar)) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return emitCodedError(function.getLoc(), ErrorCode::UnsupportedType,
                          what + " of '" + function.getName() + "' has type " +
                              text);
  }
  tensor.dtype = *dtype;
  if (ranked)
    for (int64_t extent : ranked.getShape())
      tensor.shape.push_back(
          ShapedType::isDynamic(extent) ? TensorSignature::kDynamic : extent);
  return tensor;
}

/// Names the extents of argument `index`: by its `fusion.dims`, which the
/// dialect has verified, or as arg0.1.
static void nameExtents(func::FuncOp function, unsigned index,
                        TensorSignature &tensor) {
  auto names =
      function.getArgAttrOfType<ArrayAttr>(index, FusionDialect::kDimsAttrName);
  for (size_t dim = 0; dim < tensor.shape.size(); ++dim) {
    StringRef name = names ? cast<StringAttr>(names[dim]).getValue() : "_";
    tensor.dimNames.push_back(
        name == "_" || name.empty()
            ? ("arg" + Twine(index) + "." + Twine(dim)).str()
            : name.str());
  }
}

FailureOr<Signature> fusion::getSignature(func::FuncOp function) {
  Signature signature;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    FailureOr<TensorSignature> tensor =
        getTensorSignature(function, type, "argument " + Twine(index));
    if (failed(tensor))
      return failure();
    nameExtents(function, index, *tensor);
    signature.inputs.push_back(std::move(*tensor));
  }
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    FailureOr<TensorSignature> tensor =
        getTensorSignature(function, type, "result " + Twine(index));
    if (failed(tensor))
      return failure();
    signature.outputs.push_back(std::move(*tensor));
  }
  return signature;
}

FailureOr<func::FuncOp> fusion::findEntry(ModuleOp module, StringRef entry) {
  SmallVector<func::FuncOp> choices;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      choices.push_back(function);
  if (entry.empty() && choices.size() == 1)
    return choices.front();
  std::string names;
  for (func::FuncOp function : choices) {
    if (function.getName() == entry)
      return function;
    names += (names.empty() ? "" : ", ") + function.getName().str();
  }
  if (choices.empty())
    return emitCodedError(module.getLoc(), ErrorCode::NoSuchEntry,
                          "the module has no public function with a body",
                          "define a public func.func");
  if (entry.empty())
    return emitCodedError(module.getLoc(), ErrorCode::NoSuchEntry,
                          "the module has several public functions: " + names);
  return emitCodedError(module.getLoc(), ErrorCode::NoSuchEntry,
                        "the module has no public function '" + entry +
                            "'; it has " + names);
}
