//===- PreparedOperands.cpp - Operands that walks compute -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search for operands that a walk computes, and their
// price: instructions of all warps of a block together, of which those of a
// step run beside the products of others, at half the speed.
//
//===----------------------------------------------------------------------===//

#include "PreparedOperands.h"

#include "fusion/Support/Hardware.h"
#include "llvm/Support/MathExtras.h"
#include <array>

using namespace mlir;
using namespace mlir::fusion;

/// Instructions that read, or write, an element of an operand that is computed:
/// several at a time.
static constexpr double kMovedInstructions = 0.25;
/// Clocks of a scheduler for each instruction that computes an operand: no
/// element waits for another.
static constexpr double kPreparingClocks = 1.5;
/// The speed of arithmetic beside products in flight
/// (docs/Rationale/TensorCores.md).
static constexpr double kSpeedBeside = 0.5;

double fusion::getIssueSeconds(double instructions, double clocks,
                               const TargetInfo &target) {
  return 2 * instructions * clocks * target.numSMs /
         target.fp32FlopsPerSecond();
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

std::optional<PreparedOperand>
PreparedOperands::match(const WalkProduct &product, unsigned side,
                        unsigned own) const {
  const ContractionOperand &operand = product.sum.operands[side];
  if (operand.direct)
    return std::nullopt;
  PreparedOperand result;
  result.product = product.instance;
  result.side = side;
  result.own = own;
  result.depth = product.depth;
  result.element = operand.element;
  // The rows tell the two sides of a contraction apart.
  DimMask rowBit = DimMask(1) << row;
  auto isOfSide = [&](DimMask mask) { return !(mask & rowBit) == (side == 1); };
  ArrayRef<BodyInstance> instances = body.getInstances();
  for (unsigned producer : instances[product.instance].producers)
    if (llvm::is_contained(cascade.prepared, producer) &&
        isOfSide(instances[producer].mask))
      llvm::append_range(result.instances, getPreparing(body, producer));
  // The contraction itself converts what is in memory.
  if (result.instances.empty()) {
    if (!operand.source ||
        getElementTypeOrSelf(operand.source.getType()) == operand.element)
      return std::nullopt;
    result.instances.push_back(product.instance);
  }
  for (const BodyAccess &access : body.getInputs())
    if (llvm::is_contained(result.instances, access.instance) &&
        (access.instance != product.instance || isOfSide(access.mask)))
      result.accesses.push_back(&access);
  result.isOfStep = llvm::any_of(result.accesses, [&](const BodyAccess *read) {
    return read->mask & cascade.reduced;
  });
  return result;
}

void PreparedOperands::find(ArrayRef<WalkProduct> inner,
                            ArrayRef<WalkProduct> outer, unsigned rowDim,
                            unsigned columnDim) {
  row = rowDim;
  column = columnDim;
  auto add = [&](const WalkProduct &product, unsigned side, unsigned own) {
    if (std::optional<PreparedOperand> one = match(product, side, own))
      all.push_back(std::move(*one));
  };
  double width = 0;
  for (const WalkProduct &product : inner) {
    depths |= DimMask(1) << product.depth;
    width += body.getExtents()[product.depth];
    add(product, 0, row);
    add(product, 1, cascade.walked);
  }
  for (const WalkProduct &product : outer)
    add(product, 1, column);
  innerShare = width / (width + body.getExtents()[column] *
                                    static_cast<double>(outer.size()));
}

const PreparedOperand *PreparedOperands::get(unsigned product,
                                             unsigned side) const {
  auto it = llvm::find_if(all, [&](const PreparedOperand &operand) {
    return operand.product == product && operand.side == side;
  });
  return it == all.end() ? nullptr : &*it;
}

bool PreparedOperands::isPreparing(unsigned id) const {
  return llvm::any_of(all, [&](const PreparedOperand &operand) {
    return llvm::is_contained(operand.instances, id);
  });
}

std::optional<Lookup>
PreparedOperands::getLookup(const BodyInstance &instance) const {
  return matchLookup(body.getNode(instance).op->getResult(0));
}

bool PreparedOperands::hasCopies(const PreparedOperand &operand) const {
  if (!operand.isOfStep)
    return true;
  // Tensor copies bring tiles of bytes at least, of rows that are whole
  // granules.
  DimMask tile = DimMask(1) << operand.own | DimMask(1) << operand.depth;
  auto isCopied = [&](Value tensor, AffineExpr along) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (type.getRank() < 1 || type.getRank() > kMaxCopyRank ||
        !type.getElementType().isIntOrFloat())
      return false;
    int64_t last = type.getShape().back();
    unsigned bits = type.getElementTypeBitWidth();
    return !ShapedType::isDynamic(last) && bits % 8 == 0 &&
           last * bits % (8 * kCopyGranule) == 0 &&
           (body.getMask(along) & tile);
  };
  auto isLookedUp = [&](unsigned id) {
    const BodyInstance &instance = body.getInstances()[id];
    std::optional<Lookup> lookup = getLookup(instance);
    std::optional<unsigned> fastest =
        lookup ? lookup->getFastest() : std::nullopt;
    return fastest && (instance.mask & tile) == tile &&
           isCopied(lookup->source, instance.loops[*fastest]);
  };
  return llvm::any_of(operand.instances, isLookedUp) ||
         llvm::any_of(operand.accesses, [&](const BodyAccess *access) {
           return (access->mask & tile) == tile && !access->coords.empty() &&
                  isCopied(body.getGraph().getValue(access->value).ssa,
                           access->coords.back());
         });
}

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

