//===- Extract.cpp - Parts of a package as files --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the writing of a package's parts.
//
//===----------------------------------------------------------------------===//

#include "Extract.h"
#include "Listing.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace packagetool;
using namespace fusionpkg;

/// `name` as that of a file: a package may be a stranger's.
static std::string makeFileName(const std::string &name) {
  std::string safe;
  for (char c : name) {
    bool isPlain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                   (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '$';
    safe += isPlain ? c : '_';
  }
  // Most file systems end names at 255 bytes.
  return safe.substr(0, 200);
}

/// Adds what `getText` gives of each module that has one of `kernels`.
template <typename Fn>
static void
addModules(const PackageModel &model, const std::vector<size_t> &kernels,
           const std::string &ending, Fn getText, std::vector<Part> &parts) {
  std::vector<uint32_t> done;
  for (size_t number : kernels) {
    const Kernel &kernel = model.kernels[number];
    if (std::count(done.begin(), done.end(), kernel.module))
      continue;
    done.push_back(kernel.module);
    std::string bytes = getText(model.modules[kernel.module]);
    if (bytes.empty())
      continue;
    std::string base = makeFileName(kernel.name), name = base + ending;
    // Names that differ may be equal as those of files.
    auto isTaken = [&] {
      return std::any_of(parts.begin(), parts.end(),
                         [&](const Part &part) { return part.name == name; });
    };
    for (unsigned copy = 2; isTaken(); ++copy)
      name = base + "." + std::to_string(copy) + ending;
    parts.push_back({std::move(name), std::move(bytes)});
  }
}

/// A line for each kernel: its name and the place in the program.
static std::string listSources(const PackageModel &model,
                               const std::vector<size_t> &kernels) {
  std::string text;
  for (size_t number : kernels)
    if (const Kernel &kernel = model.kernels[number]; !kernel.source.empty())
      text += kernel.name + "\t" + kernel.source + "\n";
  return text;
}

std::vector<Part>
packagetool::collectParts(const OpenPackage &package, const std::string &part,
                          const std::vector<std::string> &kernels,
                          const Dims &dims, std::string &error) {
  const PackageModel &model = package.model;
  std::vector<size_t> chosen = package.findKernels(kernels, error);
  if (!error.empty())
    return {};
  std::vector<Part> parts;
  auto isAsked = [&](const char *name) { return part.empty() || part == name; };
  auto addText = [&](const char *name, std::string bytes) {
    if (!bytes.empty())
      parts.push_back({name, std::move(bytes)});
  };
  if (isAsked("ptx"))
    addModules(
        model, chosen, ".ptx", [](const Module &m) { return m.ptx; }, parts);
  if (isAsked("cubin"))
    addModules(
        model, chosen, ".cubin",
        [](const Module &m) {
          return std::string(m.cubin.begin(), m.cubin.end());
        },
        parts);
  if (isAsked("ledger"))
    addText("ledger.json", model.ledgerJson);
  if (isAsked("plan"))
    addText("plan.json", planAsJson(package, dims));
  if (isAsked("source"))
    addText("sources.txt", listSources(model, chosen));
  if (parts.empty())
    error = "FUS-1442: " + package.path + " has no " +
            (part.empty() ? "parts" : part) + " of these kernels; " +
            (part == "cubin" ? "compile the program where ptxas is installed"
                             : "compile the program again");
  return parts;
}

/// The error of a file that cannot be written.
static std::string refuse(const std::string &path, const char *why) {
  return "FUS-1009: '" + path + "': " + why +
         "; check that the folder exists, is writable and has space";
}

std::string packagetool::writeFolder(const std::string &folder,
                                     const std::vector<Part> &parts) {
  struct stat info;
  bool exists = ::lstat(folder.c_str(), &info) == 0;
  // An empty folder gives way to the new one; nothing else does.
  if (exists && ::rmdir(folder.c_str()) != 0)
    return "FUS-1009: '" + folder + "': " + std::strerror(errno) +
           "; name a folder that does not exist or is empty";
  std::string temporary = folder;
  while (temporary.size() > 1 && temporary.back() == '/')
    temporary.pop_back();
  std::string target = temporary;
  temporary += ".tmp" + std::to_string(::getpid());
  if (::mkdir(temporary.c_str(), 0777) != 0) {
    std::string error = refuse(folder, std::strerror(errno));
    if (exists)
      (void)::mkdir(target.c_str(), info.st_mode & 07777);
    return error;
  }
  std::string error;
  for (const Part &part : parts) {
    std::string path = temporary + "/" + part.name;
    if (Error failed = writeFileAtomically(path, part.bytes)) {
      error = failed.str();
      break;
    }
  }
  if (error.empty() && ::rename(temporary.c_str(), target.c_str()) != 0)
    error = refuse(folder, std::strerror(errno));
  if (error.empty())
    return "";
  for (const Part &part : parts)
    ::unlink((temporary + "/" + part.name).c_str());
  ::rmdir(temporary.c_str());
  if (exists)
    (void)::mkdir(target.c_str(), info.st_mode & 07777);
  return error;
}
