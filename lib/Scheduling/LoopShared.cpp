//===- LoopShared.cpp - What a block of loops keeps in shared memory ------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the shared memory of a schedule without products: the
// buffers that its program will have, with their lifetimes, by the layouts that
// assignment will choose, and placed as allocation places them.
//
//   for each sweep    rings of copies         live through the sweep's loop
//                     tiles on their way      for a moment each
//                     what warps have         for a moment, behind the loop
//
//===----------------------------------------------------------------------===//

#include "PriceParts.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Analysis/ScanTiles.h"
#include "fusion/Dialect/Tile/IR/LayoutConversion.h"
#include "fusion/Dialect/Tile/Transforms/LayoutVotes.h"
#include "fusion/Support/Hardware.h"
#include "fusion/Support/PanelFormat.h"
#include "fusion/Support/SharedPlaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::LinearLayout;

/// Rounds of a walk that blocks share are written out: the first, those of a
/// loop, and the last.
static constexpr unsigned kWrittenRounds = 3;

/// Bytes of each state that threads combine of `instance`.
static SmallVector<int64_t> getStateBytes(const BlockWork &work,
                                          const BodyInstance &instance) {
  Operation *op = work.body.getNode(instance).op;
  SmallVector<Type> types;
  if (auto scan = dyn_cast<ScanOp>(op)) {
    if (std::optional<ScanCombiner> combiner =
            matchScanCombiner(scan.getCombiner().front()))
      types = combiner->types;
  } else if (auto reduction = dyn_cast<linalg::LinalgOp>(op)) {
    if (std::optional<SmallVector<Type>> partial = getPartialTypes(reduction))
      types = *partial;
    // Of what one block holds the count is known.
    if (matchMoments(reduction) && !work.walks && !work.isSplit &&
        types.size() > 1)
      types.pop_back();
  }
  SmallVector<int64_t> bytes;
  for (Type type : types)
    bytes.push_back(type.isIntOrFloat()
                        ? llvm::divideCeil(type.getIntOrFloatBitWidth(), 8)
                        : 4);
  return bytes;
}

namespace {
class SharedLister {
public:
  explicit SharedLister(const StreamTraffic &traffic)
      : traffic(traffic), work(traffic.getWork()), facts(work.facts),
        schedule(work.schedule), voter(schedule.warps, facts.target) {
    for (unsigned dim = 0; dim < facts.getNumDims(); ++dim) {
      if (schedule[dim].tile == 1)
        continue;
      int64_t parts =
          isOfRun(dim) ? schedule[dim].tile / schedule[dim].vector : 1;
      if (parts > 1) {
        dims.push_back(dim);
        tiles.push_back(parts);
      }
      dims.push_back(dim);
      tiles.push_back(schedule[dim].tile / parts);
    }
    findLead();
  }

  SmallVector<SharedPiece> list();
  std::optional<HeldElements> findHeld() const;

private:
  /// A tile that a stream moves: its layout in the program, by the axes of the
  /// block's tile that it has.
  struct Moved {
    const Stream *stream;
    SmallVector<unsigned> axes;
    SmallVector<int64_t> shape;
    tile::VotingAccess access;
  };

  /// Threads have parts of a run along `dim`, which count as one more dimension
  /// of the tile, before it.
  bool isOfRun(unsigned dim) const {
    return work.hasRuns && facts.scanned.test(dim);
  }
  void findLead();
  /// The block has a tile, of powers of two.
  bool isPlaced() const;
  bool isAlignedWithLead(const Stream &stream, int64_t width) const;
  /// Walks that end within a chunk have a loop of whole chunks and another one.
  bool isCut() const;
  Moved describe(const Stream &stream, bool wholeChunks, bool mayDivide) const;
  tile::LayoutVotes getVotes() const;
  /// What one loop of a sweep moves.
  std::vector<Moved> findMoved(unsigned sweep, unsigned numSweeps,
                               bool wholeChunks) const;
  void addSweep(unsigned sweep, unsigned numSweeps);
  void addStreams(ArrayRef<Moved> moved, const LinearLayout &layout,
                  bool hasRows, unsigned begin);
  /// Threads reduce what they have of a chunk before they combine it.
  bool isFoldedFirst(const BodyInstance &instance) const;
  void addReduction(const BodyInstance &instance, LinearLayout layout);
  void addScan(const BodyInstance &instance, const LinearLayout &layout);
  /// A scan along dimension `dim` of a tile in `layout`, of whole blocks or of
  /// what their threads have.
  void addScanAlong(const BodyInstance &instance, const LinearLayout &layout,
                    unsigned dim);
  /// The scans of a program that has each `count` times.
  SmallVector<tile::ScanWork> describeScans(unsigned count) const;
  void addMoment(int64_t bytes) {
    SharedPiece piece{bytes};
    piece.first = piece.last = now++;
    pieces.push_back(piece);
  }

