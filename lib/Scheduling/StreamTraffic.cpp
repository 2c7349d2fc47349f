//===- StreamTraffic.cpp - What a schedule asks memory for ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what blocks ask memory for: bytes, sectors at the ends
// of runs, and the instructions of accesses.
//
//===----------------------------------------------------------------------===//

#include "StreamTraffic.h"

#include "WarpAccess.h"
#include "fusion/Analysis/NearIndex.h"
#include "fusion/Support/Counts.h"
#include "fusion/Support/Hardware.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::fusion;

/// Instructions of each operand in a step of a walk, for where it is.
static constexpr double kStepInstructions = 3;

/// True when `coord` is made of a remainder or a quotient.
static bool isSplit(AffineExpr coord) {
  return coord
      .walk([](AffineExpr part) {
        return part.getKind() == AffineExprKind::Mod ||
                       part.getKind() == AffineExprKind::FloorDiv
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

bool StreamTraffic::mayLieOutside(const Stream &stream) const {
  SmallVector<std::optional<int64_t>> first(facts.getNumDims(), 0), last;
  for (int64_t extent : facts.extents)
    last.push_back(extent - 1);
  return llvm::any_of(llvm::zip(stream.coords, stream.shape), [&](auto axis) {
    AffineExpr coord = std::get<0>(axis);
    int64_t size = std::get<1>(axis);
    // Nothing is known of what a symbol stands for.
    unsigned numSymbols = 0;
    coord.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        numSymbols = std::max(numSymbols, symbol.getPosition() + 1);
    });
    first.resize(facts.getNumDims() + numSymbols);
    last.resize(facts.getNumDims() + numSymbols);
    auto bound = [&](bool isUpper) {
      return getBoundForAffineExpr(coord, facts.getNumDims(), numSymbols, first,
                                   last, isUpper);
    };
    std::optional<int64_t> least = bound(false), most = bound(true);
    return isSplit(coord) && (!least || !most || *least < 0 || *most >= size);
  });
}

StreamTraffic::StreamTraffic(const BlockWork &work)
    : work(work), facts(work.facts), fitted(work.facts.target.fitted.loops),
      body(work.body), schedule(work.schedule) {
  find();
}

/// Coordinates near those of `access`, where that is the one lookup of its
/// operation in its tensor, at places computed of loops alone; else none.
static SmallVector<AffineExpr, 0> getNearCoords(const KernelBody &body,
                                                const BodyAccess &access) {
  if (llvm::none_of(access.coords, isKnownAtRunTime))
    return {};
  const BodyInstance &instance = body.getInstances()[access.instance];
  auto op = dyn_cast<linalg::LinalgOp>(body.getNode(instance).op);
  if (!op)
    return {};
  Value tensor = body.getGraph().getValue(access.value).ssa;
  tensor::ExtractOp lookup;
  for (auto extract : op.getBlock()->getOps<tensor::ExtractOp>()) {
    if (extract.getTensor() != tensor)
      continue;
    if (lookup)
      return {};
    lookup = extract;
  }
  if (!lookup)
    return {};
  SmallVector<AffineExpr> coords;
  for (Value index : lookup.getIndices()) {
    std::optional<AffineExpr> near = getNearIndex(op, index);
    if (!near)
      return {};
    coords.push_back(*near);
  }
  coords = composeCoords(coords, instance.loops);
  return SmallVector<AffineExpr, 0>(coords.begin(), coords.end());
}

void StreamTraffic::find() {
  const ComputeGraph &graph = body.getGraph();
  SmallVector<double> touches = getFirstTouches(body);
  SmallVector<const BodyAccess *> accesses;
  for (auto [number, touched] : llvm::enumerate(touches)) {
    const BodyAccess &access = body.getInputs()[number];
    const GraphValue &value = graph.getValue(access.value);
    uint64_t sweeps = body.getInstances()[access.instance].sweeps;
    auto *known = llvm::find_if(accesses, [&](const BodyAccess *other) {
      return readSame(body, *other, access);
    });
    if (known != accesses.end()) {
      Stream &stream = streams[known - accesses.begin()];
      stream.sweeps |= sweeps;
      stream.touched =
          std::min(1.0, stream.touched + work.getTouchedShare(access.parts));
      continue;
    }
    accesses.push_back(&access);
    streams.push_back({value, access.shape, access.coords, access.mask, sweeps,
                       /*isWrite=*/false, touched,
                       work.getTouchedShare(access.parts),
                       getNearCoords(body, access)});
  }
  for (const Stream &stream : streams)
    for (AffineExpr coord : stream.coords) {
      bool ofWindow = false, ofPlace = false;
      for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
        if (facts.extents[dim] > 1 && getSlope(coord, dim) != 0)
          (facts.reduced.test(dim) ? ofWindow : ofPlace) = true;
      windows |= ofWindow && ofPlace && work.turns > 1 &&
                 schedule.strategy == Strategy::Reduction;
    }
  for (const BodyOutput &output : body.getOutputs()) {
    const GraphValue &value = graph.getValue(output.value);
    streams.push_back({value, output.shape, output.coords, output.mask,
                       /*sweeps=*/1, /*isWrite=*/true,
                       body.getStoredElements(output) * value.elementBytes});
  }
}

bool StreamTraffic::isGather(const Stream &stream) const {
  return stream.mask && llvm::any_of(stream.coords, isKnownAtRunTime);
}

bool StreamTraffic::isOfParts(const Stream &stream) const {
  return llvm::any_of(stream.coords, isSplit);
}

double StreamTraffic::getSpan(const Stream &stream, unsigned number,
                              ArrayRef<double> have) const {
  auto size = static_cast<double>(stream.shape[number]);
  double span = 1;
  for (auto [dim, count] : llvm::enumerate(have))
    if (count > 1)
      span += std::abs(getSlope(stream.coords[number], dim)) * (count - 1);
  return std::clamp(span, 1.0, std::max(size, 1.0));
}

double StreamTraffic::getDensity(const Stream &stream, unsigned number) const {
  double least = 0;
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim) {
    if (facts.extents[dim] <= 1)
      continue;
    double slope = std::abs(getSlope(stream.coords[number], dim));
    if (slope > 0)
      least = least > 0 ? std::min(least, slope) : slope;
  }
  return least > 1 ? 1 / least : 1;
}

