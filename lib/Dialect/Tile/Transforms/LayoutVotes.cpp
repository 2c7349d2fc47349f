//===- LayoutVotes.cpp - Layouts that accesses choose ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the choice of layouts by accesses of memory.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/Transforms/LayoutVotes.h"

#include "fusion/Dialect/Tile/IR/LayoutConversion.h"
#include "fusion/Dialect/Tile/IR/MatrixAccess.h"
#include "fusion/Dialect/Tile/Transforms/BitDealer.h"
#include "fusion/Dialect/Tile/Transforms/RowLayouts.h"
#include "fusion/Support/Hardware.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

/// Bits of an access with which the lanes of a warp fill a cache line.
static constexpr unsigned kWordBits =
    8 * fusion::kLineBytes / fusion::kWarpThreads;

VotingAccess VotingAccess::of(const AccessForm &access) {
  VotingAccess result;
  result.bits = access.bits;
  result.isStore = access.isStore;
  for (unsigned dim = 0; dim < access.tile.size(); ++dim) {
    // Neighbours but for the ends of rows are as good to lanes.
    std::optional<AccessRun> run = getAccessRun(access, dim, /*width=*/2);
    std::optional<int64_t> stride =
        run ? std::optional(run->stride) : getUsualStep(access, dim);
    result.strides.push_back(stride);
    bool hasNeighbours = stride == 1;
    result.widths.push_back(hasNeighbours && access.tile[dim] > 1
                                ? getVectorWidth(access, dim)
                                : 0);
    double inside = 1;
    for (auto [coord, size, isChecked] :
         llvm::zip(access.coords, access.shape, access.checked))
      if (isChecked && !ShapedType::isDynamic(size) &&
          coord.isFunctionOfDim(dim))
        inside = std::min(inside, static_cast<double>(size) /
                                      static_cast<double>(access.tile[dim]));
    result.inside.push_back(inside);
  }
  return result;
}

/// Elements along `fastest` that lanes of `layout` follow each other through,
/// `vector` each.
static int64_t countTogether(const LinearLayout &layout, unsigned fastest,
                             int64_t vector) {
  for (unsigned bit = 0; bit < layout.numBits(HwDim::Lane); ++bit) {
    Coords basis = layout.basis(HwDim::Lane, bit);
    if (basis[fastest] != vector || llvm::count(basis, 0) + 1 < layout.rank())
      break;
    vector *= 2;
  }
  return vector;
}

/// Sectors of memory that a request of a warp in `layout` asks for, `vector`
/// elements of so many bytes a lane, beyond those that hold as many bytes.
static double countWastedSectors(const LinearLayout &layout, unsigned fastest,
                                 double vector, double bytes) {
  constexpr double kSector = fusion::kSectorBytes;
  double together = bytes * static_cast<double>(countTogether(
                                layout, fastest, static_cast<int64_t>(vector)));
  double asked = static_cast<double>(layout.numLanes()) * vector * bytes;
  return together < kSector ? asked / together - asked / kSector : 0;
}

/// The dimension along which memory runs; none where neighbours lie apart.
static std::optional<unsigned> findAlongMemory(const VotingAccess &access,
                                               ArrayRef<int64_t> shape) {
  for (unsigned dim = shape.size(); dim-- > 0;)
    if (shape[dim] > 1 && access.widths[dim] > 0)
      return dim;
  return std::nullopt;
}

SmallVector<unsigned> tile::orderByMemory(ArrayRef<VotingAccess> accesses,
                                          unsigned rank, unsigned fastest) {
  SmallVector<unsigned> order;
  for (unsigned dim = rank; dim-- > 0;)
    if (dim != fastest)
      order.push_back(dim);
  const VotingAccess *along =
      llvm::find_if(accesses, [&](const VotingAccess &access) {
        return access.widths[fastest] > 0;
      });
  if (along != accesses.end()) {
    auto getStep = [&](unsigned dim) {
      int64_t step = std::abs(along->strides[dim].value_or(0));
      return step > 0 ? step : std::numeric_limits<int64_t>::max();
    };
    llvm::stable_sort(
        order, [&](unsigned a, unsigned b) { return getStep(a) < getStep(b); });
  }
  order.insert(order.begin(), fastest);
  return order;
}

