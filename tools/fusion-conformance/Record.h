//===- Record.h - Results of a GPU, kept ------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the record of what a GPU computed, against which the
// emulator is checked where there is no GPU.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_CONFORMANCE_RECORD_H
#define FUSION_TOOLS_FUSION_CONFORMANCE_RECORD_H

#include <cstdint>
#include <map>
#include <string>

namespace conformance {

/// The results of one run of the tool on a GPU: a line of text for each case.
class Record {
public:
  struct Entry {
    bool exact = false;
    uint64_t hash = 0; ///< Of all buffers, when exact.
    uint64_t ulp = 0;  ///< The largest difference seen, when not.
    bool used = false;
  };

  std::string device; ///< Chip, driver and date, for people.
  uint64_t seed = 1;

  /// The entry of "GROUP KERNEL CASE", or null.
  Entry *find(const std::string &key);
  void add(const std::string &key, const Entry &entry) { entries[key] = entry; }
  const std::map<std::string, Entry> &getEntries() const { return entries; }

  bool read(const std::string &path, std::string &error);
  bool write(const std::string &path, std::string &error) const;

private:
  std::map<std::string, Entry> entries;
};

} // namespace conformance

#endif // FUSION_TOOLS_FUSION_CONFORMANCE_RECORD_H
