//===- GeneratorImpl.h - The generator of random programs -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the class behind generate(). Which part of a program a
// method emits decides which file it is in.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_FUZZ_GENERATORIMPL_H
#define FUSION_TEST_FUZZ_GENERATORIMPL_H

#include "Generator.h"

#include <string>

namespace fusionfuzz {

/// Hands out the bytes of the input, and zeros behind them.
class Bytes {
public:
  Bytes(const uint8_t *data, size_t size) : at(data), end(data + size) {}
  unsigned next() { return at == end ? 0 : *at++; }
  /// A number below `limit`, which is at most 65536.
  unsigned below(unsigned limit) {
    unsigned value = next();
    if (limit > 256)
      value = value << 8 | next();
    return value % limit;
  }
  bool oneIn(unsigned n) { return below(n) == n - 1; }
  bool empty() const { return at == end; }

private:
  const uint8_t *at, *end;
};

class Generator {
public:
  Generator(const uint8_t *data, size_t size) : in(data, size) {}
  Program run();

private:
  void emit(const std::string &line) { body += "  " + line + "\n"; }
  std::string number(unsigned n) { return std::to_string(n); }
  std::string newLabel() { return "L" + number(labels++); }
  template <size_t n>
  const char *pick(const char *const (&choices)[n]) {
    return choices[in.below(n)];
  }

  std::string readRegister(char kind);
  std::string operand(char letter);
  std::string memberMask();
  std::string guard();
  void emitTemplate();
  void emitSharedAddress(unsigned size);
  std::string address(unsigned size, const char *&space, bool isStore,
                      bool isStrong);
  void emitLoad();
  void emitStore();
  void emitAtomic();
  void emitCollective();
  void emitBarrier();
  void emitAsync();
  void chooseMap();
  void emitTensor();
  void emitMatrix();
  void emitBranch(unsigned depth);
  void emitLoop(unsigned depth);
  void emitTable(unsigned depth);
  void emitCall();
  void emitBlock(unsigned depth);

  Bytes in;
  Program program;
  std::string body;
  unsigned labels = 0;
  bool oneBlock = false;
  /// Inside branches and loops, which threads enter on their own.
  unsigned nesting = 0;
};

} // namespace fusionfuzz

#endif // FUSION_TEST_FUZZ_GENERATORIMPL_H