double StreamTraffic::getDistinctShare(const Stream &stream) const {
  unsigned along = facts.getFastest();
  auto own = static_cast<double>(schedule[along].vector);
  double distinct = 1;
  for (AffineExpr coord : stream.coords)
    distinct *= 1 + std::abs(getSlope(coord, along)) * (own - 1);
  return std::min(1.0, distinct / own);
}

double StreamTraffic::getShareInside(const Stream &stream) const {
  double share = 1;
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
    for (auto [coord, size] : llvm::zip(stream.coords, stream.shape)) {
      // Remainders are inside.
      if (work.blocksOf[dim] == 1 && work.coverOf[dim] <= 1)
        continue;
      if (getSlope(coord, dim) != 1 || isSplit(coord))
        continue;
      // What is padded or joined begins anywhere in a tile; the last tile of
      // all ends with the tensor.
      bool isWhole = size == facts.extents[dim];
      double inside = static_cast<double>(size) / work.coverOf[dim];
      if (!isWhole)
        inside += 1 - 1 / work.coverOf[dim];
      share *= std::min(1.0, inside / work.blocksOf[dim]);
    }
  return share;
}

double StreamTraffic::getRun(const Stream &stream,
                             ArrayRef<double> have) const {
  double run = 1;
  for (unsigned number = stream.shape.size(); number-- > 0;) {
    // Rows that data choose lie anywhere, each as a whole.
    if (isKnownAtRunTime(stream.coords[number]))
      break;
    double span = getSpan(stream, number, have);
    run *= span;
    if (span < static_cast<double>(stream.shape[number]))
      break;
  }
  return run;
}

