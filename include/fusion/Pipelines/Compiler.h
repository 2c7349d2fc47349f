//===- Compiler.h - From a module to a package ------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the compiler as one function: a module of tensor programs
// goes in, the bytes of a package and a report come out.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PIPELINES_COMPILER_H
#define FUSION_PIPELINES_COMPILER_H

#include "fusion/Support/Counts.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
class TimingScope;

namespace fusion {

/// What the report of a compilation has, each with what comes before.
enum class ReportDetail {
  /// What the planner decided.
  Decisions,
  /// The graph of the program, its launches and their memory.
  Graph,
  /// The IR of every phase and PTX.
  Phases,
};

struct CompileOptions {
  /// A name of the target table. Counts for more than the `fusion.target` of
  /// the module; empty takes that.
  std::string target;
  /// The target of modules that have none, if none is named; empty for sm_90a.
  std::string defaultTarget;
  /// A file with constants of the target that count for more than those of the
  /// table and of the module (fusion/Pipelines/TargetFile.h); empty for none.
  std::string targetFile;
  /// The last phase to run; empty for all. The table is in Phases.def.
  std::string compileTo;
  /// A folder that gets one file per phase; empty for none.
  std::string dumpPhasesTo;
  /// Fuse operations; without it each is a kernel of its own, to compare with.
  bool fuse = true;
  /// Roundings that the program declares may be dropped.
  bool fastNumerics = false;
  /// Bytes of the largest value that kernels may store for contractions: larger
  /// ones are made in parts where that can be done; 0: any.
  int64_t largestValue = kLargestValue;
  /// Assemble with ptxas where it is found, and read its figures.
  bool runPtxas = true;
  /// Tell profilers the lines of the program. Its file name gets into the
  /// kernels, so that they are no longer the same wherever the program lies.
  bool lineInfo = false;
  /// Compute every operation on floats by itself and in one form on all chips,
  /// simplified by nothing that is known about its operands: for payload mode,
  /// in which floats are integers.
  bool opaqueFloats = false;
  /// Compile what can be compiled: a public function that the compiler refuses
  /// is left out, with a warning. It is an error only if nothing is left.
  bool partial = false;
  /// Verify the IR after each pass instead of after each phase.
  bool verifyEachPass = false;
  ReportDetail detail = ReportDetail::Decisions;
  /// Called with the name of each phase as it begins; may be empty.
  std::function<void(llvm::StringRef)> onPhase;
  /// Phases and their passes are timed below it; may be null.
  TimingScope *timing = nullptr;
};

/// Figures of one kernel; -1 is unknown.
struct KernelSummary {
  std::string name;
  int64_t dramBytes = -1, flops = -1;
  /// Predicted, in microseconds.
  double timeUs = -1;
  int64_t registers = -1, spillBytes = -1, sharedBytes = -1;
  /// Whether ptxas measured registers and spills; else they are predicted.
  bool measured = false;
  /// The line of the program that its first op comes from; 0 is unknown.
  unsigned line = 0;
  /// What it fuses: a code of FusionKinds.def.
  std::string kind;
  /// The ops of the program that it computes, for reports.
  std::vector<std::string> ops;
};

/// The IR that a phase left, or PTX: one text for each function, each kernel in
/// it, and each program and kernel that came of these.
struct PhaseText {
  struct Part {
    std::string name, text;
  };
  std::string phase, description;
  std::vector<Part> parts;
};

/// What the compiler decided. Figures of programs with dynamic sizes hold for
/// the sizes that the planner assumed.
struct CompileReport {
  int64_t kernelsBefore = 0, kernelsAfter = 0;
  /// Launches that start the kernels; 0 where there is no package.
  int64_t launches = 0;
  /// DRAM traffic of one run, unfused and fused.
  int64_t bytesBefore = 0, bytesAfter = 0;
  double predictedUs = 0;
  /// Bytes that kernels have between them at once, beside what the functions
  /// take and give: the largest of all functions, 0 for one kernel. Unknown
  /// (-1) where sizes are, and without a package.
  int64_t workspaceBytes = -1;
  /// What the figures take dynamic sizes for; 0 if there are none.
  int64_t representativeSize = 0;
  std::vector<KernelSummary> kernels;
  /// Functions that were left out, with `CompileOptions::partial`.
  std::vector<std::string> refused;
  /// Every candidate fusion, taken or refused, with its reason.
  std::string ledgerJson;
  /// The same for people.
  std::string explain;
  /// With `ReportDetail::Graph`: the decisions and what they are about, as
  /// docs/schema/explanation.schema.json defines it.
  llvm::json::Object explanation;
  /// With `ReportDetail::Phases`.
  std::vector<PhaseText> phases;
  /// The PTX of all kernels, one module after the other, each behind a line
  /// "// kernel NAME"; empty if `compileTo` stops before it.
  std::string ptx;
};

/// Compiles every public function of `module` (left in the state of the last
/// phase run) into a package. With `compileTo` the result is empty unless it
/// names the last phase. Errors are emitted as diagnostics. `report` may be
/// null.
FailureOr<std::string> compileToPackage(ModuleOp module,
                                        const CompileOptions &options,
                                        CompileReport *report);

/// The page of --report: of the explanation and the phases of `report`, and of
/// `program`, the text that was compiled, in the file `path`.
std::string renderReport(const CompileReport &report, StringRef path,
                         StringRef program);

/// Registers every dialect and extension that compileToPackage needs.
void registerAllForTools(DialectRegistry &registry);

} // namespace fusion
} // namespace mlir

#endif // FUSION_PIPELINES_COMPILER_H
