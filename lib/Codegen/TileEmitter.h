//===- TileEmitter.h - Emits the tile program of a kernel ------*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the emitter that turns the body of a scheduled kernel into
// a tile program. It works on demand: to store a tile of a result it computes
// that tile, and for that the tiles of its operands, at coordinates composed
// from the indexing maps on the way.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_TILEEMITTER_H
#define FUSION_LIB_CODEGEN_TILEEMITTER_H

#include "fusion/Analysis/IterationSpace.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <map>

namespace mlir::fusion {

class GridBuilder;
class StreamBuilder;
class TreeReduction;

/// A value of the tile program with the axes its dimensions stand for, in
/// increasing order. A scalar has no axes.
struct Tile {
  Value value;
  SmallVector<unsigned> axes;
};

/// What a walk along an axis covers: all tiles, those that lie in the extent as
/// a whole, or the one that does not; where tiles begin before the extent, the
/// first and the last one.
enum class Piece { All, Whole, Rest, Ends };

/// One axis of the tile space: an iteration dimension bound in some scope. The
/// coordinate along it is `offset` plus the position in the tile.
struct Axis {
  /// The iteration dimension, or nothing for an axis of one operation's own.
  std::optional<unsigned> dim;
  /// Size, over the function's symbols.
  AffineExpr extent;
  /// Size of the tile, a power of two; 1 means that tiles have no such axis.
  int64_t tile = 1;
  /// Start of the tile; null for zero.
  Value offset;
  /// The scope that binds the axis.
  unsigned depth = 0;
  /// Every coordinate of every tile lies below the extent.
  bool exact = false;
  /// Blocks of the grid differ along the axis.
  bool grid = false;
  /// The axis of the whole tile of which this is a part: the one that a block
  /// finishes of a tile that its cluster shares, or one of those that make up a
  /// tile which is no power of two.
  std::optional<unsigned> whole;
  /// Where the part begins in the whole tile; none: by the block's rank or the
  /// number of the group.
  std::optional<int64_t> start;
  /// The axis that this one counts granules of, of `granule` elements each.
  std::optional<unsigned> granulesOf;
  int64_t granule = 1;
  Piece piece = Piece::All;
  /// Tiles of a round of the walk, one for each of so many blocks. The last
  /// round may have tiles that lie past the extent as a whole.
  int64_t round = 1;
  /// The most elements that tiles begin before the extent does.
  int64_t lead = 0;
  /// Where this tile would begin without.
  Value unled;

  /// How far a step of the walk goes.
  int64_t step() const { return tile * round; }
};

/// Emits one tile program. All coordinates are affine expressions (semi-affine
/// where sizes are symbols) in which dimension `i` is axis `i`, symbols below
/// the number of shape symbols are sizes, and further symbols are index tiles.
class TileEmitter {
  friend class GridBuilder;
  friend class StreamBuilder;
  friend class TreeReduction;

public:
  TileEmitter(KernelOp kernel, ScheduleAttr schedule,
              const IterationSpace &space, SymbolicShapes &shapes,
              OpBuilder &moduleBuilder);

  /// Emits the program; diagnoses and fails when the body holds something that
  /// has no tile form.
  FailureOr<tile::ProgramOp> emit(StringRef name, int64_t indexBits);

  /// Blocks in the grid, over the function's symbols.
  AffineExpr getGridSize() const { return gridSize; }
  /// The shape symbols that are arguments of the program, in order.
  ArrayRef<unsigned> getSymbolArguments() const { return symbolArguments; }

private:
  using Coords = SmallVector<AffineExpr>;