double StreamTraffic::getAlignment(const Stream &stream) const {
  auto bytes = static_cast<uint64_t>(std::max(1.0, stream.value.elementBytes));
  uint64_t row = bytes;
  for (unsigned number = stream.shape.size(); number-- > 0;) {
    double span = getSpan(stream, number, work.coverOf);
    bool isWhole = span >= static_cast<double>(stream.shape[number]);
    uint64_t part = row * static_cast<uint64_t>(span);
    row *= static_cast<uint64_t>(std::max<int64_t>(stream.shape[number], 1));
    if (isWhole)
      continue;
    // Of one row in all, parts begin after whole ones.
    bool isOnly = llvm::all_of(stream.shape.take_front(number),
                               [](int64_t size) { return size == 1; });
    return static_cast<double>(
        std::gcd(std::gcd(part, isOnly ? part : row),
                 static_cast<uint64_t>(cost::kSectorBytes)));
  }
  return cost::kSectorBytes;
}

bool StreamTraffic::isAlongHeld(const Stream &stream) const {
  for (auto [coord, size] :
       llvm::zip(llvm::reverse(stream.coords), llvm::reverse(stream.shape)))
    if (auto dim = dyn_cast<AffineDimExpr>(coord); dim && size != 1)
      return facts.reduced.test(dim.getPosition());
  return false;
}

double StreamTraffic::getVector(const Stream &stream, double run,
                                bool isCopied) const {
  // Parts of a coordinate end where no vector does, or do not.
  if (held && isOfParts(stream))
    return static_cast<double>(held->widths[&stream - streams.data()]);
  // Rows that begin anywhere are read element by element, but for walks,
  // which begin a little before the row.
  int64_t row = 1;
  double vector = std::max(1.0, kMaxAccessBytes / stream.value.elementBytes);
  double most = work.perThread;
  // Elements that are written out are accessed one by one.
  if (work.reducesInSteps)
    most = isAlongHeld(stream) ? work.heldInStep : 1;
  vector = std::min({vector, most, run});
  for (unsigned number = stream.shape.size(); number-- > 0;) {
    if (stream.shape[number] == 1)
      continue;
    auto coord = dyn_cast<AffineDimExpr>(stream.coords[number]);
    // Windows slide over whole rows of what lies within.
    if (!coord && row > 1)
      break;
    if (!coord)
      return 1;
    if (row == 1 && work.walksAlong(coord.getPosition())) {
      row = 0;
      break;
    }
    // Rows that are added up keep their columns, wherever they begin.
    if (facts.hasGranules() && row > 1)
      break;
    // Of one row in all, no other begins anywhere.
    if (llvm::all_of(stream.shape.take_front(number),
                     [](int64_t size) { return size == 1; })) {
      row = 0;
      break;
    }
    row *= stream.shape[number];
    // What pads a row in a tile lies between it and the next.
    auto size = static_cast<double>(stream.shape[number]);
    if (getSpan(stream, number, work.tileOf) < size ||
        ((isCopied || schedule.strategy == Strategy::Pointwise) &&
         static_cast<double>(schedule[coord.getPosition()].tile) > size))
      break;
  }
  auto width = static_cast<int64_t>(llvm::bit_floor<uint64_t>(
      std::max<int64_t>(1, static_cast<int64_t>(vector))));
  while (width > 1 && row % width != 0)
    width /= 2;
  return static_cast<double>(width);
}

double StreamTraffic::getOwnShare(ArrayRef<AffineExpr> coords) const {
  if (work.turns == 1)
    return 1;
  double share = 1;
  for (AffineExpr coord : coords) {
    double points = 1, span = 1;
    for (unsigned dim = 0; dim < facts.getNumDims(); ++dim) {
      double slope = std::abs(getSlope(coord, dim));
      double have = facts.reduced.test(dim)
                        ? static_cast<double>(facts.extents[dim])
                        : static_cast<double>(schedule[dim].strip);
      if (slope == 0)
        continue;
      points *= std::max(have, 1.0);
      span += slope * (std::max(have, 1.0) - 1);
    }
    share *= std::min(1.0, span / points);
  }
  return share;
}

