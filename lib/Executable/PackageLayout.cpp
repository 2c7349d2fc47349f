//===- PackageLayout.cpp - The frame around the metadata ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the fixed header of a package file and its checksum.
//
//===----------------------------------------------------------------------===//

#include "PackageLayout.h"
#include "fusion/Executable/Package.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

namespace fusionpkg {

static void putInteger(uint64_t value, unsigned width, uint8_t *&out) {
  for (unsigned i = 0; i < width; ++i)
    *out++ = static_cast<uint8_t>(value >> (8 * i));
}

static uint64_t getInteger(unsigned width, const uint8_t *&in) {
  uint64_t value = 0;
  for (unsigned i = 0; i < width; ++i)
    value |= static_cast<uint64_t>(*in++) << (8 * i);
  return value;
}

void encodeHeader(const FileHeader &header, uint8_t *bytes) {
  std::memcpy(bytes, kMagic, sizeof(kMagic));
  uint8_t *out = bytes + sizeof(kMagic);
  putInteger(header.version, 4, out);
  putInteger(header.reserved, 4, out);
  putInteger(header.totalBytes, 8, out);
  putInteger(header.metaBytes, 8, out);
  putInteger(header.constantsOffset, 8, out);
  putInteger(header.constantsBytes, 8, out);
}

FileHeader decodeHeader(const uint8_t *bytes) {
  FileHeader header;
  const uint8_t *in = bytes + sizeof(kMagic);
  header.version = static_cast<uint32_t>(getInteger(4, in));
  header.reserved = static_cast<uint32_t>(getInteger(4, in));
  header.totalBytes = getInteger(8, in);
  header.metaBytes = getInteger(8, in);
  header.constantsOffset = getInteger(8, in);
  header.constantsBytes = getInteger(8, in);
  return header;
}

void computeChecksum(const uint8_t *bytes, size_t size,
                     uint8_t checksum[kChecksumBytes]) {
  XXH64_hash_t seed = XXH3_64bits(bytes, kChecksumOffset);
  XXH128_hash_t hash =
      XXH3_128bits_withSeed(bytes + kHeaderBytes, size - kHeaderBytes, seed);
  uint8_t *out = checksum;
  putInteger(hash.low64, 8, out);
  putInteger(hash.high64, 8, out);
}

bool looksLikePackage(const void *data, size_t size) {
  return size >= sizeof(kMagic) &&
         std::memcmp(data, kMagic, sizeof(kMagic)) == 0;
}

} // namespace fusionpkg