  // Scopes (TileEmitter.cpp).
  struct Scope {
    Block *block;
    /// The operation of `block` that new operations go before, or null for the
    /// end: the loop of the next scope.
    Operation *nested = nullptr;
    /// What `nested` of the scope around was before this one was opened.
    Operation *previous = nullptr;
    std::map<std::pair<void *, std::vector<const void *>>, Tile> memo;
    std::map<const void *, Tile> indexTiles;
  };
  /// Points the builder at the end of the scope of depth `depth`.
  void insertAt(unsigned depth);
  unsigned depthOf(ArrayRef<AffineExpr> coords) const;
  /// Opens a loop over `extent` in steps of `tile`, carrying `inits`; returns
  /// the new axis.
  unsigned openLoop(std::optional<unsigned> dim, AffineExpr extent,
                    int64_t tile, ValueRange inits, scf::ForOp *loop = nullptr);
  /// Opens the loop of an axis that is described but not bound yet.
  scf::ForOp openLoopOn(unsigned axis, ValueRange inits);
  scf::ForOp closeLoop(ValueRange yielded);
  /// Forgets the bindings made in scopes from `depth` on.
  void unbindFrom(unsigned depth);

  // Coordinates (EmitCoordinates.cpp).
  SmallVector<unsigned> axesOf(ArrayRef<AffineExpr> coords) const;
  /// A map from positions in a tile over `axes` and scalar symbols to `coords`,
  /// with the SSA values of the symbols. Index-tile symbols come last and are
  /// listed in `indexTiles`.
  AffineMap buildMap(ArrayRef<AffineExpr> coords, ArrayRef<unsigned> axes,
                     SmallVector<Value> &symbols,
                     SmallVector<Value> *indexTiles);
  Value sizeOf(AffineExpr extent);
  Tile indexTile(AffineExpr coord);
  AffineExpr asCoordinate(Tile indices, unsigned depth);
  /// Where a slice begins along a dimension: an expression of sizes, or a
  /// coordinate that is computed here from elements of tensors.
  FailureOr<AffineExpr> positionOf(OpFoldResult offset);
  bool isInBounds(AffineExpr coord, AffineExpr size,
                  std::optional<unsigned> dim) const;
  /// Tile of bits: is `coord`, unsigned, below `size`?
  Tile below(AffineExpr coord, AffineExpr size);

  // Tiles (TileEmitter.cpp).
  Tile broadcast(Tile tile, ArrayRef<unsigned> axes);
  /// Brings tiles to the union of their axes.
  SmallVector<unsigned> unify(MutableArrayRef<Tile> tiles);
  Tile conjunction(std::optional<Tile> a, Tile b);
  Tile select(Tile condition, Tile yes, Tile no);
  Type tileType(ArrayRef<unsigned> axes, Type element) const;
  Value constant(TypedAttr value);

  // Evaluation on demand (EmitTensors.cpp).
  FailureOr<Tile> evaluate(Value tensor, ArrayRef<AffineExpr> coords);
  FailureOr<Tile> evaluateUncached(Value tensor, ArrayRef<AffineExpr> coords);
  FailureOr<Tile> scalarValue(Value scalar);
  FailureOr<Tile> load(Value argument, ArrayRef<AffineExpr> coords);
  FailureOr<Tile> evaluatePad(tensor::PadOp pad, ArrayRef<AffineExpr> coords);
  FailureOr<Tile> evaluateConcat(tensor::ConcatOp op,
                                 ArrayRef<AffineExpr> coords);
  FailureOr<Tile> evaluateSlice(tensor::ExtractSliceOp op,
                                ArrayRef<AffineExpr> coords);
  FailureOr<Tile> evaluateInsert(tensor::InsertSliceOp op,
                                 ArrayRef<AffineExpr> coords);
  FailureOr<Tile> evaluateExpand(tensor::ExpandShapeOp op,
                                 ArrayRef<AffineExpr> coords);
  FailureOr<Tile> evaluateCollapse(tensor::CollapseShapeOp op,
                                   ArrayRef<AffineExpr> coords);

