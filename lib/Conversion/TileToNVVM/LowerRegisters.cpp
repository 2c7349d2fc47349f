//===- LowerRegisters.cpp - Tiles made of what a thread holds -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the distribution of operations that make a tile of
// coordinates or of registers of another one.
//
//===----------------------------------------------------------------------===//

#include "fusion/Conversion/TileToNVVM/ProgramLowering.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"

#include "fusion/Dialect/Tile/Transforms/AccessAnalysis.h"
#include <map>

using namespace mlir;
using namespace mlir::fusion;
using tile::LinearLayout;

namespace {
struct IndexLowering : public TileOpLowering<tile::IndexOp> {
  LogicalResult lower(tile::IndexOp op,
                      ProgramLowering &lowering) const override;
};

struct SplatLowering : public TileOpLowering<tile::SplatOp> {
  LogicalResult lower(tile::SplatOp op,
                      ProgramLowering &lowering) const override;
};

struct BroadcastLowering : public TileOpLowering<tile::BroadcastOp> {
  LogicalResult lower(tile::BroadcastOp op,
                      ProgramLowering &lowering) const override;
};

struct RepeatLowering : public TileOpLowering<tile::RepeatOp> {
  LogicalResult lower(tile::RepeatOp op,
                      ProgramLowering &lowering) const override;
};

struct SliceLowering : public TileOpLowering<tile::SliceOp> {
  LogicalResult lower(tile::SliceOp op,
                      ProgramLowering &lowering) const override;
};

struct CropLowering : public TileOpLowering<tile::CropOp> {
  LogicalResult lower(tile::CropOp op,
                      ProgramLowering &lowering) const override;
};

struct ReshapeLowering : public TileOpLowering<tile::ReshapeOp> {
  LogicalResult lower(tile::ReshapeOp op,
                      ProgramLowering &lowering) const override;
};
} // namespace

/// The remainder `expr`, of a coordinate by a power of two, in the register at
/// `offset`, when it is the same in all threads and wherever the tile is.
static std::optional<int64_t> evaluateModulo(AffineExpr expr,
                                             const LinearLayout &layout,
                                             ArrayRef<int32_t> offset,
                                             ValueRange symbols) {
  auto modulo = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!modulo || expr.getKind() != AffineExprKind::Mod)
    return std::nullopt;
  auto divisor = dyn_cast<AffineConstantExpr>(modulo.getRHS());
  if (!divisor || !llvm::isPowerOf2_64(divisor.getValue()))
    return std::nullopt;
  uint64_t mask = divisor.getValue() - 1;
  int64_t sum = 0;
  // Terms of a sum: each constant or none of the remainder's business.
  SmallVector<AffineExpr> terms = {modulo.getLHS()};
  while (!terms.empty()) {
    AffineExpr term = terms.pop_back_val();
    if (auto constant = dyn_cast<AffineConstantExpr>(term)) {
      sum += constant.getValue();
    } else if (auto symbol = dyn_cast<AffineSymbolExpr>(term)) {
      if (symbol.getPosition() >= symbols.size() ||
          (tile::getDivisor(symbols[symbol.getPosition()]) & mask) != 0)
        return std::nullopt;
    } else if (auto dim = dyn_cast<AffineDimExpr>(term)) {
      for (tile::HwDim hw : {tile::HwDim::Lane, tile::HwDim::Warp})
        for (unsigned bit = 0; bit < layout.numBits(hw); ++bit)
          if (layout.basis(hw, bit)[dim.getPosition()] & mask)
            return std::nullopt;
      sum += offset[dim.getPosition()];
    } else if (term.getKind() == AffineExprKind::Add) {
      auto both = cast<AffineBinaryOpExpr>(term);
      terms.append({both.getLHS(), both.getRHS()});
    } else {
      return std::nullopt;
    }
  }
  return sum & mask;
}

LogicalResult IndexLowering::lower(tile::IndexOp op,
                                   ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  ThreadIndex &threads = lowering.getThreads();
  SmallVector<Value> symbols;
  for (Value symbol : op.getSymbols())
    symbols.push_back(lowering.getScalar(symbol));
  AffineExpr expr = op.getMap().getResult(0);
  tile::LayoutAttr attr = tile::getLayout(op.getType());
  if (!attr) {
    lowering.set(op.getResult(), {builder.expand(expr, {}, symbols)});
    return success();
  }
  const LinearLayout &layout = attr.getLinear();
  Scalars results;
  for (unsigned reg = 0; reg < layout.numRegs(); ++reg) {
    tile::Coords offset = layout.elementOf(reg, 0, 0);
    if (std::optional<int64_t> known =
            evaluateModulo(expr, layout, offset, op.getSymbols())) {
      results.push_back(builder.constantIndex(*known));
      continue;
    }
    SmallVector<Value> dims;
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      dims.push_back(threads.getCoordinate(layout, dim, offset[dim]));
    results.push_back(builder.expand(expr, dims, symbols));
  }
  lowering.set(op.getResult(), results);
  return success();
}