  const StreamTraffic &traffic;
  const BlockWork &work;
  const LoopFacts &facts;
  const LoopSchedule &schedule;
  tile::LayoutVoter voter;
  /// The dimensions that a block's tile has, and its sizes.
  SmallVector<unsigned> dims;
  SmallVector<int64_t> tiles;
  /// The tensor by whose rows the chunks of a walk along the last dimension
  /// begin, and elements of its vectors.
  const Stream *lead = nullptr;
  int64_t leadElements = 1;
  unsigned now = 0;
  int64_t clusterBytes = 0;
  SmallVector<SharedPiece> pieces;
};
} // namespace

static int64_t getBytes(const Stream &stream) {
  return std::max<int64_t>(static_cast<int64_t>(stream.value.elementBytes), 1);
}

static SmallVector<int64_t> getStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * std::max<int64_t>(shape[dim], 1);
  return strides;
}

void SharedLister::findLead() {
  if (schedule.strategy != Strategy::Reduction || dims.empty())
    return;
  unsigned dim = dims.back();
  if (!facts.reduced.test(dim) || !facts.getStaticExtent(dim) ||
      schedule[dim].kind == AxisKind::Grid)
    return;
  double most = 0;
  for (const Stream &stream : traffic.get()) {
    int64_t elements = std::max<int64_t>(kMaxAccessBytes / getBytes(stream), 1);
    auto own = stream.coords.empty()
                   ? AffineDimExpr(nullptr)
                   : dyn_cast<AffineDimExpr>(stream.coords.back());
    if (!own || own.getPosition() != dim || facts.extents[dim] < elements ||
        stream.uniqueBytes <= most)
      continue;
    bool isRow = true, isAligned = true;
    SmallVector<int64_t> strides = getStrides(stream.shape);
    for (auto [number, stride] :
         llvm::enumerate(ArrayRef(strides).drop_back())) {
      auto row = dyn_cast<AffineDimExpr>(stream.coords[number]);
      if (stream.shape[number] == 1)
        continue;
      isRow &= row && schedule[row.getPosition()].tile == 1;
      isAligned &= stride % elements == 0;
    }
    if (!isRow || isAligned)
      continue;
    most = stream.uniqueBytes;
    lead = &stream;
    leadElements = elements;
  }
  // What is held has room for the elements before the row.
  auto whole = static_cast<int64_t>(
      llvm::alignTo(facts.extents[dim], schedule[dim].tile));
  if (schedule[dim].kind == AxisKind::Full &&
      facts.extents[dim] + leadElements - 1 > whole)
    lead = nullptr;
}

bool SharedLister::isAlignedWithLead(const Stream &stream,
                                     int64_t width) const {
  if (!lead || stream.coords.empty() ||
      stream.coords.back() != lead->coords.back() || leadElements % width != 0)
    return false;
  auto getRows = [&](const Stream &of) {
    SmallVector<int64_t> rows(facts.getNumDims(), 0);
    SmallVector<int64_t> strides = getStrides(of.shape);
    // All but the innermost, whose elements are those of the row.
    for (auto [coord, stride] :
         llvm::zip(ArrayRef(of.coords).drop_back(), strides))
      if (auto row = dyn_cast<AffineDimExpr>(coord))
        rows[row.getPosition()] += stride;
    return rows;
  };
  return llvm::all_of(llvm::zip(getRows(stream), getRows(*lead)),
                      [&](auto strides) {
                        auto [own, ofLead] = strides;
                        return (own - ofLead) % width == 0;
                      });
}