  // Structured operations (EmitStructured.cpp).
  FailureOr<Tile> evaluateStructured(linalg::LinalgOp op, unsigned result,
                                     ArrayRef<AffineExpr> coords);
  /// Evaluates what `roots` need of a body, given the loops' coordinates and
  /// tiles already known for some of its values.
  struct BodyContext {
    Block *block;
    ArrayRef<AffineExpr> loopCoords;
    DenseMap<Value, Tile> tiles;
    DenseMap<Value, AffineExpr> affine;
    /// Operands read on demand: block argument to (tensor, coordinates).
    DenseMap<Value, std::pair<Value, Coords>> operands;
  };
  FailureOr<Tile> evaluateScalar(BodyContext &context, Value value);
  /// The values of the body that computeScalar needs as tiles for `value`.
  SmallVector<Value> getTileOperands(BodyContext &context, Value value);
  /// `value`, whose operands are tiles already.
  FailureOr<Tile> computeScalar(BodyContext &context, Value value);
  /// When `op` divides integers: replaces its divisor among `tiles`, its
  /// operands, by 1 where the division is undefined (EmitDivisions.cpp).
  void guardDivisor(Operation *op, MutableArrayRef<Tile> tiles);
  std::optional<AffineExpr> affineValue(BodyContext &context, Value value,
                                        unsigned depth = 0);
  std::optional<AffineExpr> computeAffine(BodyContext &context, Value value,
                                          unsigned depth);
  LogicalResult bindLoops(linalg::LinalgOp op, unsigned result,
                          ArrayRef<AffineExpr> coords, Coords &loopCoords);
  BodyContext makeContext(linalg::LinalgOp op, ArrayRef<AffineExpr> loopCoords);

  // Reductions (EmitReductions.cpp).
  struct Reduction {
    linalg::LinalgOp op;
    Coords coords;     // of the results
    Coords loopCoords; // of the loops; those of reduction loops come later
    /// What is accumulated: for each result; or, for a selection, its key,
    /// what it carries besides and the position, which has no element.
    SmallVector<Combiner> combiners;
    std::optional<Selection> selection;
    std::optional<RescaledSum> rescaled;
    /// A sum of what belongs to the group of the tile's rows.
    bool ofGroup = false;
    /// Of a dimension that the blocks of a panel have parts of.
    bool inPanel = false;

    /// True when what combiner `number` has of an element that there is not
    /// has to be its identity; else another combiner's is enough.
    bool decidesBy(unsigned number) const;
    /// True for what is made of parts (EmitCascades.cpp).
    bool isCascaded(unsigned number) const;
    /// Combines what is accumulated, scalars or tiles, by combiner. `inOrder`:
    /// all elements of `next` come after those of `kept`.
    SmallVector<Value> combine(OpBuilder &builder, Location loc,
                               ValueRange kept, ValueRange next,
                               bool inOrder) const;
    /// Adds the block to `region` that combines two states of `types`.
    void addCombiner(OpBuilder &builder, Location loc, ArrayRef<Type> types,
                     Region &region) const;
  };
  /// The reduction that `op` is, if its elements may be combined in any order.
  std::optional<Reduction> makeReduction(linalg::LinalgOp op, Coords coords,
                                         Coords loopCoords);
  /// Replaces what a sum over groups adds by what it adds for the tile's.
  void takeGroupOfTile(Reduction &reduction) const;
  FailureOr<Tile> emitReduction(linalg::LinalgOp op, unsigned result,
                                ArrayRef<AffineExpr> coords, Coords loopCoords);
  FailureOr<Tile> emitTreeReduction(std::vector<Reduction> group,
                                    unsigned result);
  // Sums of many terms (EmitCascades.cpp).
  /// After how many steps of each of the loops around each other, outermost
  /// first, another part begins; 0: never. `trips` are their steps where known,
  /// of which each of the innermost adds `terms`.
  static SmallVector<int64_t> divideSums(ArrayRef<std::optional<int64_t>> trips,
                                         int64_t terms);
  /// Opens the loop over the parts, of so many steps each, of a walk along
  /// `axis` that is opened next.
  scf::ForOp openParts(unsigned axis, int64_t steps, ValueRange sums);
  /// Lets `loop` walk the part that `parts` is at.
  void restrictToPart(scf::ForOp loop, scf::ForOp parts);

