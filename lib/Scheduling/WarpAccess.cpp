//===- WarpAccess.cpp - What an access of a warp touches ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what lanes of a warp access at once.
//
//===----------------------------------------------------------------------===//

#include "WarpAccess.h"

#include "fusion/Analysis/KernelEstimate.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::fusion;

double ThreadPlaces::countTogether(int64_t span) const {
  std::set<int64_t> accesses;
  for (int64_t place : places)
    accesses.insert(llvm::divideFloorSigned(place, span));
  return static_cast<double>(places.size()) /
         static_cast<double>(accesses.size());
}

ThreadPlaces mlir::fusion::getPlaces(AffineExpr coord, const LoopFacts &facts,
                                     const LoopSchedule &schedule) {
  unsigned numDims = facts.getNumDims();
  SmallVector<AffineExpr> zeros(numDims,
                                getAffineConstantExpr(0, coord.getContext()));
  auto constant = dyn_cast<AffineConstantExpr>(coord.replaceDims(zeros));
  ThreadPlaces result{{constant ? constant.getValue() : 0}};
  for (unsigned dim = 0; dim < numDims; ++dim) {
    auto slope = static_cast<int64_t>(getSlope(coord, dim));
    const LoopAxis &axis = schedule[dim];
    if (slope == 0)
      continue;
    bool isReduced = facts.reduced.test(dim);
    int64_t have = isReduced ? facts.extents[dim] : axis.strip;
    if (!isReduced && axis.strip * axis.steps < facts.extents[dim])
      result.step = std::gcd(result.step, slope * axis.strip * axis.steps);
    std::set<int64_t> all;
    for (int64_t place : result.places)
      for (int64_t i = 0; i < have; ++i)
        all.insert(place + i * slope);
    result.places = std::move(all);
  }
  return result;
}

SmallVector<int64_t> mlir::fusion::getDistances(ArrayRef<AffineExpr> coords,
                                                ArrayRef<int64_t> shape,
                                                int64_t elementBytes,
                                                unsigned numDims) {
  SmallVector<int64_t> distances(numDims, 0);
  int64_t stride = elementBytes;
  for (unsigned number = shape.size(); number-- > 0;) {
    for (unsigned dim = 0; dim < numDims; ++dim)
      distances[dim] +=
          static_cast<int64_t>(getSlope(coords[number], dim)) * stride;
    stride *= std::max<int64_t>(1, shape[number]);
  }
  return distances;
}

WarpAccess::WarpAccess(const LoopFacts &facts, const LoopSchedule &schedule,
                       std::optional<unsigned> fastest, int64_t vector,
                       int64_t bytes, ArrayRef<int64_t> distances)
    : bytes(bytes) {
  SmallVector<unsigned> order;
  if (fastest)
    order.push_back(*fastest);
  for (unsigned dim = facts.getNumDims(); dim-- > 0;)
    if (!facts.reduced.test(dim) && fastest != dim)
      order.push_back(dim);
  for (unsigned dim : order) {
    const LoopAxis &axis = schedule[dim];
    SmallVector<int64_t, kWarpThreads> positions(offsets.size(), 0);
    for (int64_t place = fastest == dim ? vector : 1;
         place < axis.tile && offsets.size() < kWarpThreads; place *= 2)
      for (unsigned lane = 0, lanes = offsets.size(); lane < lanes; ++lane) {
        int64_t position = positions[lane] + place;
        int64_t element = position * axis.strip * axis.steps;
        positions.push_back(position);
        std::optional<int64_t> offset = offsets[lane];
        if (offset && element < facts.extents[dim])
          offset = *offset + place * axis.strip * axis.steps * distances[dim];
        else
          offset = std::nullopt;
        offsets.push_back(offset);
      }
  }
}

double WarpAccess::countPieces(int64_t size, bool isAligned,
                               ArrayRef<int64_t> behind) const {
  double touched = 0;
  int64_t phases = isAligned ? 1 : 4;
  for (int64_t phase = 0; phase < phases; ++phase) {
    llvm::DenseSet<int64_t> pieces;
    for (std::optional<int64_t> offset : offsets) {
      if (!offset)
        continue;
      for (int64_t next : behind) {
        // Coordinates may count backwards.
        int64_t begin = *offset + next + phase * kSectorBytes / phases;
        int64_t last = llvm::divideFloorSigned(begin + bytes - 1, size);
        for (int64_t piece = llvm::divideFloorSigned(begin, size);
             piece <= last; ++piece)
          pieces.insert(piece);
      }
    }
    touched += static_cast<double>(pieces.size());
  }
  return touched / static_cast<double>(phases);
}

double WarpAccess::countBankTurns() const {
  // A quarter of a warp at a time where lanes have 16 bytes each.
  auto together = static_cast<size_t>(
      std::clamp<int64_t>(kLineBytes / bytes, 1, kWarpThreads));
  double turns = 0;
  for (size_t begin = 0; begin < offsets.size(); begin += together) {
    std::set<int64_t> words;
    for (std::optional<int64_t> offset :
         ArrayRef(offsets).slice(begin).take_front(together))
      if (offset)
        for (int64_t word = llvm::divideFloorSigned(*offset, kBankWordBytes);
             word * kBankWordBytes < *offset + bytes; ++word)
          words.insert(word);
    SmallVector<int64_t> ofBank(kBankRowBytes / kBankWordBytes, 0);
    for (int64_t word : words)
      ++ofBank[llvm::mod(word, static_cast<int64_t>(ofBank.size()))];
    turns += static_cast<double>(*llvm::max_element(ofBank));
  }
  return turns;
}
