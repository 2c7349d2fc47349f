//===- SharedExchange.cpp - Layout conversion via shared memory -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the choice of a buffer layout for a conversion through
// shared memory. The derivation is in docs/Rationale/LinearLayout.md.
//
// The buffer is described by a basis of the element space: vectors e (bits of
// the offset below a vector or a word), b (the other bits within a row of all
// banks), s (the row). An access is free of conflicts when no two lanes of a
// phase differ by a combination that reaches the span of s: then no two of them
// want different words of one bank.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/SharedExchange.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cassert>

using namespace mlir::fusion::tile;
using llvm::ArrayRef;
using llvm::SmallVector;

using Vectors = SmallVector<uint64_t, 16>;

//===----------------------------------------------------------------------===//
// Subspaces
//===----------------------------------------------------------------------===//

/// Appends to `basis` those of `vectors` that are independent of it.
static void extendBasis(Vectors &basis, ArrayRef<uint64_t> vectors) {
  BitSpan span(basis);
  for (uint64_t vector : vectors)
    if (!span.contains(vector)) {
      span.insert(vector);
      basis.push_back(vector);
    }
}

static Vectors basisOf(ArrayRef<uint64_t> vectors) {
  Vectors basis;
  extendBasis(basis, vectors);
  return basis;
}

static Vectors concat(ArrayRef<uint64_t> a, ArrayRef<uint64_t> b) {
  Vectors result(a);
  result.append(b.begin(), b.end());
  return result;
}

