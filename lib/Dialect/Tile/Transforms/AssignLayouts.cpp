//===- AssignLayouts.cpp - Decides where the elements of tiles live -------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements layout assignment: values that must agree form groups
// (LayoutGroups.cpp), each gets a layout (ChooseLayouts.cpp), and conversions
// stand where groups meet.
//
//===----------------------------------------------------------------------===//

#include "ChooseLayouts.h"
#include "SharedPieces.h"
#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Dialect/Tile/IR/LayoutConversion.h"
#include "fusion/Dialect/Tile/Transforms/DotLayouts.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_ASSIGNLAYOUTSPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-assign-layouts"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

namespace {
/// Gives a program's tiles the layouts of their groups, with conversions where
/// groups meet.
class LayoutAssigner {
public:
  LayoutAssigner(ProgramOp program, const fusion::TargetInfo &target)
      : program(program), target(target), voter(program.getNumWarps(), target),
        positionBits(separatePositionBits(program)), groups(program) {}

  void run() {
    chooseLayouts(groups, positionBits, program.getNumWarps(), voter, target);
    setLayouts();
    foldConversions();
    times.emplace(program);
    convertAll();
  }

private:
  /// Gives all values their group's layout.
  void setLayouts();
  /// Erases conversions of tiles that have the layout of what reads them.
  void foldConversions();
  /// Notes what the sets of operations have of `op`.
  void noteOperation(Operation *op);
  /// Converts around all operations.
  void convertAll();
  /// Converts operands and results of an operation that makes or takes other
  /// layouts than those of their groups.
  void convertAround(BroadcastOp broadcast, OpBuilder &builder);
  void convertAround(RepeatOp repeat, OpBuilder &builder);
  void convertAround(ReduceOp reduce, OpBuilder &builder);
  void convertAround(ScanOp scan, OpBuilder &builder);
  void convertAround(ExchangeOp exchange, OpBuilder &builder);
  void convertAround(DotOp dot, OpBuilder &builder);
  void convertAround(MmaAsyncOp mma, OpBuilder &builder);
  void convertAround(GridGatherOp gather, OpBuilder &builder);
  void convertAround(SliceOp slice, OpBuilder &builder);
  void convertAround(ReshapeOp reshape, OpBuilder &builder);
  void convertAround(LoadOp load, OpBuilder &builder);
  void convertAround(StoreOp store, OpBuilder &builder);

  LinearLayout preferredLayout(Operation *op, const Access &access,
                               const LinearLayout &used,
                               bool once = false) const;
  /// Whether shared memory has room, at `op`, for what turns a tile of one
  /// layout into one of the other.
  bool canExchange(Operation *op, Type tile, const LinearLayout &used,
                   const LinearLayout &preferred) const;
  void convertResult(OpBuilder &builder, Value result,
                     std::optional<LinearLayout> made);

  mutable ProgramOp program;
  const fusion::TargetInfo &target;
  LayoutVoter voter;
  /// Tiles that have layouts of their own beside those of what reads them.
  SmallVector<PositionBits> positionBits;
  LayoutGroups groups;
  /// Of the program without the conversions that are made.
  std::optional<SharedTimes> times;
  /// Conversions have no group: what is asked of groups while they are made is
  /// known before. Reductions of what warps that share a depth have, accesses
  /// around scans, those where threads have rows, those in loops that carry
  /// what they reduce in each step, and those of what goes to buffers.
  llvm::SmallPtrSet<Operation *, 4> sumsOfWarps, ofScans, ofRows, ofSteps,
      toBuffers;
};
} // namespace

/// The layout in which `access` of `op` is best done when its values are used
/// in layout `used`.
LinearLayout LayoutAssigner::preferredLayout(Operation *op,
                                             const Access &access,
                                             const LinearLayout &used,
                                             bool once) const {
  LinearLayout preferred = voter.prefer(
      VotingAccess::of(AccessForm::of(access)), getTileShape(access.tile), used,
      {once, ofScans.contains(op), ofRows.contains(op)});
  return preferred == used || canExchange(op, access.tile, used, preferred)
             ? preferred
             : used;
}

