//===- CrashReport.cpp - What is left of a crash --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the end of a crashed tool. What signal handlers do here
// is safe in them, in this order: the reproducer and the error, then the stack
// trace, which may fail when the heap is broken.
//
//===----------------------------------------------------------------------===//

#include "fusion/Support/CrashReport.h"

#include "fusion/Executable/Package.h"
#include "fusion/Support/ErrorCodes.h"
#include "fusion/Version.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::fusion;

StringRef fusion::getVersion() { return FUSION_VERSION_STRING; }

std::string fusion::getVersionString(StringRef tool) {
  return (tool + " (fusion " FUSION_VERSION_STRING ", LLVM " LLVM_VERSION_STRING
                 ")")
      .str();
}

StringRef fusion::describeSignal(int signal) {
  switch (signal) {
  case SIGSEGV:
    return "segmentation fault";
  case SIGABRT:
    return "abort";
  case SIGBUS:
    return "bus error";
  case SIGFPE:
    return "arithmetic fault";
  case SIGILL:
    return "illegal instruction";
  case SIGTRAP:
    return "trap";
  case SIGINT:
    return "interrupt";
  case SIGTERM:
    return "termination";
  case SIGKILL:
    return "kill";
  default:
    return "signal";
  }
}

//===----------------------------------------------------------------------===//
// Reproducers
//===----------------------------------------------------------------------===//

/// Appends to a path; too long a path is cut, and then cannot be opened.
static void append(char (&path)[kMaxReproducerPath], StringRef text) {
  size_t length = strlen(path);
  size_t count = std::min(text.size(), kMaxReproducerPath - 1 - length);
  memcpy(path + length, text.data(), count);
  path[length + count] = 0;
}

static void append(char (&path)[kMaxReproducerPath], unsigned number) {
  char digits[16];
  size_t first = sizeof(digits);
  do {
    digits[--first] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number);
  append(path, StringRef(digits + first, sizeof(digits) - first));
}

static bool writeAll(int fd, StringRef text) {
  while (!text.empty()) {
    ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    text = text.drop_front(static_cast<size_t>(written));
  }
  return true;
}

bool fusion::writeReproducer(StringRef text, StringRef trailer,
                             char (&path)[kMaxReproducerPath]) {
  const char *folder = getenv("TMPDIR");
  char part[kMaxReproducerPath];
  int fd = -1;
  for (unsigned attempt = 0; attempt < 100 && fd < 0; ++attempt) {
    path[0] = part[0] = 0;
    append(path, folder && *folder ? folder : "/tmp");
    append(path, "/fusion-crash-");
    append(path, static_cast<unsigned>(getpid()));
    append(path, "-");
    append(path, attempt);
    append(path, ".mlir");
    append(part, path);
    append(part, ".part");
    if (access(path, F_OK) == 0)
      continue;
    fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno != EEXIST)
      return false;
  }
  if (fd < 0)
    return false;
  bool good = writeAll(fd, text) && writeAll(fd, trailer);
  good &= close(fd) == 0;
  if (good && rename(part, path) == 0)
    return true;
  unlink(part);
  return false;
}

std::string fusion::makeReproducerTrailer(StringRef tool, StringRef command) {
  return ("\n// " + getVersionString(tool) +
          " crashed on this program:\n//   " + command + "\n")
      .str();
}

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

static constexpr int kCrashSignals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE,
                                        SIGILL,  SIGTRAP, SIGSYS};
/// Frames of a stack trace: enough to see a recursion.
static constexpr int kMaxFrames = 64;
/// Seconds for the stack trace; a broken heap may stop it.
static constexpr unsigned kTraceSeconds = 30;

namespace {
/// What handlers need, made before there is anything to handle.
struct CrashState {
  std::string tool, trailer, remedy;
  StringRef input;
  /// LLVM's reason for a fatal error.
  const char *reason = nullptr;
};
} // namespace