/// A basis of the intersection of two spans. Precondition: both arguments are
/// bases.
static Vectors intersect(ArrayRef<uint64_t> a, ArrayRef<uint64_t> b) {
  BitSpan span(a);
  Vectors result;
  for (uint64_t vector : b) {
    std::optional<uint64_t> relation = span.express(vector);
    span.insert(vector);
    if (!relation)
      continue;
    // vector + (some earlier ones of b) = (some of a): a member of both.
    uint64_t member = 0;
    for (auto [i, other] : llvm::enumerate(a))
      if (*relation >> i & 1)
        member ^= other;
    result.push_back(member);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// One candidate
//===----------------------------------------------------------------------===//

namespace {
/// One side of the exchange.
struct Side {
  Side(const LinearLayout &layout)
      : regs(basisOf(layout.linearBases(HwDim::Register))),
        lanes(layout.linearBases(HwDim::Lane)),
        threads(concat(lanes, layout.linearBases(HwDim::Warp))) {}

  /// The lanes served together when a thread accesses 2^log2Access bytes.
  ArrayRef<uint64_t> phase(unsigned log2Access) const {
    return ArrayRef<uint64_t>(lanes).take_front(7 - std::max(2u, log2Access));
  }

  Vectors regs;
  Vectors lanes;
  Vectors threads;
};

/// Functionals on the element space, f_0 ... f_{q-1}, as one map to bit masks,
/// defined vector by vector. Their common kernel will hold b and s.
class Functionals {
public:
  bool isDefined(uint64_t vector) const { return span.contains(vector); }
  void define(uint64_t vector, uint64_t value) {
    span.insert(vector);
    vectors.push_back(vector);
    values.push_back(value);
  }
  uint64_t operator()(uint64_t vector) const {
    return apply(*span.express(vector));
  }
  ArrayRef<uint64_t> getVectors() const { return vectors; }

  /// A basis of the part of a span on which every functional is zero.
  Vectors kernelOn(ArrayRef<uint64_t> basis) const {
    BitSpan images;
    Vectors result;
    for (auto [i, vector] : llvm::enumerate(basis)) {
      uint64_t image = (*this)(vector);
      std::optional<uint64_t> relation = images.express(image);
      images.insert(image);
      if (!relation)
        continue;
      uint64_t member = vector;
      for (unsigned j = 0; j != i; ++j)
        if (*relation >> j & 1)
          member ^= basis[j];
      result.push_back(member);
    }
    return result;
  }

private:
  uint64_t apply(uint64_t combination) const {
    uint64_t value = 0;
    for (auto [i, each] : llvm::enumerate(values))
      if (combination >> i & 1)
        value ^= each;
    return value;
  }

  BitSpan span;
  Vectors vectors;
  Vectors values;
};

/// Builds the buffer in which the wide side accesses 2^wideVec elements at
/// once and the narrow side 2^narrowVec, at most as many.
class BufferBuilder {
public:
  BufferBuilder(const Side &wide, const Side &narrow, unsigned elementBits,
                unsigned log2Bytes, unsigned wideVec, unsigned narrowVec)
      : wide(wide), narrow(narrow), elementBits(elementBits), wideVec(wideVec),
        narrowVec(narrowVec),
        wordVec(std::min(elementBits, log2Bytes < 2 ? 2 - log2Bytes : 0)),
        rowBits(std::min(elementBits, 7 - log2Bytes)),
        wideLanes(wide.phase(log2Bytes + wideVec)),
        narrowLanes(narrow.phase(log2Bytes + narrowVec)) {}

  /// The map from element numbers to slots; none if the vectors do not exist.
  std::optional<BitMatrix> build();

private:
  bool chooseVectors();
  bool pickVector(ArrayRef<uint64_t> candidates, ArrayRef<uint64_t> threads);
  void defineFunctionals();
  Vectors chooseRows(ArrayRef<uint64_t> kernel) const;

  const Side &wide;
  const Side &narrow;
  unsigned elementBits;
  unsigned wideVec;
  unsigned narrowVec;
  /// log2 of the elements in a word of a bank, and in a row of all banks.
  unsigned wordVec;
  unsigned rowBits;
  ArrayRef<uint64_t> wideLanes;
  ArrayRef<uint64_t> narrowLanes;

  /// The vectors e: bit i of the slot number steps along low[i].
  Vectors low;
  Functionals functionals;
};
} // namespace

/// Adds the first candidate that leaves the position within the vector
/// independent of the thread, for the sides whose `threads` are given.
bool BufferBuilder::pickVector(ArrayRef<uint64_t> candidates,
                               ArrayRef<uint64_t> threads) {
  for (uint64_t candidate : candidates) {
    BitSpan taken(basisOf(concat(threads, low)));
    if (taken.contains(candidate))
      continue;
    // What the two sides share must stay out of reach of the narrow side's
    // threads even in combination with the vectors only the wide side has.
    Vectors shared(ArrayRef<uint64_t>(low).take_front(narrowVec));
    Vectors rest = concat(threads, narrow.threads);
    rest.append(low.begin() + shared.size(), low.end());
    rest.push_back(candidate);
    if (low.size() >= narrowVec && basisOf(concat(rest, shared)).size() !=
                                       basisOf(rest).size() + shared.size())
      continue;
    low.push_back(candidate);
    return true;
  }
  return false;
}

bool BufferBuilder::chooseVectors() {
  Vectors both = intersect(wide.regs, narrow.regs);
  Vectors allThreads = concat(wide.threads, narrow.threads);
  while (low.size() < narrowVec)
    if (!pickVector(both, allThreads))
      return false;
  // Vectors along which the narrow side's lanes move put these lanes into
  // different banks.
  Vectors favoured = intersect(wide.regs, basisOf(narrowLanes));
  Vectors candidates = concat(favoured, wide.regs);
  while (low.size() < wideVec)
    if (!pickVector(candidates, wide.threads))
      return false;
  // Elements narrower than a word: let lanes that go together share words.
  Vectors fill = intersect(basisOf(wideLanes), basisOf(narrowLanes));
  fill = concat(fill, concat(wideLanes, narrowLanes));
  for (unsigned bit = 0; bit != elementBits; ++bit)
    fill.push_back(uint64_t(1) << bit);
  for (uint64_t vector : fill) {
    if (low.size() >= wordVec)
      break;
    if (!BitSpan(low).contains(vector))
      low.push_back(vector);
  }
  return true;
}

void BufferBuilder::defineFunctionals() {
  for (auto [i, vector] : llvm::enumerate(low))
    functionals.define(vector, uint64_t(1) << i);
  // The wide side's threads never move within a vector.
  for (uint64_t vector : wide.threads)
    if (!functionals.isDefined(vector))
      functionals.define(vector, 0);
  // The narrow side's lanes may, above their own vector: spread them as far as
  // they are not bound already.
  unsigned narrowLow =
      std::min<unsigned>(low.size(), std::max(narrowVec, wordVec));
  BitSpan images;
  for (unsigned i = 0; i != narrowLow; ++i)
    images.insert(uint64_t(1) << i);
  for (uint64_t vector : narrowLanes)
    if (functionals.isDefined(vector))
      images.insert(functionals(vector));
  for (uint64_t vector : narrowLanes) {
    if (functionals.isDefined(vector))
      continue;
    uint64_t value = 0;
    for (unsigned i = narrowLow; i != low.size() && !value; ++i)
      if (!images.contains(uint64_t(1) << i))
        value = uint64_t(1) << i;
    images.insert(value);
    functionals.define(vector, value);
  }
  for (uint64_t vector : narrow.threads)
    if (!functionals.isDefined(vector))
      functionals.define(vector, 0);
  for (unsigned bit = 0; bit != elementBits; ++bit)
    if (!functionals.isDefined(uint64_t(1) << bit))
      functionals.define(uint64_t(1) << bit, 0);
}

/// Chooses the vectors s within `kernel`: as few combinations of them as
/// possible lie in what the lanes of either side reach.
Vectors BufferBuilder::chooseRows(ArrayRef<uint64_t> kernel) const {
  auto reach = [&](ArrayRef<uint64_t> lanes, unsigned vec) {
    ArrayRef<uint64_t> within = ArrayRef<uint64_t>(low).take_front(
        std::min<size_t>(low.size(), std::max(vec, wordVec)));
    return functionals.kernelOn(basisOf(concat(within, lanes)));
  };
  Vectors x = reach(wideLanes, wideVec), y = reach(narrowLanes, narrowVec);
  Vectors common = intersect(x, y);
  // Bases of both that begin with what they share; then the sum of one vector
  // of each lies in neither.
  Vectors xOnly = common, yOnly = common;
  extendBasis(xOnly, x);
  extendBasis(yOnly, y);
  xOnly.erase(xOnly.begin(), xOnly.begin() + common.size());
  yOnly.erase(yOnly.begin(), yOnly.begin() + common.size());

  Vectors rows;
  unsigned wanted = elementBits - rowBits;
  auto take = [&](ArrayRef<uint64_t> vectors) {
    for (uint64_t vector : vectors)
      if (rows.size() < wanted)
        rows.push_back(vector);
  };
  // Outside both first, from the far end of the tile, which keeps its order.
  Vectors outside = basisOf(concat(x, y));
  size_t inside = outside.size();
  Vectors farFirst(kernel);
  llvm::sort(farFirst, std::greater<uint64_t>());
  extendBasis(outside, farFirst);
  take(ArrayRef<uint64_t>(outside).drop_front(inside));
  size_t pairs = std::min(xOnly.size(), yOnly.size());
  for (size_t i = 0; i != pairs; ++i)
    take({xOnly[i] ^ yOnly[i]});
  // Not reached when the lanes of both sides fit into one row of banks.
  take(ArrayRef<uint64_t>(xOnly).drop_front(pairs));
  take(ArrayRef<uint64_t>(yOnly).drop_front(pairs));
  take(common);
  take(ArrayRef<uint64_t>(xOnly).take_front(pairs));
  llvm::sort(rows);
  return rows;
}

std::optional<BitMatrix> BufferBuilder::build() {
  if (!chooseVectors())
    return std::nullopt;
  defineFunctionals();
  Vectors kernel;
  for (unsigned bit = 0; bit != elementBits; ++bit) {
    uint64_t vector = uint64_t(1) << bit;
    for (uint64_t value = functionals(vector), i = 0; value >> i; ++i)
      if (value >> i & 1)
        vector ^= low[i];
    kernel.push_back(vector);
  }
  kernel = basisOf(kernel);
  Vectors rows = chooseRows(kernel);
  // Whatever completes the basis within the kernel are the bits of the bank.
  Vectors basis = rows;
  extendBasis(basis, kernel);
  Vectors banks(basis.begin() + rows.size(), basis.end());
  assert(low.size() + banks.size() == rowBits && "one row of banks");
  return BitMatrix(concat(concat(low, banks), rows), elementBits)
      .rightInverse();
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

std::optional<SharedExchange> mlir::fusion::tile::planSharedExchange(
    const LinearLayout &src, const LinearLayout &dst, unsigned elementBytes,
    unsigned maxAccessBytes) {
  assert(src.shape() == dst.shape() && "layouts of different tiles");
  assert(llvm::isPowerOf2_32(elementBytes) && elementBytes <= kMaxAccessBytes &&
         "no such element");
  if (src.numBits(HwDim::Block) || dst.numBits(HwDim::Block) ||
      !src.isSurjective())
    return std::nullopt;
  unsigned log2Bytes = llvm::Log2_32(elementBytes);
  unsigned elementBits = src.numElementBits();
  unsigned maxVec = 0;
  if (maxAccessBytes > elementBytes)
    maxVec =
        llvm::Log2_32(std::min(maxAccessBytes, kMaxAccessBytes)) - log2Bytes;

  Side write(src), read(dst);
  std::optional<SharedExchange> best;
  auto price = [](const SharedExchange &exchange) {
    return std::pair(exchange.writeCost.totalWavefronts() +
                         exchange.readCost.totalWavefronts(),
                     exchange.writeCost.accesses + exchange.readCost.accesses);
  };
  auto consider = [&](bool readWide, unsigned wideVec, unsigned narrowVec) {
    BufferBuilder builder(readWide ? read : write, readWide ? write : read,
                          elementBits, log2Bytes, wideVec, narrowVec);
    std::optional<BitMatrix> slots = builder.build();
    if (!slots)
      return;
    SharedExchange exchange;
    exchange.buffer = SharedLayout(src.shape(), elementBytes, *slots);
    unsigned writeVec = 1u << (readWide ? narrowVec : wideVec);
    unsigned readVec = 1u << (readWide ? wideVec : narrowVec);
    std::optional<SharedAccess> writeAccess =
        getSharedAccess(src, exchange.buffer, writeVec);
    std::optional<SharedAccess> readAccess =
        getSharedAccess(dst, exchange.buffer, readVec);
    if (!writeAccess || !readAccess)
      return;
    exchange.write = *writeAccess;
    exchange.read = *readAccess;
    exchange.writeCost = getSharedAccessCost(src, exchange.buffer, writeVec);
    exchange.readCost = getSharedAccessCost(dst, exchange.buffer, readVec);
    if (!best || price(exchange) < price(*best))
      best = exchange;
  };
  // Loads before stores among equals: what waits for the exchange waits on the
  // loads.
  for (unsigned wideVec = maxVec + 1; wideVec-- > 0;)
    for (unsigned narrowVec = wideVec + 1; narrowVec-- > 0;) {
      consider(/*readWide=*/true, wideVec, narrowVec);
      if (narrowVec != wideVec)
        consider(/*readWide=*/false, wideVec, narrowVec);
    }
  assert(best && "one element at a time is always possible");
  return best;
}
