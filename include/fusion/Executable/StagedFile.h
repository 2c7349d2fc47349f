//===- StagedFile.h - Files that appear together ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines a file that is written and not yet there, so that several
// can appear together or not at all.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_EXECUTABLE_STAGEDFILE_H
#define FUSION_EXECUTABLE_STAGEDFILE_H

#include "fusion/Executable/Error.h"

#include <string>

namespace fusionpkg {

/// The new content of a file, whole and flushed, in a temporary file beside it.
/// Unless it is committed, it goes with this and the file is as it was.
class StagedFile {
public:
  /// What `path` is to hold. A device gets the bytes when they are committed.
  static Result<StagedFile> write(const std::string &path,
                                  const std::string &bytes);
  StagedFile(StagedFile &&other) noexcept;
  StagedFile &operator=(StagedFile &&) = delete;
  ~StagedFile();

  /// True for what is no file: it cannot be prepared, so that its commit may
  /// fail as any writing may.
  bool isDevice() const { return isForDevice; }
  /// Puts the content in place.
  Error commit();

private:
  explicit StagedFile(std::string path) : path(std::move(path)) {}
  void forget();

  std::string path;
  std::string temporary; ///< Empty for a device, and once there is none.
  bool isForDevice = false;
  std::string forDevice; ///< What a device is to get.
};

} // namespace fusionpkg

#endif // FUSION_EXECUTABLE_STAGEDFILE_H
