//===- ProductOnEmulatorTest.cpp - Products by mma.sync, in numbers -------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file compiles tile programs with products by mma.sync and runs them on
// the emulator. The elements are small integers, so that every sum is exact and
// results are compared bit by bit.
//
//===----------------------------------------------------------------------===//

#include "fusion-rt/Emulator/Emulator.h"
#include "fusion/Pipelines/Compiler.h"
#include "fusion/Pipelines/Phases.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// A product [m, n] += [m, k] * [n, k] by tiles.
struct Problem {
  const char *name;
  const char *chip = "sm_80";
  const char *type = "bf16";
  const char *otherType = nullptr; // of b; that of a unless said
  const char *accumulator = "f32";
  bool tf32 = false;
  int64_t m, n, k;
  int64_t tileM, tileN, tileK;
  int64_t warps = 4;
  int64_t stages = 3;
  bool aIsKxM = false, bIsKxN = false;
  /// The type that b is stored in when the program converts it, and scales
  /// each column.
  const char *stored = nullptr;
  /// b holds two numbers of 4 bits in a byte, along the depth.
  bool packed = false;
  int64_t batch = 1;
  /// Steps of the depth that an inner loop takes; 0: there is one loop only.
  int64_t nest = 0;
  /// Blocks that walk all tiles; 0: each block has one tile.
  int64_t walk = 0;

  bool isFloat() const { return accumulator[0] == 'f'; }
  std::string typeOfB() const { return otherType ? otherType : type; }
};

/// Bytes of `values` in elements of `type`. Precondition: exact.
std::vector<uint8_t> encode(ArrayRef<double> values, StringRef type) {
  std::vector<uint8_t> bytes;
  for (double value : values) {
    uint64_t bits;
    unsigned size;
    if (type.starts_with("i")) {
      bits = static_cast<uint64_t>(static_cast<int64_t>(value));
      type.drop_front().getAsInteger(10, size);
    } else {
      const llvm::fltSemantics &semantics =
          type == "bf16"       ? llvm::APFloat::BFloat()
          : type == "f16"      ? llvm::APFloat::IEEEhalf()
          : type == "f8E4M3FN" ? llvm::APFloat::Float8E4M3FN()
          : type == "f8E5M2"   ? llvm::APFloat::Float8E5M2()
          : type == "f32"      ? llvm::APFloat::IEEEsingle()
                               : llvm::APFloat::IEEEdouble();
      llvm::APFloat number(value);
      bool inexact;
      number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
      EXPECT_FALSE(inexact);
      bits = number.bitcastToAPInt().getZExtValue();
      size = llvm::APFloat::getSizeInBits(semantics);
    }
    for (unsigned i = 0; i < size / 8; ++i)
      bytes.push_back(bits >> (8 * i));
  }
  return bytes;
}

double decode(const uint8_t *bytes, StringRef type) {
  auto as = [&](auto value) {
    std::memcpy(&value, bytes, sizeof value);
    return static_cast<double>(value);
  };
  return type == "f32" ? as(float()) : type == "f64" ? as(double()) : as(int());
}

unsigned sizeOf(StringRef type) { return type == "f64" ? 8 : 4; }

