//===- ProgramLowering.h - Distributes one tile program over threads -*- C++
//-*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the lowering of one tile program to the code of a thread.
// A tile becomes the list of the scalars that a thread holds of it, one for
// each register of its layout.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_TILETONVVM_PROGRAMLOWERING_H
#define FUSION_LIB_CONVERSION_TILETONVVM_PROGRAMLOWERING_H

#include "fusion/Dialect/Tile/IR/AsyncLayouts.h"
#include "fusion/Dialect/Tile/IR/LayoutConversion.h"
#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/AccessAnalysis.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace mlir::fusion {

/// The scalars of a value that one thread holds.
using Scalars = SmallVector<Value>;

struct PanelDeal;

/// Lowers one program into a kernel function.
class ProgramLowering {
public:
  ProgramLowering(tile::ProgramOp program, OpBuilder &builder,
                  LLVM::GlobalOp sharedMemory, bool plainFactors);

  FailureOr<LLVM::LLVMFuncOp> run();

private:
  // Structure (ProgramLowering.cpp).
  LogicalResult lowerBlock(Block &block);
  LogicalResult lowerOp(Operation *op);
  LogicalResult lowerFor(scf::ForOp op);
  LogicalResult lowerIf(scf::IfOp op);
  LogicalResult lowerElementwise(Operation *op);
  void lowerIndexCast(Operation *op);
  LogicalResult lowerIndex(tile::IndexOp op);
  LogicalResult lowerBroadcast(tile::BroadcastOp op);
  LogicalResult lowerDot(tile::DotOp op);
  LogicalResult lowerRepeat(tile::RepeatOp op);

  /// The scalar form of a type: `index` becomes an integer.
  Type scalarType(Type type) const;
  unsigned numScalars(Type type) const;
  const Scalars &get(Value value) const;
  Value getScalar(Value value) const;
  /// The scalars of `value` in these registers, in their order.
  Scalars pick(Value value, const tile::RegisterMap &registers) const;
  Value constantIndex(int64_t value);
  Value toIndex(Value value);

  LogicalResult lowerSlice(tile::SliceOp op);
  LogicalResult lowerExchange(tile::ExchangeOp op);
  Value constant32(int32_t value);
  /// An index as 32 bits.
  Value toI32(Value value);
  /// Inline PTX that LLVM may neither move nor drop. `result` may be null.
  Value inlineAsm(Type result, ValueRange operands, const Twine &text,
                  const Twine &constraints);
  /// Inline PTX whose results depend on its operands alone.
  Value pureAsm(Type result, ValueRange operands, const Twine &text,
                const Twine &constraints);

  // Threads (ThreadIndex.cpp).
  Value threadId();
  /// The number of the warp in the block, known to be the same in its threads.
  Value warpNumber();
  /// The part of the coordinate along `dim` that depends on the thread.
  Value threadCoord(const tile::LinearLayout &layout, unsigned dim);
  /// The coordinate along `dim` of a register whose own part is `registerPart`.
  Value coordinate(const tile::LinearLayout &layout, unsigned dim,
                   int64_t registerPart);
  /// XOR of `matrix` columns over the set bits of lane and warp.
  Value applyToThread(const tile::BitMatrix &lane, const tile::BitMatrix &warp);
  Value applyBits(ArrayRef<std::pair<unsigned, uint64_t>> bits);
  /// True in the one thread that stands for all that hold the same elements;
  /// null when every thread does.
  Value isOwner(const tile::LinearLayout &layout);