  FailureOr<Tile> emitSerialReduction(linalg::LinalgOp op, unsigned result,
                                      ArrayRef<AffineExpr> coords,
                                      Coords loopCoords);
  /// Adds the reductions that can share the loops of the first of `group`.
  void addSiblings(std::vector<Reduction> &group);
  /// Adds the reductions of `group` for the other parts of the tile.
  void addParts(std::vector<Reduction> &group);
  FailureOr<Tile> evaluateElement(BodyContext &context,
                                  const Combiner &combiner);
  /// The position of an element in the order of a selection's loops.
  Tile evaluatePosition(const Reduction &reduction);
  /// What combiner `number` combines of an element.
  FailureOr<Tile> evaluateState(BodyContext &context,
                                const Reduction &reduction, unsigned number);
  /// Makes elements of a selection whose keys are NaN such that any others
  /// replace them, unless NaN is kept.
  void dropNaN(const Reduction &reduction, MutableArrayRef<Tile> states);
  FailureOr<Tile> evaluateInit(const Reduction &reduction, unsigned result);
  SmallVector<Tile> reduceAlong(const Reduction &reduction,
                                ArrayRef<Tile> states, unsigned axis);
  /// What is accumulated in `states`, of the axes `reduced` and of all blocks
  /// that have parts of them.
  FailureOr<SmallVector<Tile>> reduceStates(const Reduction &reduction,
                                            SmallVector<Tile> states,
                                            ArrayRef<unsigned> reduced);
  /// Combines states element by element.
  SmallVector<Tile> combineStates(const Reduction &reduction,
                                  ArrayRef<Tile> kept, ArrayRef<Tile> next);
  /// The results of what is accumulated over `reduced`.
  FailureOr<SmallVector<Tile>> finishReduction(const Reduction &reduction,
                                               SmallVector<Tile> states,
                                               ArrayRef<unsigned> reduced);
  FailureOr<Tile> finishCombiner(const Reduction &reduction, unsigned result,
                                 Tile sum, ArrayRef<unsigned> reduced);
  FailureOr<SmallVector<Tile>> finishSelection(const Reduction &reduction,
                                               SmallVector<Tile> states,
                                               ArrayRef<unsigned> reduced);
  FailureOr<SmallVector<Tile>> finishRescaled(const Reduction &reduction,
                                              SmallVector<Tile> states,
                                              ArrayRef<unsigned> reduced);
  /// What result `result` of a selection is for the element at `position`.
  FailureOr<Tile> evaluateAt(const Reduction &reduction, unsigned result,
                             Tile position);
  /// Replaces elements past the end of the reduced axes by the identity.
  Tile maskReduced(Tile value, ArrayRef<unsigned> reduced, TypedAttr neutral);
  Tile castTile(Tile tile, Type element);
  bool mentions(ArrayRef<AffineExpr> coords, unsigned dim) const;

  // Reductions in granules (EmitGranules.cpp).
  /// The axes that count granules of an axis and run along one of them.
  struct GranuleAxes {
    unsigned parts, inside;
    /// Coordinates along the dimensions of the axis, by granules.
    DenseMap<unsigned, AffineExpr> coords;
  };
  /// Gives the last axis, of `dims`, one that counts granules of it, and one
  /// along a granule.
  LogicalResult addGranuleAxes(ArrayRef<unsigned> dims);
  /// Sets the offsets of axes that count granules.
  void placeGranules();
  /// The coordinates of `tensor` when its elements stand for granules.
  std::optional<Coords> granuleCoords(Value tensor);
  /// Repeats what a tile has for each granule for all elements of it.
  Tile spreadGranules(Tile tile, const GranuleAxes &granules);
  FailureOr<Tile> emitGranules(linalg::LinalgOp op, unsigned result,
                               const Granules &granules);

  // Reads at exchanged places (EmitExchanges.cpp).
  /// Finds the operations that make products or use what comes from them.
  void findProducts();
  /// Tiles along `axis` begin and end with whole spans.
  bool holdsSpan(unsigned axis, int64_t span) const;
  /// `tensor` at coordinates that are those of axes, some with bits flipped:
  /// its tile, with elements exchanged. None for other coordinates.
  FailureOr<std::optional<Tile>> evaluateExchanged(Value tensor,
                                                   ArrayRef<AffineExpr> coords);

