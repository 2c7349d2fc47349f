//===- ProfileImpl.h - Counting instructions --------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how a launch counts what each instruction does.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_PROFILEIMPL_H
#define FUSION_LIB_RUNTIME_EMULATOR_PROFILEIMPL_H

#include "Machine/Context.h"
#include "fusion-rt/Emulator/Profile.h"

namespace fusionemu {

/// The pipe that an instruction occupies, from its name and modifiers.
Pipe choosePipe(const InstructionSyntax &syntax);

/// Runs the handler of `I` and counts it in Context::profile. What it adds to
/// Context::counters is what the instruction did to memory.
Next runCounted(Context &c, const Instruction &I);

/// Adds the counts of one host thread to those of the launch.
void addProfile(std::vector<InstructionCounts> &to,
                const std::vector<InstructionCounts> &from);

/// Puts places and texts to the counts, one of each instruction of `kernel`,
/// and fills the pipes of `counters`.
Profile makeProfile(const Program &program, const Kernel &kernel,
                    const std::vector<InstructionCounts> &counts,
                    Counters &counters);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_PROFILEIMPL_H