double StreamTraffic::getLineFactor(const Stream &stream) const {
  if (!stream.isWrite || isGather(stream) || schedule.axes.empty() ||
      schedule.strategy == Strategy::Scan)
    return 1;
  // A thread has as many elements side by side as the narrowest operand has in
  // one access. Where this one's are more bytes, lanes store the first part of
  // each, then the next one; single elements go to neighbouring lanes.
  double elementBytes = stream.value.elementBytes;
  double piece = getVector(stream, getRun(stream, work.tileOf)) * elementBytes;
  double together =
      static_cast<double>(schedule[facts.getFastest()].vector) * elementBytes;
  if (piece >= together || piece <= elementBytes)
    return 1;
  return std::min(together, static_cast<double>(kLineBytes)) / piece;
}

double StreamTraffic::getShareOfRow(const Stream &stream) const {
  double share = 1;
  unsigned along = facts.getFastest();
  for (auto [coord, size] : llvm::zip(stream.coords, stream.shape))
    if (held && held->hasRows && coord.isFunctionOfDim(along))
      share = std::min(share, static_cast<double>(size) /
                                  static_cast<double>(schedule[along].tile));
  return share;
}

double StreamTraffic::getStoredShare(const Stream &stream) const {
  double share = 1;
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
    for (AffineExpr coord : stream.coords)
      if (auto granule = dyn_cast<AffineBinaryOpExpr>(coord);
          granule && coord.isFunctionOfDim(dim) &&
          granule.getKind() == AffineExprKind::FloorDiv)
        share /= static_cast<double>(facts.granules[dim]);
  return share;
}

double StreamTraffic::countInVain(const Stream &stream, double vector) const {
  unsigned along = facts.getFastest();
  if (!work.keepsRows() || isGather(stream) || !(stream.mask >> along & 1))
    return 0;
  // Rows lie side by side: what a warp asks for beyond what it gets takes
  // turns of the L1 cache; stores go to the L2 cache.
  double bytes = vector * stream.value.elementBytes;
  double asked = std::min(work.tileOf[along] * stream.value.elementBytes,
                          std::max(bytes, cost::kSectorBytes));
  return std::max(0.0, asked - bytes) *
         (stream.isWrite ? fitted.vainStore : fitted.vainLoad) / vector;
}

bool StreamTraffic::exchangesRows() const {
  return llvm::any_of(streams, [&](const Stream &stream) {
    double vector = getVector(stream, getRun(stream, work.tileOf));
    return !stream.isWrite &&
           countInVain(stream, vector) > fitted.rowExchangeInstructions;
  });
}

bool StreamTraffic::isCopied(const Stream &stream) const {
  if (stream.isWrite || isGather(stream))
    return false;
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
    if (work.copiesAhead(dim) && (stream.mask >> dim & 1))
      return true;
  return false;
}

bool StreamTraffic::hasWholeRows(const Stream &stream) const {
  auto row =
      std::max<int64_t>(1, static_cast<int64_t>(stream.value.elementBytes));
  for (unsigned number = stream.shape.size(); number-- > 0;) {
    row *= std::max<int64_t>(1, stream.shape[number]);
    if (getSpan(stream, number, work.tileOf) <
        static_cast<double>(stream.shape[number]))
      break;
  }
  return row % kSectorBytes == 0;
}

bool StreamTraffic::hasStripsAlong(const Stream &stream, unsigned along) const {
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
    if (!facts.reduced.test(dim) && schedule[dim].strip > 1 &&
        getSlope(stream.coords[along], dim) != 0)
      return isOfWindows(stream) && !stream.isWrite;
  return false;
}

SmallVector<int64_t> StreamTraffic::getRowPlaces(const Stream &stream,
                                                 unsigned along,
                                                 int64_t elementBytes) const {
  SmallVector<int64_t> rows = {0};
  int64_t stride = elementBytes;
  for (unsigned number = stream.shape.size(); number-- > 0;) {
    if (number != along) {
      ThreadPlaces places = getPlaces(stream.coords[number], facts, schedule);
      SmallVector<int64_t> own;
      for (int64_t row : rows)
        for (int64_t place : places.places)
          own.push_back(row + place * stride);
      rows = std::move(own);
    }
    stride *= std::max<int64_t>(1, stream.shape[number]);
  }
  return rows;
}

