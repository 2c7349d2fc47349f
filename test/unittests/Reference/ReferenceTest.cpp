//===- ReferenceTest.cpp - Programs with known results --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the CPU reference on programs whose results are computed by
// plain loops here.
//
//===----------------------------------------------------------------------===//

#include "ReferenceTestUtils.h"

#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fusion;

namespace {

const char *const kMatmul = R"(
func.func @matmul(%a: tensor<?x7xf32>, %b: tensor<7x5xf32>) -> tensor<?x5xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x7xf32>
  %e = tensor.empty(%m) : tensor<?x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x5xf32>) -> tensor<?x5xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x7xf32>, tensor<7x5xf32>)
      outs(%f : tensor<?x5xf32>) -> tensor<?x5xf32>
  return %r : tensor<?x5xf32>
})";

TEST(ReferenceTest, MatmulWithDynamicRows) {
  Program program(kMatmul);
  auto exact = program.compile("matmul");
  ASSERT_TRUE(exact);
  for (int64_t m : {0, 1, 3, 65}) {
    HostTensor a = randomTensor(DType::F32, {m, 7}, 1);
    HostTensor b = randomTensor(DType::F32, {7, 5}, 2);
    auto results = evaluateBounded(*exact, {a, b});
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0].dims, (std::vector<int64_t>{m, 5}));
    EXPECT_EQ(results[0].dtype, DType::F32);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < 5; ++j) {
        double sum = 0;
        float inF32 = 0;
        for (int64_t k = 0; k < 7; ++k) {
          sum += a.getDouble(i * 7 + k) * b.getDouble(k * 5 + j);
          inF32 +=
              float(a.getDouble(i * 7 + k)) * float(b.getDouble(k * 5 + j));
        }
        Bounded result = results[0].elements[i * 5 + j];
        EXPECT_TRUE(result.contains(float(sum)));
        EXPECT_TRUE(result.contains(inF32));
        EXPECT_LT(result.error, 1e-4);
      }
  }
}

TEST(ReferenceTest, SoftmaxChainWithInfinities) {
  Program program(R"(
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @softmax(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %l = linalg.fill ins(%least : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %max = linalg.reduce ins(%x : tensor<?x?xf32>) outs(%l : tensor<?xf32>) dimensions = [1]
    (%a: f32, %b: f32) {
      %r = arith.maximumf %a, %b : f32
      linalg.yield %r : f32
    }
  %o = tensor.empty(%m, %n) : tensor<?x?xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %max : tensor<?x?xf32>, tensor<?xf32>) outs(%o : tensor<?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %d = arith.subf %a, %b : f32
      %r = math.exp %d : f32
      linalg.yield %r : f32
    } -> tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.reduce { arith.addf } ins(%p : tensor<?x?xf32>) outs(%z : tensor<?xf32>) dimensions = [1]
  %q = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%p, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%o : tensor<?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<?x?xf32>
  return %q : tensor<?x?xf32>
})");
  auto exact = program.compile("softmax");
  ASSERT_TRUE(exact) << program.getErrors();
  HostTensor x = randomTensor(DType::F32, {3, 9}, 3);
  x.setDouble(4, -INFINITY);
  auto results = evaluate(*exact, {x});
  ASSERT_EQ(results.size(), 1u);
  for (int i = 0; i < 3; ++i) {
    double max = -INFINITY, sum = 0;
    for (int j = 0; j < 9; ++j)
      max = std::max(max, x.getDouble(i * 9 + j));
    for (int j = 0; j < 9; ++j)
      sum += std::exp(x.getDouble(i * 9 + j) - max);
    for (int j = 0; j < 9; ++j)
      EXPECT_NEAR(results[0].getDouble(i * 9 + j),
                  std::exp(x.getDouble(i * 9 + j) - max) / sum, 1e-6);
  }
  EXPECT_EQ(results[0].getDouble(4), 0);
}

