//===- EmitScans.cpp - Scans on tiles -------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements scans: one loop walks the scanned dimension and carries
// the states of every scan along it, so that what consumes a scan's result is
// computed in the same step.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

LogicalResult TileEmitter::emitScanLoop(ArrayRef<ScanOp> scans, unsigned dim,
                                        ArrayRef<unsigned> results,
                                        ArrayRef<unsigned> loopDims) {
  ScanOp first = scans.front();
  for (ScanOp scan : scans)
    if (scan.getReverse() != first.getReverse())
      return scan.emitError("FUS-3114: scans in both directions along one "
                            "dimension cannot share a kernel");
  insertAt(scopes.size() - 1);

  // The axis exists before its loop, so that coordinates can be formed.
  Axis walked{dim, space.getDims()[dim].extent, 1};
  walked.depth = scopes.size();
  axes.push_back(walked);
  unsigned axis = axes.size() - 1;
  bound[dim] = axis;
  SmallVector<Value> inits;
  for (ScanOp scan : scans) {
    FailureOr<Coords> coords = plainCoords(scan.getResult(0));
    if (failed(coords))
      return scan.emitError("FUS-3115: a scan's dimension has no axis");
    for (Value init : scan.getInits()) {
      FailureOr<Tile> scalar = scalarValue(init);
      if (failed(scalar))
        return failure();
      inits.push_back(broadcast(*scalar, axesOf(*coords)).value);
    }
  }

  scf::ForOp loop = openLoopOn(axis, inits);
  if (first.getReverse()) {
    // Step i handles the i-th element from the end.
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value last =
        arith::SubIOp::create(builder, loc, sizeOf(axes[axis].extent), one);
    axes[axis].offset =
        arith::SubIOp::create(builder, loc, last, loop.getInductionVar());
  }
  SmallVector<Value> next;
  for (ScanOp scan : scans) {
    Coords coords = *plainCoords(scan.getResult(0));
    SmallVector<unsigned> stateAxes = axesOf(coords);
    unsigned depth = depthOf(coords);
    BodyContext context;
    context.block = &scan.getCombiner().front();
    unsigned count = scan.getInputs().size();
    SmallVector<Tile> states;
    for (unsigned i = 0; i < count; ++i) {
      states.push_back({loop.getRegionIterArg(next.size() + i), stateAxes});
      context.tiles[context.block->getArgument(i)] = states.back();
      FailureOr<Tile> element = evaluate(scan.getInputs()[i], coords);
      if (failed(element))
        return failure();
      context.tiles[context.block->getArgument(count + i)] = *element;
    }
    Operation *yield = context.block->getTerminator();
    for (unsigned i = 0; i < count; ++i) {
      FailureOr<Tile> combined = evaluateScalar(context, yield->getOperand(i));
      if (failed(combined))
        return failure();
      Tile state = broadcast(*combined, stateAxes);
      next.push_back(state.value);
      remember(scan.getResult(i), coords,
               scan.getExclusive() ? states[i] : state, depth);
    }
  }
  if (failed(emitRootGroup(results, loopDims)))
    return failure();
  closeLoop(next);
  return success();
}