static CrashState &getState() {
  static CrashState state;
  return state;
}

static void print(StringRef text) { (void)writeAll(STDERR_FILENO, text); }

static void printTrace(int signal) {
  alarm(kTraceSeconds);
  print("stack trace:\n");
  // Removes files that are being written, and names the passes that ran.
  llvm::sys::CleanupOnSignal(static_cast<uintptr_t>(signal));
  void *frames[kMaxFrames];
  llvm::sys::PrintStackTrace(llvm::errs(), backtrace(frames, kMaxFrames));
}

/// True in a second call of the thread that reports a crash: what LLVM reports
/// then (its stack trace cannot write a file, for example) is no news. Other
/// threads that crash meanwhile wait for the end of the process.
static bool isEnding() {
  static std::atomic<pthread_t> reporter{};
  pthread_t nobody = {}, self = pthread_self();
  if (reporter.compare_exchange_strong(nobody, self))
    return false;
  while (nobody != self)
    pause();
  return true;
}

[[noreturn]] static void endTool(int signal) {
  if (isEnding())
    _exit(kExitInternal);
  CrashState &state = getState();
  char path[kMaxReproducerPath];
  bool hasFile =
      !state.input.empty() && writeReproducer(state.input, state.trailer, path);
  print("error: FUS-1070: ");
  print(state.tool);
  print(" crashed (");
  print(state.reason ? StringRef(state.reason) : describeSignal(signal));
  print("); ");
  print(state.remedy);
  print("\n");
  if (hasFile) {
    print("note: reproducer: ");
    print(path);
    print("\n");
  }
  printTrace(signal);
  _exit(kExitInternal);
}

static void endAfterFatalError(void *, const char *reason, bool) {
  CrashState &state = getState();
  if (!state.reason)
    state.reason = reason;
  endTool(SIGABRT);
}

static void endOutOfMemory(void *, const char *, bool) {
  // No allocation is possible here.
  print("error: FUS-1013: the host is out of memory; use a smaller program or "
        "smaller sizes\n");
  llvm::sys::CleanupOnSignal(SIGTERM);
  _exit(kExitDiagnosed);
}

/// Removes the temporary file when the process is interrupted.
static void watchTemporary(const char *path, bool exists) {
  if (exists)
    llvm::sys::RemoveFileOnSignal(path);
  else
    llvm::sys::DontRemoveFileOnSignal(path);
}

static void handleCrashSignals(void (*handler)(int)) {
  useSignalStack();
  struct sigaction action = {};
  action.sa_handler = handler;
  // A second fault, in the handler, ends the process.
  action.sa_flags = SA_ONSTACK | SA_RESETHAND | SA_NODEFER;
  for (int signal : kCrashSignals)
    sigaction(signal, &action, nullptr);
}

void fusion::installCrashHandlers(StringRef tool) {
  CrashState &state = getState();
  state.tool = getVersionString(tool);
  if (const CodeInfo *info = findCode(int(ErrorCode::InternalError)))
    state.remedy = info->remedy.str();
  // LLVM's handlers first: those for interrupts stay. The passes that run are
  // the only thing of LLVM's own report that says something here.
  llvm::setBugReportMsg("");
  llvm::EnablePrettyStackTrace();
  handleCrashSignals(endTool);
  fusionpkg::setTemporaryFileWatcher(watchTemporary);
  // A file over the limit of its size is an error of that write.
  signal(SIGXFSZ, SIG_IGN);
  llvm::install_fatal_error_handler(endAfterFatalError);
  llvm::install_bad_alloc_error_handler(endOutOfMemory);
  llvm::install_out_of_memory_new_handler();
}

[[noreturn]] static void endChild(int signal) {
  static volatile sig_atomic_t firstSignal = 0;
  if (!isEnding()) {
    firstSignal = signal;
    printTrace(signal);
  }
  signal = firstSignal;
  ::signal(signal, SIG_DFL);
  raise(signal);
  _exit(kExitInternal);
}

