//===- LogisticTest.cpp - Logistic functions two at a time ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests that logistic functions which share a reciprocal are what
// each is alone, whatever the other one's argument is.
//
//===----------------------------------------------------------------------===//

#include "ApproximateInstructions.h"
#include "CompiledFunction.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace {
struct Activation {
  const char *name;
  /// What computes %r from %x; # is a suffix of its names.
  const char *body;
  /// Arguments of which 1 + e^y passes 2^126.
  float limit;
};
} // namespace

static const Activation activations[] = {
    {"Gelu",
     "  %a# = arith.mulf %x#, %x# : f32\n"
     "  %b# = arith.mulf %a#, %x# : f32\n"
     "  %c# = arith.mulf %b#, %cubic : f32\n"
     "  %d# = arith.addf %x#, %c# : f32\n"
     "  %e# = arith.mulf %d#, %root : f32\n"
     "  %t# = math.tanh %e# : f32\n"
     "  %s# = arith.addf %t#, %one : f32\n"
     "  %h# = arith.mulf %x#, %half : f32\n",
     -10.0f},
    {"Silu",
     "  %n# = arith.negf %x# : f32\n"
     "  %e# = math.exp %n# : f32\n"
     "  %d# = arith.addf %e#, %one : f32\n"
     "  %s# = arith.divf %x#, %d# : f32\n",
     -87.33f},
    {"Swish",
     "  %n# = arith.mulf %x#, %factor : f32\n"
     "  %e# = math.exp %n# : f32\n"
     "  %d# = arith.addf %one, %e# : f32\n"
     "  %s# = arith.divf %one, %d# : f32\n",
     -51.3f},
};

/// `text` with `suffix` for each #.
static std::string named(std::string text, const std::string &suffix) {
  for (size_t at; (at = text.find('#')) != std::string::npos;)
    text.replace(at, 1, suffix);
  return text;
}

/// A function of `count` numbers, each operation for all of them before the
/// next one, as kernels have them.
static std::string functionOf(const Activation &activation, unsigned count) {
  std::string text = "func.func @f(%p: !llvm.ptr, %q: !llvm.ptr) {\n"
                     "  %one = arith.constant 1.0 : f32\n"
                     "  %half = arith.constant 0.5 : f32\n"
                     "  %root = arith.constant 0.797884583 : f32\n"
                     "  %cubic = arith.constant 0.044715 : f32\n"
                     "  %factor = arith.constant -1.702 : f32\n";
  std::string body = activation.body;
  bool half = body.find("%h#") != std::string::npos;
  bool quotient = body.find("divf %x#") != std::string::npos;
  for (unsigned i = 0; i < count; ++i)
    text += named("  %p# = llvm.getelementptr %p[" + std::to_string(i) +
                      "] : (!llvm.ptr) -> !llvm.ptr, f32\n"
                      "  %q# = llvm.getelementptr %q[" +
                      std::to_string(i) +
                      "] : (!llvm.ptr) -> !llvm.ptr, f32\n"
                      "  %x# = llvm.load %p# : !llvm.ptr -> f32\n" +
                      body,
                  std::to_string(i));
  for (unsigned i = 0; i < count; ++i) {
    const char *last = quotient ? "  llvm.store %s#, %q# : f32, !llvm.ptr\n"
                       : half   ? "  %r# = arith.mulf %h#, %s# : f32\n"
                                  "  llvm.store %r#, %q# : f32, !llvm.ptr\n"
                                : "  %r# = arith.mulf %x#, %s# : f32\n"
                                  "  llvm.store %r#, %q# : f32, !llvm.ptr\n";
    text += named(last, std::to_string(i));
  }
  return text + "  return\n}";
}

/// Numbers at which something turns, and ordinary ones.
static std::vector<float> getArguments(float limit) {
  using Limits = std::numeric_limits<float>;
  std::vector<float> values = {
      0.0f,     1.0f, 0.3f,   1e-30f, 1e10f,      1e30f,      Limits::max(),
      INFINITY, NAN,  1e-41f, -limit, -limit / 2, -limit / 4, -limit * 2};
  for (int step = -8; step <= 8; ++step)
    values.push_back(-limit * (1 + 0.003f * step));
  for (float x = 0.7f; x < 1.1f * -limit; x *= 1.37f)
    values.push_back(x);
  for (size_t i = 0, count = values.size(); i < count; ++i)
    values.push_back(-values[i]);
  return values;
}

class LogisticTest : public ::testing::TestWithParam<Activation> {
protected:
  void TearDown() override { approximationError = 0; }
};

TEST_P(LogisticTest, PairsAreWhatEachIsAlone) {
  CompiledFunction one(functionOf(GetParam(), 1));
  CompiledFunction two(functionOf(GetParam(), 2));
  auto *f = one.as<void(const float *, float *)>();
  auto *g = two.as<void(const float *, float *)>();
  // With instructions that round correctly, and with the worst there may be.
  for (double error : {0.0, 1.0, -1.0}) {
    approximationError = error;
    for (float x : getArguments(GetParam().limit))
      for (float y : getArguments(GetParam().limit)) {
        float in[2] = {x, y}, out[2], alone[2];
        g(in, out);
        for (int i = 0; i < 2; ++i) {
          f(&in[i], &alone[i]);
          if (std::isnan(alone[i])) {
            ASSERT_TRUE(std::isnan(out[i])) << x << ", " << y;
            continue;
          }
          // Roundings of the divisors and their product; where one reciprocal
          // becomes 0 the other may be the least normal number.
          float bound = std::fabs(alone[i]) * 0x1.8p-22f +
                        std::fabs(in[i]) * 0x1.0001p-126f;
          if (std::isinf(alone[i]) || in[i] > 0)
            bound = std::fabs(alone[i]) * 0x1.8p-22f;
          ASSERT_TRUE(out[i] == alone[i] ||
                      std::fabs(out[i] - alone[i]) <= bound)
              << i << " of " << x << ", " << y << ": " << out[i] << " is not "
              << alone[i];
          ASSERT_EQ(std::signbit(out[i]), std::signbit(alone[i]));
        }
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Activations, LogisticTest,
                         ::testing::ValuesIn(activations),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });
