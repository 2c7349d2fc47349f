//===- CHeaderTest.c - Runtime.h is C -------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file fails to compile when the public header is no longer C.
//
//===----------------------------------------------------------------------===//

#include "fusion-rt/Runtime.h"

uint64_t fusionRtTestStructSize(void);

uint64_t fusionRtTestStructSize(void) {
  FusionRtLaunchArgs args = FUSION_RT_INIT(FusionRtLaunchArgs);
  return args.structSize;
}
