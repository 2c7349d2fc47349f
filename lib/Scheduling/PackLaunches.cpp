//===- PackLaunches.cpp - Kernels that start in one launch ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decision which kernels start together: those of one
// level of the graph, as long as one launch for all of them is predicted to be
// faster than the launches that it replaces.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/IterationSpace.h"
#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Scheduling/LoopSchedule.h"
#include "fusion/Scheduling/Passes.h"
#include "fusion/Scheduling/SelectSchedule.h"
#include "fusion/Support/Counts.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include <map>
#include <queue>
#include <set>

namespace mlir::fusion {
#define GEN_PASS_DEF_PACKLAUNCHESPASS
#include "fusion/Scheduling/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

/// Parameters that a kernel of CUDA can have are 4096 bytes, each at most 8.
static constexpr size_t kMostParameters = 512;
/// Kernels that are compared with those of a launch that is being filled.
static constexpr size_t kMostConsidered = 128;

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

namespace {
/// A kernel that may start together with others.
struct Member {
  KernelOp kernel;
  KernelEstimate estimate;
  /// Other schedules whose blocks need no others, the fastest first.
  std::vector<PricedSchedule> others;
  /// Kernels on the longest way to it.
  unsigned level;
  /// Where it stands in the program.
  unsigned position;

  size_t numParameters;
};

using Launch = SmallVector<const Member *>;
} // namespace

static bool isInPlace(KernelOp kernel) {
  return !llvm::equal(kernel.getStoredValues(), kernel.getYield().getValues());
}

static bool hasKnownSizes(KernelOp kernel) {
  auto isKnown = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? tensor.hasStaticShape() : !type.isIndex();
  };
  return llvm::all_of(kernel.getInputs().getTypes(), isKnown) &&
         llvm::all_of(kernel.getResultTypes(), isKnown);
}

/// Blocks wait for no others.
static bool isIndependent(const KernelEstimate &estimate) {
  return estimate.cost.gridSteps + estimate.cost.clusterSteps == 0;
}

/// Prices the schedule of `member` and others, or says why it starts on its
/// own.
static StringRef addPrices(Member &member, SymbolicShapes &shapes,
                           const TargetInfo &target, int64_t typicalExtent) {
  KernelOp kernel = member.kernel;
  if (!kernel.getScheduleAttr())
    return "unscheduled: it has no schedule";
  if (!hasKnownSizes(kernel))
    return "dynamic-size: only the run knows its blocks";
  if (isInPlace(kernel))
    return "in-place: it overwrites an argument";
  FailureOr<IterationSpace> space =
      IterationSpace::get(kernel.getBody(), shapes, {typicalExtent});
  if (failed(space))
    return "data-size: a size depends on data";
  KernelBody body = KernelBody::getWhole(space->getGraph());
  if (body.has(NodeKind::Contraction))
    return "product: products use the chip in their own way";
  bool isPriced = false;
  if (body.getProblem() == BodyProblem::None)
    for (PricedSchedule &priced : getLoopSchedules(body, target)) {
      bool isOwn = priced.schedule.toAttr(kernel.getContext()) ==
                   kernel.getScheduleAttr();
      if (isOwn) {
        member.estimate = std::move(priced.estimate);
        isPriced = true;
      } else if (isIndependent(priced.estimate)) {
        member.others.push_back(std::move(priced));
      }
    }
  if (!isPriced)
    return "by-hand: its schedule has no price";
  if (!isIndependent(member.estimate))
    return "exchange: its blocks tell each other results";
  return "";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
/// The bytes between kernels at each place of the program. A kernel that starts
/// with an earlier one has its results wait for who reads them.
class LiveBytes {
public:
  /// What is not more than `kept` bytes is taken for free.
  LiveBytes(Block &block, int64_t kept);

  unsigned getPosition(Operation *op) const { return positions.lookup(op); }
  /// Moves the start of `member` to `position` if all that is live there then
  /// is no more than what is live somewhere without launches.
  bool moveStart(const Member &member, unsigned position);

private:
  unsigned getLastUse(Value value) const;

  DenseMap<Operation *, unsigned> positions;
  SmallVector<int64_t> live;
  int64_t most;
};
} // namespace

