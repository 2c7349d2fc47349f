//===- PTXResourceInfo.cpp - What ptxas says of a kernel --------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the read-back of a kernel's resources from ptxas.
//
//===----------------------------------------------------------------------===//

#include "fusion/Target/PTX/PTXResourceInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace mlir;
using namespace mlir::fusion;

const PTXKernelResources *PTXResourceInfo::lookup(StringRef kernel) const {
  auto it = llvm::find_if(
      kernels, [&](const PTXKernelResources &k) { return k.name == kernel; });
  return it == kernels.end() ? nullptr : &*it;
}

std::string mlir::fusion::findPTXAssembler() {
  if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  llvm::SmallVector<std::string, 3> roots;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *value = std::getenv(variable))
      roots.push_back(value);
  roots.push_back("/usr/local/cuda");
  for (const std::string &root : roots) {
    llvm::SmallString<128> path(root);
    llvm::sys::path::append(path, "bin", "ptxas");
    if (llvm::sys::fs::can_execute(path))
      return std::string(path);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// The log
//===----------------------------------------------------------------------===//

/// The number in front of `unit` in `line`, or 0: of "8 bytes stack frame, 4
/// bytes spill stores" with unit " bytes spill stores" it is 4.
static uint64_t numberBefore(StringRef line, StringRef unit) {
  size_t at = line.find(unit);
  if (at == StringRef::npos)
    return 0;
  StringRef digits = line.take_front(at);
  digits = digits.drop_front(digits.find_last_not_of("0123456789") +
                             1); // npos + 1 is 0
  uint64_t value = 0;
  return digits.getAsInteger(10, value) ? 0 : value;
}

/// The text between the first pair of single quotes after `prefix`.
static StringRef quotedAfter(StringRef line, StringRef prefix) {
  StringRef rest = line.drop_front(line.find(prefix) + prefix.size());
  return rest.split('\'').second.split('\'').first;
}

PTXResourceInfo mlir::fusion::parsePTXAssemblerLog(StringRef log) {
  PTXResourceInfo info;
  SmallVector<StringRef> advisories;
  PTXKernelResources *current = nullptr;
  bool inOwnProperties = false;
  for (StringRef line : llvm::split(log, '\n')) {
    line = line.trim();
    if (line.contains("Compiling entry function")) {
      info.kernels.emplace_back();
      current = &info.kernels.back();
      current->name = quotedAfter(line, "Compiling entry function").str();
    } else if (line.contains("Function properties for")) {
      // Device functions that were not inlined have properties, too; their
      // stack is part of the caller's.
      StringRef name = line.split("Function properties for").second.trim();
      inOwnProperties = current && name == current->name;
    } else if (inOwnProperties && line.contains("bytes stack frame")) {
      current->stackBytes = numberBefore(line, " bytes stack frame");
      current->spillStoreBytes = numberBefore(line, " bytes spill stores");
      current->spillLoadBytes = numberBefore(line, " bytes spill loads");
    } else if (current && line.contains("Used ") &&
               line.contains(" registers")) {
      current->registers = numberBefore(line, " registers");
      current->barriers = numberBefore(line, " barriers");
      current->staticSharedBytes = numberBefore(line, " bytes smem");
    } else if (line.contains("Potential Performance Loss") ||
               line.contains("(C75")) {
      advisories.push_back(line.split(" : ").second.trim());
    }
  }
  // ptxas prints advisories before the kernels that they are about.
  for (StringRef advisory : advisories) {
    bool named = false;
    for (PTXKernelResources &kernel : info.kernels)
      if (advisory.contains(("'" + kernel.name + "'"))) {
        kernel.advisories.push_back(advisory.str());
        named = true;
      }
    if (!named)
      info.advisories.push_back(advisory.str());
  }
  return info;
}

//===----------------------------------------------------------------------===//
// Running ptxas
//===----------------------------------------------------------------------===//

namespace {
/// The temporary files of one run, removed at its end.
struct ScratchFiles {
  llvm::SmallString<128> ptx, cubin, log;

  ~ScratchFiles() {
    for (const llvm::SmallString<128> &path : {ptx, cubin, log})
      if (!path.empty())
        llvm::sys::fs::remove(path);
  }
};
} // namespace

static llvm::Error makeError(const Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// Creates the files of one run and writes `ptx` to the first.
static llvm::Error createFiles(StringRef ptx, ScratchFiles &files) {
  int descriptor = -1;
  std::error_code error = llvm::sys::fs::createTemporaryFile(
      "fusion", "ptx", descriptor, files.ptx);
  if (!error) {
    llvm::raw_fd_ostream out(descriptor, /*shouldClose=*/true);
    out << ptx;
    out.close();
    error = out.error();
    out.clear_error();
  }
  if (!error)
    error = llvm::sys::fs::createTemporaryFile("fusion", "cubin", files.cubin);
  if (!error)
    error = llvm::sys::fs::createTemporaryFile("fusion", "log", files.log);
  if (error)
    return makeError(
        "FUS-0710: no temporary file for ptxas: " + error.message() +
        "; make room in the folder that TMPDIR names");
  return llvm::Error::success();
}

static llvm::Expected<std::string> readWholeFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return makeError("FUS-0710: cannot read what ptxas wrote: " +
                     buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

llvm::Expected<std::optional<PTXResourceInfo>>
mlir::fusion::readPTXResources(StringRef ptx,
                               const PTXAssemblerOptions &options) {
  std::string assembler =
      options.assembler.empty() ? findPTXAssembler() : options.assembler;
  if (assembler.empty())
    return std::nullopt;

  ScratchFiles files;
  if (llvm::Error error = createFiles(ptx, files))
    return std::move(error);
  std::string arch = "-arch=" + options.chip;
  std::string level = "-O" + llvm::utostr(options.optLevel);
  SmallVector<StringRef> arguments = {assembler, "-v", arch,       level,
                                      files.ptx, "-o", files.cubin};
  if (options.lineInfo)
    arguments.push_back("-lineinfo");
  std::string executionError;
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(files.log),
                                          StringRef(files.log)};
  int status = llvm::sys::ExecuteAndWait(assembler, arguments, std::nullopt,
                                         redirects, options.timeoutSeconds,
                                         /*MemoryLimit=*/0, &executionError);
  llvm::Expected<std::string> log = readWholeFile(files.log);
  if (!log)
    return log.takeError();
  if (status != 0)
    return makeError("FUS-0711: ptxas refused the PTX for " + options.chip +
                     ": " +
                     (executionError.empty() ? StringRef(*log).trim()
                                             : StringRef(executionError)));

  PTXResourceInfo info = parsePTXAssemblerLog(*log);
  if (options.keepCubin) {
    llvm::Expected<std::string> cubin = readWholeFile(files.cubin);
    if (!cubin)
      return cubin.takeError();
    info.cubin.assign(cubin->begin(), cubin->end());
  }
  return info;
}