/// Threads in `layout` have what lies side by side in memory up to where the
/// next lane's begins, rows along `fastest` or several of them.
static bool haveRows(const VotingAccess &access, const LinearLayout &layout,
                     unsigned fastest) {
  int64_t row = layout.shape()[fastest];
  if (getRegisterVectorWidth(layout, fastest) < row)
    return false;
  for (unsigned dim : orderByMemory(access, layout.rank(), fastest)) {
    if (dim == fastest || layout.shape()[dim] == 1)
      continue;
    if (!access.strides[dim] || std::abs(*access.strides[dim]) > row)
      return false;
    if (layout.basis(HwDim::Lane, 0)[dim] != 0)
      return true;
    row *= layout.shape()[dim];
  }
  return false;
}

/// Around a scan, instructions of an element that threads access as they hold
/// it; none where lanes do not follow memory, which runs along `fastest`.
static std::optional<double>
countDirect(const VotingAccess &access, const LinearLayout &layout,
            unsigned fastest, const fusion::FittedConstants &fitted) {
  constexpr double kSector = fusion::kSectorBytes;
  double bytes = access.getBytes();
  if (layout.numBits(HwDim::Lane) == 0)
    return std::nullopt;
  int64_t held = getRegisterVectorWidth(layout, fastest);
  int64_t gap = std::abs(layout.basis(HwDim::Lane, 0)[fastest]);
  // What comes next in memory is another row, which the next lane has, or the
  // thread itself: that is no more in vain of a store than of a load.
  if (haveRows(access, layout, fastest)) {
    VotingAccess row = access;
    row.isStore = false;
    return countRowAccess(row, layout, fastest, fitted);
  }
  int64_t width = std::min(access.getWidth(fastest), held);
  bool leavesGaps =
      gap > width && (width == 1 || static_cast<double>(gap) * bytes > kSector);
  if (gap == 0 || leavesGaps)
    return std::nullopt;
  auto vector = static_cast<double>(width);
  double wasted = countWastedSectors(layout, fastest, vector, bytes);
  return (fitted.layouts.accessInstructions + fitted.loops.vainLoad * wasted) /
         vector;
}

/// The same where elements are exchanged through shared memory.
static double countExchanged(const VotingAccess &access, unsigned fastest,
                             const fusion::FittedConstants &fitted) {
  return fitted.layouts.accessInstructions /
             static_cast<double>(access.getWidth(fastest)) +
         fitted.loops.exchangeInstructions;
}

/// Instructions of an element of a tile in `layout`, whose lanes follow memory
/// along `fastest` where accesses leave them so.
double LayoutVoter::countInLanes(const LayoutVotes &votes,
                                 const LinearLayout &layout,
                                 unsigned fastest) const {
  double instructions = 0;
  for (const VotingAccess &access : votes.accesses) {
    std::optional<double> direct;
    if (prefer(access, votes.shape, layout, {}) == layout)
      direct = countDirect(access, layout, fastest, target.fitted);
    instructions +=
        direct.value_or(countExchanged(access, fastest, target.fitted));
  }
  return instructions;
}

/// The layout that gives threads whole rows along `fastest`, where that takes
/// fewer instructions than `lanes` side by side along them. A thread knows
/// which of a row's elements a tensor has that others are joined to, and loads
/// no others; a lane along the row asks for its element of each.
std::optional<LinearLayout>
LayoutVoter::findRows(const LayoutVotes &votes, unsigned fastest,
                      const LinearLayout &lanes) const {
  int64_t rows = ShapedType::getNumElements(votes.shape) / votes.shape[fastest];
  if (votes.shape[fastest] == 1 || rows < numWarps * fusion::kWarpThreads)
    return std::nullopt;
  llvm::SmallBitVector along(votes.shape.size());
  along.set(fastest);
  LinearLayout layout = getRowLayout(votes.shape, along, numWarps);
  double instructions = 0;
  for (const VotingAccess &access : votes.accesses) {
    // Of a tensor that runs along another dimension lanes follow that one.
    if (access.widths[fastest] == 0)
      return std::nullopt;
    double exchanged = countExchanged(access, fastest, target.fitted);
    std::optional<double> direct =
        countRowAccess(access, layout, fastest, target.fitted);
    // An exchange moves all positions, those outside of the tensor as well.
    if (direct)
      *direct *= access.inside[fastest];
    instructions += std::min(direct.value_or(exchanged), exchanged);
  }
  if (instructions >= countInLanes(votes, lanes, fastest))
    return std::nullopt;
  return layout;
}