LogicalResult BroadcastLowering::lower(tile::BroadcastOp op,
                                       ProgramLowering &lowering) const {
  SmallVector<unsigned> dims(op.getDims().begin(), op.getDims().end());
  std::optional<tile::RegisterMap> map = tile::getBroadcastRegisterMap(
      tile::getLayout(op.getValue().getType()).getLinear(),
      tile::getLayout(op.getType()).getLinear(), dims);
  if (!map)
    return op.emitOpError("FUS-3303: operand's layout does not hold what the "
                          "result's needs");
  lowering.set(op.getResult(), lowering.pick(op.getValue(), *map));
  return success();
}

LogicalResult RepeatLowering::lower(tile::RepeatOp op,
                                    ProgramLowering &lowering) const {
  std::optional<tile::RegisterMap> map = tile::getRepeatRegisterMap(
      tile::getLayout(op.getValue().getType()).getLinear(),
      tile::getLayout(op.getType()).getLinear(), op.getDim(),
      op.getLog2Factor());
  if (!map)
    return op.emitOpError("FUS-3322: operand's layout does not hold what the "
                          "result repeats");
  lowering.set(op.getResult(), lowering.pick(op.getValue(), *map));
  return success();
}

LogicalResult SliceLowering::lower(tile::SliceOp op,
                                   ProgramLowering &lowering) const {
  const LinearLayout &from =
      tile::getLayout(op.getValue().getType()).getLinear();
  const LinearLayout &to = tile::getLayout(op.getType()).getLinear();
  // Threads must reach the same elements, up to the place of the part.
  bool sameThreads = true;
  for (tile::HwDim hw : {tile::HwDim::Lane, tile::HwDim::Warp}) {
    sameThreads &= from.numBits(hw) == to.numBits(hw);
    for (unsigned bit = 0; sameThreads && bit < from.numBits(hw); ++bit)
      sameThreads = from.basis(hw, bit) == to.basis(hw, bit);
  }
  std::map<std::vector<int32_t>, unsigned> registers;
  for (unsigned reg = 0; reg < from.numRegs(); ++reg) {
    tile::Coords at = from.elementOf(reg, 0, 0);
    registers.try_emplace({at.begin(), at.end()}, reg);
  }
  const Scalars &source = lowering.get(op.getValue());
  Scalars results;
  for (unsigned reg = 0; sameThreads && reg < to.numRegs(); ++reg) {
    std::vector<int32_t> wanted;
    for (auto [at, offset] :
         llvm::zip(to.elementOf(reg, 0, 0), op.getOffsets()))
      wanted.push_back(at + offset);
    auto known = registers.find(wanted);
    sameThreads = known != registers.end();
    if (sameThreads)
      results.push_back(source[known->second]);
  }
  if (!sameThreads)
    return op.emitOpError("FUS-3308: the part moves elements between threads");
  lowering.set(op.getResult(), results);
  return success();
}

LogicalResult SplatLowering::lower(tile::SplatOp op,
                                   ProgramLowering &lowering) const {
  lowering.set(op.getResult(), Scalars(lowering.numScalars(op.getType()),
                                       lowering.getScalar(op.getValue())));
  return success();
}

LogicalResult CropLowering::lower(tile::CropOp op,
                                  ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  const LinearLayout &layout = tile::getLayout(op.getType()).getLinear();
  // Bits of coordinates that tell threads apart.
  SmallVector<int32_t> ofThreads(layout.rank(), 0);
  for (tile::HwDim hw : {tile::HwDim::Lane, tile::HwDim::Warp})
    for (unsigned bit = 0; bit < layout.numBits(hw); ++bit)
      for (auto [dim, step] : llvm::enumerate(layout.basis(hw, bit)))
        ofThreads[dim] |= step;
  Scalars results = lowering.get(op.getValue());
  results.resize(layout.numRegs(), results.front());
  for (unsigned reg = 0; reg < layout.numRegs(); ++reg)
    for (auto [dim, place] : llvm::enumerate(layout.elementOf(reg, 0, 0)))
      if ((place & ~ofThreads[dim]) >= op.getSizes()[dim]) {
        results[reg] = arith::ConstantOp::create(
            builder, builder.getZeroAttr(lowering.scalarType(op.getType())));
        break;
      }
  lowering.set(op.getResult(), results);
  return success();
}

LogicalResult ReshapeLowering::lower(tile::ReshapeOp op,
                                     ProgramLowering &lowering) const {
  // The layouts differ in shape alone.
  lowering.set(op.getResult(), Scalars(lowering.get(op.getValue())));
  return success();
}

void mlir::fusion::populateRegisterLowerings(LoweringSet &lowerings) {
  lowerings.add<IndexLowering, SplatLowering, BroadcastLowering, RepeatLowering,
                SliceLowering, ReshapeLowering, CropLowering>();
}
