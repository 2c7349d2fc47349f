//===- PackageLayout.h - The frame around the metadata ------- -*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the fixed header of a package file and its checksum. All
// numbers are little-endian.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_EXECUTABLE_PACKAGELAYOUT_H
#define FUSION_LIB_EXECUTABLE_PACKAGELAYOUT_H

#include <cstddef>
#include <cstdint>

namespace fusionpkg {

/// The last byte tells a file that went through a text-mode copy.
constexpr char kMagic[8] = {'F', 'U', 'S', 'N', 'P', 'K', 'G', '\n'};
/// A package carries the oldest version whose readers understand it: 2 has
/// clusters and tensor maps, 3 blocks that wait for each other, 4 outputs that
/// are the memory of inputs.
constexpr uint32_t kOldestVersion = 1;
constexpr uint32_t kClusterVersion = 2;
constexpr uint32_t kTogetherVersion = 3;
constexpr uint32_t kFormatVersion = 4;
constexpr size_t kHeaderBytes = 64;
constexpr size_t kChecksumOffset = 48;
constexpr size_t kChecksumBytes = 16;
constexpr size_t kSectionAlignment = 64;

/// The header's fields after the magic, in file order.
struct FileHeader {
  uint32_t version = kOldestVersion;
  uint32_t reserved = 0;
  uint64_t totalBytes = 0;
  uint64_t metaBytes = 0; // the FlatBuffer, right after the header
  uint64_t constantsOffset = 0;
  uint64_t constantsBytes = 0;
};

void encodeHeader(const FileHeader &header, uint8_t *bytes);
FileHeader decodeHeader(const uint8_t *bytes);

/// XXH3-128 over everything but the checksum itself: the first 48 bytes seed
/// the hash of what follows the header. `bytes` holds at least a header.
void computeChecksum(const uint8_t *bytes, size_t size,
                     uint8_t checksum[kChecksumBytes]);

} // namespace fusionpkg

#endif // FUSION_LIB_EXECUTABLE_PACKAGELAYOUT_H
