//===- ChildProcess.cpp - Work that may crash -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements work in a child process, on POSIX.
//
//===----------------------------------------------------------------------===//

#include "ChildProcess.h"

#include "fusion/Support/CrashReport.h"
#include "llvm/ADT/STLExtras.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <optional>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::fusion;

/// Most of the child's standard error that is kept.
static constexpr size_t kMostErrors = 64 << 10;
/// Address space only: pages are taken as the stack grows.
static constexpr size_t kStackBytes = size_t(256) << 20;

namespace {
/// A pipe whose ends close with it.
struct Pipe {
  int ends[2] = {-1, -1};

  bool open() { return ::pipe2(ends, O_CLOEXEC) == 0; }
  void close(int end) {
    if (ends[end] >= 0)
      ::close(ends[end]);
    ends[end] = -1;
  }
  ~Pipe() {
    close(0);
    close(1);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// The child
//===----------------------------------------------------------------------===//

namespace {
struct Task {
  llvm::function_ref<std::string()> work;
  int resultEnd;
};
} // namespace

static void *runTask(void *argument) {
  auto *task = static_cast<Task *>(argument);
  useSignalStack();
  std::string result = task->work();
  llvm::StringRef rest = result;
  while (!rest.empty()) {
    ssize_t count = ::write(task->resultEnd, rest.data(), rest.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break; // Nobody is there to read it.
    rest = rest.drop_front(static_cast<size_t>(count));
  }
  // The caller's own exit handlers and buffers are the caller's.
  ::_exit(0);
}

/// Nothing of the caller's handling of signals may run in its copy.
static void resetSignals() {
  for (int signal = 1; signal < NSIG; ++signal)
    ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] static void runChild(Task task, int errorEnd, pid_t parent) {
  resetSignals();
  // Nobody would wait for the result.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(1);
  ::dup2(errorEnd, STDERR_FILENO);
  installChildCrashHandlers();
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  if (::pthread_create(&thread, &attributes, runTask, &task) != 0)
    runTask(&task); // Less address space than that: the caller's stack.
  ::pthread_join(thread, nullptr);
  ::_exit(1);
}

//===----------------------------------------------------------------------===//
// The parent
//===----------------------------------------------------------------------===//

/// Reads both pipes to their ends; false if `deadline` came first. Of the
/// errors only the first part is kept.
static bool drain(Pipe &results, Pipe &errors, ChildOutcome &outcome,
                  std::chrono::steady_clock::time_point deadline,
                  bool hasDeadline) {
  pollfd waits[2] = {{results.ends[0], POLLIN, 0}, {errors.ends[0], POLLIN, 0}};
  std::string *texts[2] = {&outcome.result, &outcome.errors};
  char chunk[1 << 16];
  while (waits[0].fd >= 0 || waits[1].fd >= 0) {
    int timeout = -1;
    if (hasDeadline) {
      auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0)
        return false;
      timeout = static_cast<int>(std::min<int64_t>(left.count(), 1000));
    }
    if (::poll(waits, 2, timeout) < 0 && errno != EINTR)
      return true;
    for (unsigned i = 0; i < 2; ++i) {
      if (waits[i].fd < 0 || !waits[i].revents)
        continue;
      ssize_t count = ::read(waits[i].fd, chunk, sizeof(chunk));
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0)
        waits[i].fd = -1;
      else if (i == 0 || texts[i]->size() < kMostErrors)
        texts[i]->append(chunk, static_cast<size_t>(count));
    }
  }
  return true;
}

/// Waits for the child. Its status may be gone: a handler of the caller may
/// wait for every child.
static std::optional<int> waitFor(pid_t child) {
  int status = 0;
  pid_t got;
  do {
    got = ::waitpid(child, &status, 0);
  } while (got < 0 && errno == EINTR);
  if (got != child)
    return std::nullopt;
  return status;
}

ChildOutcome fusion::runInChild(llvm::function_ref<std::string()> work,
                                unsigned timeLimitSeconds) {
  ChildOutcome outcome;
  auto giveUp = [&](const char *what) {
    outcome.kind = ChildOutcome::NotStarted;
    outcome.errors = std::string(what) + ": " + std::strerror(errno);
    return outcome;
  };
  Pipe results, errors;
  if (!results.open() || !errors.open())
    return giveUp("pipe");
  // Until the child has reset its signals, none may reach the caller's
  // handlers in it.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  // One thread at a time: what libraries of the caller do before a fork is not
  // made for several (OpenBLAS joins its threads, of which the second waits for
  // ever). The child's copy stays locked, and nobody asks for it there.
  static std::mutex forking;
  std::unique_lock<std::mutex> oneFork(forking);
  pid_t parent = ::getpid(), child = ::fork();
  int forkErrno = errno;
  if (child == 0) {
    results.close(0);
    errors.close(0);
    runChild({work, results.ends[1]}, errors.ends[1], parent);
  }
  oneFork.unlock();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = forkErrno;
  if (child < 0)
    return giveUp("fork");
  results.close(1);
  errors.close(1);

  auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(timeLimitSeconds);
  if (!drain(results, errors, outcome, deadline, timeLimitSeconds != 0)) {
    ::kill(child, SIGKILL);
    (void)waitFor(child);
    outcome.kind = ChildOutcome::TimedOut;
    return outcome;
  }
  std::optional<int> status = waitFor(child);
  if (status && WIFSIGNALED(*status))
    outcome.signal = WTERMSIG(*status);
  if (status && WIFEXITED(*status) && WEXITSTATUS(*status) == kChildOutOfMemory)
    outcome.kind = ChildOutcome::OutOfMemory;
  else if (status ? *status != 0 : outcome.result.empty())
    outcome.kind = ChildOutcome::Crashed;
  return outcome;
}