namespace {
/// What an instruction of an access moves at most.
struct AccessWidth {
  int64_t elements;
  unsigned bits;
  bool isStore;

  /// What an element takes, in instructions, where threads hold `vector`
  /// neighbours.
  double count(int64_t vector, const fusion::LayoutConstants &fitted) const;
};
} // namespace

double AccessWidth::count(int64_t vector,
                          const fusion::LayoutConstants &fitted) const {
  bool isAlone = elements == 1 && vector > 1;
  bool isNarrow = vector < elements && vector * bits < kWordBits;
  int64_t together = isNarrow ? elements : std::min(elements, vector);
  double instructions = 1 / static_cast<double>(together);
  if (isAlone || isNarrow)
    instructions += fitted.scatteredElement;
  else if (isStore && vector > elements)
    instructions += fitted.partOfSector;
  return instructions;
}

/// How many neighbours a thread holds of what is accessed by `widths` elements
/// at most: as is done with the fewest instructions.
static int64_t chooseWidth(ArrayRef<AccessWidth> widths,
                           const fusion::LayoutConstants &fitted) {
  int64_t best = 1, widest = 1;
  for (const AccessWidth &width : widths)
    widest = std::max(widest, width.elements);
  std::optional<double> least;
  for (int64_t vector = 1; vector <= widest; vector *= 2) {
    double instructions = 0;
    for (const AccessWidth &width : widths)
      instructions += width.count(vector, fitted);
    // Equal sums differ in their roundings.
    if (!least || instructions < *least * (1 + 1e-9)) {
      least = instructions;
      best = vector;
    }
  }
  return best;
}

/// The layout in which threads have as much as they can of what each step of a
/// walk reduces: the fewer lanes share it, the fewer shuffles a step has. Lanes
/// of a warp share the rest, and warps nothing.
static LinearLayout getLayoutOfSteps(const LayoutVotes &votes,
                                     int64_t numWarps) {
  auto order = llvm::to_vector(llvm::reverse(
      llvm::seq<unsigned>(0, static_cast<unsigned>(votes.shape.size()))));
  std::stable_partition(order.begin(), order.end(), [&](unsigned dim) {
    return votes.reducedAtLast.test(dim);
  });
  BitDealer dealer(votes.shape, numWarps);
  int64_t threads = numWarps * fusion::kWarpThreads;
  int64_t held =
      std::max<int64_t>(ShapedType::getNumElements(votes.shape) / threads, 1);
  for (unsigned dim : order)
    if (votes.reducedAtLast.test(dim))
      dealer.giveRegisters(dim, llvm::Log2_64(held));
  dealer.giveRest(order);
  return dealer.getLayout();
}