std::string programOf(const Problem &p) {
  auto tiles = [](int64_t size, int64_t tile) {
    return (size + tile - 1) / tile;
  };
  int64_t columns = tiles(p.n, p.tileN), rows = tiles(p.m, p.tileM);
  auto view = [&](int64_t rows, int64_t columns,
                  StringRef type) -> std::string {
    return llvm::formatv("!fusion_tile.view<{0}x{1}x{2}x{3}>", p.batch, rows,
                         columns, type);
  };
  std::string a = p.aIsKxM ? view(p.k, p.m, p.type) : view(p.m, p.k, p.type);
  std::string memoryB = p.stored ? p.stored : p.typeOfB();
  std::string b = p.bIsKxN ? view(p.k, p.n, memoryB)
                           : view(p.n, p.packed ? p.k / 2 : p.k, memoryB);
  std::string c = view(p.m, p.n, p.accumulator);
  std::string s = llvm::formatv("!fusion_tile.view<{0}x{1}>", p.n, p.typeOfB());
  std::string tileA =
      llvm::formatv("tensor<{0}x{1}x{2}>", p.tileM, p.tileK, p.type);
  std::string tileB =
      llvm::formatv("tensor<{0}x{1}x{2}>", p.tileN, p.tileK, p.typeOfB());
  std::string loadedB =
      llvm::formatv("tensor<{0}x{1}x{2}>", p.tileN, p.tileK, memoryB);
  std::string tileC =
      llvm::formatv("tensor<{0}x{1}x{2}>", p.tileM, p.tileN, p.accumulator);
  auto map = [](bool transposed) {
    return transposed ? "affine_map<(i, k)[b, r, s] -> (b, k + s, i + r)>"
                      : "affine_map<(i, k)[b, r, s] -> (b, i + r, k + s)>";
  };
  auto checked = [](bool first, bool second, bool swap) -> std::string {
    if (swap)
      std::swap(first, second);
    return llvm::formatv("checked [false, {0}, {1}]", first ? "true" : "false",
                         second ? "true" : "false");
  };
  bool edgeM = p.m % p.tileM, edgeN = p.n % p.tileN, edgeK = p.k % p.tileK;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "fusion_tile.program @product(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, "
        "%ps: "
        "!llvm.ptr<1>, %pc: !llvm.ptr<1>) attributes {num_warps = "
     << p.warps
     << " : i64, index_bits = 32 : i64, pipeline = "
        "#fusion_tile.pipeline<mma_sync, "
        "stages = "
     << p.stages << ">} {\n";
  auto constant = [&](StringRef name, int64_t value) {
    os << "%" << name << " = arith.constant " << value << " : index\n";
  };
  constant("zero", 0);
  constant("columns", columns);
  constant("rows", rows);
  constant("tm", p.tileM);
  constant("tn", p.tileN);
  constant("tk", p.tileK);
  constant("end", tiles(p.k, p.tileK) * p.tileK);
  os << "%z = arith.constant " << (p.isFloat() ? "0.0" : "0") << " : "
     << p.accumulator << "\n"
     << "%acc = fusion_tile.splat %z : " << p.accumulator << " -> " << tileC
     << "\n"
     << "%va = fusion_tile.view %pa[] : !llvm.ptr<1> to " << a << "\n"
     << "%vb = fusion_tile.view %pb[] : !llvm.ptr<1> to " << b << "\n"
     << "%vc = fusion_tile.view %pc[] : !llvm.ptr<1> to " << c << "\n"
     << "%id = gpu.block_id x\n";
  int64_t tileCount = rows * columns * p.batch;
  if (p.walk) {
    constant("tiles", tileCount);
    constant("walk", p.walk);
    os << "scf.for %block = %id to %tiles step %walk {\n";
  } else {
    os << "%block = arith.addi %id, %zero : index\n";
  }
  os << "%jn = arith.remui %block, %columns : index\n"
     << "%rest = arith.divui %block, %columns : index\n"
     << "%im = arith.remui %rest, %rows : index\n"
     << "%batch = arith.divui %rest, %rows : index\n"
     << "%i = arith.muli %im, %tm : index\n"
     << "%j = arith.muli %jn, %tn : index\n";
  if (p.stored)
    os << "%vs = fusion_tile.view %ps[] : !llvm.ptr<1> to " << s << "\n"
       << "%scale = fusion_tile.load %vs[affine_map<(a)[s] -> (a + s)>] (%j) "
          "checked ["
       << (edgeN ? "true" : "false") << "] : " << s << " -> tensor<" << p.tileN
       << "x" << p.typeOfB() << ">\n";
  if (p.nest) {
    constant("long", p.nest * p.tileK);
    os << "%r = scf.for %k0 = %zero to %end step %long iter_args(%s0 = %acc) "
          "-> ("
       << tileC << ") {\n"
       << "%r1 = scf.for %k1 = %zero to %long step %tk iter_args(%s = %s0) -> ("
       << tileC << ") {\n"
       << "%k = arith.addi %k0, %k1 : index\n";
  } else {
    os << "%r = scf.for %k = %zero to %end step %tk iter_args(%s = %acc) -> ("
       << tileC << ") {\n";
  }
  os << "%x = fusion_tile.load %va[" << map(p.aIsKxM) << "] (%batch, %i, %k) "
     << checked(edgeM, edgeK, p.aIsKxM) << " : " << a << " -> " << tileA << "\n"
     << "%y" << (p.stored ? "raw" : "") << " = fusion_tile.load %vb["
     << (p.packed
             ? "affine_map<(i, k)[b, r, s] -> (b, i + r, (k + s) floordiv 2)>"
             : map(p.bIsKxN))
     << "] (%batch, %j, %k) " << checked(edgeN, edgeK, p.bIsKxN) << " : " << b
     << " -> " << loadedB << "\n";
  std::string shape = llvm::formatv("{0}x{1}", p.tileN, p.tileK);
  if (p.packed)
    os << "%bits = arith.extui %yraw : " << loadedB << " to tensor<" << shape
       << "xi32>\n%at = fusion_tile.index affine_map<(i, k)[s] -> (28 - ((k + "
          "s) mod "
          "2) * 4)> (%k) : tensor<"
       << shape << "xindex>\n%left = arith.index_cast %at : tensor<" << shape
       << "xindex> to tensor<" << shape
       << "xi32>\n%high = arith.shli %bits, %left : tensor<" << shape
       << "xi32>\n%n28 = arith.constant 28 : i32\n%right = fusion_tile.splat "
          "%n28 : "
          "i32 -> tensor<"
       << shape << "xi32>\n%low = arith.shrsi %high, %right : tensor<" << shape
       << "xi32>\n%single = arith.sitofp %low : tensor<" << shape
       << "xi32> to tensor<" << shape
       << "xf32>\n%wide = arith.truncf %single : tensor<" << shape
       << "xf32> to " << tileB << "\n";
  else if (p.stored)
    os << "%wide = arith.sitofp %yraw : " << loadedB << " to " << tileB << "\n";
  if (p.stored)
    os << "%factor = fusion_tile.broadcast %scale dims [0] : tensor<" << p.tileN
       << "x" << p.typeOfB() << "> -> " << tileB << "\n"
       << "%y = arith.mulf %wide, %factor : " << tileB << "\n";
  os << "%d = fusion_tile.dot %x, %y, %s " << (p.tf32 ? "tf32 " : "") << ": "
     << tileA << ", " << tileB << " -> " << tileC << "\n"
     << "scf.yield %d : " << tileC << "\n}\n";
  if (p.nest)
    os << "scf.yield %r1 : " << tileC << "\n}\n";
  os << "fusion_tile.store %r, %vc[" << map(false) << "] (%batch, %i, %j) "
     << checked(edgeM, edgeN, false) << " : " << tileC << ", " << c << "\n"
     << (p.walk ? "}\n" : "") << "fusion_tile.return\n}\n";
  return text;
}

