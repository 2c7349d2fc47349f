//===- TileAxes.h - Axes of tiles -------------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the axes that the dimensions of tiles stand for, and which
// of them the iteration dimensions of a kernel are bound to.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_TILEAXES_H
#define FUSION_LIB_CODEGEN_TILEAXES_H

#include "ScheduledKernel.h"
#include "Tile.h"

namespace mlir::fusion {

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
  /// It runs along the parts of a block's run.
  bool ofRun = false;
  /// Tiles of a round of the walk, one for each of so many blocks, or elements
  /// of a step of a scan that are written out. The last round of blocks may
  /// have tiles that lie past the extent as a whole.
  int64_t round = 1;
  /// The most elements that tiles begin before the extent does.
  int64_t lead = 0;
  /// Where this tile would begin without.
  Value unled;

  /// How far a step of the walk goes.
  int64_t step() const { return tile * round; }
};

/// True when every coordinate of every tile of size `tile` is below `extent`.
bool tilesExactly(AffineExpr extent, int64_t tile);

/// A dimension of the grid that is covered in strips, and the element of each
/// strip that is computed now.
struct Strip {
  unsigned dim;
  int64_t size;
  int64_t position;
  /// Strips at each place, and the number of the one that is computed now.
  int64_t steps;
  AffineExpr step;
};

/// A block's run of a dimension, divided into parts of `length` elements that
/// are walked side by side: axis `parts` counts them.
struct DividedRun {
  unsigned parts;
  int64_t length;
  /// Elements of all blocks' runs of a round, the last of which may go past the
  /// extent.
  int64_t round;
};

/// The axes that count granules of an axis and run along one of them. What
/// walks a granule runs along it in the second one's stead, from `begin` to
/// `end`.
struct GranuleAxes {
  unsigned parts, inside;
  Value begin, end;
  /// Coordinates along the dimensions of the axis, by granules.
  DenseMap<unsigned, AffineExpr> coords;
};

/// The axes of a kernel's tiles.
class TileAxes {
public:
  explicit TileAxes(const ScheduledKernel &kernel) : kernel(kernel) {}

  const ScheduledKernel &getKernel() const { return kernel; }

  //===--------------------------------------------------------------------===//
  // Axes
  //===--------------------------------------------------------------------===//

  Axis &operator[](unsigned axis) { return axes[axis]; }
  const Axis &operator[](unsigned axis) const { return axes[axis]; }
  unsigned size() const { return axes.size(); }
  auto begin() { return axes.begin(); }
  auto end() { return axes.end(); }
  auto begin() const { return axes.begin(); }
  auto end() const { return axes.end(); }
  /// Returns the number of the new axis.
  unsigned add(Axis axis);
  /// Adds an axis for a part of axis `whole`, which takes the other's place.
  unsigned addPart(unsigned whole, int64_t tile, std::optional<int64_t> start);
  /// Adds axes that count granules of `axis`, and run along one of them, for
  /// its dimensions `dims`.
  const GranuleAxes &addGranules(unsigned axis, ArrayRef<unsigned> dims);
  /// Adds an axis along which blocks have a granule of dimension `dim` each;
  /// returns its number.
  unsigned addWalkedGranules(unsigned dim);
  /// Says where the granule of `dim` that this block walks begins and ends.
  void placeGranule(unsigned dim, Value begin, Value end);

  /// The axes that make up a tile which is no power of two.
  ArrayRef<unsigned> getParts() const { return parts; }
  void setParts(ArrayRef<unsigned> axes) { parts.assign(axes); }
  MutableArrayRef<Strip> getStrips() { return strips; }
  ArrayRef<Strip> getStrips() const { return strips; }
  void addStrip(Strip strip) { strips.push_back(strip); }
  const std::optional<DividedRun> &getRun() const { return run; }
  /// Divides the run that each of `blocks` blocks has into `count` parts.
  void addRun(int64_t count, int64_t length, int64_t blocks, unsigned depth);
  /// By the dimension that is divided.
  const DenseMap<unsigned, GranuleAxes> &getGranules() const {
    return granules;
  }

  //===--------------------------------------------------------------------===//
  // Dimensions
  //===--------------------------------------------------------------------===//

  /// The axis that each dimension is bound to now.
  using Bindings = DenseMap<unsigned, unsigned>;
  const Bindings &getBindings() const { return bound; }
  void setBindings(Bindings bindings) { bound = std::move(bindings); }
  void bind(unsigned dim, unsigned axis) { bound[dim] = axis; }
  bool isBound(unsigned dim) const { return bound.contains(dim); }
  unsigned getBound(unsigned dim) const { return bound.lookup(dim); }
  /// Binds dimensions to axis `to` where they are bound to `from`.
  void rebind(unsigned from, unsigned to);
  /// Forgets the bindings made in scopes from `depth` on.
  void unbindFrom(unsigned depth);
  /// The coordinate along a dimension that shares an axis with others; null for
  /// any other.
  AffineExpr getMerged(unsigned dim) const { return merged.lookup(dim); }
  /// Lets adjacent dimensions `dims` share `axis`.
  void merge(ArrayRef<unsigned> dims, unsigned axis);
  /// Tiles along `dim` begin anywhere.
  void setGroupedDim(unsigned dim) { groupedDim = dim; }
  std::optional<unsigned> getGroupedDim() const { return groupedDim; }

  //===--------------------------------------------------------------------===//
  // Coordinates
  //===--------------------------------------------------------------------===//

  /// The axes of a tile at `coords`.
  SmallVector<unsigned> getAxesOf(ArrayRef<AffineExpr> coords) const;
  /// The innermost scope that binds any of `coords`.
  unsigned getDepth(ArrayRef<AffineExpr> coords) const;
  /// A coordinate that is computed, in the scope of depth `depth`.
  AffineExpr asCoordinate(Tile indices, unsigned depth);
  /// What is known of coordinates in the branch that is emitted now, beside
  /// what their axes say.
  struct AssumedBounds {
    AffineExpr coord;
    int64_t least, most;
  };
  SmallVectorImpl<AssumedBounds> &getAssumedBounds() { return assumed; }
  ArrayRef<AssumedBounds> getAssumedBounds() const { return assumed; }
  unsigned getNumIndexTiles() const { return indexTiles.size(); }
  /// The tile that `symbol` stands for; null for the symbol of a size.
  const Tile *findIndexTile(AffineExpr symbol) const;

private:
  const ScheduledKernel &kernel;
  SmallVector<Axis> axes;
  Bindings bound;
  DenseMap<unsigned, AffineExpr> merged;
  std::optional<unsigned> groupedDim;
  SmallVector<Strip> strips;
  std::optional<DividedRun> run;
  SmallVector<unsigned> parts;
  DenseMap<unsigned, GranuleAxes> granules;
  /// Index tiles used as coordinates, with their depth.
  SmallVector<std::pair<Tile, unsigned>> indexTiles;
  SmallVector<AssumedBounds> assumed;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_TILEAXES_H
