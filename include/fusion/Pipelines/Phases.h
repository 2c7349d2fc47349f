//===- Phases.h - The phases and their pipelines ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the table of phases and one pipeline builder for each
// phase that rewrites IR.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PIPELINES_PHASES_H
#define FUSION_PIPELINES_PHASES_H

#include "fusion/FusionPlanning/Passes.h"
#include "fusion/Support/Counts.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mlir::fusion {

enum class Phase {
#define FUSION_PHASE(enumerator, name, sentence) enumerator,
#include "fusion/Pipelines/Phases.def"
};

struct PhaseInfo {
  Phase phase;
  /// As in --compile-to.
  StringRef name;
  /// One sentence on what is done or decided.
  StringRef description;
};

/// All phases, in the order in which they run.
ArrayRef<PhaseInfo> getPhases();

/// The phase called `name`, if there is one.
std::optional<Phase> findPhase(StringRef name);

/// The file of --dump-phases-to for a phase: "04-tile.mlir".
std::string getDumpName(const PhaseInfo &info);

/// Prints one line a phase: its name and its description.
void printPhases(raw_ostream &os);

struct PhaseOptions {
  /// A name of the target table; empty takes the module's `fusion.target`, and
  /// the default target if it has none.
  std::string target;
  /// Roundings that the program declares may be dropped.
  bool fastNumerics = false;
  /// Fuse operations; without it each is a kernel of its own.
  bool fuse = true;
  /// Tell profilers the lines of the program.
  bool lineInfo = false;
  /// Compute every operation on floats by itself and in one form on all chips,
  /// simplified by nothing that is known about its operands.
  bool opaqueFloats = false;
  /// Elements that a dynamic dimension is planned and scheduled for.
  int64_t representativeSize = kRepresentativeSize;
  /// Bytes of the largest value that kernels may store for contractions; 0:
  /// any.
  int64_t largestValue = kLargestValue;
  /// Print the ledger of each function on standard error.
  bool printLedger = false;
  /// Functions that a phase up to schedule refuses stay as they are, with a
  /// remark. For several phases at once (buildPhases).
  bool partial = false;
  /// Who asks for what contracts demand, as the ledger names it; empty: the
  /// attributes do.
  std::string demandedBy;
  /// Is given the plan of every function; may be empty.
  PlanObserver planObserver;
};

// Each takes a pass manager of modules that have been through the phase before.
// The first two take one of functions as well. The chip is that of the options,
// or the `fusion.target` of the module.
void buildPlanPipeline(OpPassManager &manager, const PhaseOptions &options);
void buildSchedulePipeline(OpPassManager &manager, const PhaseOptions &options);
void buildTilePipeline(OpPassManager &manager, const PhaseOptions &options);
void buildGpuPipeline(OpPassManager &manager, const PhaseOptions &options);
void buildPtxPipeline(OpPassManager &manager, const PhaseOptions &options);

/// Adds the passes of `phase`; none for the package phase, which reads the IR
/// and leaves it as it is. The phases plan and schedule may be of functions.
void buildPhasePipeline(Phase phase, OpPassManager &manager,
                        const PhaseOptions &options);

/// Adds the phases from `first` to `last` to a manager of modules.
void buildPhases(Phase first, Phase last, OpPassManager &manager,
                 const PhaseOptions &options);

/// Registers "fusion-<phase>" for one phase and "fusion-to-<phase>" for all up
/// to it. The pipeline of the input phase is registered with its library.
void registerPhasePipelines();

} // namespace mlir::fusion

#endif // FUSION_PIPELINES_PHASES_H