  // Contractions (EmitContractions.cpp).
  /// A sum of products of two factors, each with an axis of its own.
  struct DotForm {
    /// The factors, values of the body: rows and columns of the sum.
    std::array<Value, 2> factors;
    /// The element types to bring them to. No value changes on the way.
    std::array<Type, 2> elements;
    /// Axes of the rows and columns.
    SmallVector<unsigned> axes;
    /// The rows for which the products count; null for all.
    Value condition;
  };
  std::optional<DotForm> matchDot(const Reduction &reduction,
                                  unsigned contracted);
  FailureOr<Value> emitDot(BodyContext &context, const DotForm &dot,
                           unsigned contracted, Value accumulator);
  /// What a sum along `contracted` starts from, instead of `init`: one sum for
  /// each of the warps that share the contracted dimension.
  Value addParts(Value init, unsigned contracted);
  /// The sum, over `sumAxes`, of what these warps have.
  Value sumParts(Value sum, ArrayRef<unsigned> sumAxes);
  /// True when `tile` is zero wherever its coordinate along `axis` is past the
  /// end.
  bool isZeroPast(Tile tile, unsigned axis);
  /// When the blocks of a cluster share the contracted dimension and all of
  /// `group` are dots along `reduced`: moves them to the coordinates of the
  /// whole tile.
  bool shareContraction(MutableArrayRef<Reduction> group,
                        ArrayRef<unsigned> reduced);
  /// Lets `loop`, over `axis`, run through this block's share.
  void restrictToShare(scf::ForOp loop, const Axis &axis);
  /// Of a tile's axes: replaces the one of which each block has a part.
  unsigned takePart(SmallVectorImpl<unsigned> &tileAxes) const;
  /// This block's part of the sum of all blocks' tiles.
  Tile addShares(Tile sum);
  /// The same for blocks that are no cluster, of all sums at once; `sumAxes`
  /// become those of the parts.
  FailureOr<SmallVector<Value>>
  exchangeShares(ValueRange sums,
                 MutableArrayRef<SmallVector<unsigned>> sumAxes);

  // Tiles that blocks share (EmitStream.cpp).
  /// The part of a tile that is computed now: chunks of the contracted
  /// dimension from `begin` to `end`, in elements.
  struct Stream {
    Value begin, end;
    /// The segment is the tile's last: this block finishes the tile.
    Value owns;
    /// This block's slot for what it hands over, the first that this tile's
    /// other segments lie in, how far these are apart, and how many there are.
    Value slot, firstSlot;
    int64_t slotStep = 1, numSlots = 0;
    /// The contraction, and what follows it in blocks that own no tile.
    scf::ForOp loop;
    scf::IfOp given;
  };
  LogicalResult refuseStream(const Twine &reason);
  /// Opens the loop over the segments of `block`, of so many blocks or
  /// clusters; returns the number of the tile.
  FailureOr<Value> emitSegments(Value slot, Value block, int64_t blocks);
  /// Global memory in which blocks hand sums to each other.
  struct Scratch {
    Value slots, signals;
  };
  /// Memory for so many times `sums`; fails when their signals do not fit.
  FailureOr<Scratch> makeScratch(ValueRange sums, int64_t numSlots);
  /// Restricts `loop` to the segment, hands `sums` over unless the block
  /// owns the tile, and adds what others have of it.
  FailureOr<SmallVector<Value>> shareSums(scf::ForOp loop, ValueRange sums);
  /// Puts all that follows the sums under the condition that the block owns
  /// the tile.
  LogicalResult guardFinish();

