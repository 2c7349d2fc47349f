//===- Bulk.h - Bulk copies -------------------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what the parts of cp.async.bulk say to each other.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_BULK_H
#define FUSION_LIB_RUNTIME_EMULATOR_BULK_H

#include "Async/Async.h"

namespace fusionemu {

/// Checks a copy that the current instruction issues, puts it in flight and,
/// with Asynchrony::Early, performs it. False after a report.
bool issueBulkCopy(Context &c, BulkCopy &&copy);

/// to = op(to, from) for each element. `bytes` is a multiple of the type's.
void reduceBytes(uint8_t *to, const uint8_t *from, uint32_t bytes, Op op,
                 Type type);

/// Whether PTX has the combination for global and for shared memory;
/// reduceBytes() knows them all.
bool canReduce(Op op, Type type);
bool canReduceShared(Op op, Type type);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_BULK_H