TEST(ReferenceTest, SmallFloatsRoundWhereDeclared) {
  for (auto [name, dtype] :
       {std::pair("bf16", DType::BF16), std::pair("f16", DType::F16),
        std::pair("f8E4M3FN", DType::F8E4M3),
        std::pair("f8E5M2", DType::F8E5M2)}) {
    std::string text = R"(
func.func @f(%a: tensor<64xT>, %b: tensor<64xT>) -> (tensor<64xT>, tensor<64xf32>) {
  %s = arith.addf %a, %b : tensor<64xT>
  %e = math.exp %s : tensor<64xT>
  %w = arith.extf %s : tensor<64xT> to tensor<64xf32>
  return %e, %w : tensor<64xT>, tensor<64xf32>
})";
    for (size_t at; (at = text.find("xT")) != std::string::npos;)
      text.replace(at + 1, 1, name);
    Program program(text);
    auto reference = program.compile("f");
    ASSERT_TRUE(reference) << name;
    HostTensor a = randomTensor(dtype, {64}, 4);
    HostTensor b = randomTensor(dtype, {64}, 5);
    auto results = evaluateBounded(*reference, {a, b});
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[0].dtype, dtype);
    HostTensor cell = createTensor(dtype, {1});
    auto round = [&](double value) {
      cell.setDouble(0, value);
      return cell.getDouble(0);
    };
    for (int i = 0; i < 64; ++i) {
      double once = round(a.getDouble(i) + b.getDouble(i));
      EXPECT_EQ(results[1].elements[i].value, once) << name;
      EXPECT_TRUE(results[1].elements[i].isExact());
      double twice = round(std::exp(float(once)));
      EXPECT_TRUE(results[0].elements[i].contains(twice)) << name;
    }
  }
}

TEST(ReferenceTest, ConstantsKeepTheirDeclaredRounding) {
  Program program(R"(
func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  %c = arith.constant dense<[0.1, 0.2]> : tensor<2xf32>
  %r = arith.addf %a, %c : tensor<2xf32>
  return %r : tensor<2xf32>
})");
  auto exact = program.compile("f");
  ASSERT_TRUE(exact) << program.getErrors();
  auto results = evaluate(*exact, {createTensor(DType::F32, {2})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].getDouble(0), double(0.1f));
  EXPECT_EQ(results[0].getDouble(1), double(0.2f));
}

TEST(ReferenceTest, BitcastsSeeTheDeclaredBits) {
  Program program(R"(
func.func @f(%a: tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>) {
  %i = arith.bitcast %a : tensor<4xf32> to tensor<4xi32>
  %one = arith.constant dense<1> : tensor<4xi32>
  %j = arith.addi %i, %one : tensor<4xi32>
  %r = arith.bitcast %j : tensor<4xi32> to tensor<4xf32>
  return %i, %r : tensor<4xi32>, tensor<4xf32>
})");
  HostTensor a = randomTensor(DType::F32, {4}, 6);
  {
    auto reference = program.compile("f");
    ASSERT_TRUE(reference) << program.getErrors();
    auto results = evaluate(*reference, {a});
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(getBytes(results[0]), getBytes(a));
    for (int i = 0; i < 4; ++i) {
      float value = float(a.getDouble(i));
      EXPECT_EQ(results[1].getDouble(i),
                std::nextafter(value, value > 0 ? INFINITY : -INFINITY));
    }
  }
}

