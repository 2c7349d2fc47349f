//===- Record.cpp - Results of a GPU, kept --------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements reading and writing the record of a GPU's results.
//
//===----------------------------------------------------------------------===//

#include "Record.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace conformance;

Record::Entry *Record::find(const std::string &key) {
  auto found = entries.find(key);
  return found == entries.end() ? nullptr : &found->second;
}

bool Record::read(const std::string &path, std::string &error) {
  std::ifstream stream(path);
  if (!stream) {
    error = path + ": cannot be opened";
    return false;
  }
  unsigned number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    std::istringstream words(line);
    std::string group, kernel, index, kind, value;
    if (line.empty() || line[0] == '#')
      continue;
    words >> group;
    if (group == "device") {
      std::getline(words >> std::ws, device);
      continue;
    }
    if (group == "seed") {
      words >> seed;
      continue;
    }
    words >> kernel >> index >> kind >> value;
    char *end = nullptr;
    Entry entry;
    entry.exact = kind == "exact";
    (entry.exact ? entry.hash : entry.ulp) =
        std::strtoull(value.c_str(), &end, entry.exact ? 16 : 10);
    if (!words || *end != 0 || (!entry.exact && kind != "ulp")) {
      error = path + ":" + std::to_string(number) +
              ": expected 'GROUP KERNEL CASE exact|ulp VALUE'";
      return false;
    }
    entries[group + " " + kernel + " " + index] = entry;
  }
  return true;
}

bool Record::write(const std::string &path, std::string &error) const {
  std::ofstream stream(path);
  stream << "# What a GPU computed, for fusion-conformance --check: a hash of "
            "all buffers,\n# or the largest difference where a bound is "
            "allowed. Written by --record.\n"
         << "device " << device << "\nseed " << seed << "\n";
  for (const auto &[key, entry] : entries) {
    stream << key;
    if (entry.exact)
      stream << " exact " << std::hex << entry.hash << std::dec;
    else
      stream << " ulp " << entry.ulp;
    stream << "\n";
  }
  stream.close();
  if (!stream)
    error = path + ": cannot be written";
  return bool(stream);
}
