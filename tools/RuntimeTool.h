//===- RuntimeTool.h - What tools without LLVM do --------------- -*- C++ -*-=//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how the tools that need no LLVM word their errors and end
// after a crash: as those that do (docs/Errors.md).
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_RUNTIMETOOL_H
#define FUSION_TOOLS_RUNTIMETOOL_H

#include <csignal>
#include <cstring>
#include <execinfo.h>
#include <iostream>
#include <string>
#include <unistd.h>

namespace fusiontool {

/// Exit statuses, as docs/Errors.md has them.
enum ExitStatus { Success = 0, Diagnosed = 1, Usage = 2, Unsupported = 3 };

/// Prints a wrong command line.
inline void reportUsage(const std::string &cause) {
  std::cerr << "error: FUS-1001: " << cause << "; see --help\n";
}

/// Prints that a file cannot be read.
inline void reportUnreadable(const std::string &cause) {
  std::cerr << "error: FUS-1002: " << cause
            << "; check the path and its permissions\n";
}

/// Only makes calls that are safe in a handler of signals.
[[noreturn]] inline void endAfterCrash(int) {
  static const char text[] =
      "error: FUS-1070: the tool crashed; report a bug with the program and "
      "the command line\nstack trace:\n";
  ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
  (void)ignored;
  void *frames[64];
  backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
  _exit(70);
}

/// Makes a crash end with a coded error, a stack trace and the status 70.
inline void installCrashHandlers() {
  static char memory[64 << 10];
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = sizeof(memory);
  sigaltstack(&stack, nullptr);
  // The first trace loads a library, which a handler must not.
  void *frame;
  backtrace(&frame, 1);
  struct sigaction action = {};
  action.sa_handler = endAfterCrash;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND | SA_NODEFER;
  for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
    sigaction(signal, &action, nullptr);
}

} // namespace fusiontool

#endif // FUSION_TOOLS_RUNTIMETOOL_H