bool SharedLister::isCut() const {
  // Blocks that walk together do so in rounds.
  bool inRounds = schedule.strategy == Strategy::Scan && work.isSplit;
  return work.walks && !inRounds && llvm::any_of(dims, [&](unsigned dim) {
           return schedule[dim].kind == AxisKind::Loop &&
                  (!facts.getStaticExtent(dim) ||
                   facts.extents[dim] % schedule[dim].tile != 0) &&
                  facts.extents[dim] > schedule[dim].tile;
         });
}

SharedLister::Moved SharedLister::describe(const Stream &stream,
                                           bool wholeChunks,
                                           bool mayDivide) const {
  Moved moved{&stream, {}, {}, {}};
  MLIRContext *context = stream.coords.front().getContext();
  SmallVector<AffineExpr> places;
  SmallVector<uint64_t> divisors;
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim) {
    AffineExpr begin = getAffineSymbolExpr(dim, context);
    divisors.push_back(facts.extents[dim] == 1 ? 0 : 1);
    places.push_back(begin);
    const auto *axis = llvm::find(dims, dim);
    if (axis == dims.end() || !(stream.mask >> dim & 1))
      continue;
    places.back() = getAffineDimExpr(moved.axes.size(), context) + begin;
    bool beginsBefore = lead && dim == dims.back();
    divisors.back() = beginsBefore ? 1 : schedule[dim].tile;
    if (isOfRun(dim)) {
      // Parts lie as far apart as they are long.
      const LoopAxis &run = schedule[dim];
      AffineExpr part = getAffineDimExpr(moved.axes.size(), context);
      places.back() = part * (run.steps * run.vector) + begin +
                      getAffineDimExpr(moved.axes.size() + 1, context);
      divisors.back() = run.vector;
      moved.axes.push_back(axis - dims.begin());
      moved.shape.push_back(tiles[axis - dims.begin()]);
      ++axis;
    }
    moved.axes.push_back(axis - dims.begin());
    moved.shape.push_back(tiles[axis - dims.begin()]);
  }
  SmallVector<AffineExpr> coords;
  SmallVector<bool> checked;
  for (auto [coord, size] : llvm::zip(stream.coords, stream.shape)) {
    coords.push_back(coord.replaceDims(places));
    // What pads a single element may be at any place.
    bool isChecked = size == 1;
    for (unsigned dim : dims) {
      if (!coord.isFunctionOfDim(dim))
        continue;
      bool isWhole = wholeChunks && schedule[dim].kind == AxisKind::Loop;
      bool beginsBefore = lead && dim == dims.back();
      isChecked |= isOfRun(dim) ||
                   (!isWhole && (beginsBefore || !facts.getStaticExtent(dim) ||
                                 size % schedule[dim].tile != 0));
    }
    checked.push_back(isChecked);
  }
  tile::AccessForm form{
      stream.shape,
      moved.shape,
      coords,
      checked,
      [&](unsigned number) -> std::optional<uint64_t> {
        return number < divisors.size() ? std::optional(divisors[number])
                                        : std::nullopt;
      },
      [&](unsigned, int64_t width) { return isAlignedWithLead(stream, width); },
      static_cast<unsigned>(8 * getBytes(stream)),
      mayDivide,
      stream.isWrite};
  moved.access = tile::VotingAccess::of(form);
  return moved;
}

void SharedLister::addStreams(ArrayRef<Moved> moved, const LinearLayout &layout,
                              bool hasRows, unsigned begin) {
  bool isScan = schedule.strategy == Strategy::Scan;
  size_t rings = pieces.size();
  for (const Moved &each : moved) {
    bool isWhole = each.axes.size() == dims.size();
    LinearLayout used = isWhole ? layout : layout.project(each.axes).layout;
    LinearLayout wanted =
        voter.prefer(each.access, each.shape, used,
                     {/*once=*/false, isScan && isWhole, hasRows && isWhole});
    int64_t bytes =
        ShapedType::getNumElements(each.shape) * getBytes(*each.stream);
    bool isMoved = wanted != used && tile::classifyConversion(wanted, used) ==
                                         tile::ConversionKind::Shared;
    if (isMoved) {
      addMoment(bytes);
      continue;
    }
    bool mayCopy = traffic.isCopied(*each.stream) && wanted == used &&
                   used.freeMask(tile::HwDim::Lane) == 0 &&
                   used.freeMask(tile::HwDim::Warp) == 0;
    if (!mayCopy)
      continue;
    // Copies have no second way for what lies in bounds in part.
    Moved ofChunks = describe(*each.stream, /*wholeChunks=*/true,
                              /*mayDivide=*/false);
    int64_t widest = 1;
    for (int64_t width : ofChunks.access.widths)
      widest = std::max(widest, width);
    if (widest * getBytes(*each.stream) < kLeastCopyBytes)
      continue;
    SharedPiece ring{bytes * static_cast<int64_t>(work.stages)};
    pieces.push_back(ring);
  }
  // Rings live as long as the loop.
  unsigned end = now++;
  for (SharedPiece &piece : llvm::drop_begin(pieces, rings))
    if (piece.last > end) {
      piece.first = begin;
      piece.last = end;
    }
}

