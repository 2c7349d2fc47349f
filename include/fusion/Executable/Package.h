//===- Package.h - Packages as bytes and files ------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how a package is checked, written and read.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_EXECUTABLE_PACKAGE_H
#define FUSION_EXECUTABLE_PACKAGE_H

#include "fusion/Executable/Error.h"
#include "fusion/Executable/PackageModel.h"

namespace fusionpkg {

/// Every rule of docs/Package.md: ids in range, expressions well formed, counts
/// below the caps, constants inside the blob. What passes can be launched
/// without further checks of its structure.
Error verifyPackage(const PackageModel &model);

/// Content to bytes. The same model gives the same bytes. `model` must pass
/// verifyPackage: else the error is returned and there are no bytes.
Result<std::string> writePackage(const PackageModel &model);

/// Bytes to content, trusting nothing: an altered byte, a missing one or a rule
/// broken is an error. The result has passed verifyPackage.
Result<PackageModel> readPackage(const void *data, size_t size);
inline Result<PackageModel> readPackage(const std::string &bytes) {
  return readPackage(bytes.data(), bytes.size());
}

/// Whether `data` begins like a package (used to tell packages from text).
bool looksLikePackage(const void *data, size_t size);

/// Reads a whole file; `maxBytes` guards against endless devices.
Result<std::string> readFile(const std::string &path,
                             uint64_t maxBytes = uint64_t(1) << 40);

/// Writes `path` so that it holds either its old content or all of `bytes`:
/// into a temporary file beside it, flushed, then renamed.
Error writeFileAtomically(const std::string &path, const std::string &bytes);

/// `watcher` is told of every temporary file: before it is made (`exists`), and
/// when it is gone. A tool's handlers of signals then can remove it. Null for
/// none, which is the default; to be set before any file is written.
using TemporaryFileWatcher = void (*)(const char *path, bool exists);
void setTemporaryFileWatcher(TemporaryFileWatcher watcher);

/// Whether two names are those of one file, however they are spelled: relative,
/// through links. False if one of them does not exist, and for devices.
bool isSameFile(const std::string &a, const std::string &b);

/// A size in bytes for `elements` elements; nothing on overflow.
std::optional<int64_t> getStorageBytes(DType type, int64_t elements);

/// An expression for the byte size of a tensor with these dims.
ExprId buildStorageBytes(ExprPool &pool, DType type,
                         const std::vector<ExprId> &dims);

} // namespace fusionpkg

#endif // FUSION_EXECUTABLE_PACKAGE_H
