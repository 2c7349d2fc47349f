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
#include "fusion/Support/Counts.h"
#include "mlir/IR/Remarks.h"
#include <map>
#include <queue>

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
  /// Kernels on the longest way to it.
  unsigned level;

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

/// The price of `kernel` with its schedule, or why it starts on its own.
static std::pair<std::optional<KernelEstimate>, StringRef>
getEstimate(KernelOp kernel, SymbolicShapes &shapes, const TargetInfo &target,
            int64_t typicalExtent) {
  if (!kernel.getScheduleAttr())
    return {std::nullopt, "unscheduled: it has no schedule"};
  if (!hasKnownSizes(kernel))
    return {std::nullopt, "dynamic-size: only the run knows its blocks"};
  if (isInPlace(kernel))
    return {std::nullopt, "in-place: it overwrites an argument"};
  FailureOr<IterationSpace> space =
      IterationSpace::get(kernel.getBody(), shapes, {typicalExtent});
  if (failed(space))
    return {std::nullopt, "data-size: a size depends on data"};
  KernelBody body = KernelBody::getWhole(space->getGraph());
  if (body.has(NodeKind::Contraction))
    return {std::nullopt, "product: products use the chip in their own way"};
  if (body.getProblem() == BodyProblem::None)
    for (PricedSchedule &priced : getLoopSchedules(body, target)) {
      if (priced.schedule.toAttr(kernel.getContext()) !=
          kernel.getScheduleAttr())
        continue;
      if (priced.estimate.cost.gridSteps + priced.estimate.cost.clusterSteps >
          0)
        return {std::nullopt, "exchange: its blocks tell each other results"};
      return {std::move(priced.estimate), ""};
    }
  return {std::nullopt, "by-hand: its schedule has no price"};
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
static Launch takeLaunch(Launch &members, const TargetInfo &target) {
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
    if (together >= seconds + member->estimate.seconds()) {
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

namespace {
/// Decides for one function.
class LaunchPacker {
public:
  LaunchPacker(FunctionOpInterface func, const TargetInfo &target,
               int64_t typicalExtent)
      : func(func), target(target), typicalExtent(typicalExtent) {}

  void run();

private:
  void findMembers();
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

/// Kernels that write in place stay between those before and those after them,
/// which may read what they overwrite.
void LaunchPacker::findMembers() {
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
    auto [estimate, reason] =
        getEstimate(kernel, shapes, target, typicalExtent);
    if (estimate)
      members.push_back({kernel, std::move(*estimate), level,
                         kernel.getInputs().size() + kernel.getNumResults()});
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
  double together = price(launch, target);
  if (apart - together < target.fitted.kernels.leastGain * apart) {
    for (const Member *member : launch)
      alone.emplace_back(member->kernel,
                         "not-profitable: no other kernel is predicted to run "
                         "faster beside it than after it");
    return;
  }
  auto attr = LaunchAttr::get(func.getContext(), numLaunches++,
                              toMicroseconds(together));
  for (const Member *member : launch)
    KernelOp(member->kernel).setLaunchAttr(attr);
  savedSeconds += apart - together;
  KernelOp first = launch.front()->kernel;
  if (auto remark =
          remark::passed(first.getLoc(), remark::RemarkOpts::name("one-launch")
                                             .category("fusion-schedule")
                                             .function(func.getName())))
    remark << (Twine(launch.size()) + " kernels start in one launch").str()
           << remark::metric("TimeBefore", toMicroseconds(apart))
           << remark::metric("TimeAfter", toMicroseconds(together));
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
  SmallVector<llvm::SmallDenseSet<unsigned, 4>> users(units.size());
  SmallVector<unsigned> waitsFor(units.size());
  auto addEdge = [&](unsigned from, unsigned to) {
    if (from != to && users[from].insert(to).second)
      ++waitsFor[to];
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
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> ready;
  for (unsigned unit = 0; unit < units.size(); ++unit)
    if (waitsFor[unit] == 0)
      ready.push(unit);
  while (!ready.empty()) {
    unsigned unit = ready.top();
    ready.pop();
    for (Operation *op : units[unit])
      op->moveBefore(block.getTerminator());
    for (unsigned user : users[unit])
      if (--waitsFor[user] == 0)
        ready.push(user);
  }
}

void LaunchPacker::run() {
  findMembers();
  std::map<unsigned, Launch> ofLevel;
  for (const Member &member : members)
    ofLevel[member.level].push_back(&member);
  for (auto &[level, left] : ofLevel)
    while (!left.empty())
      addLaunch(takeLaunch(left, target));
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
    for (auto func : getOperation().getOps<FunctionOpInterface>())
      if (!func.isExternal())
        LaunchPacker(func, *chip, typicalExtent).run();
  }
};
} // namespace
