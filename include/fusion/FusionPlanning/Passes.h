//===- Passes.h - Passes of the plan phase ----------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the passes of the plan phase and what they are made of.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_PASSES_H
#define FUSION_FUSIONPLANNING_PASSES_H

#include "fusion/Analysis/FunctionPasses.h"
#include "fusion/FusionPlanning/FusionPlanner.h"
#include "fusion/Support/Counts.h"
#include "mlir/Pass/Pass.h"
#include <functional>
#include <memory>

namespace mlir::fusion {

#define GEN_PASS_DECL
#include "fusion/FusionPlanning/Passes.h.inc"

/// Is given the plan of each function, with the graph that it is for.
using PlanObserver = std::function<void(
    FunctionOpInterface, const ComputeGraph &, const FusionPlan &)>;

/// The pass with the chip named by `options.target`, and `observer` called with
/// every plan, e.g. to write the ledger to a file.
std::unique_ptr<Pass> createFormKernelsPass(FormKernelsPassOptions options,
                                            PlanObserver observer);

/// Rewrites concatenations of exchanged halves of one tensor into operations
/// that read each element's partner.
void joinExchangedHalves(FunctionOpInterface func);

/// Lets contractions whose operands repeat elements along a part of a dimension
/// be made along its parts, and what follows them up to other contractions.
void splitRepeats(FunctionOpInterface func);

/// Asks the maximum of elements, where there is one, whether all of them are
/// minus infinity.
void foldMaskedRows(FunctionOpInterface func);

/// Lets contractions add up what is summed along their batch alone.
void foldBatchSums(FunctionOpInterface func);

/// Lets pointwise operations compute what they read that is a function of
/// indices, a mask for example.
void foldIndexFunctions(FunctionOpInterface func);

/// Lets contractions of widened floats take them as they were before.
void foldWidening(FunctionOpInterface func);

/// Lets lookups at indices that are never negative not ask whether they are.
void foldNegativeIndices(FunctionOpInterface func);

/// Lets elements that are looked up where an operation's own indices say be
/// operands of it.
void foldLookups(FunctionOpInterface func);

/// Lets contractions read operands that are other tensors transposed or
/// repeated, and all operations those with dimensions of size one more, where
/// these come from.
void foldCopies(FunctionOpInterface func);

/// Lets elements that are looked up in other tensors for a contraction be
/// looked up along the dimensions behind the reshapes that follow.
void reshapeLookups(FunctionOpInterface func);

/// Lets what is computed between reshapes, and reduced there, be computed on
/// the dimensions before the reshapes, where nothing needs those that they
/// split.
void collapseReshapes(FunctionOpInterface func);

/// Makes contractions along the dimensions that a reshape splits theirs into,
/// where pointwise users need these.
void raiseReshapes(FunctionOpInterface func);

/// Moves each reshape between a reduction or contraction and its pointwise
/// users behind them, where the two can then share dimensions.
void sinkReshapes(FunctionOpInterface func);

/// Marks the insertions of slices that need not write more than the slice,
/// because a result overwrites the argument that they insert into. A remark
/// tells for each such argument what became of it.
void writeInPlace(FunctionOpInterface func);

/// Lets scans of logarithms of sums of exponentials take approximations where
/// their results are rounded to 16 bits or fewer and nothing else reads them.
void approximateScans(FunctionOpInterface func);

/// Brings `func` into the form that planning reads: sizes are computed from
/// arguments, not from intermediate tensors, an op that does not read its
/// destination has an empty one, and insertions in place are marked.
LogicalResult prepareForPlanning(FunctionOpInterface func);

/// Replaces the computations of `func` by the kernels of `plan`, which was made
/// for it.
LogicalResult formKernels(FunctionOpInterface func, const ComputeGraph &graph,
                          const FusionPlan &plan);

/// Emits each entry of the ledger as a remark of the category `fusion-plan`.
void emitPlanRemarks(FunctionOpInterface func, const ComputeGraph &graph,
                     const FusionPlan &plan);

#define GEN_PASS_REGISTRATION
#include "fusion/FusionPlanning/Passes.h.inc"

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_PASSES_H