double PreparedOperands::countElements(const WalkTile &tile,
                                       DimMask mask) const {
  double elements = 1;
  for (; mask; mask &= mask - 1) {
    unsigned dim = llvm::countr_zero(mask);
    if (dim == row)
      elements *= static_cast<double>(tile.rows);
    else if (dim == cascade.walked)
      elements *= static_cast<double>(tile.steps);
    else if (dim == column || (depths >> dim & 1))
      elements *= static_cast<double>(std::max(
          kLeastWidth,
          nextPowerOfTwo(static_cast<int64_t>(body.getExtents()[dim]))));
  }
  return elements;
}

double PreparedOperands::getSeconds(const WalkTile &tile,
                                    const PreparedOperand &operand) const {
  double elements = countElements(tile, operand);
  double instructions = kMovedInstructions * elements;
  for (const BodyAccess *access : operand.accesses)
    instructions += kMovedInstructions * countElements(tile, access->mask);
  for (unsigned id : operand.instances) {
    const BodyInstance &instance = body.getInstances()[id];
    const GraphNode &node = body.getNode(instance);
    instructions +=
        node.kind == NodeKind::Contraction
            ? elements
            : countElements(tile, instance.mask) * node.perPoint.instructions;
  }
  double seconds = getIssueSeconds(instructions, kPreparingClocks, target);
  if (!operand.isOfStep)
    return seconds;
  // What no copy brings is waited for: neither a tile nor a row, nor what says
  // where these lie.
  AffineExpr walk =
      getAffineDimExpr(cascade.walked, body.getGraph().getContext());
  bool isWaitedFor =
      llvm::any_of(operand.accesses, [&](const BodyAccess *access) {
        return (access->mask & cascade.reduced) &&
               countElements(tile, access->mask) < elements &&
               access->coords.back() != walk &&
               !getLookup(body.getInstances()[access->instance]);
      });
  return seconds + target.fitted.cascades.stepSeconds +
         (isWaitedFor ? target.fitted.rates.dramLatencySeconds : 0);
}

double PreparedOperands::getHeldSeconds(const WalkTile &tile) const {
  double seconds = 0;
  for (const PreparedOperand &operand : all)
    if (!operand.isOfStep)
      seconds += getSeconds(tile, operand);
  return seconds;
}

double PreparedOperands::getExposedSeconds(const WalkTile &tile,
                                           double products) const {
  // What the inner products read is computed beside the others, and the other
  // way round (`fusion-tile-prepare-ahead`).
  std::array<double, 2> seconds = {0, 0};
  for (const PreparedOperand &operand : all)
    if (operand.isOfStep)
      seconds[operand.own == cascade.walked] += getSeconds(tile, operand);
  std::array<double, 2> beside = {innerShare * products * kSpeedBeside,
                                  (1 - innerShare) * products * kSpeedBeside};
  return std::max(0.0, seconds[0] - beside[0]) +
         std::max(0.0, seconds[1] - beside[1]);
}

int64_t PreparedOperands::countHeldPlaces() const {
  constexpr int64_t kPointer = 2;
  int64_t places = 0;
  for (const PreparedOperand &operand : all)
    if (!operand.isOfStep)
      places += static_cast<int64_t>(operand.accesses.size());
  return kPointer * places;
}

double PreparedOperands::countHeldRegisters(const WalkTile &tile,
                                            double threads) const {
  double bytes = 0;
  for (const PreparedOperand &operand : all)
    if (!operand.isOfStep)
      for (const BodyAccess *access : operand.accesses)
        bytes += countElements(tile, access->mask) *
                 body.getGraph().getValue(access->value).elementBytes;
  return bytes / (sizeof(float) * threads);
}

double PreparedOperands::countStepRegisters(const WalkTile &tile,
                                            double threads) const {
  double most = 0;
  for (const PreparedOperand &operand : all)
    if (operand.isOfStep) {
      double bytes =
          countSourceBytes(tile, operand) * static_cast<double>(tile.steps) +
          countElements(tile, operand) *
              operand.element.getIntOrFloatBitWidth() / 8.0;
      most = std::max(most, bytes / (sizeof(float) * threads));
    }
  return most + kBetween;
}

double PreparedOperands::countBytes(const WalkTile &tile) const {
  double bytes = 0;
  for (const PreparedOperand &operand : all)
    if (operand.isOfStep)
      bytes += countElements(tile, operand) *
               operand.element.getIntOrFloatBitWidth() / 8.0;
  return bytes;
}

double
PreparedOperands::countSourceBytes(const WalkTile &tile,
                                   const PreparedOperand &operand) const {
  double bytes = 0, elements = countElements(tile, operand);
  for (const BodyAccess *access : operand.accesses)
    if (countElements(tile, access->mask) >= elements)
      bytes += body.getGraph().getValue(access->value).elementBytes;
  return bytes * elements / static_cast<double>(tile.steps);
}