TEST(ReferenceTest, IntegersOfEveryWidth) {
  for (auto [name, dtype] :
       {std::pair("i64", DType::I64), std::pair("i32", DType::I32),
        std::pair("i16", DType::I16), std::pair("i8", DType::I8),
        std::pair("i4", DType::I4)}) {
    std::string text = R"(
func.func @f(%a: tensor<5xT>, %b: tensor<5xT>) -> (tensor<5xT>, tensor<5xi1>) {
  %p = arith.muli %a, %b : tensor<5xT>
  %q = arith.cmpi slt, %a, %b : tensor<5xT>
  return %p, %q : tensor<5xT>, tensor<5xi1>
})";
    for (size_t at; (at = text.find("xT")) != std::string::npos;)
      text.replace(at + 1, 1, name);
    Program program(text);
    HostTensor a = createTensor(dtype, {5}), b = a;
    for (int i = 0; i < 5; ++i) {
      a.setInteger(i, i - 2);
      b.setInteger(i, 3 - 2 * i);
    }
    {
      auto reference = program.compile("f");
      ASSERT_TRUE(reference) << name;
      auto results = evaluate(*reference, {a, b});
      ASSERT_EQ(results.size(), 2u);
      EXPECT_EQ(results[0].getDType(), dtype);
      EXPECT_EQ(results[1].getDType(), DType::I1);
      for (int i = 0; i < 5; ++i) {
        HostTensor product = createTensor(dtype, {1});
        product.setInteger(0, a.getInteger(i) * b.getInteger(i));
        EXPECT_EQ(results[0].getInteger(i), product.getInteger(0)) << name;
        EXPECT_EQ(results[1].getInteger(i), a.getInteger(i) < b.getInteger(i))
            << name;
      }
    }
  }
}

TEST(ReferenceTest, DivisionDoesNotTrap) {
  Program program(R"(
func.func @f(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
  %q = arith.divsi %a, %b : tensor<4xi32>
  return %q : tensor<4xi32>
})");
  auto reference = program.compile("f");
  ASSERT_TRUE(reference) << program.getErrors();
  HostTensor a = createTensor(DType::I32, {4}), b = a;
  a.setInteger(0, 7), b.setInteger(0, 0);
  a.setInteger(1, INT32_MIN), b.setInteger(1, -1);
  a.setInteger(2, -7), b.setInteger(2, 2);
  a.setInteger(3, 7), b.setInteger(3, -1);
  auto results = evaluate(*reference, {a, b});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].getInteger(2), -3);
  EXPECT_EQ(results[0].getInteger(3), -7);
}

TEST(ReferenceTest, ConvolutionOfBothLayouts) {
  Program program(R"(
func.func @nchw(%x: tensor<2x3x6x5xf32>, %w: tensor<4x3x3x2xf32>) -> tensor<2x4x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x3x6x5xf32>, tensor<4x3x3x2xf32>)
      outs(%f : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  return %r : tensor<2x4x4x4xf32>
})");
  auto exact = program.compile("nchw");
  ASSERT_TRUE(exact) << program.getErrors();
  HostTensor x = randomTensor(DType::F32, {2, 3, 6, 5}, 8);
  HostTensor w = randomTensor(DType::F32, {4, 3, 3, 2}, 9);
  auto results = evaluate(*exact, {x, w});
  ASSERT_EQ(results.size(), 1u);
  for (int n = 0; n < 2; ++n)
    for (int f = 0; f < 4; ++f)
      for (int h = 0; h < 4; ++h)
        for (int v = 0; v < 4; ++v) {
          double sum = 0;
          for (int c = 0; c < 3; ++c)
            for (int kh = 0; kh < 3; ++kh)
              for (int kw = 0; kw < 2; ++kw)
                sum += x.getDouble(((n * 3 + c) * 6 + h + kh) * 5 + v + kw) *
                       w.getDouble(((f * 3 + c) * 3 + kh) * 2 + kw);
          EXPECT_NEAR(results[0].getDouble(((n * 4 + f) * 4 + h) * 4 + v), sum,
                      1e-5);
        }
}

