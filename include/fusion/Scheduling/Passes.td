//===- Passes.td - Passes of the scheduling stage ---------*- tablegen -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SCHEDULING_PASSES_TD
#define FUSION_SCHEDULING_PASSES_TD

include "fusion/Analysis/FunctionPasses.td"

def SelectSchedulesPass : FunctionWisePass<"fusion-schedule-select"> {
  let summary = "Chooses the schedule of every kernel";
  let description = [{
    Writes `schedule` on each `fusion.kernel` that has none: the form of the
    kernel and, for each iteration dimension, whether blocks own tiles of it
    (`grid`), a tile holds all of it (`full`) or the block walks it (`loop`),
    with the tile's size, the warps along it and the elements of one thread.
    A schedule that is already there is left alone: it is the user's, or a
    tuning file's. Nothing else changes.
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect"];
  let options = [
    Option<"target", "target", "std::string", "",
           "chip to schedule for; the module's fusion.target when empty, sm_90a "
           "when it has none">,
    Option<"representativeSize", "representative-size", "int64_t",
           "::mlir::fusion::kRepresentativeSize",
           "elements that tiles are chosen for along a dynamic dimension">,
    Option<"candidate", "candidate", "unsigned", "0",
           "take the schedule of this rank instead of the one predicted to be "
           "fastest (for measuring)">,
  ];
}

def PackLaunchesPass : FunctionWisePass<"fusion-schedule-pack-launches"> {
  let summary = "Lets small kernels that are independent start in one launch";
  let description = [{
    Input: kernels with schedules. Kernels of a function that do not depend on
    each other get the same `launch` where starting them together is predicted
    to be faster: each then has blocks of its own in one grid, all with the
    registers and the shared memory of the neediest. They are moved next to each
    other, as long as the bytes that then lie between kernels at once are no more
    than at some place before, or than the L2 cache has. Kernels that read arguments
    alone stand in front of what reads them. Kernels of products, of sizes that the run alone knows, that write in
    place, or whose blocks wait for each other, start on their own; a remark says
    why.
  }];
  let dependentDialects = ["::mlir::fusion::FusionDialect"];
  let options = [
    Option<"target", "target", "std::string", "",
           "chip to schedule for; the module's fusion.target when empty, sm_90a "
           "when it has none">,
    Option<"representativeSize", "representative-size", "int64_t",
           "::mlir::fusion::kRepresentativeSize",
           "elements that tiles are chosen for along a dynamic dimension">,
  ];
}

def PrintPricesPass : FunctionWisePass<"fusion-schedule-print-prices"> {
  let summary = "Prints what each schedule of a kernel is predicted to cost";
  let description = [{
    Writes a line of JSON to the standard output for each kernel: its schedules
    in the order of `candidate` of `fusion-schedule-select`, with the terms of
    the predicted time,

        seconds = launch + largest + (1 - hidden) * (sum - largest)

    over memory, fp32, fp64, sfu and shared. Each term has a `value` and
    `slopes`: the relative change of the value for that of each fitted constant
    of the chip (docs/CostModel.md) that it depends on. A kernel of products has
    no such schedules. Nothing changes.
  }];
  let options = [
    Option<"target", "target", "std::string", "",
           "chip to price for; the module's fusion.target when empty, sm_90a "
           "when it has none">,
    Option<"representativeSize", "representative-size", "int64_t",
           "::mlir::fusion::kRepresentativeSize",
           "elements that a dynamic dimension is taken to have">,
  ];
}

#endif // FUSION_SCHEDULING_PASSES_TD