bool SharedLister::isFoldedFirst(const BodyInstance &instance) const {
  auto op = dyn_cast<linalg::LinalgOp>(facts.body.getNode(instance).op);
  return op && isDearToCombine(op) && work.countFolded(instance) > 1;
}

/// Elements of a tile in `layout` that one thread has.
static int64_t countHeld(const LinearLayout &layout) {
  int64_t held = 1;
  for (unsigned bit = 0; bit < layout.numBits(tile::HwDim::Register); ++bit)
    held *= llvm::any_of(layout.basis(tile::HwDim::Register, bit),
                         [](int32_t step) { return step != 0; })
                ? 2
                : 1;
  return held;
}

void SharedLister::addReduction(const BodyInstance &instance,
                                LinearLayout layout) {
  SmallVector<int64_t> states = getStateBytes(work, instance);
  // Elements that a thread reduces itself it has reduced before.
  bool isFolded = isFoldedFirst(instance);
  unsigned gone = 0;
  for (auto [number, dim] : llvm::enumerate(dims)) {
    if (!facts.reduces(instance, dim))
      continue;
    unsigned axis = number - gone++;
    std::optional<tile::ReductionBits> bits =
        tile::getReductionBits(layout, axis);
    if (!bits)
      return;
    LinearLayout outer = layout.sliceDim(axis);
    int64_t elements = outer.numElements();
    if (isFolded)
      elements /= countHeld(outer);
    int64_t parts = int64_t(1) << llvm::popcount(bits->warpMask);
    if (bits->warpMask)
      for (int64_t bytes : states)
        addMoment(elements * parts * bytes);
    layout = outer;
  }
  if (!work.isSplit)
    return;
  // Warps deal out what they exchange with other blocks, and hand the others
  // what they got.
  int64_t results = layout.numElements();
  if (layout.freeMask(tile::HwDim::Warp) != 0 || layout.rank() == 0)
    for (unsigned turn = results > 1 ? 0 : 1; turn < 2; ++turn)
      for (int64_t bytes : states)
        addMoment(results * bytes);
  int64_t members = 1;
  for (const LoopAxis &axis : schedule.axes)
    members *= axis.cluster;
  if (work.inCluster)
    clusterBytes +=
        llvm::alignTo(kPanelHeadBytes + results * members * kPanelWordBytes *
                                            static_cast<int64_t>(states.size()),
                      kPanelHeadBytes);
}

void SharedLister::addScan(const BodyInstance &instance,
                           const LinearLayout &layout) {
  auto *axis = llvm::find_if(
      dims, [&](unsigned dim) { return facts.scanned.test(dim); });
  if (axis == dims.end())
    return;
  unsigned dim = axis - dims.begin();
  if (!work.hasRuns)
    return addScanAlong(instance, layout, dim);
  // The totals of parts are moved to where they can be scanned, and back.
  LinearLayout totals = layout.sliceDim(dim + 1);
  LinearLayout scanned = tile::getScannedLayout(totals, dim, schedule.warps);
  bool isMoved =
      tile::classifyConversion(totals, scanned) == tile::ConversionKind::Shared;
  auto move = [&] {
    for (int64_t bytes : getStateBytes(work, instance))
      if (isMoved)
        addMoment(totals.numElements() * bytes);
  };
  move();
  addScanAlong(instance, scanned, dim);
  move();
}