TEST(ReferenceTest, PadConcatSliceAndScan) {
  Program program(R"(
func.func @f(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %padded = tensor.pad %x low[2] high[1] {
    ^bb0(%i: index):
      tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<?xf32>
  %twice = tensor.concat dim(0) %x, %padded : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %sums, %last = scf.for %i = %c0 to %n step %c1 iter_args(%t = %e, %s = %zero) -> (tensor<?xf32>, f32) {
    %v = tensor.extract %x[%i] : tensor<?xf32>
    %next = arith.addf %s, %v : f32
    %u = tensor.insert %next into %t[%i] : tensor<?xf32>
    scf.yield %u, %next : tensor<?xf32>, f32
  }
  return %padded, %twice, %sums, %last : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, f32
})");
  {
    auto reference = program.compile("f");
    ASSERT_TRUE(reference) << program.getErrors();
    HostTensor x = createTensor(DType::F32, {3});
    for (int i = 0; i < 3; ++i)
      x.setDouble(i, i + 1);
    auto results = evaluate(*reference, {x});
    ASSERT_EQ(results.size(), 4u);
    EXPECT_EQ(toDoubles(results[0]), (std::vector<double>{0, 0, 1, 2, 3, 0}));
    EXPECT_EQ(toDoubles(results[1]),
              (std::vector<double>{1, 2, 3, 0, 0, 1, 2, 3, 0}));
    EXPECT_EQ(toDoubles(results[2]), (std::vector<double>{1, 3, 6}));
    EXPECT_EQ(toDoubles(results[3]), (std::vector<double>{6}));
  }
}

TEST(ReferenceTest, MathFunctionsAreAccurate) {
  struct Case {
    const char *op;
    double (*exact)(double);
  };
  for (Case test :
       {Case{"exp", std::exp}, Case{"expm1", std::expm1}, Case{"log", std::log},
        Case{"log1p", std::log1p}, Case{"tanh", std::tanh},
        Case{"erf", std::erf}, Case{"sqrt", std::sqrt}, Case{"sin", std::sin},
        Case{"absf", std::fabs}, Case{"exp2", std::exp2},
        Case{"roundeven", std::nearbyint}, Case{"floor", std::floor},
        Case{"rsqrt", [](double x) { return 1 / std::sqrt(x); }}}) {
    std::string text = std::string(R"(
func.func @f(%a: tensor<9xf32>) -> tensor<9xf32> {
  %r = math.)") + test.op +
                       R"( %a : tensor<9xf32>
  return %r : tensor<9xf32>
})";
    Program program(text);
    HostTensor a = randomTensor(DType::F32, {9}, 10);
    for (int i = 0; i < 9; ++i)
      a.setDouble(i, i == 0 ? 1e-6 : std::fabs(a.getDouble(i)));
    {
      auto reference = program.compile("f");
      ASSERT_TRUE(reference) << test.op;
      auto results = evaluate(*reference, {a});
      ASSERT_EQ(results.size(), 1u);
      double epsilon = 0x1p-22;
      for (int i = 0; i < 9; ++i) {
        double exact = test.exact(a.getDouble(i));
        EXPECT_NEAR(results[0].getDouble(i), exact, std::fabs(exact) * epsilon)
            << test.op;
      }
    }
  }
}

TEST(ReferenceTest, ScalarArgumentsAndIntegerPowers) {
  Program program(R"(
func.func @f(%x: f32, %n: i32, %i: index) -> (f32, i32, index) {
  %p = math.fpowi %x, %n : f32, i32
  %q = math.ipowi %n, %n : i32
  return %p, %q, %i : f32, i32, index
})");
  auto reference = program.compile("f");
  ASSERT_TRUE(reference) << program.getErrors();
  HostTensor x = createTensor(DType::F32, {});
  HostTensor n = createTensor(DType::I32, {});
  HostTensor i = createTensor(DType::I64, {});
  x.setDouble(0, 1.5);
  n.setInteger(0, 3);
  i.setInteger(0, int64_t(1) << 40);
  auto results = evaluate(*reference, {x, n, i});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].getDouble(0), 3.375);
  EXPECT_EQ(results[1].getInteger(0), 27);
  EXPECT_EQ(results[2].getInteger(0), int64_t(1) << 40);
}

