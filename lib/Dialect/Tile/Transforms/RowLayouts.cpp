//===- RowLayouts.cpp - Threads that have whole rows ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the layout in which each thread has all that it reduces
// along memory, and the count of what its accesses ask for.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/Transforms/RowLayouts.h"

#include "fusion/Dialect/Tile/IR/LayoutConversion.h"
#include "fusion/Dialect/Tile/Transforms/BitDealer.h"
#include "fusion/Support/Hardware.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

LinearLayout tile::getRowLayout(ArrayRef<int64_t> shape,
                                const llvm::SmallBitVector &reduced,
                                int64_t numWarps) {
  auto fromLast = llvm::to_vector(llvm::reverse(
      llvm::seq<unsigned>(0, static_cast<unsigned>(shape.size()))));
  BitDealer dealer(shape, numWarps);
  for (unsigned dim : fromLast)
    if (reduced.test(dim))
      dealer.giveRegisters(dim);
  dealer.giveRest(fromLast);
  return dealer.getLayout();
}

/// Sectors that a request of a warp in `layout` touches, of `bytes` a lane.
static std::optional<double> countSectors(const VotingAccess &access,
                                          const LinearLayout &layout,
                                          double elementBytes, double bytes) {
  constexpr double kSector = fusion::kSectorBytes;
  SmallVector<double> places{0};
  for (unsigned bit = 0; bit < layout.numBits(HwDim::Lane); ++bit) {
    double step = 0;
    for (auto [axis, distance] :
         llvm::enumerate(layout.basis(HwDim::Lane, bit)))
      if (distance != 0) {
        std::optional<int64_t> stride = access.strides[axis];
        if (!stride)
          return std::nullopt;
        step += static_cast<double>(distance) * static_cast<double>(*stride) *
                elementBytes;
      }
    for (unsigned i = 0, before = places.size(); i < before; ++i)
      places.push_back(places[i] + step);
  }
  llvm::DenseSet<int64_t> sectors;
  for (double place : places)
    for (double begin = 0; begin < bytes; begin += elementBytes)
      sectors.insert(static_cast<int64_t>((place + begin) / kSector));
  return static_cast<double>(sectors.size());
}

std::optional<double>
tile::countRowAccess(const VotingAccess &access, const LinearLayout &layout,
                     unsigned fastest, const fusion::FittedConstants &fitted) {
  constexpr double kSector = fusion::kSectorBytes;
  double elementBytes = access.getBytes();
  auto width = static_cast<double>(std::min<int64_t>(
      access.getWidth(fastest), getRegisterVectorWidth(layout, fastest)));
  double bytes = width * elementBytes;
  std::optional<double> asked =
      countSectors(access, layout, elementBytes, bytes);
  if (!asked)
    return std::nullopt;
  double needed = static_cast<double>(layout.numLanes()) * bytes / kSector;
  double wasted = std::max(0.0, *asked - needed);
  return (fitted.layouts.accessInstructions +
          (access.isStore ? fitted.loops.vainStore : fitted.loops.vainLoad) *
              wasted) /
         width;
}