  // Rows in groups (EmitGroups.cpp).
  /// When each tile of rows has rows of one group: what groups them, along
  /// which dimension, how many tiles there are, and of the present tile the
  /// group, as a number and as a coordinate, and the group's last row plus one.
  struct TileGroups {
    RowGroupsOp op;
    unsigned dim = 0;
    Value total;
    Tile group;
    AffineExpr coord;
    Value end;
  };
  LogicalResult refuseGroups(const Twine &reason);
  /// Finds out what the schedule's axes of kind `group` mean.
  LogicalResult findTileGroups();
  bool isGrouped(unsigned axis) const {
    return tileGroups && axes[axis].dim == tileGroups->dim;
  }
  /// The most tiles that there can be along an axis of the grid, over the
  /// function's symbols, and how many there are.
  AffineExpr getMostTiles(unsigned axis) const;
  Value countTiles(unsigned axis);
  tile::FindGroupOp findGroup(Value number);
  /// Makes tile `number` of all groups the present one; returns its first row.
  Value placeGroup(Value number);
  /// `view`, up to the last row of the tile's group.
  TypedValue<tile::ViewType> endWithGroup(TypedValue<tile::ViewType> view);
  /// True when `sum`, the form of `op`, needs the tile's group alone.
  bool isGroupOfTile(linalg::LinalgOp op, const GroupedSum &sum,
                     ArrayRef<AffineExpr> loopCoords) const;
  /// Zero where the tile's rows are in no group, else `sum`.
  Tile clearUngrouped(Tile sum, TypedAttr zero);
  /// Lets `loop`, over the groups of `sum`, run through those of the tile's
  /// rows.
  LogicalResult restrictToGroups(scf::ForOp loop, const Reduction &sum);
  /// The groups of the rows at `coords`.
  FailureOr<Tile> evaluateGroups(RowGroupsOp op, ArrayRef<AffineExpr> coords);

  // Dimensions that several blocks have parts of (EmitPanels.cpp).
  /// A group of co-resident blocks, which have different parts of one dimension
  /// and combine what they reduce of it.
  struct Panel {
    unsigned dim = 0;
    /// The axis of the grid along which they differ: that of the dimension's
    /// tiles, or one of their numbers.
    unsigned axis = 0;
    int64_t members = 1, panels = 1;
    /// The tiles of the dimension are dealt out in rounds, one to each member.
    bool inRounds = false;
    /// The part of the dimension that the block walks; null where it has tiles
    /// of it.
    Value begin, end;
    /// Where it would end if the dimension went on.
    Value past;
    /// This block's panel, its number in it, and how many tiles it had before.
    Value panel, member, turn;
    tile::ScratchOp memory;
    SmallVector<tile::PanelReduceOp> exchanges;
    /// Those of walks in rounds.
    SmallVector<tile::PanelScanOp> scans;
  };
  LogicalResult refusePanel(const Twine &reason);
  /// Dimension `dim` lives in the tiles of several blocks.
  bool isOfPanel(unsigned dim) const;
  /// Puts the axis along which the blocks of a panel differ last in `gridAxes`,
  /// when the schedule has panels.
  LogicalResult addPanelAxis(SmallVector<unsigned> &gridAxes);
  /// Describes the panel of block `first`, which is at tile `number` of the
  /// grid, when the schedule has panels.
  LogicalResult openPanel(ArrayRef<unsigned> gridAxes, Value first,
                          Value number);
  struct WalkBounds {
    Value begin, end, step;
  };
  /// The steps of a walk along `axis`: of its piece, or what the block has of
  /// that.
  WalkBounds getWalk(const Axis &axis);
  /// The same where the present row begins `lead` elements into its first tile.
  WalkBounds getLeadingWalk(const Axis &axis, Value lead);
  /// The dimensions that a walk along `dim` runs through, which come before it
  /// and are merged with it, and their elements.
  SmallVector<unsigned> getWalkedDims(unsigned dim) const;
  AffineExpr getWalkedExtent(unsigned dim) const;
  /// The pieces that a walk along `dim` in steps of `step` is cut into, so that
  /// only the last, or the first and the last, asks what lies in the extent;
  /// `inOrder`: in the order of positions.
  SmallVector<Piece, 2> getPieces(unsigned dim, int64_t step, bool inOrder);
  /// What a block's `part` is together with those of the panel's others.
  FailureOr<SmallVector<Tile>> combineInPanel(ArrayRef<Tile> parts,
                                              const Reduction &reduction);
  /// The memory of all exchanges; its size is set when they are known.
  Value getPanelMemory();
  /// Gives the exchanges their memory, which the last block leaves as it was.
  LogicalResult closePanel();