TEST(ReferenceTest, InputsStayAsTheyAre) {
  Program program(R"(
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %one = arith.constant 1.0 : f32
  %r = linalg.fill ins(%one : f32) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
})");
  auto reference = program.compile("f");
  ASSERT_TRUE(reference) << program.getErrors();
  HostTensor a = randomTensor(DType::F32, {4}, 11);
  std::vector<uint8_t> before = getBytes(a);
  auto results = evaluate(*reference, {a});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(getBytes(a), before);
  EXPECT_EQ(toDoubles(results[0]), (std::vector<double>{1, 1, 1, 1}));
}

const char *const kGather = R"(
#id = affine_map<(i) -> (i)>
func.func @gather(%table: tensor<?xf32>, %at: tensor<3xi32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%at : tensor<3xi32>) outs(%e : tensor<3xf32>) {
    ^bb0(%i: i32, %o: f32):
      %k = arith.index_cast %i : i32 to index
      %v = tensor.extract %table[%k] : tensor<?xf32>
      linalg.yield %v : f32
    } -> tensor<3xf32>
  return %r : tensor<3xf32>
})";

TEST(ReferenceTest, AnIndexOutOfBoundsIsAnError) {
  Program program(kGather);
  auto reference = program.compile("gather");
  ASSERT_TRUE(reference) << program.getErrors();
  HostTensor table = randomTensor(DType::F32, {5}, 12);
  HostTensor at = createTensor(DType::I32, {3});
  at.setInteger(1, 4);
  EXPECT_EQ(evaluate(*reference, {table, at}).size(), 1u);
  at.setInteger(2, 5);
  EXPECT_TRUE(evaluate(*reference, {table, at}).empty());
  EXPECT_NE(program.getErrors().find("FUS-1102"), std::string::npos);
  EXPECT_NE(program.getErrors().find("out-of-bounds"), std::string::npos);
  // The reference still works afterwards.
  at.setInteger(2, 0);
  EXPECT_EQ(evaluate(*reference, {table, at}).size(), 1u);
}

TEST(ReferenceTest, NamedOpsMeanTheirDecomposition) {
  Program program(R"(
func.func @f(%x: tensor<3x8xf32> {fusion.dims = ["_", "n"]}) -> tensor<3x8xf32> {
  %y = fusion.gelu %x : tensor<3x8xf32>
  return %y : tensor<3x8xf32>
})");
  auto reference = program.compile("f");
  ASSERT_TRUE(reference) << program.getErrors();
  HostTensor x = randomTensor(DType::F32, {3, 8}, 13);
  auto results = evaluate(*reference, {x});
  ASSERT_EQ(results.size(), 1u);
  for (int i = 0; i < 24; ++i) {
    double value = x.getDouble(i);
    EXPECT_NEAR(results[0].getDouble(i),
                value / 2 * (1 + std::erf(value * std::sqrt(0.5))), 1e-7);
  }
}

