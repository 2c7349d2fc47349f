//===- Disassemble.cpp - The machine code of kernels ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the disassembly of kernels by CUDA's own programs.
//
//===----------------------------------------------------------------------===//

#include "Disassemble.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace packagetool;
using namespace fusionpkg;

/// Where a toolkit is, if not on PATH.
static constexpr const char *kToolkit = "/usr/local/cuda/bin";

/// The path of the program `name`; empty if it is nowhere.
static std::string findProgram(const std::string &name) {
  const char *variable = std::getenv("PATH");
  std::string folders =
      std::string(variable ? variable : "") + ":" + kToolkit + ":";
  for (size_t begin = 0, end;
       (end = folders.find(':', begin)) != std::string::npos; begin = end + 1) {
    std::string path = folders.substr(begin, end - begin) + "/" + name;
    if (end > begin && ::access(path.c_str(), X_OK) == 0)
      return path;
  }
  return "";
}

namespace {
/// A folder that goes with all that is in it.
class TemporaryFolder {
public:
  TemporaryFolder() {
    const char *base = std::getenv("TMPDIR");
    path =
        std::string(base && *base ? base : "/tmp") + "/fusion-package-XXXXXX";
    if (!::mkdtemp(path.data()))
      path.clear();
  }
  ~TemporaryFolder() {
    for (const char *name : {"in.ptx", "in.cubin", "out", "err"})
      ::unlink(get(name).c_str());
    if (!path.empty())
      ::rmdir(path.c_str());
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  explicit operator bool() const { return !path.empty(); }
  std::string get(const std::string &name) const { return path + "/" + name; }

private:
  std::string path;
};
} // namespace

/// Runs `command` with its outputs in the files out and err of `folder`.
/// Returns an error with a code, empty if it ended with status 0.
static std::string runProgram(const std::vector<std::string> &command,
                              const TemporaryFolder &folder) {
  std::vector<char *> argv;
  for (const std::string &word : command)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, folder.get("out").c_str(),
                                   flags, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, folder.get("err").c_str(),
                                   flags, 0600);
  pid_t child = 0;
  int failed =
      ::posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed)
    return "FUS-1441: " + command[0] +
           " cannot be run: " + std::strerror(failed) +
           "; install the CUDA toolkit again";
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return "";
  std::string said;
  if (Result<std::string> text = readFile(folder.get("err")))
    said = text->substr(0, text->find_last_not_of("\n") + 1);
  return "FUS-1441: " + command[0] +
         (WIFEXITED(status)
              ? " ended with status " + std::to_string(WEXITSTATUS(status))
              : " was ended by signal " + std::to_string(WTERMSIG(status))) +
         (said.empty() ? "" : ": " + said) +
         "; use the CUDA toolkit of a release that knows the chip";
}

/// The path of a program of CUDA; `error` says what to do without it.
static std::string needProgram(const std::string &name,
                               const std::string &purpose, std::string &error) {
  std::string path = findProgram(name);
  if (path.empty())
    error = "FUS-1440: " + name + ", which " + purpose +
            ", is neither on PATH nor in " + kToolkit +
            "; install the CUDA toolkit, or its package " +
            (name == "ptxas" ? "cuda-nvcc" : "cuda-nvdisasm");
  return path;
}

/// Makes in.cubin of `folder`. Returns an error with a code.
static std::string makeCubin(const PackageModel &model, const Module &module,
                             const TemporaryFolder &folder) {
  std::string cubin = folder.get("in.cubin");
  if (!module.cubin.empty())
    return writeFileAtomically(
               cubin, std::string(module.cubin.begin(), module.cubin.end()))
               ? "FUS-1009: '" + cubin + "' cannot be written; check TMPDIR"
               : "";
  std::string error;
  std::string ptxas = needProgram("ptxas", "assembles PTX", error);
  if (!error.empty())
    return error;
  std::string ptx = folder.get("in.ptx");
  if (writeFileAtomically(ptx, module.ptx))
    return "FUS-1009: '" + ptx + "' cannot be written; check TMPDIR";
  return runProgram({ptxas, "--gpu-name=" + model.target, ptx, "-o", cubin},
                    folder);
}

std::string packagetool::disassemble(const OpenPackage &package,
                                     const std::vector<std::string> &kernels,
                                     std::string &error) {
  const PackageModel &model = package.model;
  std::vector<size_t> chosen = package.findKernels(kernels, error);
  if (!error.empty())
    return "";
  std::string nvdisasm = needProgram("nvdisasm", "prints machine code", error);
  if (!error.empty())
    return "";
  std::string text;
  std::vector<uint32_t> done;
  for (size_t number : chosen) {
    const Kernel &kernel = model.kernels[number];
    if (std::count(done.begin(), done.end(), kernel.module))
      continue;
    done.push_back(kernel.module);
    TemporaryFolder folder;
    if (!folder) {
      error = "FUS-1009: there can be no temporary folder: " +
              std::string(std::strerror(errno)) + "; check TMPDIR";
      return "";
    }
    error = makeCubin(model, model.modules[kernel.module], folder);
    if (error.empty())
      error = runProgram({nvdisasm, folder.get("in.cubin")}, folder);
    if (!error.empty())
      return "";
    Result<std::string> printed = readFile(folder.get("out"));
    if (!printed) {
      error = printed.getError().str();
      return "";
    }
    text += "// kernel " + kernel.name + "\n" + *printed;
  }
  return text;
}