StreamTraffic::Requests
StreamTraffic::countRequests(const Stream &stream) const {
  auto elementBytes =
      std::max<int64_t>(1, static_cast<int64_t>(stream.value.elementBytes));
  unsigned along = stream.shape.size() - 1;
  while (along > 0 && stream.shape[along] == 1)
    --along;
  std::optional<unsigned> fastest;
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim)
    if (schedule[dim].vector > 1)
      fastest = dim;
  int64_t vector = 1;
  for (const Stream &other : streams)
    if (fastest && !isGather(other))
      vector = std::max(vector, static_cast<int64_t>(getVector(
                                    other, getRun(other, work.tileOf))));
  if (fastest)
    vector = std::min(vector, schedule[*fastest].vector);
  // What lanes load is exchanged where threads store more neighbours.
  if (held && !stream.isWrite)
    vector = std::min(vector, held->neighbours);
  // Elements of an access: side by side in a tile, or joined.
  int64_t span = 1;
  double together = 1;
  double slope = fastest ? getSlope(stream.coords[along], *fastest) : 0;
  if (fastest && std::abs(slope) * facts.extents[*fastest] >= 1) {
    span = std::min(vector, static_cast<int64_t>(getVector(
                                stream, getRun(stream, work.tileOf))));
    together = static_cast<double>(span);
  } else {
    ThreadPlaces places = getPlaces(stream.coords[along], facts, schedule);
    span = std::max<int64_t>(kMaxAccessBytes / elementBytes, 1);
    while (stream.shape[along] % span != 0 || places.step % span != 0)
      span /= 2;
    together = places.countTogether(span);
  }
  // What a thread stores side by side, one after the other, meets in a line.
  bool inOrder = stream.isWrite && schedule.strategy == Strategy::Pointwise &&
                 fastest && getSlope(stream.coords[along], *fastest) == 1;
  if (inOrder) {
    span = vector;
    together = static_cast<double>(vector);
  }
  WarpAccess access(facts, schedule, fastest, vector, span * elementBytes,
                    getDistances(stream.coords, stream.shape, elementBytes,
                                 facts.getNumDims()));
  Requests requests;
  requests.count = work.countPoints(stream.mask) * getLoadedShare(stream) /
                   together / kWarpThreads;
  // Rows that begin anywhere in sectors.
  bool isAligned = stream.shape[along] * elementBytes % kSectorBytes == 0 &&
                   !isSplit(stream.coords[along]);
  requests.lines = access.countPieces(
      kLineBytes,
      isAligned || inOrder || (stream.isWrite && hasWholeRows(stream)));
  requests.sectors = access.countPieces(kSectorBytes, isAligned);
  requests.linesOfRows =
      hasStripsAlong(stream, along)
          ? access.countPieces(kLineBytes, isAligned,
                               getRowPlaces(stream, along, elementBytes))
          : requests.lines;
  requests.passes =
      std::max(access.countBankTurns(), requests.lines * fitted.windowPass);
  requests.registers =
      requests.count * kWarpThreads / (work.threads * work.blocks) *
      std::max(1.0, static_cast<double>(span * elementBytes) / 4);
  return requests;
}

bool StreamTraffic::hasLanes(const Stream &stream) const {
  // Of tiles with two directions each tensor's lanes follow its own.
  return schedule.strategy == Strategy::Pointwise && !isGather(stream) &&
         !stream.shape.empty() &&
         llvm::count_if(schedule.axes, [](const LoopAxis &axis) {
           return axis.vector > 1;
         }) <= 1;
}

double StreamTraffic::countStoreClocks(const Stream &stream,
                                       const Requests &requests) const {
  double whole = stream.uniqueBytes / kLineBytes;
  return std::max(0.0, requests.count * requests.lines - whole) *
         fitted.partialLineClocks;
}

