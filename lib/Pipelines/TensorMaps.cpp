//===- TensorMaps.cpp - The tensor maps that kernels take -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the reading of a launch's tensor maps off the attribute
// `fusion_tile.tensor_maps` of a kernel. docs/Package.md has the attribute's
// form.
//
//===----------------------------------------------------------------------===//

#include "EntryBuilder.h"

using namespace mlir;
using namespace mlir::fusion;
using fusionpkg::Arg;
using fusionpkg::ArgKind;
using fusionpkg::TensorMapKind;
using fusionpkg::TensorMapSwizzle;

/// The numbers of an entry of `map`; none when it is absent.
template <typename T>
static std::vector<T> getNumbers(DictionaryAttr map, StringRef name) {
  auto numbers = map.getAs<DenseI64ArrayAttr>(name);
  if (!numbers)
    return {};
  return std::vector<T>(numbers.asArrayRef().begin(),
                        numbers.asArrayRef().end());
}

static int64_t getNumber(DictionaryAttr map, StringRef name, int64_t absent) {
  auto number = map.getAs<IntegerAttr>(name);
  return number ? number.getInt() : absent;
}

FailureOr<fusionpkg::TensorMap>
EntryBuilder::buildTensorMap(KernelOp kernel, DictionaryAttr map,
                             const fusionpkg::Step &step) {
  auto malformed = [&](const Twine &what) -> LogicalResult {
    return kernel.emitError("FUS-4006: a tensor map of the code of the kernel ")
           << what << "; report a bug with the program";
  };
  fusionpkg::TensorMap built;
  int64_t base = getNumber(map, "base", -1);
  if (base < 0 || base >= static_cast<int64_t>(step.args.size()) ||
      step.args[base].kind != ArgKind::Buffer)
    return malformed("has no address among the parameters");
  built.buffer = step.args[base].index;
  built.offset = step.args[base].expr;

  auto element = map.getAs<TypeAttr>("element");
  if (!element)
    return malformed("has no element type");
  // Loads of a map of tf32 round f32 elements.
  Type type = element.getValue();
  built.tf32 = isa<FloatTF32Type>(type);
  if (built.tf32)
    type = Float32Type::get(type.getContext());
  std::optional<fusionpkg::DType> dtype = getDType(type);
  if (!dtype || *dtype == fusionpkg::DType::I4) {
    kernel.emitError("FUS-4006: the code of the kernel has a tensor map of ")
        << type << ", which tensor copies do not know; report a bug with the "
        << "program";
    return failure();
  }
  built.dtype = *dtype;

  auto shape = map.getAs<AffineMapAttr>("shape");
  if (!shape || shape.getValue().getNumDims() != 0 ||
      shape.getValue().getNumSymbols() > entry.symbols.size())
    return malformed("has no shape over the symbols of the function");
  for (AffineExpr size : shape.getValue().getResults())
    built.sizes.push_back(convert(size));
  built.elementStrides = getNumbers<uint32_t>(map, "element_strides");
  built.swizzle = static_cast<TensorMapSwizzle>(getNumber(map, "swizzle", 0));
  auto im2col = map.getAs<DictionaryAttr>("im2col");
  if (!im2col) {
    built.box = getNumbers<uint32_t>(map, "box");
    return built;
  }
  built.kind = TensorMapKind::Im2col;
  built.lowerCorner = getNumbers<int32_t>(im2col, "lower");
  built.upperCorner = getNumbers<int32_t>(im2col, "upper");
  built.channelsPerPixel = getNumber(im2col, "channels", 0);
  built.pixelsPerColumn = getNumber(im2col, "pixels", 0);
  return built;
}

LogicalResult EntryBuilder::addTensorMaps(KernelOp kernel, ArrayAttr maps,
                                          fusionpkg::Step &step) {
  if (!maps)
    return success();
  for (Attribute attribute : maps) {
    auto map = dyn_cast<DictionaryAttr>(attribute);
    if (!map)
      return kernel.emitError("FUS-4006: a tensor map of the code of the "
                              "kernel says nothing; report a bug with the "
                              "program");
    FailureOr<fusionpkg::TensorMap> built = buildTensorMap(kernel, map, step);
    if (failed(built))
      return failure();
    step.args.push_back(Arg::tensorMap(entry.tensorMaps.size()));
    entry.tensorMaps.push_back(std::move(*built));
  }
  return success();
}