void SharedLister::addScanAlong(const BodyInstance &instance,
                                const LinearLayout &layout, unsigned dim) {
  std::optional<tile::ScanPlan> plan = tile::getScanPlan(layout, dim);
  if (!plan)
    return;
  LinearLayout outer = layout.sliceDim(dim);
  int64_t parts = layout.dimSize(dim) >> plan->bitsOfWarp();
  SmallVector<int64_t> states = getStateBytes(work, instance);
  if (plan->warpBits != 0) {
    LinearLayout gathered = tile::getLayoutInLanes(outer, dim, parts);
    LinearLayout own = tile::getRepeatedLayout(layout, dim, plan->bitsOfWarp());
    bool returns =
        tile::classifyConversion(gathered, own) == tile::ConversionKind::Shared;
    for (int64_t bytes : states)
      for (unsigned way = 0; way < (returns ? 2 : 1); ++way)
        addMoment(outer.numElements() * parts * bytes);
  }
  if (work.isSplit)
    for (int64_t bytes : states)
      addMoment(outer.numElements() * bytes);
}

SmallVector<tile::ScanWork> SharedLister::describeScans(unsigned count) const {
  SmallVector<tile::ScanWork> scans;
  for (const BodyInstance &instance : facts.body.getInstances()) {
    auto scan = dyn_cast<ScanOp>(facts.body.getNode(instance).op);
    if (!scan)
      continue;
    tile::ScanWork own = tile::ScanWork::of(scan.getCombiner().front());
    own.inOrder = llvm::all_of(facts.scanned.set_bits(), [&](unsigned dim) {
      return facts.getStaticExtent(dim).value_or(kMostInOrder + 1) <=
             kMostInOrder;
    });
    // Threads have runs of their own, which they combine in both sweeps.
    if (work.hasRuns) {
      own.inOrder = true;
      scans.append(2 * count, own);
      continue;
    }
    scans.append(count, own);
    // Blocks tell each other totals ahead of all rounds but the first.
    own.inOrder = true;
    if (work.isSplit)
      scans.append(count - 1, own);
  }
  return scans;
}

tile::LayoutVotes SharedLister::getVotes() const {
  tile::LayoutVotes votes(tiles);
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    bool isPart =
        isOfRun(dim) && axis + 1 < dims.size() && dims[axis + 1] == dim;
    if (isPart)
      continue;
    if (facts.scanned.test(dim))
      votes.scanned.set(axis);
    else if (facts.reduced.test(dim))
      votes.reducedAtLast.set(axis);
  }
  votes.reduced = votes.scanned;
  votes.reduced |= votes.reducedAtLast;
  for (const BodyInstance &instance : facts.body.getInstances()) {
    const GraphNode &node = facts.body.getNode(instance);
    if (node.kind == NodeKind::Reduction)
      votes.numReduced += node.op->getNumResults();
  }
  return votes;
}

std::vector<SharedLister::Moved>
SharedLister::findMoved(unsigned sweep, unsigned numSweeps,
                        bool wholeChunks) const {
  std::vector<Moved> moved;
  bool slidesAlongParts =
      llvm::any_of(traffic.get(), [&](const Stream &stream) {
        return traffic.isOfParts(stream) && traffic.isOfWindows(stream);
      });
  for (const Stream &stream : traffic.get()) {
    bool isIn =
        numSweeps == 1 || (stream.isWrite ? sweep + 1 == numSweeps
                                          : (stream.sweeps >> sweep & 1) != 0);
    // Windows are accessed place by place, all in one layout; but for those
    // that slide along a part of a coordinate, each by itself.
    bool isOfWindows = traffic.isOfWindows(stream);
    if (!isIn || traffic.isGather(stream) || stream.coords.empty() ||
        (isOfWindows && !slidesAlongParts))
      continue;
    Moved each = describe(stream, wholeChunks, /*mayDivide=*/true);
    if (each.axes.empty())
      continue;
    int64_t places = 1;
    for (unsigned dim : facts.reduced.set_bits())
      if (isOfWindows && (stream.mask >> dim & 1))
        places *= facts.extents[dim];
    moved.insert(moved.end(), places, each);
  }
  return moved;
}