double StreamTraffic::countScannedClocks(const Stream &stream) const {
  unsigned along = facts.getFastest();
  // What a block has of rows, as a whole, lies side by side.
  if (facts.scanned.test(along) || !(stream.mask >> along & 1) ||
      work.blocksOf[along] == 1)
    return 0;
  // Lanes store a row's columns side by side, each as many as it has next to
  // each other, then those of the next row.
  double own = std::max(work.tileOf[along] / work.threads, 1.0);
  double neighbours =
      std::min(own, getVector(stream, getRun(stream, work.tileOf)));
  // Of lanes that share a column one stores it.
  double bytes = stream.value.elementBytes,
         ofBlock =
             static_cast<double>(facts.extents[along]) / work.blocksOf[along],
         columns = std::min(ofBlock, kWarpThreads * neighbours / work.sharing);
  auto row = static_cast<int64_t>(bytes) * facts.extents[along];
  double lines = columns * bytes / kLineBytes;
  if (row % kLineBytes != 0)
    lines += 1 - bytes / kLineBytes;
  double points = body.getPoints(stream.mask);
  double clocks = std::max(0.0, points / columns * std::max(lines, 1.0) -
                                    stream.uniqueBytes / kLineBytes) *
                  fitted.partialLineClocks;
  // Blocks that walk together store the two parts of a sector together.
  if (!work.isSplit && row % static_cast<int64_t>(cost::kSectorBytes) != 0)
    clocks += points / ofBlock * facts.target.fitted.scans.partialRunClocks;
  return clocks;
}

double StreamTraffic::getLostShare(const Requests &requests) const {
  // A thread loads what its first result of each strip is made of, then what
  // the second ones need besides. Loads that are put off leave registers for
  // half of the threads that there can be.
  double strips = work.perThread;
  for (const LoopAxis &axis : schedule.axes)
    strips /= static_cast<double>(axis.strip * axis.vector);
  double warps = fitted.runningShare *
                 static_cast<double>(facts.target.maxThreadsPerSM) /
                 kWarpThreads;
  double touched =
      warps * std::max(1.0, strips) * requests.linesOfRows * kLineBytes;
  return std::max(0.0,
                  1 - static_cast<double>(facts.target.sharedPerSM) / touched);
}

void StreamTraffic::addWindows(const Stream &stream, AccessCost access,
                               KernelCost &cost) const {
  double elementBytes = stream.value.elementBytes;
  Requests requests = countRequests(stream);
  cost.sharedBytes += requests.count * requests.passes * kLineBytes;
  double asked = requests.count * requests.sectors * kSectorBytes;
  if (stream.isWrite) {
    access.requestedBytes =
        access.uniqueBytes +
        std::max(0.0, asked - access.uniqueBytes) * fitted.partialSector;
    cost.storeClocks += countStoreClocks(stream, requests);
  } else {
    // Of rows that a block has in part it asks for no more than all of them.
    double whole = elementBytes * work.blocks * getShareInside(stream);
    for (auto [number, size] : llvm::enumerate(stream.shape)) {
      double span = getSpan(stream, number, work.coverOf);
      whole *= span * elementBytes < kSectorBytes
                   ? static_cast<double>(size)
                   : span + kSectorBytes / elementBytes;
    }
    access.requestedBytes =
        std::max(std::min(access.requestedBytes, whole), access.uniqueBytes);
    // Lanes that are far apart come back for the rest of a sector.
    AccessCost again;
    again.requestedBytes =
        std::max(0.0, asked - access.requestedBytes) * getLostShare(requests);
    again.reuseDistanceBytes = stream.uniqueBytes;
    cost.accesses.push_back(again);
  }
  // Blocks side by side, which run together, have borders in common.
  access.reuseDistanceBytes = 0;
  access.factor = 1;
  cost.accesses.push_back(access);
  double loaded = work.countPoints(stream.mask) * getLoadedShare(stream);
  double instructions =
      isOfParts(stream) ? fitted.partInstructions : fitted.windowInstructions;
  cost.fp32Flops +=
      2 * (requests.count * kWarpThreads * instructions +
           loaded * (elementBytes < 4 ? fitted.convertInstructions : 0));
}