bool LayoutAssigner::canExchange(Operation *op, Type tile,
                                 const LinearLayout &used,
                                 const LinearLayout &preferred) const {
  if (classifyConversion(used, preferred) != ConversionKind::Shared)
    return true;
  Type element = getTileElementType(tile);
  int64_t bits = element.isIntOrFloat()
                     ? std::max(8u, element.getIntOrFloatBitWidth())
                     : program.getIndexBits();
  int64_t bytes = llvm::product_of(getTileShape(tile)) * bits / 8;
  return times->getBytesWith(op, bytes) <= target.maxSharedPerBlock;
}

/// `value` in `layout`.
static Value convert(OpBuilder &builder, Value value,
                     const LinearLayout &layout) {
  auto attr = LayoutAttr::get(builder.getContext(), layout);
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getEncoding() == attr)
    return value;
  return ConvertLayoutOp::create(
      builder, value.getLoc(),
      RankedTensorType::get(type.getShape(), type.getElementType(), attr),
      value);
}

/// Gives `result` the layout that its operation makes, and its users a
/// conversion to the one chosen for it. Without such a layout it is left as it
/// is, for the lowering to refuse.
void LayoutAssigner::convertResult(OpBuilder &builder, Value result,
                                   std::optional<LinearLayout> made) {
  LinearLayout wanted = getLayout(result.getType()).getLinear();
  if (!made || wanted == *made)
    return;
  auto type = cast<RankedTensorType>(result.getType());
  result.setType(
      RankedTensorType::get(type.getShape(), type.getElementType(),
                            LayoutAttr::get(builder.getContext(), *made)));
  builder.setInsertionPointAfter(result.getDefiningOp());
  Value converted = convert(builder, result, wanted);
  result.replaceAllUsesExcept(converted, converted.getDefiningOp());
}

void LayoutAssigner::setLayouts() {
  for (LayoutGroup &group : groups.getAll()) {
    auto attr = LayoutAttr::get(program.getContext(), *group.layout);
    for (Value value : group.values) {
      auto type = cast<RankedTensorType>(value.getType());
      type =
          RankedTensorType::get(type.getShape(), type.getElementType(), attr);
      value.setType(type);
      // What folded to a constant has its type twice.
      if (auto constant = value.getDefiningOp<arith::ConstantOp>())
        constant.setValueAttr(
            cast<DenseElementsAttr>(constant.getValue()).resizeSplat(type));
    }
  }
}

void LayoutAssigner::convertAround(BroadcastOp broadcast, OpBuilder &builder) {
  SmallVector<unsigned> dims(broadcast.getDims().begin(),
                             broadcast.getDims().end());
  const LinearLayout &target = getLayout(broadcast.getType()).getLinear();
  const LinearLayout &source =
      getLayout(broadcast.getValue().getType()).getLinear();
  if (!getBroadcastRegisterMap(source, target, dims))
    broadcast.getValueMutable().assign(
        convert(builder, broadcast.getValue(), target.project(dims).layout));
}

void LayoutAssigner::convertAround(RepeatOp repeat, OpBuilder &builder) {
  repeat.getValueMutable().assign(
      convert(builder, repeat.getValue(),
              getRepeatedLayout(getLayout(repeat.getType()).getLinear(),
                                repeat.getDim(), repeat.getLog2Factor())));
}

void LayoutAssigner::convertAround(ReduceOp reduce, OpBuilder &builder) {
  unsigned dim = reduce.getDim();
  Type reduced = reduce.getInputs().front().getType();
  if (!sumsOfWarps.contains(reduce)) {
    LinearLayout slice = getLayout(reduced).getLinear().sliceDim(dim);
    for (Value result : reduce.getResults())
      if (isTile(result))
        convertResult(builder, result, slice);
    return;
  }
  // Sums of warps come together in one exchange, each thread adding up those of
  // its own elements of the result.
  LinearLayout parts = getLayout(reduce.getResult(0).getType())
                           .getLinear()
                           .expandDim(dim, getTileShape(reduced)[dim]);
  for (OpOperand &input : reduce.getInputsMutable())
    input.set(convert(builder, input.get(), parts));
}