/// Whether the function gives `value`, or a view of it.
static bool isGiven(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>() ||
           (isViewOp(user) && isGiven(user->getResult(0)));
  });
}

/// The bytes of the results of `kernel` that lie in memory of their own; those
/// that the function gives are its caller's.
static int64_t countOwnBytes(KernelOp kernel) {
  int64_t bytes = 0;
  for (Value result : kernel.getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    if (type.hasStaticShape() && !isGiven(result))
      bytes += type.getNumElements() *
               llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  }
  return bytes;
}

/// The place of the last op that reads `value`, or a view of it.
unsigned LiveBytes::getLastUse(Value value) const {
  unsigned last = positions.lookup(value.getDefiningOp());
  for (Operation *user : value.getUsers()) {
    last = std::max(last, positions.lookup(user));
    if (!isa<KernelOp>(user))
      for (Value view : user->getResults())
        last = std::max(last, getLastUse(view));
  }
  return last;
}

LiveBytes::LiveBytes(Block &block, int64_t kept) {
  for (Operation &op : block)
    positions[&op] = positions.size();
  live.assign(positions.size(), 0);
  for (auto kernel : block.getOps<KernelOp>()) {
    unsigned last = positions.lookup(kernel);
    for (Value result : kernel.getResults())
      last = std::max(last, getLastUse(result));
    int64_t bytes = countOwnBytes(kernel);
    for (unsigned place = positions.lookup(kernel); place <= last; ++place)
      live[place] += bytes;
  }
  most = kept;
  for (int64_t bytes : live)
    most = std::max(most, bytes);
}

