//===- OpEmitter.h - Builds the code of one operation -----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what classes share that build the code of an operation in
// several functions.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_TILETONVVM_OPEMITTER_H
#define FUSION_LIB_CONVERSION_TILETONVVM_OPEMITTER_H

#include "fusion/Conversion/TileToNVVM/ProgramLowering.h"

namespace mlir::fusion {

/// The parts of a program's lowering by short names.
class OpEmitter {
protected:
  explicit OpEmitter(ProgramLowering &lowering)
      : lowering(lowering), builder(lowering.getBuilder()),
        threads(lowering.getThreads()),
        sharedMemory(lowering.getSharedMemory()) {}

  /// The sizes of `view`, as indices.
  SmallVector<Value> getSizes(tile::MakeViewOp view) {
    SmallVector<Value> sizes;
    unsigned dynamic = 0;
    for (int64_t size : view.getType().getShape())
      sizes.push_back(ShapedType::isDynamic(size)
                          ? lowering.getScalar(view.getSizes()[dynamic++])
                          : builder.constantIndex(size));
    return sizes;
  }

  ProgramLowering &lowering;
  ThreadBuilder &builder;
  ThreadIndex &threads;
  SharedMemory &sharedMemory;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_TILETONVVM_OPEMITTER_H
