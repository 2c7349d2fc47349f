//===- WalkLimitsTest.cpp - Elements that masks of positions leave --------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/WalkLimits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {

constexpr int64_t kRows = 40, kColumns = 300;

class WalkLimitsTest : public ::testing::Test {
protected:
  WalkLimitsTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect,
                        linalg::LinalgDialect, math::MathDialect,
                        tensor::TensorDialect>();
  }

  /// The limits of a reduction, by `combine`, of what `element` computes as %e,
  /// an f32, of %x, an element, %m, one for each row, and %i and %j, indices.
  SmallVector<AffineExpr, 2> find(const std::string &element,
                                  const std::string &combine) {
    std::string text = R"(
      func.func @f(%a: tensor<40x300xf32>, %b: tensor<40xf32>,
                   %r: tensor<40xf32>, %p: index, %p8: i8, %n: tensor<40xi64>,
                   %n16: tensor<40xi16>, %t: tensor<300xi64>) -> tensor<40xf32> {
        %none = arith.constant 0xFF800000 : f32
        %inf = arith.constant 0x7F800000 : f32
        %zero = arith.constant 0.0 : f32
        %two = arith.constant 2.0 : f32
        %large = arith.constant -1.0e9 : f32
        %least = arith.constant -3.40282347E+38 : f32
        %c2 = arith.constant 2 : index
        %c20 = arith.constant 20 : index
        %0 = linalg.generic {
            indexing_maps = [affine_map<(i, j) -> (i, j)>,
                             affine_map<(i, j) -> (i)>,
                             affine_map<(i, j) -> (i)>],
            iterator_types = ["parallel", "reduction"]}
            ins(%a, %b : tensor<40x300xf32>, tensor<40xf32>)
            outs(%r : tensor<40xf32>) {
        ^bb0(%x: f32, %m: f32, %acc: f32):
          %i = linalg.index 0 : index
          %j = linalg.index 1 : index
          %seen = arith.cmpi sle, %j, %i : index
          %s = arith.select %seen, %x, %none : f32
)" + element + "\n%sum = arith." +
                       combine + R"( %acc, %e : f32
          linalg.yield %sum : f32
        } -> tensor<40xf32>
        return %0 : tensor<40xf32>
      })";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    symbols.clear();
    if (!module)
      return {};
    linalg::LinalgOp op;
    module->walk([&](linalg::GenericOp generic) { op = generic; });
    return findElementLimits(
        op, symbols, [](Value tensor) { return isa<BlockArgument>(tensor); });
  }
  /// What limits the maximum where `mask` computes %c, true for what counts.
  SmallVector<AffineExpr, 2> findByMask(const std::string &mask) {
    return find(mask + "\n%e = arith.select %c, %x, %none : f32", "maximumf");
  }
  /// True when every element that counts is within `limits`, and `rest` of
  /// those that do not are not.
  void expectSound(ArrayRef<AffineExpr> limits,
                   function_ref<bool(int64_t, int64_t)> counts, int64_t rest) {
    int64_t within = 0;
    for (int64_t i = 0; i < kRows; ++i)
      for (int64_t j = 0; j < kColumns; ++j) {
        bool isWithin = llvm::all_of(limits, [&](AffineExpr limit) {
          AffineExpr value =
              limit.replaceDims({getAffineConstantExpr(i, &context),
                                 getAffineConstantExpr(j, &context)});
          return cast<AffineConstantExpr>(value).getValue() >= 0;
        });
        EXPECT_TRUE(isWithin || !counts(i, j)) << i << ", " << j;
        within += isWithin && !counts(i, j);
      }
    EXPECT_EQ(within, rest);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  SmallVector<LimitSymbol> symbols;
  AffineExpr i = getAffineDimExpr(0, &context);
  AffineExpr j = getAffineDimExpr(1, &context);
  AffineExpr p = getAffineSymbolExpr(0, &context);
};

TEST_F(WalkLimitsTest, Comparisons) {
  auto expectOne = [&](const std::string &predicate, AffineExpr limit) {
    auto limits =
        findByMask("%c = arith.cmpi " + predicate + ", %j, %i : index");
    ASSERT_EQ(limits.size(), 1u) << predicate;
    EXPECT_EQ(limits.front(), simplifyAffineExpr(limit, 2, 0)) << predicate;
  };
  expectOne("sle", i - j);
  expectOne("slt", i - j - 1);
  expectOne("sge", j - i);
  expectOne("sgt", j - i - 1);
  // Positions are not negative.
  expectOne("ule", i - j);
  expectOne("ugt", j - i - 1);
  EXPECT_EQ(findByMask("%c = arith.cmpi eq, %j, %i : index").size(), 2u);
  EXPECT_TRUE(findByMask("%c = arith.cmpi ne, %j, %i : index").empty());
}

