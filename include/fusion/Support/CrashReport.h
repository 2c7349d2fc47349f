//===- CrashReport.h - What is left of a crash ------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what the compiler does about its own defects: a crash of a
// tool ends with a stack trace, a file that reproduces it and one coded error.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SUPPORT_CRASHREPORT_H
#define FUSION_SUPPORT_CRASHREPORT_H

#include "mlir/Support/LLVM.h"
#include <string>

namespace mlir {
class PassManager;

namespace fusion {

/// "0.2.0"
StringRef getVersion();
/// "fusion-run (fusion 0.2.0, LLVM 22.1.8)".
std::string getVersionString(StringRef tool);

/// Makes a crash and a fatal error of LLVM end with a stack trace, a
/// reproducer if there is an input (setCrashInput), FUS-1070 and kExitInternal;
/// an exhausted host memory with FUS-1013; and files being written disappear
/// when the process is interrupted.
void installCrashHandlers(StringRef tool);

/// The same in a child process: a stack trace on the standard error, then the
/// signal ends the process; exhausted memory with the status kChildOutOfMemory.
void installChildCrashHandlers();
constexpr int kChildOutOfMemory = 113;

/// The arguments of the tool, which a reproducer names.
void setCrashArguments(StringRef tool, int argc, char **argv);
/// The program being worked on, which a reproducer holds. The text must live
/// as long as the process.
void setCrashInput(StringRef text);

/// Gives this thread a stack for signal handlers, so that an overflow of its
/// own stack is reported, too. Does nothing the second time.
void useSignalStack();

/// Reports of crashes name the pass that was running, also on threads of the
/// pass manager.
void traceCrashes(PassManager &manager);

/// Most bytes of the name of a reproducer.
constexpr size_t kMaxReproducerPath = 512;

/// Writes `text` and behind it `trailer` to a new file of the folder for
/// temporary files; its lines keep their numbers. Only makes calls that signal
/// handlers may make. Returns false if that fails; no file is left half
/// written. Otherwise `path` is its name.
bool writeReproducer(StringRef text, StringRef trailer,
                     char (&path)[kMaxReproducerPath]);

/// The trailer for a command line: comment lines of MLIR.
std::string makeReproducerTrailer(StringRef tool, StringRef command);

/// "segmentation fault" for SIGSEGV.
StringRef describeSignal(int signal);

/// A fault on purpose, for tests of all this: "assert", "abort", "segv",
/// "fatal" (LLVM's own end), "stack" (an overflow), "memory", "hang" or "exit".
/// Returns if `kind` is none of them.
void injectFault(StringRef kind);
/// The same if the environment variable FUSION_TEST_CRASH names a kind.
void injectFaultFromEnvironment();

} // namespace fusion
} // namespace mlir

#endif // FUSION_SUPPORT_CRASHREPORT_H
