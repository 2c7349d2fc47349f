//===- WarpRole.h - Whose code is being lowered -----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the role of the warps whose code is being lowered, and the
// barriers among those that share it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_CONVERSION_TILETONVVM_WARPROLE_H
#define FUSION_CONVERSION_TILETONVVM_WARPROLE_H

#include "fusion/Conversion/TileToNVVM/ThreadBuilder.h"

namespace mlir::fusion {

/// The threads that run the code at hand.
class WarpRole {
public:
  enum class Kind {
    /// All warps.
    Block,
    /// One thread of a warp that feeds the others.
    Producer,
    /// The warps of a program's tiles, of each group of them.
    Consumer
  };

  /// `numWarps` warps share a tile.
  WarpRole(ThreadBuilder &builder, int32_t numWarps)
      : builder(builder), numWarps(numWarps) {}

  void setKind(Kind role) { kind = role; }
  bool isConsumer() const { return kind == Kind::Consumer; }
  bool isProducer() const { return kind == Kind::Producer; }
  /// In a consumer of several groups: the number of the thread's own.
  void setGroup(Value number) { group = number; }
  Value getGroup() const { return group; }

  /// Waits for all warps that share tiles with this one.
  void createBarrier();
  /// Waits for the four warps of warpgroup `number`, which this one is of.
  void createWarpgroupBarrier(Value number);

private:
  /// A barrier of `threads` threads; `number` is that of the first group's.
  void createBarrier(Value number, int32_t threads);

  ThreadBuilder &builder;
  int32_t numWarps;
  Kind kind = Kind::Block;
  Value group;
};

} // namespace mlir::fusion

#endif // FUSION_CONVERSION_TILETONVVM_WARPROLE_H
