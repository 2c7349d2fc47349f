//===- Templates.h - Instructions of random programs ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the table of arithmetic instructions for random programs.
// ~R stands for a register of 32 bits that is written, ~r for one that is read
// or a constant; h, x and q have 16, 64 and 128 bits, f and d are floats, p
// predicates. $ is a number up to 255.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_FUZZ_TEMPLATES_H
#define FUSION_TEST_FUZZ_TEMPLATES_H

namespace fusionfuzz {

extern const char *const templates[];
extern const unsigned numTemplates;

} // namespace fusionfuzz

#endif // FUSION_TEST_FUZZ_TEMPLATES_H