  // Rows that begin at odd addresses (EmitRowStarts.cpp).
  /// Where rows along a dimension begin in memory, modulo the elements that one
  /// instruction moves: the sum of positions times strides.
  struct RowStart {
    int64_t elements = 1;
    SmallVector<std::pair<unsigned, int64_t>> rows;
  };
  /// Where the rows of `tensor` along `dim` begin, unless all do at multiples
  /// of what one instruction moves.
  std::optional<RowStart> matchRowStart(Value tensor, unsigned dim) const;
  /// What decides where tiles along `dim` begin; null: position 0.
  const RowStart *getRowStart(unsigned dim);
  /// The most elements that tiles along `dim` begin before position 0.
  int64_t getMostLead(unsigned dim);
  /// How many elements that is for the present row; null where tiles along the
  /// axis begin at position 0 in all rows.
  Value getLead(const Axis &axis);
  /// Lets the tiles of the grid, and those that blocks hold, begin early.
  void leadTiles();

  // Scans (EmitScans.cpp).
  /// A scan along the axis that is walked now.
  struct WalkedScan {
    ScanOp op;
    Coords coords;
    /// Axes of its results, and of its states from step to step.
    SmallVector<unsigned> axes, outerAxes;
    /// Types of its states, and their identities where tiles are walked.
    SmallVector<Type> types;
    SmallVector<TypedAttr> neutral;
  };
  FailureOr<std::vector<WalkedScan>> findScans(ArrayRef<ScanOp> scans,
                                               unsigned axis);
  /// Scans the present tile, or element, from `states`; appends those after it.
  LogicalResult scanTile(WalkedScan &scan, unsigned axis, ValueRange states,
                         SmallVectorImpl<Value> &next);
  LogicalResult scanElement(WalkedScan &scan, ValueRange states,
                            SmallVectorImpl<Value> &next);
  /// Scans `elements`, of this block's tile of a round, from `states`, which
  /// are those before the round. Returns those before the tile; appends those
  /// after the round.
  FailureOr<SmallVector<Value>> scanRound(WalkedScan &scan, ValueRange elements,
                                          ValueRange states, int64_t dim,
                                          SmallVectorImpl<Value> &next);
  /// Sets where the tile of the present step begins, in a loop over the axis's
  /// piece, number `number` of those that are walked.
  void placeWalk(unsigned axis, scf::ForOp loop, bool backwards,
                 unsigned number);
  /// Walks iteration dimension `dim` tile by tile, carrying the states of
  /// `scans`, and stores `results` on the way.
  LogicalResult emitScanLoop(ArrayRef<ScanOp> scans, unsigned dim,
                             ArrayRef<unsigned> results,
                             ArrayRef<unsigned> loopDims);

  // The grid (EmitGrid.cpp).
  LogicalResult emitGrid();
  /// Gives iteration dimensions `dims`, adjacent ones, their axis.
  LogicalResult addGridAxis(ArrayRef<unsigned> dims);
  /// Sets the offsets of the axes in the grid for tile number `number`.
  void placeTile(Value number, ArrayRef<unsigned> gridAxes);
  /// Adds an axis for a part of axis `whole`, which takes the other's place.
  void addPartAxis(unsigned whole, int64_t tile, std::optional<int64_t> start);
  /// Groups of warps that have as many rows of a tile each, 1 if a group has
  /// them all.
  int64_t countRowGroups() const;
  /// Opens the loop whose turns are the groups that have rows of a tile.
  void openRowGroups(int64_t groups);
  /// Opens a loop that carries nothing and belongs to no axis.
  scf::ForOp openPlainLoop(Value begin, Value end, Value step);
  /// Binds dimensions to axis `to` where they are bound to `from`.
  void rebind(unsigned from, unsigned to);
  bool isUsed(ArrayRef<AffineExpr> coords, unsigned axis) const;
  /// How a tensor of the kernel is addressed: its view, in which dimensions
  /// that one axis runs through are one, and the coordinates there.
  struct Place {
    TypedValue<tile::ViewType> view;
    Coords coords;
    SmallVector<bool> checked;
  };
  /// `key` is the tensor's key in `views`.
  Place placeOf(Value key, Value tensor, ArrayRef<AffineExpr> coords);
  /// The memory of view `key`, row-major with other sizes.
  TypedValue<tile::ViewType> viewAs(Value key, ArrayRef<AffineExpr> sizes);
  /// Where `insert` puts what its source has at `coords`, in the memory of view
  /// `key`, which has all of its result.
  FailureOr<Place> placeOfSlice(Value key, tensor::InsertSliceOp insert,
                                ArrayRef<AffineExpr> coords);