TEST(ReferenceTest, TosaPrograms) {
  Program program(R"(
func.func @f(%x: tensor<3x?xf32>, %y: tensor<3x?xf32>) -> tensor<3x?xf32> {
  %z = tosa.add %x, %y : (tensor<3x?xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
  %e = tosa.tanh %z : (tensor<3x?xf32>) -> tensor<3x?xf32>
  return %e : tensor<3x?xf32>
})");
  auto reference = program.compile("f");
  ASSERT_TRUE(reference) << program.getErrors();
  HostTensor x = randomTensor(DType::F32, {3, 5}, 14);
  HostTensor y = randomTensor(DType::F32, {3, 5}, 15);
  auto results = evaluate(*reference, {x, y});
  ASSERT_EQ(results.size(), 1u);
  for (int i = 0; i < 15; ++i)
    EXPECT_NEAR(results[0].getDouble(i),
                std::tanh(x.getDouble(i) + y.getDouble(i)), 1e-6);
}

TEST(ReferenceTest, SizesThatOverflowAreErrors) {
  Program program(R"(
func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> {
  %e = tensor.empty() : tensor<4294967296x4294967296xf32>
  %s = tensor.extract_slice %e[0, 0] [1, 1] [1, 1] : tensor<4294967296x4294967296xf32> to tensor<1xf32>
  return %s : tensor<1xf32>
})");
  EXPECT_FALSE(program.compile("f"));
  EXPECT_NE(program.getErrors().find("FUS-1008"), std::string::npos);
}

TEST(ReferenceTest, TooMuchMemoryIsAnError) {
  Program program(R"(
func.func @f(%n: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %f : tensor<?xf32>
})");
  auto reference = program.compile("f");
  ASSERT_TRUE(reference) << program.getErrors();
  HostTensor n = createTensor(DType::I64, {});
  n.setInteger(0, int64_t(1) << 50);
  EXPECT_TRUE(evaluate(*reference, {n}).empty());
  EXPECT_NE(program.getErrors().find("FUS-1103"), std::string::npos);
}

TEST(ReferenceTest, WrongInputsAreErrors) {
  Program program(kMatmul);
  auto reference = program.compile("matmul");
  ASSERT_TRUE(reference) << program.getErrors();
  HostTensor a = randomTensor(DType::F32, {2, 7}, 1);
  HostTensor b = randomTensor(DType::F32, {6, 5}, 2);
  EXPECT_TRUE(evaluate(*reference, {a, b}).empty());
  EXPECT_NE(program.getErrors().find(
                "input 1 is f32[6,5] where f32[7,5] is declared"),
            std::string::npos);
  EXPECT_TRUE(evaluate(*reference, {a}).empty());
  EXPECT_TRUE(
      evaluate(*reference, {a, randomTensor(DType::F64, {7, 5}, 2)}).empty());
  EXPECT_FALSE(program.compile("absent"));
  EXPECT_NE(program.getErrors().find("FUS-1005"), std::string::npos);
}

TEST(ReferenceTest, TheModuleStaysAsItIs) {
  Program program(kMatmul);
  std::string before = program.print();
  ASSERT_TRUE(program.compile("matmul"));
  EXPECT_EQ(program.print(), before);
}

TEST(ReferenceTest, CallsOfOtherFunctions) {
  Program program(R"(
func.func private @twice(%a: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %a, %a : tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @f(%a: tensor<?xf32>) -> tensor<?xf32> {
  %r = call @twice(%a) : (tensor<?xf32>) -> tensor<?xf32>
  %s = call @twice(%r) : (tensor<?xf32>) -> tensor<?xf32>
  return %s : tensor<?xf32>
})");
  auto reference = program.compile("f");
  ASSERT_TRUE(reference) << program.getErrors();
  HostTensor a = createTensor(DType::F32, {2});
  a.setDouble(0, 1.25);
  auto results = evaluate(*reference, {a});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(toDoubles(results[0]), (std::vector<double>{5, 0}));
}

TEST(ReferenceTest, IntegersOfFloatsAreOpenNearABoundary) {
  Program program(R"(
func.func @f(%x: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi32>, tensor<4xf32>) {
  %half = arith.constant dense<0.5> : tensor<4xf32>
  %two = arith.constant dense<2> : tensor<4xi32>
  %y = math.tanh %x : tensor<4xf32>
  %b = arith.cmpf ogt, %y, %half : tensor<4xf32>
  %i = arith.fptosi %x : tensor<4xf32> to tensor<4xi32>
  %j = arith.muli %i, %two : tensor<4xi32>
  %s = arith.select %b, %x, %half : tensor<4xi1>, tensor<4xf32>
  return %b, %j, %s : tensor<4xi1>, tensor<4xi32>, tensor<4xf32>
})");
  auto reference = program.compile("f");
  ASSERT_TRUE(reference) << program.getErrors();
  HostTensor x = createTensor(DType::F32, {4});
  x.setDouble(0, std::atanh(0.5));
  x.setDouble(1, -1), x.setDouble(2, 2), x.setDouble(3, 7.5);
  auto results = evaluateBounded(*reference, {x});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_FALSE(results[0].elements[0].isExact());
  for (int i = 1; i < 4; ++i) {
    EXPECT_TRUE(results[0].elements[i].isExact());
    EXPECT_EQ(results[0].elements[i].value, i > 1);
    EXPECT_TRUE(results[2].elements[i].isExact());
  }
  EXPECT_EQ(results[1].elements[3].value, 14);
  EXPECT_EQ(results[1].elements[1].value, -2);
  EXPECT_TRUE(results[2].elements[0].contains(0.5));
  EXPECT_TRUE(results[2].elements[0].contains(std::atanh(0.5)));
}

TEST(ReferenceTest, AnElementAtAnOpenPlaceIsNotKnown) {
  Program program(R"(
#id = affine_map<(i) -> (i)>
func.func @f(%table: tensor<8xf32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) {
    ^bb0(%v: f32, %o: f32):
      %y = math.exp %v : f32
      %i = arith.fptosi %y : f32 to i32
      %k = arith.index_cast %i : i32 to index
      %t = tensor.extract %table[%k] : tensor<8xf32>
      linalg.yield %t : f32
    } -> tensor<2xf32>
  return %r : tensor<2xf32>
})");
  auto reference = program.compile("f");
  ASSERT_TRUE(reference) << program.getErrors();
  HostTensor table = randomTensor(DType::F32, {8}, 1);
  HostTensor x = createTensor(DType::F32, {2});
  x.setDouble(0, std::log(3.0)), x.setDouble(1, std::log(3.5));
  auto results = evaluateBounded(*reference, {table, x});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_FALSE(results[0].elements[0].isKnown());
  EXPECT_TRUE(results[0].elements[1].isExact());
  EXPECT_EQ(results[0].elements[1].value, table.getDouble(3));
}

TEST(ReferenceTest, DeclaredRoundingsStay) {
  // A rounding and back, and the argument of a function with a steep slope.
  Program program(R"(
func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  %h = arith.truncf %x : tensor<64xf32> to tensor<64xbf16>
  %y = arith.extf %h : tensor<64xbf16> to tensor<64xf32>
  %s = math.sin %y : tensor<64xf32>
  return %s : tensor<64xf32>
})");
  auto reference = program.compile("f");
  ASSERT_TRUE(reference) << program.getErrors();
  HostTensor x = randomTensor(DType::F32, {64}, 1);
  HostTensor rounded = createTensor(DType::BF16, {64});
  for (int i = 0; i < 64; ++i)
    rounded.setDouble(i, x.getDouble(i));
  auto results = evaluateBounded(*reference, {x});
  ASSERT_EQ(results.size(), 1u);
  for (int i = 0; i < 64; ++i)
    EXPECT_TRUE(
        results[0].elements[i].contains(float(std::sin(rounded.getDouble(i)))));
}

TEST(ReferenceTest, ReductionsOfOtherKindsMayRunInAnyOrder) {
  Program program(R"(
func.func @f(%x: tensor<64xf32>) -> (tensor<f32>, tensor<f32>) {
  %one = arith.constant dense<1.0> : tensor<f32>
  %r = linalg.reduce { arith.mulf } ins(%x : tensor<64xf32>) outs(%one : tensor<f32>) dimensions = [0]
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<64xf32>) outs(%one : tensor<f32>) dimensions = [0]
  return %r, %m : tensor<f32>, tensor<f32>
})");
  auto reference = program.compile("f");
  ASSERT_TRUE(reference) << program.getErrors();
  HostTensor x = createTensor(DType::F32, {64});
  float backwards = 1;
  for (int i = 0; i < 64; ++i)
    x.setDouble(i, 0.9 + 0.003 * i);
  for (int i = 63; i >= 0; --i)
    backwards *= float(x.getDouble(i));
  auto results = evaluateBounded(*reference, {x});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_TRUE(results[0].elements[0].contains(backwards));
  EXPECT_LT(results[0].elements[0].error, 1e-4 * std::fabs(backwards));
  EXPECT_TRUE(results[1].elements[0].isExact());
}

} // namespace