LayoutVoter::Choice LayoutVoter::choose(const LayoutVotes &votes) const {
  if (votes.isReducedInSteps)
    return {getLayoutOfSteps(votes, numWarps)};
  unsigned rank = votes.shape.size();
  SmallVector<double> bytes(rank, 0);
  SmallVector<SmallVector<AccessWidth>> widths(rank);
  for (const VotingAccess &access : votes.accesses) {
    unsigned width = std::max(access.bits, 8u);
    for (unsigned dim = 0; dim < rank; ++dim) {
      if (votes.shape[dim] == 1 || access.widths[dim] == 0)
        continue;
      bytes[dim] += width;
      widths[dim].push_back({access.widths[dim], width, access.isStore});
    }
  }
  unsigned fastest = rank - 1;
  for (unsigned dim = rank; dim-- > 0;)
    if (bytes[dim] > bytes[fastest])
      fastest = dim;
  int64_t vector = std::max(chooseWidth(widths[fastest], target.fitted.layouts),
                            std::min(votes.shape[fastest], votes.leastVector));
  // No more elements a thread than there are to go around.
  int64_t threads = numWarps * fusion::kWarpThreads;
  while (vector > 1 &&
         ShapedType::getNumElements(votes.shape) < vector * threads)
    vector /= 2;
  // One element a step is scanned within threads, whatever the layout.
  if (!votes.scans.empty() && votes.scanned.any())
    return {chooseForScans(votes, fastest, vector)};
  // Narrower accesses, where each thread then has all that it reduces, rather
  // than threads that combine what they have.
  int64_t kept = 1;
  for (auto [dim, size] : llvm::enumerate(votes.shape))
    kept *= votes.reducedAtLast.test(dim) ? 1 : size;
  if (votes.reducedAtLast.any() && kept >= threads) {
    if (votes.reducedAtLast.test(fastest))
      return {getRowLayout(votes.shape, votes.reducedAtLast, numWarps), true};
    return {
        chooseForReductions(votes, fastest, std::min(vector, kept / threads))};
  }
  LinearLayout lanes = getBlockedLayout(
      votes.shape, orderByMemory(votes.accesses, rank, fastest), vector,
      numWarps, votes.reduced, votes.scanned);
  std::optional<LinearLayout> inThreads;
  if (votes.reduced.none() && vector < votes.shape[fastest])
    inThreads = findRows(votes, fastest, lanes);
  return {inThreads.value_or(lanes), inThreads.has_value()};
}

/// Instructions of an element that is reduced in `layout`, to access it and to
/// combine what lanes have of it. Those past the ends of dimensions take as
/// many where lanes have them; registers that have nothing else are left out.
static double countReducing(const LayoutVotes &votes,
                            const LinearLayout &layout, unsigned fastest,
                            const fusion::FittedConstants &fitted) {
  double instructions = 0;
  for (const VotingAccess &access : votes.accesses) {
    double exchanged = countExchanged(access, fastest, fitted);
    instructions += std::min(
        countRowAccess(access, layout, fastest, fitted).value_or(exchanged),
        exchanged);
  }
  double inside = 1, steps = 0, inThread = 1;
  for (unsigned dim = 0; dim < layout.rank(); ++dim) {
    unsigned inLanes = 0;
    for (unsigned bit = 0; bit < layout.numBits(HwDim::Lane); ++bit)
      inLanes += layout.basis(HwDim::Lane, bit)[dim] != 0;
    for (unsigned bit = 0; bit < layout.numBits(HwDim::Register); ++bit)
      if (votes.reducedAtLast.test(dim) &&
          layout.basis(HwDim::Register, bit)[dim] != 0)
        inThread *= 2;
    if (votes.reducedAtLast.test(dim))
      steps += inLanes;
    double least = 1;
    for (const VotingAccess &access : votes.accesses)
      least = std::min(least, access.inside[dim]);
    if (inLanes > 0)
      inside *= least;
  }
  // A shuffle and a combination.
  instructions += votes.numReduced * steps *
                  (1 + fitted.loops.shuffleInstructions) / inThread;
  return instructions / inside;
}

/// How threads hold what is reduced along other dimensions than memory runs
/// along: in the order of memory, or so that each has all that it reduces; as
/// is done with the fewest instructions.
LinearLayout LayoutVoter::chooseForReductions(const LayoutVotes &votes,
                                              unsigned fastest,
                                              int64_t vector) const {
  SmallVector<unsigned> order =
      orderByMemory(votes.accesses, votes.shape.size(), fastest);
  LinearLayout byMemory =
      getBlockedLayout(votes.shape, order, vector, numWarps, votes.reduced);
  std::stable_partition(order.begin(), order.end(), [&](unsigned dim) {
    return !votes.reducedAtLast.test(dim);
  });
  LinearLayout inThreads =
      getBlockedLayout(votes.shape, order, vector, numWarps, votes.reduced);
  return countReducing(votes, inThreads, fastest, target.fitted) <
                 countReducing(votes, byMemory, fastest, target.fitted)
             ? inThreads
             : byMemory;
}