/// The PTX of a tile program; empty after an error.
std::string compile(const std::string &text, StringRef chip) {
  DialectRegistry registry;
  registerAllForTools(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return {};
  PassManager passes(&context);
  PhaseOptions options;
  options.target = chip;
  for (Phase phase : {Phase::Tile, Phase::Gpu, Phase::Ptx})
    buildPhasePipeline(phase, passes, options);
  if (failed(passes.run(*module)))
    return {};
  std::string ptx;
  module->walk([&](gpu::GPUModuleOp kernels) {
    ptx =
        cast<StringAttr>(kernels->getDiscardableAttr("fusion_tile.ptx")).str();
  });
  return ptx;
}

class Product : public ::testing::TestWithParam<Problem> {};
} // namespace

TEST_P(Product, IsExact) {
  const Problem &p = GetParam();
  std::string ptx = compile(programOf(p), p.chip);
  ASSERT_FALSE(ptx.empty()) << programOf(p);
  EXPECT_NE(ptx.find("mma.sync"), std::string::npos);

  // A generator of which every bit matters: no two rows or columns alike.
  uint32_t state = 12345;
  auto random = [&](int64_t count) {
    std::vector<double> values(count);
    for (double &value : values) {
      state = state * 1664525 + 1013904223;
      value = static_cast<int>(state >> 24) % 7 - 3;
    }
    return values;
  };
  std::vector<double> a = random(p.batch * p.m * p.k),
                      b = random(p.batch * p.n * p.k), s = random(p.n);
  if (p.stored)
    // All values that the type stores, and factors that keep them exact.
    for (double &value : b) {
      state = state * 1664525 + 1013904223;
      value = static_cast<int8_t>(state >> 24) >> (p.packed ? 4 : 0);
    }
  for (double &value : s)
    value = std::ldexp(1, static_cast<int>(value));
  auto bytesA = encode(a, p.type);
  auto bytesB = encode(b, p.stored ? p.stored : p.typeOfB());
  if (p.packed) {
    for (size_t i = 0; i < bytesB.size(); i += 2)
      bytesB[i / 2] = (bytesB[i] & 15) | bytesB[i + 1] << 4;
    bytesB.resize(bytesB.size() / 2);
  }
  auto bytesS = encode(s, p.typeOfB());
  std::vector<uint8_t> bytesC(p.batch * p.m * p.n * sizeOf(p.accumulator));

  fusionemu::Module module;
  fusionemu::Status status = module.parse(ptx);
  ASSERT_TRUE(status.ok()) << status.message();
  fusionemu::Memory memory;
  uint64_t addresses[4];
  std::vector<uint8_t> *buffers[] = {&bytesA, &bytesB, &bytesS, &bytesC};
  for (unsigned i = 0; i < 4; ++i) {
    ASSERT_TRUE(
        memory.allocate(buffers[i]->size(), "buffer", addresses[i]).ok());
    ASSERT_TRUE(
        memory.write(addresses[i], buffers[i]->data(), buffers[i]->size())
            .ok());
  }
  const void *parameters[] = {&addresses[0], &addresses[1], &addresses[2],
                              &addresses[3]};
  const fusionemu::KernelInfo *kernel = module.findKernel("product");
  ASSERT_TRUE(kernel);
  std::vector<uint8_t> arguments =
      fusionemu::packArguments(*kernel, parameters);
  uint32_t blocks = p.walk ? p.walk
                           : ((p.m + p.tileM - 1) / p.tileM) *
                                 ((p.n + p.tileN - 1) / p.tileN) * p.batch;
  status = fusionemu::launch(memory, module, "product", {blocks},
                             {static_cast<uint32_t>(32 * p.warps)},
                             /*shared=*/164 * 1024 - 1024, arguments.data(),
                             arguments.size());
  ASSERT_TRUE(status.ok()) << status.message() << "\n" << ptx;
  ASSERT_TRUE(memory.read(addresses[3], bytesC.data(), bytesC.size()).ok());

  for (int64_t batch = 0; batch < p.batch; ++batch)
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < p.k; ++k)
          sum += a[batch * p.m * p.k + (p.aIsKxM ? k * p.m + i : i * p.k + k)] *
                 b[batch * p.n * p.k + (p.bIsKxN ? k * p.n + j : j * p.k + k)];
        if (p.stored)
          sum *= s[j];
        int64_t at = (batch * p.m + i) * p.n + j;
        ASSERT_EQ(decode(&bytesC[at * sizeOf(p.accumulator)], p.accumulator),
                  sum)
            << "at " << batch << ", " << i << ", " << j;
      }
}