bool LiveBytes::moveStart(const Member &member, unsigned position) {
  int64_t bytes = countOwnBytes(member.kernel);
  for (unsigned place = position; place < member.position; ++place)
    if (live[place] + bytes > most)
      return false;
  for (unsigned place = position; place < member.position; ++place)
    live[place] += bytes;
  return true;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static double toMicroseconds(double seconds) {
  return roundToNanoseconds(seconds * 1e6);
}

static double price(const Launch &launch, const TargetInfo &target) {
  auto estimates = llvm::map_to_vector(
      launch, [](const Member *member) { return &member->estimate; });
  return estimateTogether(estimates, target).seconds();
}

/// Takes a first launch out of `members`, of one level.
static Launch takeLaunch(Launch &members, const TargetInfo &target,
                         LiveBytes &live) {
  Launch launch = {members.front()}, left;
  size_t parameters = launch.front()->numParameters;
  double seconds = launch.front()->estimate.seconds();
  for (const Member *member : ArrayRef(members).drop_front()) {
    left.push_back(member);
    if (left.size() > kMostConsidered ||
        parameters + member->numParameters > kMostParameters)
      continue;
    launch.push_back(member);
    double together = price(launch, target);
    if (together >= seconds + member->estimate.seconds() ||
        !live.moveStart(*member, launch.front()->position)) {
      launch.pop_back();
      continue;
    }
    left.pop_back();
    seconds = together;
    parameters += member->numParameters;
  }
  members = std::move(left);
  return launch;
}

/// The schedule of `member` with which it has blocks of `threads`; none where
/// it keeps its own.
static const PricedSchedule *findSchedule(const Member &member,
                                          int64_t threads) {
  if (member.estimate.shape.threads == threads)
    return nullptr;
  auto found = llvm::find_if(member.others, [&](const auto &other) {
    return other.estimate.shape.threads == threads;
  });
  return found == member.others.end() ? nullptr : &*found;
}

namespace {
/// What a launch is predicted to take with blocks of `threads`, where its
/// kernels have schedules for that; of 0, with their own.
struct LaunchPrice {
  double seconds;
  int64_t threads = 0;
};
} // namespace

/// Finds the number of threads with which the kernels of `launch` are fastest
/// together: one that starts alone spreads over the chip.
static LaunchPrice priceThreads(const Launch &launch,
                                const TargetInfo &target) {
  std::set<int64_t> counts;
  for (const Member *member : launch)
    for (const PricedSchedule &other : member->others)
      counts.insert(other.estimate.shape.threads);
  LaunchPrice best{price(launch, target)};
  double alike = target.fitted.kernels.alike;
  for (int64_t threads : counts) {
    auto estimates = llvm::map_to_vector(launch, [&](const Member *member) {
      const PricedSchedule *other = findSchedule(*member, threads);
      return other ? &other->estimate : &member->estimate;
    });
    double seconds = estimateTogether(estimates, target).seconds();
    if (seconds < alike * best.seconds)
      best = {seconds, threads};
  }
  return best;
}

static void setThreads(const Launch &launch, int64_t threads) {
  for (const Member *member : launch) {
    const PricedSchedule *other = findSchedule(*member, threads);
    if (!other)
      continue;
    KernelOp kernel = member->kernel;
    kernel.setScheduleAttr(other->schedule.toAttr(kernel.getContext()));
    if (EstimateAttr estimate = kernel.getEstimateAttr())
      kernel.setEstimateAttr(predictFor(estimate, other->estimate));
  }
}

namespace {
/// Decides for one function.
class LaunchPacker {
public:
  LaunchPacker(FunctionOpInterface func, const TargetInfo &target,
               int64_t typicalExtent)
      : func(func), target(target), typicalExtent(typicalExtent) {}

  void run();

private:
  void sinkSources();
  void findMembers(const LiveBytes &live);
  void remarkOwnLaunch(KernelOp kernel, StringRef reason);
  void addLaunch(const Launch &launch);
  void reorder();

  FunctionOpInterface func;
  const TargetInfo &target;
  int64_t typicalExtent;
  std::vector<Member> members;
  /// Kernels that start on their own, and why.
  SmallVector<std::pair<KernelOp, StringRef>> alone;
  int64_t numLaunches = 0;
  double savedSeconds = 0;
};
} // namespace

/// The ops that show a part of `kernel`'s results, or a shape of them, in
/// order, and the first other op that reads one; null if there is none.
static Operation *findFirstUser(KernelOp kernel,
                                SmallVectorImpl<Operation *> &views) {
  llvm::SetVector<Operation *> shown;
  shown.insert(kernel);
  Operation *first = nullptr;
  for (unsigned next = 0; next < shown.size(); ++next)
    for (Operation *user : shown[next]->getUsers()) {
      if (isa<tensor::TensorDialect>(user->getDialect()))
        shown.insert(user);
      else if (!first || user->isBeforeInBlock(first))
        first = user;
    }
  views.assign(std::next(shown.begin()), shown.end());
  llvm::sort(views,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return first;
}

/// Lets kernels that read arguments alone, such as those that lay weights out
/// anew, stand in front of the first that reads their results: until then
/// nothing of them has to be kept. None passes a kernel that overwrites what it
/// reads.
void LaunchPacker::sinkSources() {
  Block &block = func.getFunctionBody().front();
  auto kernels = llvm::to_vector(block.getOps<KernelOp>());
  SmallVector<KernelOp> inPlace;
  for (KernelOp kernel : llvm::reverse(kernels)) {
    if (isInPlace(kernel)) {
      inPlace.push_back(kernel);
      continue;
    }
    llvm::SmallDenseSet<Value, 4> read;
    for (Value input : kernel.getInputs())
      read.insert(stripViews(input));
    if (llvm::any_of(read, [](Value input) {
          return input.getDefiningOp<KernelOp>() != nullptr;
        }))
      continue;
    SmallVector<Operation *> views;
    Operation *first = findFirstUser(kernel, views);
    if (!first || first->getBlock() != &block || first == block.getTerminator())
      continue;
    for (KernelOp writer : inPlace)
      if (writer->isBeforeInBlock(first) &&
          llvm::any_of(writer.getInputs(), [&](Value input) {
            return read.contains(stripViews(input));
          }))
        first = writer;
    kernel->moveBefore(first);
    for (Operation *view : views)
      if (view->isBeforeInBlock(first))
        view->moveBefore(first);
  }
}

/// Kernels that write in place stay between those before and those after them,
/// which may read what they overwrite.
void LaunchPacker::findMembers(const LiveBytes &live) {
  SymbolicShapes shapes(func);
  DenseMap<Value, unsigned> levels;
  unsigned fence = 0, highest = 0;
  SmallVector<std::pair<KernelOp, unsigned>> kernels;
  for (Operation &op : func.getFunctionBody().front()) {
    unsigned level = 0;
    for (Value operand : op.getOperands())
      level = std::max(level, levels.lookup(operand));
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      level = std::max(level, fence);
      if (isInPlace(kernel))
        level = fence = std::max(level, highest);
      kernels.emplace_back(kernel, level);
      highest = std::max(highest, ++level);
      if (isInPlace(kernel))
        fence = level;
    }
    for (Value result : op.getResults())
      levels[result] = level;
  }
  SmallVector<unsigned> ofLevel(highest + 1);
  for (auto [kernel, level] : kernels)
    ++ofLevel[level];
  for (auto [kernel, level] : kernels) {
    if (ofLevel[level] == 1)
      continue;
    Member member{kernel,
                  {},
                  {},
                  level,
                  live.getPosition(kernel),
                  kernel.getInputs().size() + kernel.getNumResults()};
    StringRef reason = addPrices(member, shapes, target, typicalExtent);
    if (reason.empty())
      members.push_back(std::move(member));
    else
      alone.emplace_back(kernel, reason);
  }
}

void LaunchPacker::remarkOwnLaunch(KernelOp kernel, StringRef reason) {
  if (auto remark =
          remark::missed(kernel.getLoc(), remark::RemarkOpts::name("own-launch")
                                              .category("fusion-schedule")
                                              .function(func.getName())))
    remark << ("kernel '" + kernel.getKernelName() +
               "' starts on its own: " + reason)
                  .str();
}

void LaunchPacker::addLaunch(const Launch &launch) {
  double apart = 0;
  for (const Member *member : launch)
    apart += member->estimate.seconds();
  LaunchPrice together = priceThreads(launch, target);
  if (apart - together.seconds < target.fitted.kernels.leastGain * apart) {
    for (const Member *member : launch)
      alone.emplace_back(member->kernel,
                         "not-profitable: no other kernel is predicted to run "
                         "faster beside it than after it");
    return;
  }
  if (together.threads > 0)
    setThreads(launch, together.threads);
  auto attr = LaunchAttr::get(func.getContext(), numLaunches++,
                              toMicroseconds(together.seconds));
  for (const Member *member : launch)
    KernelOp(member->kernel).setLaunchAttr(attr);
  savedSeconds += apart - together.seconds;
  KernelOp first = launch.front()->kernel;
  if (auto remark =
          remark::passed(first.getLoc(), remark::RemarkOpts::name("one-launch")
                                             .category("fusion-schedule")
                                             .function(func.getName())))
    remark << (Twine(launch.size()) + " kernels start in one launch").str()
           << remark::metric("TimeBefore", toMicroseconds(apart))
           << remark::metric("TimeAfter", toMicroseconds(together.seconds));
}

/// Moves the kernels of each launch next to each other, and nothing further
/// than that takes.
void LaunchPacker::reorder() {
  Block &block = func.getFunctionBody().front();
  // What moves as one: the kernels of a launch, or one operation.
  SmallVector<SmallVector<Operation *>> units;
  DenseMap<Operation *, unsigned> unitOf;
  DenseMap<int64_t, unsigned> ofLaunch;
  for (Operation &op : block.without_terminator()) {
    auto kernel = dyn_cast<KernelOp>(op);
    LaunchAttr launch = kernel ? kernel.getLaunchAttr() : LaunchAttr();
    unsigned unit = units.size();
    if (launch)
      unit = ofLaunch.try_emplace(launch.getNumber(), unit).first->second;
    if (unit == units.size())
      units.emplace_back();
    units[unit].push_back(&op);
    unitOf[&op] = unit;
  }
  SmallVector<llvm::SmallDenseSet<unsigned, 4>> producers(units.size());
  SmallVector<unsigned> waiting(units.size());
  auto addEdge = [&](unsigned from, unsigned to) {
    if (from != to && producers[to].insert(from).second)
      ++waiting[from];
  };
  SmallVector<unsigned> sinceFence;
  std::optional<unsigned> fence;
  for (Operation &op : block.without_terminator()) {
    unsigned unit = unitOf.lookup(&op);
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp())
        addEdge(unitOf.lookup(producer), unit);
    auto kernel = dyn_cast<KernelOp>(op);
    if (!kernel)
      continue;
    if (fence)
      addEdge(*fence, unit);
    sinceFence.push_back(unit);
    if (!isInPlace(kernel))
      continue;
    for (unsigned earlier : sinceFence)
      addEdge(earlier, unit);
    sinceFence.clear();
    fence = unit;
  }
  // From the end, so that each stands as near to what reads it as it did.
  std::priority_queue<unsigned> ready;
  for (unsigned unit = 0; unit < units.size(); ++unit)
    if (waiting[unit] == 0)
      ready.push(unit);
  Operation *next = block.getTerminator();
  while (!ready.empty()) {
    unsigned unit = ready.top();
    ready.pop();
    for (Operation *op : llvm::reverse(units[unit])) {
      op->moveBefore(next);
      next = op;
    }
    for (unsigned producer : producers[unit])
      if (--waiting[producer] == 0)
        ready.push(producer);
  }
}