/// How threads hold what is scanned: as memory has it, or so that they have
/// longer runs, with narrower accesses or exchanges between these and the scan;
/// as is done with the fewest instructions.
LinearLayout LayoutVoter::chooseForScans(const LayoutVotes &votes,
                                         unsigned fastest,
                                         int64_t widest) const {
  unsigned scanned = votes.scanned.find_first();
  std::optional<LinearLayout> best;
  double least = 0;
  auto consider = [&](const LinearLayout &layout) {
    double instructions = 0;
    for (const ScanWork &scan : votes.scans)
      instructions +=
          countScanInstructions(scan, scanned, layout, target.fitted);
    Use use;
    use.scans = true;
    for (const VotingAccess &access : votes.accesses) {
      bool isDirect = prefer(access, votes.shape, layout, use) == layout;
      std::optional<double> direct =
          countDirect(access, layout, fastest, target.fitted);
      instructions += isDirect && direct
                          ? *direct
                          : countExchanged(access, fastest, target.fitted);
    }
    if (!best || instructions < least) {
      least = instructions;
      best = layout;
    }
  };
  SmallVector<unsigned> order =
      orderByMemory(votes.accesses, votes.shape.size(), fastest);
  for (int64_t vector = widest; vector > 0; vector /= 2) {
    consider(getBlockedLayout(votes.shape, order, vector, numWarps,
                              votes.reduced, votes.scanned));
    consider(getRunLayout(votes.shape, scanned, fastest, vector, numWarps));
  }
  return *best;
}

LinearLayout LayoutVoter::prefer(const VotingAccess &access,
                                 ArrayRef<int64_t> shape,
                                 const LinearLayout &used, Use use) const {
  std::optional<unsigned> along = findAlongMemory(access, shape);
  if (along && use.hasRows) {
    std::optional<double> direct =
        countRowAccess(access, used, *along, target.fitted);
    if (direct && *direct < countExchanged(access, *along, target.fitted))
      return used;
  }
  // What shared memory has no room for is not exchanged either.
  if (ShapedType::getNumElements(shape) <
          target.fitted.layouts.leastExchanged ||
      ShapedType::getNumElements(shape) * std::max(access.bits / 8, 1u) >
          target.maxSharedPerBlock ||
      !along)
    return used;
  unsigned best = *along;
  // Neighbouring lanes (or registers) already follow memory?
  int64_t vector = access.getWidth(best);
  Coords first =
      used.numBits(HwDim::Lane) ? used.basis(HwDim::Lane, 0) : Coords();
  bool once = use.once && used.freeMask(HwDim::Warp) != 0;
  int64_t held = int64_t(1) << getVectorRegisterBits(used, best).size();
  // Narrow accesses of lanes that fill a cache line together are as good.
  bool follows = held >= vector ||
                 countTogether(used, best, held) * std::max(access.bits, 8u) >=
                     32 * kWordBits;
  // Elements that go one by one leave gaps between lanes that hold several.
  bool leavesGaps = vector == 1 && !first.empty() && std::abs(first[best]) > 1;
  if (use.scans) {
    std::optional<double> direct =
        countDirect(access, used, best, target.fitted);
    follows = direct && *direct <= countExchanged(access, best, target.fitted);
    leavesGaps = false;
  }
  if (!once && !first.empty() && follows && (first[best] != 0 || use.scans) &&
      !leavesGaps)
    return used;
  if (used.freeMask(HwDim::Lane) != 0 &&
      used.freeMask(HwDim::Lane) == used.numLanes() - 1)
    return used;
  int64_t threads = numWarps * fusion::kWarpThreads;
  while (vector > 1 && ShapedType::getNumElements(shape) < vector * threads)
    vector /= 2;
  return getBlockedLayout(shape, orderByMemory(access, shape.size(), best),
                          vector, numWarps, llvm::SmallBitVector(shape.size()));
}