  // Global memory (LowerMemory.cpp).
  LogicalResult lowerLoad(tile::LoadOp op);
  LogicalResult lowerStore(tile::StoreOp op);
  struct AccessPlan;
  AccessPlan planAccess(const tile::Access &access, ValueRange indices);
  /// Address and condition (null: always) of the group that starts at register
  /// `reg`. The address is that of the view's start where the condition fails.
  std::pair<Value, Value> addressOf(AccessPlan &plan, unsigned reg);
  struct Place;
  Place placeOf(AccessPlan &plan, unsigned reg);
  std::pair<Value, Value> addressOf(const AccessPlan &plan, const Place &place);
  /// Words of 32 bits from where `place` says; zeros where its condition fails.
  SmallVector<Value> loadWhere(const AccessPlan &plan, Place place,
                               unsigned words);
  /// Lets `place`, of the group of register `reg`, hold where all of the group
  /// is in bounds. Returns the condition that a part of it alone is.
  Value takeWhole(AccessPlan &plan, unsigned reg, Place &place);
  /// The elements of this group as in memory, one by one; zeros out of bounds.
  SmallVector<Value> loadElements(AccessPlan &plan, unsigned reg, Type element);
  /// `whole`, or where `isDivided` holds, in a branch, what `buildParts`
  /// builds; a null condition never holds.
  SmallVector<Value> divide(Value isDivided, ValueRange whole,
                            function_ref<SmallVector<Value>()> buildParts);
  /// Loads the group from `place`, zeros where that does not hold: by a
  /// predicate, or from another place to be replaced.
  void loadInWords(AccessPlan &plan, const Place &place, Value isDivided,
                   unsigned reg, Type element, Scalars &results);
  void loadVector(AccessPlan &plan, const Place &place, Value isDivided,
                  unsigned reg, Type element, bool readOnly, Scalars &results);
  /// Stores the elements of a group of which a part is in bounds one by one.
  void storeDivided(AccessPlan &plan, unsigned reg, Value isDivided,
                    ValueRange elements);
  Value expand(AffineExpr expr, ArrayRef<Value> dims, ArrayRef<Value> symbols);
  static bool isNonNegative(AffineExpr expr);
  /// Between a value and its form in memory.
  Value fromMemory(Value value, Type type);
  Value toMemory(Value value);
  Value extractElement(Value vector, unsigned position);
  Value keepBeforeBranch(Value value);
  Value buildVector(ArrayRef<Value> elements);

  // Instructions of a warp on matrices (LowerMmaSync.cpp).
  /// Makes the products by mma.sync; false when the layouts are not those of an
  /// instruction.
  bool lowerMmaSync(tile::DotOp op);
  /// Reads the tile by ldmatrix; false when its layout is not such.
  bool lowerLoadMatrix(tile::LocalLoadOp op);
  /// One register of 32 bits (64: an f64) from the elements that share it; f32
  /// is rounded to tf32.
  Value packOperand(ArrayRef<Value> elements);

  // Copies by the threads (LowerCopies.cpp).
  LogicalResult lowerStage(tile::StageOp op);
  LogicalResult lowerCopyStart(tile::CopyStartOp op);
  LogicalResult lowerCopyArrive(tile::CopyArriveOp op);
  LogicalResult lowerCopyCommit(tile::CopyCommitOp op);
  LogicalResult lowerCopyWait(tile::CopyWaitOp op);
  /// Starts the copy of `bytes` bytes, or as many zeros where `inBounds` fails,
  /// if `predicate` holds; null stands for true.
  void startCopy(Value target, Value source, unsigned bytes, Value inBounds,
                 Value predicate);

  // Exchange between threads (LowerExchange.cpp).
  LogicalResult lowerReduce(tile::ReduceOp op);
  LogicalResult lowerConvert(tile::ConvertLayoutOp op);
  LogicalResult lowerLocalStore(tile::LocalStoreOp op);
  LogicalResult lowerLocalLoad(tile::LocalLoadOp op);
  Value shuffle(Value value, Value lane, NVVM::ShflKind kind);
  Value shuffle(Value value, Value lane, bool butterfly);
  Scalars combine(Region &combiner, const Scalars &lhs, const Scalars &rhs);

