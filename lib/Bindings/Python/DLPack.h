//===- DLPack.h - The structs of DLPack that are exchanged ---- -*- C -*---===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the parts of DLPack, major version 1, that the extension
// module reads and writes: tensors, capsules of them, and the table of
// functions by which a framework gives its tensors without a capsule.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_BINDINGS_PYTHON_DLPACK_H
#define FUSION_LIB_BINDINGS_PYTHON_DLPACK_H

#include <stdint.h>

enum { DL_CPU = 1, DL_CUDA = 2 };
enum { DL_MAJOR = 1, DL_MINOR = 0, DL_READ_ONLY = 1 };

typedef struct DLDevice {
  int32_t type, id;
} DLDevice;

typedef struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;

/// Strides count elements; a null pointer means row-major. None of the pointers
/// belongs to who is given a tensor.
typedef struct DLTensor {
  void *data;
  DLDevice device;
  int32_t rank;
  DLDataType dtype;
  int64_t *dims, *strides;
  uint64_t byteOffset;
} DLTensor;

/// What a capsule "dltensor" holds.
typedef struct DLManagedTensor {
  DLTensor tensor;
  void *owner;
  void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct DLVersion {
  uint32_t major, minor;
} DLVersion;

/// What a capsule "dltensor_versioned" holds.
typedef struct DLVersionedTensor {
  DLVersion version;
  void *owner;
  void (*deleter)(struct DLVersionedTensor *self);
  uint64_t flags;
  DLTensor tensor;
} DLVersionedTensor;

/// What a framework's tensor type has in a capsule "dlpack_exchange_api". The
/// functions that are not used here keep their places only.
typedef struct DLExchange {
  DLVersion version;
  const struct DLExchange *older;
  void (*allocate)(void), (*fromObject)(void), (*toObject)(void);
  /// Describes a tensor object without owning it; 0, or -1 with an exception.
  int (*describe)(void *object, DLTensor *tensor);
  int (*currentStream)(int32_t deviceType, int32_t deviceId, void **stream);
} DLExchange;

#endif // FUSION_LIB_BINDINGS_PYTHON_DLPACK_H