static void endChildAfterFatalError(void *, const char *reason, bool) {
  print(reason);
  print("\n");
  endChild(SIGABRT);
}

static void endChildOutOfMemory(void *, const char *, bool) {
  _exit(kChildOutOfMemory);
}

void fusion::installChildCrashHandlers() {
  llvm::setBugReportMsg("");
  llvm::EnablePrettyStackTrace();
  handleCrashSignals(endChild);
  llvm::remove_fatal_error_handler();
  llvm::install_fatal_error_handler(endChildAfterFatalError);
  llvm::remove_bad_alloc_error_handler();
  llvm::install_bad_alloc_error_handler(endChildOutOfMemory);
  llvm::install_out_of_memory_new_handler();
}

void fusion::setCrashArguments(StringRef tool, int argc, char **argv) {
  std::string command = tool.str();
  for (int i = 1; i < argc; ++i)
    command += std::string(" ") + argv[i];
  getState().trailer = makeReproducerTrailer(tool, command);
}

void fusion::setCrashInput(StringRef text) { getState().input = text; }

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

namespace {
/// A stack for the signal handlers of one thread.
struct SignalStack {
  static constexpr size_t kBytes = 64 << 10;

  SignalStack() : memory(new char[kBytes]) {
    stack_t stack = {};
    stack.ss_sp = memory.get();
    stack.ss_size = kBytes;
    sigaltstack(&stack, nullptr);
  }
  ~SignalStack() {
    stack_t stack = {};
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, nullptr);
  }

  std::unique_ptr<char[]> memory;
};

/// Keeps the names of the passes that run, a stack a thread.
class PassTrace : public PassInstrumentation {
public:
  void runBeforePass(Pass *pass, Operation *op) override {
    useSignalStack();
    StringRef name = pass->getArgument();
    if (name.empty())
      name = pass->getName();
    running().push_back(std::make_unique<llvm::PrettyStackTraceFormat>(
        "running %.*s", int(name.size()), name.data()));
  }
  void runAfterPass(Pass *, Operation *) override { running().pop_back(); }
  void runAfterPassFailed(Pass *, Operation *) override {
    running().pop_back();
  }

private:
  static SmallVectorImpl<std::unique_ptr<llvm::PrettyStackTraceFormat>> &
  running() {
    thread_local SmallVector<std::unique_ptr<llvm::PrettyStackTraceFormat>, 4>
        entries;
    return entries;
  }
};
} // namespace

void fusion::useSignalStack() { thread_local SignalStack stack; }

void fusion::traceCrashes(PassManager &manager) {
  manager.addInstrumentation(std::make_unique<PassTrace>());
}

//===----------------------------------------------------------------------===//
// Faults on purpose
//===----------------------------------------------------------------------===//

/// Overflows the stack. The result depends on every frame, so that no compiler
/// makes this a loop.
static int recurse(volatile char *above) {
  volatile char frame[4096];
  frame[0] = above ? above[0] : 1;
  if (frame[0] == 2)
    return 0;
  return recurse(frame) + frame[0];
}

void fusion::injectFault(StringRef kind) {
  if (kind == "assert") {
    assert(false && "a fault on purpose");
    abort();
  }
  if (kind == "abort")
    abort();
  if (kind == "fatal")
    llvm::report_fatal_error("a fault on purpose");
  if (kind == "segv")
    *static_cast<volatile int *>(nullptr) = 1;
  if (kind == "stack")
    (void)recurse(nullptr);
  if (kind == "memory")
    llvm::report_bad_alloc_error("a fault on purpose");
  if (kind == "exit")
    _exit(3);
  while (kind == "hang")
    sleep(1);
}

void fusion::injectFaultFromEnvironment() {
  if (const char *kind = getenv("FUSION_TEST_CRASH"))
    injectFault(kind);
}