  // Scans (LowerScan.cpp).
  LogicalResult lowerScan(tile::ScanOp op);
  struct ScanLanes;
  ScanLanes findLanes(const tile::ScanPlan &plan, bool reverse);
  /// For the states of a thread, those of the lanes up to it, combined.
  Scalars scanLanes(const ScanLanes &lanes, Region &combiner, Scalars states);
  /// The states of the last lane.
  Scalars lastOf(const ScanLanes &lanes, const Scalars &states);
  /// What a thread's elements, combined up to each in `own`, are after those of
  /// the lanes before it, which `scanned` has, and after what is `before` all
  /// of them, if anything is.
  SmallVector<Scalars> placeAfter(const ScanLanes &lanes, tile::ScanOp op,
                                  const std::optional<Scalars> &before,
                                  const Scalars &scanned,
                                  ArrayRef<Scalars> own);
  /// The states at register `reg` of `tiles`.
  Scalars getStates(ValueRange tiles, unsigned reg);
  /// What threads combine of a round before anything comes before it: of their
  /// own elements up to each, and of those and what the lanes before have.
  struct ScannedRound {
    SmallVector<Scalars> own;
    Scalars scanned;
  };
  ScannedRound scanRound(const ScanLanes &lanes, tile::ScanOp op,
                         ArrayRef<unsigned> round);
  /// The rounds of `op` where a scan before it, for the totals of warps or
  /// blocks, has combined them; else none.
  SmallVector<ScannedRound> takeScannedRounds(tile::ScanOp op);
  /// Writes the results of the rounds of a part, given what lies before them,
  /// if anything does; returns what lies before the next part.
  std::optional<Scalars> scanRounds(const ScanLanes &lanes, tile::ScanOp op,
                                    ArrayRef<SmallVector<unsigned>> rounds,
                                    std::optional<Scalars> before,
                                    ArrayRef<ScannedRound> scanned,
                                    MutableArrayRef<Scalars> results);
  /// The same where the thread has all elements, one combination for each.
  Scalars scanInOrder(tile::ScanOp op, ArrayRef<unsigned> registers,
                      Scalars before, MutableArrayRef<Scalars> results);
  /// Scans without initial values, with their rounds.
  SmallVector<std::pair<tile::ScanOp, SmallVector<ScannedRound>>> scannedRounds;
  Scalars selectAll(Value condition, const Scalars &yes, const Scalars &no);

  // Shared memory (SharedPlace.cpp).
  /// Where a buffer or barrier lies: `offset` bytes from the start of the
  /// block's shared memory and, in a ring, `stage` times `stageBytes` further.
  /// The buffer of a group in a stage is `group` times `groupBytes` further.
  struct SharedPlace {
    int64_t offset = 0;
    Value stage;
    int64_t stageBytes = 0;
    Value group = nullptr;
    int64_t groupBytes = 0;

    static SharedPlace at(int64_t offset) { return {offset, nullptr, 0}; }
    SharedPlace plus(int64_t bytes) const {
      SharedPlace place = *this;
      place.offset += bytes;
      return place;
    }
    /// The largest power of two, up to 1024, that divides every such offset.
    int64_t alignment() const;
  };
  SharedPlace placeOf(Value buffer) const;
  Value getSharedBase();
  /// Pointer to the byte `threadOffset ^ xorPart` (none when null), and
  /// `immediate` more, of what lies at `place`.
  Value sharedAddress(const SharedPlace &place, Value threadOffset = nullptr,
                      uint64_t xorPart = 0, uint64_t immediate = 0);

