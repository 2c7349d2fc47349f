//===- Npy.h - NumPy's .npy files ---------------------------- -*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares reading and writing tensors as .npy files.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_RT_NPY_H
#define FUSION_RT_NPY_H

#include "fusion-rt/HostTensor.h"

#include <optional>
#include <string>

namespace fusionrt {

/// Reads .npy versions 1.0 to 3.0, little-endian, C or Fortran order.
///
/// `expected` is the type wanted: files have no name for bf16, f8 and i4, which
/// come as V2 or u2, V1 or u1, and i1 or u1 (one value a byte). Unsigned
/// integers are taken as the bits of the signless type of their width. Any
/// other difference between the file and `expected` is an error. Without
/// `expected`, V2 is bf16, and V1 and unsigned types other than b1 are errors.
fusionpkg::Result<HostTensor>
readNpy(const std::string &path, std::optional<DType> expected = std::nullopt);

/// The same for bytes in memory.
fusionpkg::Result<HostTensor>
parseNpy(const std::string &bytes,
         std::optional<DType> expected = std::nullopt);

struct NpyWriteOptions {
  /// bf16 and f8 as u2 and u1, which plain NumPy can compute with, instead of
  /// V2 and V1, which ml_dtypes' types are written as.
  bool bitsAsUnsigned = false;
};

/// The .npy text of a tensor, version 1.0 in C order; i4 becomes i1, one value
/// a byte.
std::string formatNpy(const HostTensor &tensor,
                      const NpyWriteOptions &options = {});

/// Writes a file whole or not at all.
fusionpkg::Error writeNpy(const std::string &path, const HostTensor &tensor,
                          const NpyWriteOptions &options = {});

} // namespace fusionrt

#endif // FUSION_RT_NPY_H