void LaunchPacker::run() {
  sinkSources();
  LiveBytes live(func.getFunctionBody().front(), target.l2Bytes);
  findMembers(live);
  std::map<unsigned, Launch> ofLevel;
  for (const Member &member : members)
    ofLevel[member.level].push_back(&member);
  for (auto &[level, left] : ofLevel)
    while (!left.empty())
      addLaunch(takeLaunch(left, target, live));
  for (auto [kernel, reason] : alone)
    remarkOwnLaunch(kernel, reason);
  if (numLaunches == 0)
    return;
  reorder();
  // The plan's time is that of its launches.
  auto plan = func->getAttrOfType<DictionaryAttr>(FusionDialect::kPlanAttrName);
  auto time = plan ? plan.getAs<FloatAttr>("time_us") : FloatAttr();
  if (!time)
    return;
  Builder b(func.getContext());
  NamedAttrList entries(plan);
  entries.set("time_us", b.getF64FloatAttr(toMicroseconds(
                             time.getValueAsDouble() / 1e6 - savedSeconds)));
  func->setAttr(FusionDialect::kPlanAttrName,
                entries.getDictionary(b.getContext()));
}

namespace {
class PackLaunchesPass
    : public fusion::impl::PackLaunchesPassBase<PackLaunchesPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    FailureOr<TargetInfo> chip = resolveTarget(getOperation(), target);
    if (failed(chip))
      return signalPassFailure();
    int64_t typicalExtent = std::max<int64_t>(representativeSize, 2);
    (void)visitFunctions(getOperation(), [&](FunctionOpInterface func) {
      LaunchPacker(func, *chip, typicalExtent).run();
      return success();
    });
  }
};
} // namespace