  // Rings and copies (LowerRings.cpp).
  /// A stage of a ring at a position, and the parity of its round.
  struct RingStage {
    SharedPlace buffers, full, empty;
    Value parity;
  };
  RingStage stageAt(Value ring, Value at);
  LogicalResult collectTensorMaps(SmallVectorImpl<Type> &arguments);
  void describeTensorMaps();
  LogicalResult lowerMakeRing(tile::MakeRingOp op);
  LogicalResult lowerAcquire(tile::AcquireOp op);
  LogicalResult lowerAsyncLoad(tile::AsyncLoadOp op);
  LogicalResult lowerDrain(tile::DrainOp op);
  LogicalResult lowerWait(tile::WaitOp op);
  LogicalResult lowerGroupBuffer(tile::GroupBufferOp op);
  LogicalResult lowerRelease(tile::ReleaseOp op);
  void setStageBuffers(const RingStage &stage, tile::RingType ring,
                       ValueRange buffers);
  void waitForPhase(const SharedPlace &barrier, Value parity);
  /// The coordinates of a box as the instruction wants them.
  SmallVector<Value> boxCoordinates(ValueRange coordinates,
                                    ArrayRef<int64_t> dims,
                                    ArrayRef<int32_t> start);

  // Tensor copies to global memory (LowerStores.cpp).
  LogicalResult lowerAsyncStore(tile::AsyncStoreOp op);
  /// True in the one thread of those that store together which starts their
  /// copies and waits for them.
  Value storesAlone(bool byWarpgroup);
  void bulkWait(unsigned pending);
  /// Lets copies and tensor cores see what this thread wrote to shared memory.
  void fenceCopies();
  /// Writes a tile's registers to what lies at `place`; by stmatrix where the
  /// layouts let it.
  LogicalResult storeShared(Operation *op, const Scalars &source,
                            const tile::LinearLayout &layout,
                            const tile::SharedLayout &shared,
                            const SharedPlace &place);
  bool storeMatrices(const Scalars &source, const tile::LinearLayout &layout,
                     const tile::SharedLayout &shared,
                     const SharedPlace &place);

  // Clusters (LowerClusters.cpp).
  void prepareCluster();
  LogicalResult lowerClusterRank(tile::ClusterRankOp op);
  LogicalResult lowerClusterReduce(tile::ClusterReduceOp op);
  /// Writes to each block of the cluster this block's share of the part that it
  /// finishes: the part whose number is bits `firstBit` and up of a coordinate.
  LogicalResult pushParts(tile::ClusterReduceOp op, unsigned firstBit);
  /// Stores `value`, so many bytes, to another block; the store counts at a
  /// barrier of that block.
  void sendAsync(Value value, unsigned bytes, Value address, Value barrier);
  /// Arrives, as all consumers do, and waits for the phase to complete.
  void arriveAndWait(const SharedPlace &barrier);
  /// Arrives at a barrier of any block of the cluster.
  void arriveAt(Value remote);
  void meetCluster();
  void clusterBarrier();
  void arriveAtCluster();
  void waitForCluster();
  /// Of shared memory of any block of the cluster.
  LLVM::LLVMPointerType clusterPointerType();

  // Exchange between blocks of the grid (LowerGrid.cpp).
  void collectScratches(SmallVectorImpl<Type> &arguments);
  void describeAlignment();
  void describeScratches();
  /// Where this thread's registers of tiles lie in slot `number`.
  struct SlotPlan;
  /// How blocks exchange the parts of tiles.
  struct PartPlan;
  FailureOr<SlotPlan> planSlot(Operation *op, ValueRange tiles, Value slots,
                               Value signals, Value number);
  /// Lets one thread of the warp do `text` to its signal.
  void signalFromWarp(Value signal, StringRef text);
  LogicalResult lowerFindGroup(tile::FindGroupOp op);
  LogicalResult lowerPublish(tile::PublishOp op);
  LogicalResult lowerCollect(tile::CollectOp op);
  LogicalResult lowerGridReduce(tile::GridReduceOp op);
  FailureOr<PartPlan> planParts(tile::GridReduceOp op);

