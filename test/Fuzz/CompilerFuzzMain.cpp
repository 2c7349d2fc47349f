//===- CompilerFuzzMain.cpp - Entry point of the compiler's fuzzers -------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the entry point that libFuzzer calls. The compiler is
// large, so one program holds its targets; the name it is called by chooses:
// fusion-program-fuzzer or fusion-command-line-fuzzer.
//
//===----------------------------------------------------------------------===//

#include "CompilerTargets.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace fusionfuzz;

extern "C" {
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                               unsigned seed);
}

static bool isCommandLine = false;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const char *name = std::strrchr((*argv)[0], '/');
  name = name ? name + 1 : (*argv)[0];
  isCommandLine = std::strstr(name, "command-line") != nullptr;
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string wrong =
      isCommandLine ? fuzzCommandLine(data, size) : fuzzProgram(data, size);
  if (wrong.empty())
    return 0;
  std::fprintf(stderr, "fuzzer: %s\n", wrong.c_str());
  std::abort();
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                               unsigned seed) {
  if (isCommandLine || seed % 8 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::mt19937 random(seed);
  std::string text =
      alterProgram({reinterpret_cast<const char *>(data), size}, random);
  if (text.empty() || text.size() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
