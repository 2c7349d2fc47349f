//===- JitRuntime.cpp - What compiled references call ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the functions that compiled code of the reference calls.
//
//===----------------------------------------------------------------------===//

#include "JitRuntime.h"
#include "BoundedRuntime.h"
#include "FormulaCalls.h"

#include "llvm/ADT/DenseMap.h"
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace mlir;
using namespace mlir::fusion;

struct JitMemory::Impl {
  llvm::DenseMap<void *, size_t> blocks;
  size_t bytes = 0, limit = 0;
  std::string message;
  jmp_buf exit;
};

namespace mlir::fusion {

/// The heap of the call that this thread is in. Compiled code has no frames
/// with destructors, so that longjmp is a safe way out of it.
struct JitHeap {
  static thread_local JitMemory::Impl *current;

  static void *allocate(size_t size) {
    void *block = size <= current->limit - current->bytes
                      ? std::malloc(size ? size : 1)
                      : nullptr;
    if (!block)
      longjmp(current->exit, static_cast<int>(JitOutcome::OutOfMemory));
    // What nothing writes is a NaN of which nothing is known.
    std::memset(block, 0xFF, size);
    current->blocks[block] = size;
    current->bytes += size;
    return block;
  }

  /// Blocks that the heap does not know are constants of the module.
  static void release(void *block) {
    auto it = current->blocks.find(block);
    if (it == current->blocks.end())
      return;
    current->bytes -= it->second;
    current->blocks.erase(it);
    std::free(block);
  }

  /// Takes the text that a failed check prints.
  static int print(const char *text) {
    current->message += text;
    return 0;
  }

  /// Evaluates a formula: the C function whose arguments are a FormulaCall and
  /// the descriptor of its words.
  static void evaluateFormula(int64_t call, int64_t *, const int64_t *words,
                              int64_t, int64_t, int64_t) {
    if (!tryFormula(*reinterpret_cast<const FormulaCall *>(call), words))
      stop();
  }

  /// Nothing that wants a destructor is left when this returns.
  static bool tryFormula(const FormulaCall &call, const int64_t *words) {
    std::string problem = call.run(words);
    current->message += problem;
    return problem.empty();
  }

  [[noreturn]] static void stop() {
    longjmp(current->exit, static_cast<int>(JitOutcome::Fault));
  }
};

thread_local JitMemory::Impl *JitHeap::current = nullptr;

} // namespace mlir::fusion

JitMemory::JitMemory() : impl(std::make_unique<Impl>()) {
  // More than the machine has would be granted by the system and end in the
  // death of the process.
  impl->limit = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) *
                static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

JitMemory::~JitMemory() {
  for (auto &[block, size] : impl->blocks)
    std::free(block);
}

JitOutcome JitMemory::call(void (*function)(void **), void **arguments,
                           std::string &message) {
  JitMemory::Impl *outer = JitHeap::current;
  JitHeap::current = impl.get();
  int outcome = setjmp(impl->exit);
  if (outcome == 0)
    function(arguments);
  JitHeap::current = outer;
  message = impl->message;
  return static_cast<JitOutcome>(outcome);
}

void fusion::registerJitSymbols(ExecutionEngine &engine) {
  engine.registerSymbols([](llvm::orc::MangleAndInterner intern) {
    llvm::orc::SymbolMap symbols;
    auto add = [&](StringRef name, auto *function) {
      symbols[intern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                               llvm::JITSymbolFlags::Exported};
    };
    add("_mlir_memref_to_llvm_alloc", &JitHeap::allocate);
    add("_mlir_memref_to_llvm_free", &JitHeap::release);
    add("puts", &JitHeap::print);
    add("abort", &JitHeap::stop);
    add(kFormulaSymbol, &JitHeap::evaluateFormula);
    forEachBoundedCall([&](StringRef name, void *function) {
      symbols[intern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                               llvm::JITSymbolFlags::Exported};
    });
    return symbols;
  });
}