void LayoutAssigner::convertAround(ScanOp scan, OpBuilder &builder) {
  if (scan.getParts())
    return;
  // Totals of a scan along another dimension lie as that one's elements do.
  LinearLayout made = getScannedLayout(
      getLayout(scan.getInputs().front().getType()).getLinear(), scan.getDim(),
      program.getNumWarps());
  for (OpOperand &input : scan.getInputsMutable())
    input.set(convert(builder, input.get(), made));
  for (Value result : scan.getResults())
    convertResult(builder, result, made);
  builder.setInsertionPoint(scan);
  LinearLayout slice = made.sliceDim(scan.getDim());
  for (OpOperand &init : scan.getInitsMutable())
    if (isTile(init.get()))
      init.set(convert(builder, init.get(), slice));
  for (Value total : scan.getTotals())
    if (isTile(total))
      convertResult(builder, total, slice);
}

void LayoutAssigner::convertAround(ExchangeOp exchange, OpBuilder &builder) {
  // Warps exchange elements by another layout, in which a thread has both.
  LinearLayout used = getLayout(exchange.getType()).getLinear();
  if (getExchangePlan(used, exchange.getDim(), exchange.getMask()))
    return;
  LinearLayout made =
      getExchangeLayout(used, exchange.getDim(), exchange.getMask());
  exchange.getValueMutable().assign(
      convert(builder, exchange.getValue(), made));
  convertResult(builder, exchange.getResult(), made);
}

void LayoutAssigner::convertAround(DotOp dot, OpBuilder &builder) {
  LinearLayout acc = getLayout(dot.getType()).getLinear();
  bool hasFragment = groups.of(dot.getResult()).fragment.has_value();
  OpOperand *operands[] = {&dot.getAMutable(), &dot.getBMutable()};
  for (auto [dim, operand] : llvm::enumerate(operands)) {
    int64_t depth = getTileShape(operand->get().getType())[1];
    LinearLayout wanted = hasFragment
                              ? getDotOperandLayout(dot, dim, acc)
                              : acc.project({static_cast<unsigned>(dim)})
                                    .layout.expandDim(1, depth);
    operand->set(convert(builder, operand->get(), wanted));
  }
}

void LayoutAssigner::convertAround(MmaAsyncOp mma, OpBuilder &builder) {
  for (OpOperand &operand : mma->getOpOperands().take_front(2))
    if (isTile(operand.get()))
      if (std::optional<LinearLayout> wanted = groups.getOperandLayout(operand))
        operand.set(convert(builder, operand.get(), *wanted));
}

void LayoutAssigner::convertAround(GridGatherOp gather, OpBuilder &builder) {
  for (auto [number, value] : llvm::enumerate(gather.getValues())) {
    SmallVector<int64_t> share = gather.getShareShape(number);
    LinearLayout whole = getSharedOutLayout(
        getLayout(value.getType()).getLinear(), share, program.getNumWarps());
    gather.getValuesMutable()[number].set(convert(builder, value, whole));
    Value result = gather.getResult(number);
    convertResult(builder, result,
                  whole.getPart(share)->expandDim(
                      share.size(), getTileShape(result.getType()).back()));
  }
}

void LayoutAssigner::convertAround(SliceOp slice, OpBuilder &builder) {
  LinearLayout whole = getLayout(slice.getValue().getType()).getLinear();
  ArrayRef<int64_t> shape = getTileShape(slice.getType());
  if (!whole.getPart(shape)) {
    whole =
        getLayoutOfParts(getLayout(slice.getType()).getLinear(), whole.shape());
    slice.getValueMutable().assign(convert(builder, slice.getValue(), whole));
  }
  convertResult(builder, slice.getResult(), whole.getPart(shape));
}

void LayoutAssigner::convertAround(ReshapeOp reshape, OpBuilder &builder) {
  convertResult(builder, reshape.getResult(),
                getLayout(reshape.getValue().getType())
                    .getLinear()
                    .reshape(getTileShape(reshape.getType())));
}

void LayoutAssigner::convertAround(LoadOp load, OpBuilder &builder) {
  if (!isTile(load.getResult()) || !load.getIndices().empty())
    return;
  // What goes to a buffer is exchanged there.
  if (toBuffers.contains(load))
    return;
  LinearLayout used = getLayout(load.getType()).getLinear();
  // What the elements of a vector are in one step of a walk, lanes read as they
  // use them: threads that exchange them would wait for each other in each.
  auto walk = load->getParentOfType<scf::ForOp>();
  if (walk && !walk.getBody()->getOps<MmaAsyncOp>().empty() &&
      llvm::count_if(getTileShape(load.getType()),
                     [](int64_t size) { return size > 1; }) <= 1)
    return;
  if (ofSteps.contains(load))
    return;
  // Operands of warps' products, which are loaded ahead: in the layout of the
  // products every warp would load them, element by element, and what is held
  // ahead would not leave enough registers for the sums.
  std::optional<PipelineAttr> pipeline = program.getPipeline();
  bool once = pipeline && pipeline->getKind() == MmaKind::MmaSync &&
              getTileShape(load.getType()).size() == 2;
  convertResult(builder, load.getResult(),
                preferredLayout(load, Access::of(load), used, once));
}

