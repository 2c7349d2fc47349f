//===- Fusion.h - C interface of the Fusion compiler ----------- -*- C -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how a program compiles MLIR text to a package. Running the
// package is the runtime's part, fusion-rt/Runtime.h, which needs no compiler.
//
// Every function may be called from any thread; one compilation belongs to one
// thread at a time. Nothing aborts on bad input, and a defect of the compiler
// is an error: compilations run in a process of their own
// (docs/Rationale/Crashes.md).
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_C_FUSION_H
#define FUSION_C_FUSION_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define FUSION_C_API __attribute__((visibility("default")))
#else
#define FUSION_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// Changes when a caller built against an older header could break. The number
/// behind the library's name, libfusion-c.so.1.
#define FUSION_C_ABI_VERSION 1
FUSION_C_API uint32_t fusionGetAbiVersion(void);

/// Grows when the interface does: by functions, fields or values of an
/// enumeration. A function of version N is exported as FUSION_C_N.
#define FUSION_C_API_VERSION 1

/// Null if the library that was loaded can serve a caller that was built with a
/// header of these versions; else what is wrong, "FUS-1302: cause; remedy",
/// which lives until the thread's next call: another ABI, or a newer interface.
/// Programs that load the library themselves (dlopen) call it first, with the
/// versions of their header: no loader has checked them.
FUSION_C_API const char *fusionCheckVersion(uint32_t abiVersion,
                                            uint32_t apiVersion);
/// The same for this header.
#define FUSION_C_CHECK_VERSION()                                               \
  (fusionCheckVersion(FUSION_C_ABI_VERSION, FUSION_C_API_VERSION))

/// The release of the library, "0.2.0".
FUSION_C_API const char *fusionGetVersion(void);

/// How a compilation ended; the exit status of the tools.
typedef enum FusionStatus {
  FUSION_OK = 0,
  FUSION_DIAGNOSED = 1,   // the program or a file is wrong
  FUSION_USAGE = 2,       // an option is wrong
  FUSION_UNSUPPORTED = 3, // valid, but not something that can be compiled yet
  FUSION_INTERNAL = 70    // an error of the compiler's own
} FusionStatus;

/// Zero means the default for every field but the first. A field that is set by
/// a newer caller and unknown to an older library is refused.
typedef struct FusionCompileOptions {
  size_t structSize;        // sizeof(FusionCompileOptions)
  const char *target;       // default: the module's fusion.target, or "sm_90a"
  const char *fileName;     // what locations call the text; default: "<text>"
  const char *compileTo;    // the phase to stop at; default: the package
  const char *dumpPhasesTo; // a folder for one file per phase; default: none
  int32_t fastNumerics;     // not 0: roundings that the program declares may go
  int32_t skipPtxas;        // not 0: do not look for ptxas
  // Seconds until a compilation is given up; default: no limit.
  uint32_t timeLimitSeconds;
  // Not 0: compile in this process, for debuggers and leak checkers, and for
  // hosts that use LLVM from several threads. A crash then is the host's, and
  // there is no time limit.
  int32_t inProcess;
  // A file for a page that shows the program before and after, every decision,
  // IR and PTX (docs/Explain.md); default: none.
  const char *report;
} FusionCompileOptions;

typedef struct FusionCompilation FusionCompilation;

/// Compiles `size` bytes of MLIR text. `options` may be null. `*compilation` is
/// made in any case, also on failure, when it holds the diagnostics.
FUSION_C_API FusionStatus fusionCompile(const char *text, size_t size,
                                        const FusionCompileOptions *options,
                                        FusionCompilation **compilation);
/// Null is allowed.
FUSION_C_API void fusionCompilationDestroy(FusionCompilation *compilation);

/// The result: the package, or, with `compileTo`, the text of that phase. It
/// has `*size` bytes, is empty on failure and belongs to the compilation.
FUSION_C_API const char *
fusionCompilationGetOutput(const FusionCompilation *compilation, size_t *size);

/// Errors, warnings and notes, each with its place; empty when there are none.
FUSION_C_API const char *
fusionCompilationGetDiagnostics(const FusionCompilation *compilation);

typedef enum FusionSeverity {
  FUSION_SEVERITY_NOTE = 1,
  FUSION_SEVERITY_WARNING = 2,
  FUSION_SEVERITY_ERROR = 3
} FusionSeverity;

/// One of them, in parts. Strings are never null and belong to the compilation.
typedef struct FusionDiagnostic {
  size_t structSize;     // sizeof(FusionDiagnostic), set by the caller
  int32_t severity;      // a FusionSeverity
  int32_t code;          // 3401 for FUS-3401 (docs/Errors.md); 0: none
  const char *cause;     // what is wrong
  const char *remedy;    // what to do about it; empty for notes and warnings
  const char *fileName;  // empty where there is no place
  uint32_t line, column; // from 1; 0 where there is no place
  uint32_t numNotes;     // see fusionCompilationGetNote
} FusionDiagnostic;

/// The number of errors and warnings, in the order in which they were found.
FUSION_C_API size_t
fusionCompilationGetNumDiagnostics(const FusionCompilation *compilation);
/// Fills in one of them, or one of its notes. FUSION_USAGE if there is none of
/// that number, or `structSize` is not set.
FUSION_C_API FusionStatus
fusionCompilationGetDiagnostic(const FusionCompilation *compilation,
                               size_t index, FusionDiagnostic *diagnostic);
FUSION_C_API FusionStatus
fusionCompilationGetNote(const FusionCompilation *compilation, size_t index,
                         size_t noteIndex, FusionDiagnostic *note);

/// Every fusion decision, with its reason and numbers, for people to read, and
/// as JSON.
FUSION_C_API const char *
fusionCompilationGetExplanation(const FusionCompilation *compilation);
FUSION_C_API const char *
fusionCompilationGetLedger(const FusionCompilation *compilation);

#ifdef __cplusplus
}
#endif

#endif // FUSION_C_FUSION_H