TEST_F(WalkLimitsTest, Several) {
  std::string before = R"(%low = arith.subi %i, %c20 : index
      %c0 = arith.cmpi sle, %j, %i : index
      %c1 = arith.cmpi sgt, %j, %low : index
)";
  auto counts = [](int64_t i, int64_t j) { return j <= i && j > i - 20; };
  expectSound(findByMask(before + "%c = arith.andi %c0, %c1 : i1"), counts, 0);
  expectSound(findByMask(before + R"(%true = arith.constant true
      %n0 = arith.xori %c0, %true : i1
      %n1 = arith.xori %c1, %true : i1
      %out = arith.ori %n0, %n1 : i1
      %c = arith.xori %out, %true : i1)"),
              counts, 0);
  // As importers deny conditions, and compare them.
  expectSound(findByMask(before + R"(%false = arith.constant false
      %true = arith.constant true
      %n0 = arith.cmpi eq, %c0, %false : i1
      %n1 = arith.cmpi ne, %c1, %true : i1
      %out = arith.ori %n0, %n1 : i1
      %c = arith.cmpi ne, %out, %true : i1)"),
              counts, 0);
  EXPECT_TRUE(findByMask(before + "%c = arith.cmpi eq, %c0, %c1 : i1").empty());
  EXPECT_TRUE(findByMask(before + "%c = arith.ori %c0, %c1 : i1").empty());
  expectSound(
      findByMask(R"(%d = arith.muli %j, %c2 : index
      %c = arith.cmpi sle, %d, %i : index)"),
      [](int64_t i, int64_t j) { return 2 * j <= i; }, 0);
}

TEST_F(WalkLimitsTest, Scalars) {
  std::string compare = R"(%l = arith.addi %i, %p : index
      %c = arith.cmpi )";
  auto limits = findByMask(compare + "sle, %j, %l : index");
  ASSERT_EQ(limits.size(), 1u);
  EXPECT_EQ(limits.front(), simplifyAffineExpr(i - j + p, 2, 1));
  EXPECT_EQ(symbols.size(), 1u);
  // It may be negative.
  EXPECT_TRUE(findByMask(compare + "ule, %j, %l : index").empty());
}

TEST_F(WalkLimitsTest, NarrowIntegers) {
  auto compare = [](const std::string &type) {
    return "%i1 = arith.index_cast %i : index to " + type +
           "\n%j1 = arith.index_cast %j : index to " + type +
           "\n%c = arith.cmpi sle, %j1, %i1 : " + type;
  };
  EXPECT_EQ(findByMask(compare("i32")).size(), 1u);
  EXPECT_EQ(findByMask(compare("i16")).size(), 1u);
  // 300 columns have no place in eight bits.
  EXPECT_TRUE(findByMask(compare("i8")).empty());
  EXPECT_TRUE(findByMask(R"(%i8 = arith.index_cast %i : index to i8
      %l8 = arith.addi %i8, %p8 : i8
      %l = arith.index_cast %l8 : i8 to index
      %c = arith.cmpi sle, %j, %l : index)")
                  .empty());
  // A difference that is negative is large without a sign.
  EXPECT_TRUE(findByMask(R"(%d = arith.subi %i, %c20 : index
      %d32 = arith.index_cast %d : index to i32
      %l = arith.index_castui %d32 : i32 to index
      %c = arith.cmpi sle, %j, %l : index)")
                  .empty());
}

TEST_F(WalkLimitsTest, Elements) {
  auto isLimited = [&](const std::string &element, const std::string &combine) {
    return !find(element, combine).empty();
  };
  EXPECT_TRUE(isLimited("%e = arith.negf %s : f32", "minimumf"));
  EXPECT_FALSE(isLimited("%e = arith.negf %s : f32", "maximumf"));
  EXPECT_TRUE(isLimited("%e = arith.mulf %s, %two : f32", "maximumf"));
  EXPECT_FALSE(isLimited("%e = arith.mulf %s, %m : f32", "maximumf"));
  EXPECT_TRUE(isLimited("%e = arith.addf %x, %s : f32", "maximumf"));
  // Zero times what is seen adds nothing; times minus infinity it is NaN.
  auto rest = find("%e = arith.mulf %s, %zero : f32", "addf");
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest.front(), simplifyAffineExpr(j - i - 1, 2, 0));
  EXPECT_TRUE(isLimited(R"(%d = arith.subf %s, %m : f32
      %w = math.exp %d : f32
      %h = arith.truncf %w : f32 to f16
      %g = arith.extf %h : f16 to f32
      %e = arith.mulf %g, %x : f32)",
                        "addf"));
  // Its square is infinite the other way.
  EXPECT_FALSE(isLimited("%e = arith.mulf %s, %s : f32", "maximumf"));
  // Zero is no identity of a maximum, nor minus infinity of a sum.
  EXPECT_FALSE(isLimited("%e = math.exp %s : f32", "maximumf"));
  EXPECT_FALSE(isLimited("%e = arith.addf %s, %zero : f32", "addf"));
  // Numbers of eight bits may have no infinity.
  EXPECT_FALSE(isLimited(R"(%q = arith.truncf %s : f32 to f8E4M3FN
      %e = arith.extf %q : f8E4M3FN to f32)",
                         "maximumf"));
}