static Problem make(const char *name, std::array<int64_t, 3> sizes,
                    std::array<int64_t, 3> tiles,
                    llvm::function_ref<void(Problem &)> change = {}) {
  Problem p{name};
  std::tie(p.m, p.n, p.k) = std::tie(sizes[0], sizes[1], sizes[2]);
  std::tie(p.tileM, p.tileN, p.tileK) = std::tie(tiles[0], tiles[1], tiles[2]);
  if (change)
    change(p);
  return p;
}

INSTANTIATE_TEST_SUITE_P(
    Problems, Product,
    ::testing::Values(make("bf16", {128, 64, 128}, {64, 64, 32}),
                      make("f16", {64, 128, 96}, {64, 128, 32},
                           [](Problem &p) { p.type = "f16"; }),
                      make("oneWarp", {16, 8, 48}, {16, 8, 16},
                           [](Problem &p) { p.warps = 1; }),
                      make("eightWarps", {128, 128, 64}, {128, 128, 64},
                           [](Problem &p) { p.warps = 8; }),
                      make("oddSizes", {77, 53, 67}, {64, 32, 32}),
                      make("kxn", {64, 64, 96}, {64, 64, 32},
                           [](Problem &p) { p.bIsKxN = true; }),
                      make("kxm", {64, 64, 96}, {64, 64, 32},
                           [](Problem &p) { p.aIsKxM = true; }),
                      make("bothMajorsOdd", {70, 41, 39}, {32, 32, 16},
                           [](Problem &p) { p.aIsKxM = p.bIsKxN = true; }),
                      make("batch", {40, 24, 40}, {32, 32, 16},
                           [](Problem &p) { p.batch = 3; }),
                      make("nest", {64, 64, 192}, {64, 64, 32},
                           [](Problem &p) { p.nest = 3; }),
                      make("nestOddSizes", {50, 40, 100}, {32, 32, 16},
                           [](Problem &p) { p.nest = 7; }),
                      make("walk", {96, 96, 64}, {32, 32, 16},
                           [](Problem &p) { p.walk = 2; }),
                      make("walkWithMoreStagesThanSteps", {64, 96, 32},
                           {32, 32, 16},
                           [](Problem &p) {
                             p.walk = 4;
                             p.stages = 5;
                           }),
                      make("twoStages", {64, 32, 64}, {32, 32, 16},
                           [](Problem &p) { p.stages = 2; }),
                      make("oneStage", {64, 32, 64}, {32, 32, 16},
                           [](Problem &p) { p.stages = 1; }),
                      make("packed", {16, 64, 192}, {16, 32, 64},
                           [](Problem &p) {
                             p.stored = "i8";
                             p.packed = true;
                           }),
                      make("packedFewRows", {3, 70, 112}, {8, 64, 32},
                           [](Problem &p) {
                             p.stored = "i8";
                             p.packed = true;
                           }),
                      make("tf32KxN", {64, 40, 40}, {32, 32, 16},
                           [](Problem &p) {
                             p.type = "f32";
                             p.tf32 = p.bIsKxN = true;
                           }),
                      make("dequantisedKxN", {40, 48, 64}, {32, 32, 32},
                           [](Problem &p) {
                             p.stored = "i8";
                             p.bIsKxN = true;
                           }),
                      make("tf32", {64, 64, 40}, {64, 64, 16},
                           [](Problem &p) {
                             p.type = "f32";
                             p.tf32 = true;
                           }),
                      make("int8", {64, 64, 128}, {64, 64, 64},
                           [](Problem &p) {
                             p.type = "i8";
                             p.accumulator = "i32";
                           }),
                      make("int8KxN", {33, 48, 70}, {32, 32, 32},
                           [](Problem &p) {
                             p.type = "i8";
                             p.accumulator = "i32";
                             p.bIsKxN = true;
                           }),
                      make("e4m3", {64, 64, 128}, {64, 64, 64},
                           [](Problem &p) {
                             p.chip = "sm_89";
                             p.type = "f8E4M3FN";
                           }),
                      make("mixedFp8", {32, 64, 96}, {32, 64, 32},
                           [](Problem &p) {
                             p.chip = "sm_120";
                             p.type = "f8E4M3FN";
                             p.otherType = "f8E5M2";
                           }),
                      make("f64", {32, 32, 20}, {32, 32, 8},
                           [](Problem &p) { p.type = p.accumulator = "f64"; }),
                      make("fewRows", {5, 128, 64}, {8, 128, 32}),
                      make("oneRow", {1, 96, 64}, {1, 64, 32}),
                      make("fewRowsMixedFp8", {3, 64, 64}, {8, 64, 32},
                           [](Problem &p) {
                             p.chip = "sm_89";
                             p.type = "f8E5M2";
                             p.otherType = "f8E4M3FN";
                           }),
                      make("dequantised", {64, 64, 64}, {64, 64, 32},
                           [](Problem &p) { p.stored = "i8"; }),
                      make("fewRowsDequantised", {4, 128, 96}, {8, 64, 32},
                           [](Problem &p) { p.stored = "i8"; })),
    [](const auto &info) { return std::string(info.param.name); });