  // Panels of blocks (PanelExchange.cpp).
  class PanelExchange;
  /// How threads share out the words of `op`, which exchanges `values`.
  FailureOr<PanelDeal> dealPanel(Operation *op, ValueRange values,
                                 int64_t members);
  /// Reads words of an exchange until all of them are there.
  struct PanelRead;
  Scalars readPanel(const PanelRead &read);
  /// The element that `word` of an exchange has in its lower half.
  Value takeFromWord(Value word, Type element);
  /// Lower the one operation (LowerPanels.cpp, LowerPanelScan.cpp).
  class PanelReduceLowering;
  LogicalResult lowerPanelReduce(tile::PanelReduceOp op);
  class PanelScanLowering;
  LogicalResult lowerPanelScan(tile::PanelScanOp op);
  LogicalResult lowerPanelLeave(tile::PanelLeaveOp op);

  // Products in flight (LowerMma.cpp).
  LogicalResult lowerMmaAsync(tile::MmaAsyncOp op);
  LogicalResult lowerMmaWait(tile::MmaWaitOp op);
  struct MmaPlan;
  FailureOr<MmaPlan> planMma(tile::MmaAsyncOp op);
  bool continues(const MmaPlan &plan, const MmaPlan &next);
  SmallVector<tile::MmaAsyncOp> collectRun(tile::MmaAsyncOp op, MmaPlan &plan);
  Value descriptorOf(Value buffer, const tile::MatrixDescriptor &descriptor,
                     Value number, int64_t count, int64_t each);
  std::optional<Value> keepsSums(tile::MmaAsyncOp op);
  Scalars multiply(const MmaPlan &plan, ArrayRef<Value> accumulators,
                   ArrayRef<Value> a, Value b, std::optional<Value> keeps);
  Scalars packWords(const Scalars &scalars);
  Scalars tied(const Twine &text, ArrayRef<Value> values,
               ArrayRef<Value> inputs = {});

  // Roles (LowerRoles.cpp).
  LogicalResult lowerSpecialize(tile::SpecializeOp op);
  void lowerBarrier();
  /// Makes the code that follows that of the groups of `op`, which are the last
  /// to have code: thread, warp and buffers are those of a group.
  void enterGroup(tile::SpecializeOp op);
  /// The barrier of this group that is barrier `number` of the first.
  Value barrierOfGroup(Value number);
  /// A barrier of `threads` threads; `number` is that of the barrier.
  void namedBarrier(Value number, int32_t threads);
  void ifThread(Value condition, function_ref<void()> body);

  tile::ProgramOp program;
  OpBuilder &builder;
  Location loc;
  LLVM::GlobalOp sharedMemory;
  /// Matrix instructions get factors as they are, not in parts or pairs that
  /// are made of their bits.
  bool plainFactors;
  IntegerType indexType;
  LLVM::LLVMFuncOp function;
  Block *entry = nullptr;
  Operation *lastThreadOp = nullptr;
  DenseMap<Value, Scalars> values;
  DenseSet<Value> writtenViews;
  std::map<std::vector<std::pair<unsigned, uint64_t>>, Value> threadValues;
  Value thread;
  Value warp;
  Value sharedBase;
  /// The tensor maps and the kernel's parameters that hold them.
  llvm::MapVector<Operation *, unsigned> tensorMaps;
  /// The memory that the launch provides, and the parameters that point to it.
  llvm::MapVector<Operation *, unsigned> scratches;
  DenseMap<Value, SharedPlace> ringBuffers;
  /// The registers of an operand tile as products in flight read them.
  DenseMap<Value, Scalars> operandWords;
  /// Where the barriers lie at which the consumers of a cluster meet.
  SharedPlace meetings;
  /// Blocks have arrived at the cluster's barrier, none has waited there.
  bool awaitsCluster = false;
  bool inConsumer = false;
  /// In the code of one thread.
  bool inProducer = false;
  /// In a consumer of several groups: the number of the thread's own.
  Value groupNumber;
  /// The program is for chips that have tensor copies, and so stmatrix.
  bool hasTensorCopies = false;
};

/// The type that holds an element of `type` in memory: one bit is a byte, and a
/// float without a register form is its bits.
Type memoryType(Type type);

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_TILETONVVM_PROGRAMLOWERING_H
