//===- LowerTensorMaps.cpp - Tensor maps as parameters --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements tensor maps: kernels get them from the launch, which has
// to know how to make them.
//
//===----------------------------------------------------------------------===//

#include "fusion/Conversion/TileToNVVM/ProgramLowering.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"
#include "fusion/Dialect/Tile/Transforms/TensorCopy.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// Maps have no code where they stand.
struct TensorMapLowering : public NoCodeLowering<tile::TensorMapOp> {
  LogicalResult addParameters(ProgramLowering &lowering) const override;
  LogicalResult beginKernel(ProgramLowering &lowering) const override;
};
} // namespace

/// The maps of `program` in the order of their parameters.
static SmallVector<tile::TensorMapOp> getTensorMaps(tile::ProgramOp program) {
  SmallVector<tile::TensorMapOp> maps;
  program.getBody().walk([&](tile::TensorMapOp op) { maps.push_back(op); });
  return maps;
}

LogicalResult
TensorMapLowering::addParameters(ProgramLowering &lowering) const {
  tile::ProgramOp program = lowering.getProgram();
  ThreadBuilder &builder = lowering.getBuilder();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  WalkResult result = program.getBody().walk([&](tile::TensorMapOp op) {
    auto view = op.getView().getDefiningOp<tile::MakeViewOp>();
    auto base = view ? dyn_cast<BlockArgument>(view.getBase()) : nullptr;
    if (!base || base.getOwner() != &program.getBody().front() ||
        !view.getShapeAttr()) {
      op.emitOpError("FUS-3309: the launch knows base and sizes only of a view "
                     "of an argument with 'shape'");
      return WalkResult::interrupt();
    }
    lowering.addParameter(op, pointer);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// What the launch needs to make the map that is parameter `parameter`.
static DictionaryAttr describeTensorMap(tile::TensorMapOp map,
                                        unsigned parameter) {
  Builder builder(map.getContext());
  tile::TensorMapType type = map.getType();
  auto view = map.getView().getDefiningOp<tile::MakeViewOp>();
  SmallVector<int64_t> strides(type.getBox().size(), 1);
  if (std::optional<ArrayRef<int64_t>> given = map.getElementStrides())
    strides.assign(given->begin(), given->end());
  auto number = [&](StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  };
  // Copies through a map of tf32 round f32 elements.
  Type element = map->hasAttr(tile::kTF32MapAttrName)
                     ? FloatTF32Type::get(builder.getContext())
                     : type.getElementType();
  SmallVector<NamedAttribute> entries{
      number("parameter", parameter),
      number("base", cast<BlockArgument>(view.getBase()).getArgNumber()),
      builder.getNamedAttr("shape", view.getShapeAttr()),
      builder.getNamedAttr("element", TypeAttr::get(element)),
      builder.getNamedAttr("box", builder.getDenseI64ArrayAttr(type.getBox())),
      builder.getNamedAttr("element_strides",
                           builder.getDenseI64ArrayAttr(strides)),
      builder.getNamedAttr(
          "swizzle",
          builder.getI32IntegerAttr(static_cast<int>(type.getSwizzle())))};
  if (std::optional<tile::Im2ColAttr> im2col = map.getIm2col()) {
    ArrayRef<int64_t> box = type.getBox();
    entries.push_back(builder.getNamedAttr(
        "im2col",
        builder.getDictionaryAttr(
            {builder.getNamedAttr(
                 "lower", builder.getDenseI64ArrayAttr(im2col->getLower())),
             builder.getNamedAttr(
                 "upper", builder.getDenseI64ArrayAttr(im2col->getUpper())),
             number("channels", box.back()),
             number("pixels", box[box.size() - 2])})));
  }
  return builder.getDictionaryAttr(entries);
}

LogicalResult TensorMapLowering::beginKernel(ProgramLowering &lowering) const {
  SmallVector<tile::TensorMapOp> maps = getTensorMaps(lowering.getProgram());
  if (maps.empty())
    return success();
  ThreadBuilder &builder = lowering.getBuilder();
  LLVM::LLVMFuncOp kernel = lowering.getKernel();
  SmallVector<Attribute> descriptions;
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 128);
  for (tile::TensorMapOp map : maps) {
    unsigned parameter = lowering.getParameterNumber(map);
    kernel.setArgAttr(parameter, LLVM::LLVMDialect::getByValAttrName(),
                      TypeAttr::get(bytes));
    kernel.setArgAttr(parameter, LLVM::LLVMDialect::getAlignAttrName(),
                      builder.getI64IntegerAttr(64));
    kernel.setArgAttr(parameter, NVVM::NVVMDialect::getGridConstantAttrName(),
                      builder.getUnitAttr());
    descriptions.push_back(describeTensorMap(map, parameter));
  }
  kernel->setAttr("fusion_tile.tensor_maps",
                  builder.getArrayAttr(descriptions));
  // The first copy need not wait for its map.
  builder.ifThread(lowering.getThreads().isFirst(), [&] {
    for (tile::TensorMapOp map : maps)
      builder.inlineAsm(nullptr, {lowering.getParameter(map)},
                        "prefetch.tensormap [$0];", "l");
  });
  return success();
}

void mlir::fusion::populateTensorMapLowerings(LoweringSet &lowerings) {
  lowerings.add<TensorMapLowering>();
}