TEST_F(WalkLimitsTest, FiniteNumbers) {
  for (const char *number : {"%large", "%least", "%zero", "%inf", "%m"})
    EXPECT_TRUE(
        find("%e = arith.select %seen, %x, " + std::string(number) + " : f32",
             "maximumf")
            .empty())
        << number;
}

TEST_F(WalkLimitsTest, Data) {
  EXPECT_TRUE(findByMask("%c = arith.cmpf ogt, %x, %zero : f32").empty());
  EXPECT_TRUE(findByMask(R"(%large1 = arith.cmpf ogt, %x, %zero : f32
      %c = arith.ori %seen, %large1 : i1)")
                  .empty());
  auto limits = findByMask(R"(%large1 = arith.cmpf ogt, %x, %zero : f32
      %c = arith.andi %seen, %large1 : i1)");
  EXPECT_EQ(limits.size(), 1u);
  EXPECT_TRUE(findByMask(R"(%at = arith.fptosi %m : f32 to i32
      %l = arith.index_cast %at : i32 to index
      %c = arith.cmpi sle, %j, %l : index)")
                  .empty());
}

} // namespace

TEST_F(WalkLimitsTest, ElementsOfTensors) {
  std::string place = "%k = arith.index_cast %j : index to i64\n";
  auto limits =
      findByMask(place + R"(%end = tensor.extract %n[%i] : tensor<40xi64>
      %c = arith.cmpi slt, %k, %end : i64)");
  ASSERT_EQ(limits.size(), 1u);
  EXPECT_EQ(limits.front(), simplifyAffineExpr(p - j - 1, 2, 1));
  ASSERT_EQ(symbols.size(), 1u);
  EXPECT_TRUE(symbols.front().isElement());
  EXPECT_EQ(symbols.front().coords, SmallVector<AffineExpr>{i});
  // Elsewhere it is another element; 16 bits do not hold all places.
  limits = findByMask(place + R"(%c1 = arith.constant 1 : index
      %o = arith.subi %i, %c1 : index
      %end = tensor.extract %n[%i] : tensor<40xi64>
      %past = tensor.extract %n[%o] : tensor<40xi64>
      %both = arith.addi %end, %past : i64
      %c = arith.cmpi slt, %k, %both : i64)");
  EXPECT_EQ(limits.size(), 1u);
  EXPECT_EQ(symbols.size(), 2u);
  EXPECT_TRUE(findByMask(R"(%k = arith.index_cast %j : index to i16
      %end = tensor.extract %n16[%i] : tensor<40xi16>
      %c = arith.cmpi slt, %k, %end : i16)")
                  .empty());
  // Data say where, or differ along the walk, which whoever asks sees.
  EXPECT_TRUE(findByMask(place + R"(%at = tensor.extract %n[%i] : tensor<40xi64>
      %to = arith.index_cast %at : i64 to index
      %end = tensor.extract %t[%to] : tensor<300xi64>
      %c = arith.cmpi slt, %k, %end : i64)")
                  .empty());
  findByMask(R"(%row = arith.index_cast %i : index to i64
      %end = tensor.extract %t[%j] : tensor<300xi64>
      %c = arith.cmpi slt, %row, %end : i64)");
  ASSERT_EQ(symbols.size(), 1u);
  EXPECT_TRUE(symbols.front().coords.front().isFunctionOfDim(1));
}

TEST_F(WalkLimitsTest, DataAlongTheWalk) {
  auto findSymbols = [&](const std::string &mask, unsigned walked) {
    SmallVector<std::optional<unsigned>> found;
    for (AffineExpr limit : findByMask(mask))
      found.push_back(findDataSymbol(*getLinear(limit, 2, symbols.size()),
                                     walked, symbols, /*first=*/0));
    return found;
  };
  std::string own = R"(%row = arith.index_cast %i : index to i64
      %place = tensor.extract %t[%j] : tensor<300xi64>
)";
  std::string equal = own + "%c = arith.cmpi eq, %row, %place : i64";
  EXPECT_EQ(findSymbols(equal, 1),
            (SmallVector<std::optional<unsigned>>{0, 0}));
  // Along the rows it is no walk of data.
  EXPECT_EQ(findSymbols(equal, 0),
            (SmallVector<std::optional<unsigned>>(2, std::nullopt)));
  EXPECT_EQ(findSymbols(own + R"(%c = arith.cmpi sle, %place, %row : i64)", 1),
            (SmallVector<std::optional<unsigned>>{0}));
  // The position in the walk counts, too; twice what is there; other places.
  for (const char *mask : {R"(%k = arith.index_cast %j : index to i64
      %at = arith.addi %row, %k : i64
      %c = arith.cmpi sle, %place, %at : i64)",
                           R"(%two64 = arith.constant 2 : i64
      %at = arith.muli %place, %two64 : i64
      %c = arith.cmpi sle, %at, %row : i64)",
                           R"(%ij = arith.addi %i, %j : index
      %other = tensor.extract %t[%ij] : tensor<300xi64>
      %c = arith.cmpi sle, %other, %row : i64)"})
    EXPECT_EQ(findSymbols(own + mask, 1),
              (SmallVector<std::optional<unsigned>>{std::nullopt}))
        << mask;
}