/// What `store` stores, without what lies past the ends of its view wherever
/// the tile is.
static Value crop(OpBuilder &builder, StoreOp store) {
  Value value = store.getValue();
  auto sizes = llvm::to_vector(getTileShape(value.getType()));
  ArrayRef<int64_t> ends = store.getView().getType().getShape();
  bool isCropped = false;
  for (auto [end, coord, checked] :
       llvm::zip(ends, store.getMap().getResults(), store.getChecked())) {
    auto dim = dyn_cast<AffineDimExpr>(coord);
    // Of an empty view the store's own checks keep everything.
    if (!dim || !checked || ShapedType::isDynamic(end) || end == 0)
      continue;
    int64_t &size = sizes[dim.getPosition()];
    isCropped |= end < size;
    size = std::min(size, end);
  }
  if (!isCropped)
    return value;
  return CropOp::create(builder, store.getLoc(), value.getType(), value, sizes);
}

void LayoutAssigner::convertAround(StoreOp store, OpBuilder &builder) {
  if (!isTile(store.getValue()) || ofSteps.contains(store))
    return;
  LinearLayout used = getLayout(store.getValue().getType()).getLinear();
  LinearLayout wanted = preferredLayout(store, Access::of(store), used);
  if (wanted == used)
    return;
  Value value = crop(builder, store);
  store.getValueMutable().assign(convert(builder, value, wanted));
}

void LayoutAssigner::foldConversions() {
  for (const PositionBits &bits : positionBits) {
    ConvertLayoutOp conversion = bits.conversion;
    if (conversion.getValue().getType() != conversion.getType())
      continue;
    llvm::erase(groups.of(conversion.getResult()).values,
                conversion.getResult());
    conversion.replaceAllUsesWith(conversion.getValue());
    conversion.erase();
  }
}

void LayoutAssigner::noteOperation(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op);
      reduce && groups.of(reduce.getInputs().front()).hasSumOfEachWarp())
    sumsOfWarps.insert(op);
  auto load = dyn_cast<LoadOp>(op);
  auto store = dyn_cast<StoreOp>(op);
  Value accessed = load    ? Value(load.getResult())
                   : store ? store.getValue()
                           : Value();
  if (!accessed || !isTile(accessed))
    return;
  const LayoutGroup &group = groups.of(accessed);
  if (!group.scans.empty())
    ofScans.insert(op);
  if (group.hasRows)
    ofRows.insert(op);
  // Threads that exchange them would wait for each other in each step.
  if (groups.isInSteps(op) || group.isReducedInSteps)
    ofSteps.insert(op);
  if (load && getBufferLayout(group, program.getNumWarps()))
    toBuffers.insert(op);
}

void LayoutAssigner::convertAll() {
  SmallVector<Operation *> ops;
  program.getBody().walk([&](Operation *op) {
    ops.push_back(op);
    noteOperation(op);
  });
  OpBuilder builder(program.getContext());
  for (Operation *op : ops) {
    builder.setInsertionPoint(op);
    TypeSwitch<Operation *>(op)
        .Case<BroadcastOp, RepeatOp, ReduceOp, ScanOp, ExchangeOp, DotOp,
              MmaAsyncOp, GridGatherOp, SliceOp, ReshapeOp, LoadOp, StoreOp>(
            [&](auto typed) { convertAround(typed, builder); });
  }
}

namespace {
class AssignLayoutsPass
    : public tile::impl::AssignLayoutsPassBase<AssignLayoutsPass> {
public:
  using Base::Base;
  void runOnOperation() override {
    FailureOr<fusion::TargetInfo> target =
        fusion::resolveTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    LayoutAssigner(getOperation(), *target).run();
  }
};
} // namespace