void StreamTraffic::add(const Stream &stream, KernelCost &cost) const {
  double elementBytes = stream.value.elementBytes;
  double sweeps = work.countSweeps(stream.mask, stream.sweeps);
  double points = body.getPoints(stream.mask) * work.countCopies(stream.mask);
  double accessed = work.countPoints(stream.mask);
  AccessCost access;
  access.uniqueBytes = stream.uniqueBytes;
  access.isWrite = stream.isWrite;
  access.lineFactor = getLineFactor(stream);
  double run = getRun(stream, work.tileOf), inBlock = elementBytes;
  Stream placed = stream;
  if (!stream.near.empty())
    placed.coords = stream.near;
  if (isGather(placed)) {
    double side = getRun(stream, work.coverOf);
    access.requestedBytes = points * stream.touched *
                            std::max(elementBytes, cost::kSectorBytes / side);
    inBlock = access.requestedBytes / work.blocks;
  } else {
    double density = 1;
    for (unsigned number = 0; number < stream.shape.size(); ++number) {
      inBlock *= getSpan(placed, number, work.coverOf);
      density = getDensity(placed, number);
    }
    // Sectors that a block's run shares with what lies beside it come twice
    // from L2.
    double bytes = getRun(placed, work.coverOf) * elementBytes;
    double waste = cost::kSectorBytes - getAlignment(placed);
    access.requestedBytes = inBlock * work.blocks *
                            std::min(getShareInside(placed), stream.touched) *
                            (1 + waste / bytes);
    access.factor = 1 / std::max(density, elementBytes / cost::kSectorBytes);
    if (access.factor > 1)
      access.requestedBytes /= access.factor;
  }
  if (isOfWindows(stream))
    return addWindows(stream, access, cost);
  bool ofParts = isOfParts(stream) && !stream.isWrite;
  if (schedule.strategy == Strategy::Scan && stream.isWrite)
    cost.storeClocks += countScannedClocks(stream);
  if (hasLanes(stream) && (stream.isWrite || ofParts)) {
    Requests requests = countRequests(stream);
    if (stream.isWrite)
      cost.storeClocks += countStoreClocks(stream, requests);
    else
      cost.sharedBytes += requests.count * requests.passes * kLineBytes;
  }
  access.requestedBytes = std::max(access.requestedBytes, access.uniqueBytes);
  access.reuseDistanceBytes = stream.uniqueBytes;
  cost.accesses.push_back(access);
  if (sweeps > 1) {
    cost.sweptBytes += access.requestedBytes * (sweeps - 1);
    cost.sweptOfBlock += inBlock;
  }

  double vector = getVector(stream, run);
  double inVain = countInVain(stream, vector);
  if (stream.isWrite)
    accessed *= getStoredShare(stream);
  accessed *= getShareOfRow(stream) * stream.touched;
  if (!stream.near.empty())
    accessed *= getDistinctShare(placed);
  if (inVain > fitted.rowExchangeInstructions)
    cost.sharedBytes += 2 * accessed * elementBytes;
  // Rows that threads have are accessed by constants.
  double ofAccess = held && held->hasRows && !stream.isWrite
                        ? facts.target.fitted.layouts.accessInstructions
                        : fitted.accessInstructions;
  // So are those of elements that are written out, from where the step is.
  if (work.reducesInSteps)
    ofAccess = 1 + kStepInstructions / work.countWrittenOut();
  if (ofParts)
    ofAccess = fitted.partInstructions +
               (mayLieOutside(stream) ? fitted.checkInstructions : 0);
  double instructions = ofAccess / vector +
                        std::min(inVain, fitted.rowExchangeInstructions) +
                        (elementBytes < 4 ? fitted.convertInstructions : 0);
  cost.fp32Flops +=
      2 * accessed * getLoadedShare(stream) * sweeps * instructions;
}

void StreamTraffic::addTo(KernelCost &cost) const {
  for (const Stream &stream : streams)
    add(stream, cost);
}