void SharedLister::addSweep(unsigned sweep, unsigned numSweeps) {
  auto isOfSweep = [&](const BodyInstance &instance) {
    return facts.body.getNode(instance).kind == NodeKind::Reduction &&
           (numSweeps == 1 || instance.level == sweep);
  };
  // What loops accumulate together is in one layout. Elements that threads
  // reduce before they combine them are not.
  bool isJoined = schedule.strategy == Strategy::Scan;
  for (const BodyInstance &instance : facts.body.getInstances())
    isJoined |= isOfSweep(instance) && !isFoldedFirst(instance);
  unsigned rounds = 1;
  if (work.hasRuns)
    rounds = 2;
  else if (schedule.strategy == Strategy::Scan && work.isSplit)
    rounds = kWrittenRounds;
  SmallVector<std::vector<Moved>, 2> loops{
      findMoved(sweep, numSweeps, /*wholeChunks=*/false)};
  if (isCut())
    loops.push_back(findMoved(sweep, numSweeps, /*wholeChunks=*/true));
  SmallVector<tile::LayoutVotes, 2> votes(isJoined ? 1 : loops.size(),
                                          getVotes());
  for (auto [number, moved] : llvm::enumerate(loops))
    for (unsigned round = 0; round < rounds; ++round)
      for (const Moved &each : moved)
        if (each.axes.size() == dims.size())
          votes[isJoined ? 0 : number].accesses.push_back(each.access);
  votes.front().scans = describeScans(rounds * loops.size());
  auto layouts = llvm::map_to_vector<2>(
      votes, [&](const tile::LayoutVotes &of) { return voter.choose(of); });
  for (unsigned round = 0; round < rounds; ++round)
    for (auto [number, moved] : llvm::enumerate(loops)) {
      const auto &[layout, hasRows] = layouts[isJoined ? 0 : number];
      addStreams(moved, layout, hasRows, now++);
      // Runs are exchanged once, between their two walks.
      if (work.hasRuns && round > 0)
        continue;
      for (const BodyInstance &instance : facts.body.getInstances())
        if (isa<ScanOp>(facts.body.getNode(instance).op))
          addScan(instance, layout);
    }
  for (const BodyInstance &instance : facts.body.getInstances())
    if (isOfSweep(instance))
      addReduction(instance, layouts.back().layout);
}

bool SharedLister::isPlaced() const {
  return !dims.empty() && llvm::all_of(dims, [&](unsigned dim) {
    return llvm::isPowerOf2_64(schedule[dim].tile);
  });
}

std::optional<HeldElements> SharedLister::findHeld() const {
  if (schedule.strategy != Strategy::Pointwise || !isPlaced())
    return std::nullopt;
  tile::LayoutVotes votes = getVotes();
  HeldElements held;
  held.widths.assign(traffic.get().size(), 1);
  unsigned along = facts.getFastest();
  for (const Moved &each :
       findMoved(/*sweep=*/0, /*numSweeps=*/1, /*wholeChunks=*/false)) {
    if (each.axes.size() == dims.size())
      votes.accesses.push_back(each.access);
    for (auto [position, axis] : llvm::enumerate(each.axes))
      if (dims[axis] == along)
        held.widths[each.stream - traffic.get().data()] =
            each.access.getWidth(position);
  }
  tile::LayoutVoter::Choice choice = voter.choose(votes);
  held.hasRows = choice.hasRows;
  const auto *axis = llvm::find(dims, along);
  if (axis != dims.end())
    held.neighbours =
        tile::getRegisterVectorWidth(choice.layout, axis - dims.begin());
  return held;
}

SmallVector<SharedPiece> SharedLister::list() {
  // Lanes share what a scan's steps reduce, and threads access what they use.
  if (!isPlaced() || work.reducesInSteps)
    return pieces;
  unsigned sweeps = 1;
  if (work.walks && schedule.strategy == Strategy::Reduction)
    for (const Stream &stream : traffic.get())
      sweeps = std::max(sweeps, llvm::Log2_64(stream.sweeps | 1) + 1);
  for (unsigned sweep = 0; sweep < sweeps; ++sweep)
    addSweep(sweep, sweeps);
  if (clusterBytes)
    pieces.push_back(getClusterMemory(clusterBytes));
  return pieces;
}

TilePlaces mlir::fusion::findTilePlaces(const StreamTraffic &traffic) {
  SharedLister lister(traffic);
  return {lister.list(), lister.findHeld()};
}