  // Roots (TileEmitter.cpp).
  LogicalResult emitRoots();
  LogicalResult emitRootGroups();

  // Strips (EmitStrips.cpp).
  /// Stores one element of the strips after the other, in a loop when there are
  /// several strips at a place.
  LogicalResult emitStrips(function_ref<LogicalResult()> storeElement);
  /// Moves on to the next element of the strips; false after the last.
  bool advanceStrips();

  LogicalResult emitRootGroup(ArrayRef<unsigned> results,
                              ArrayRef<unsigned> loopDims);
  LogicalResult storeRoot(unsigned result);
  /// Coordinates of every dimension of a tensor that is indexed by plain
  /// iteration dimensions, in the present scope.
  FailureOr<Coords> plainCoords(Value tensor);
  void remember(Value tensor, ArrayRef<AffineExpr> coords, Tile tile,
                unsigned depth);

  KernelOp kernel;
  ScheduleAttr schedule;
  const IterationSpace &space;
  SymbolicShapes &shapes;
  MLIRContext *context;
  OpBuilder builder;
  Location loc;
  tile::ProgramOp program;
  SmallVector<Scope> scopes;
  SmallVector<Axis> axes;
  /// The axis that iteration dimensions are bound to now.
  DenseMap<unsigned, unsigned> bound;
  /// Coordinates along dimensions that share an axis with others.
  DenseMap<unsigned, AffineExpr> merged;
  /// Dimensions of the grid that are covered in strips, and the element of each
  /// strip that is computed now.
  struct Strip {
    unsigned dim;
    int64_t size;
    int64_t position;
    /// Strips at each place, and the number of the one that is computed now.
    int64_t steps;
    AffineExpr step;
  };
  SmallVector<Strip> strips;
  /// Operations that make products, and those that use what they give.
  llvm::SmallPtrSet<Operation *, 8> fromProducts;
  /// By the dimension that is divided.
  DenseMap<unsigned, GranuleAxes> granuleAxes;
  /// The scope in which the axes of the grid are bound: one more when each
  /// block walks several tiles, and when groups of warps have rows of a tile.
  unsigned gridDepth = 0;
  /// The axes that make up a tile which is no power of two.
  SmallVector<unsigned> parts;
  /// The number of the part after the one whose results are stored now.
  size_t nextPart = 1;
  /// The rank of the block in its cluster, when a cluster shares a tile.
  Value clusterRank;
  /// The number of the group that has these rows of the tile.
  Value rowGroup;
  /// The number of this block, where blocks share a tile and are no cluster.
  Value blockNumber;
  /// When the blocks of the grid share tiles.
  std::optional<Stream> stream;
  std::optional<TileGroups> tileGroups;

  /// When rows are reduced of which several blocks have parts.
  std::optional<Panel> panel;
  DenseMap<unsigned, std::optional<RowStart>> rowStarts;
  /// Index tiles used as coordinates, with their depth.
  SmallVector<std::pair<Tile, unsigned>> indexSymbols;
  SmallVector<unsigned> symbolArguments;
  DenseMap<unsigned, Value> symbolValues;
  DenseMap<Value, Value> views;
  /// Views of other sizes, by key in `views` and sizes.
  std::map<std::pair<const void *, std::vector<const void *>>, Value>
      otherViews;
  DenseMap<AffineExpr, Value> sizes;
  AffineExpr gridSize;
  /// The last operation that computes a size, all at the start of the program.
  Operation *lastSize = nullptr;
};

/// True when every coordinate of every tile of size `tile` is below `extent`.
bool tilesExactly(AffineExpr extent, int64_t tile);

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_TILEEMITTER_H
