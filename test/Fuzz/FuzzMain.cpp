//===- FuzzMain.cpp - Entry point of the fuzzers --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the entry point that libFuzzer calls. FUSION_FUZZ_TARGET
// names the target; FUSION_FUZZ_PRINTS tells that its inputs are programs of
// Generator.h.
//
//===----------------------------------------------------------------------===//

#ifdef FUSION_FUZZ_PRINTS
#include "Generator.h"
#endif
#include "Targets.h"

#include <cstdio>
#include <cstdlib>

using namespace fusionfuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
#ifdef FUSION_FUZZ_PRINTS
  // Shows the program of an input that was found.
  static const bool isPrinting = std::getenv("FUSION_FUZZ_PRINT") != nullptr;
  if (isPrinting)
    std::printf("%s\n", generate(data, size).text.c_str());
#endif
  std::string wrong = FUSION_FUZZ_TARGET(data, size);
  if (wrong.empty())
    return 0;
  std::fprintf(stderr, "fuzzer: %s\n", wrong.c_str());
  std::abort();
}
