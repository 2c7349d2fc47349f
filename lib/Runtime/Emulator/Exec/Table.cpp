//===- Table.cpp - The handlers of one instruction set --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file gathers the handlers of one host instruction set.
//
//===----------------------------------------------------------------------===//

#include "Exec/Lanes.h"

namespace fusionemu {
namespace FUSIONEMU_ISA {

#define FUSIONEMU_STRING2(x) #x
#define FUSIONEMU_STRING(x) FUSIONEMU_STRING2(x)

extern const HandlerTable table;
const HandlerTable table = {
    FUSIONEMU_STRING(FUSIONEMU_ISA),
    findInteger,
    findFloat,
    findRounded,
    findHalf,
    findCompare,
    findConvert,
    findMove,
    findResize,
    findPack,
    findUnpack,
    findSelect,
    findLoad,
    findStore,
    findAtomic,
    findSpecial,
    findMatrixMove,
    findMma,
    computeWgmma,
    run,
    /*payload=*/false,
};

extern const HandlerTable payloadTable;
const HandlerTable payloadTable = {
    FUSIONEMU_STRING(FUSIONEMU_ISA),
    findPayloadInteger,
    findPayloadFloat,
    findPayloadFloat,
    findPayloadFloat,
    findPayloadCompare,
    findPayloadConvert,
    findMove,
    findResize,
    findPack,
    findUnpack,
    findSelect,
    findLoad,
    findStore,
    findPayloadAtomic,
    findSpecial,
    findMatrixMove,
    findMma,
    computeWgmma,
    run,
    /*payload=*/true,
};

} // namespace FUSIONEMU_ISA
} // namespace fusionemu
