//===- FusionPlannerTest.cpp - Properties of plans ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests what must hold for every plan, on random graphs of pointwise
// operations, transpositions, row sums and products: it can run, it stores what
// is read, its kernels are legal, it does not depend on the order of
// independent operations, and it is close to the best partition of small
// graphs.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/IterationSpace.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/FusionPlanning/Passes.h"
#include "fusion/Scheduling/LoopSchedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <ctime>
#include <functional>
#include <random>
#include <set>

using namespace mlir;
using namespace mlir::fusion;

namespace {

constexpr const char *kType = "tensor<256x256xf32>";
constexpr const char *kRowType = "tensor<256xf32>";

/// Text of a function of `numOps` random operations on square tensors.
std::string makeProgram(unsigned numOps, unsigned seed, bool pointwiseOnly) {
  std::mt19937 random(seed);
  auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  std::string type = kType, row = kRowType, text;
  auto say = [&](const std::string &line) { text += "  " + line + "\n"; };
  say("%zero = arith.constant 0.0 : f32");
  say("%e = tensor.empty() : " + type);
  say("%er = tensor.empty() : " + row);
  say("%fr = linalg.fill ins(%zero : f32) outs(%er : " + row + ") -> " + row);
  say("%f = linalg.fill ins(%zero : f32) outs(%e : " + type + ") -> " + type);
  std::vector<std::string> values = {"%x", "%y"};
  for (unsigned i = 0; i < numOps; ++i) {
    // Mostly recent values, so that chains form.
    auto value = [&]() {
      unsigned window = std::min<unsigned>(values.size(), 5);
      return values[values.size() - 1 - pick(window)];
    };
    std::string name = "%v" + std::to_string(i), a = value(), b = value();
    std::string unary = "(" + a + " : " + type + ") outs(%e : " + type + ")";
    std::string binary =
        "(" + a + ", " + b + " : " + type + ", " + type + ") outs(";
    switch (pick(pointwiseOnly ? 4 : 7)) {
    case 0:
      say(name + " = linalg.exp ins" + unary + " -> " + type);
      break;
    case 1:
    case 2:
      say(name + " = linalg.add ins" + binary + "%e : " + type + ") -> " +
          type);
      break;
    case 3:
      say(name + " = linalg.mul ins" + binary + "%e : " + type + ") -> " +
          type);
      break;
    case 4:
      say(name + " = linalg.transpose ins" + unary + " permutation = [1, 0]");
      break;
    case 5:
      say("%s" + std::to_string(i) + " = linalg.reduce { arith.addf } ins(" +
          a + " : " + type + ") outs(%fr : " + row + ") dimensions = [1]");
      say(name + " = linalg.broadcast ins(%s" + std::to_string(i) + " : " +
          row + ") outs(%e : " + type + ") dimensions = [1]");
      break;
    default:
      say(name + " = linalg.matmul ins" + binary + "%f : " + type + ") -> " +
          type);
    }
    values.push_back(name);
  }
  std::string last = values.back(), other = values[values.size() / 2];
  return "func.func @f(%x: " + type + ", %y: " + type + ") -> (" + type + ", " +
         type + ") {\n" + text + "  return " + last + ", " + other + " : " +
         type + ", " + type + "\n}\n";
}

class FusionPlannerTest : public ::testing::Test {
protected:
  FusionPlannerTest() {
    DialectRegistry registry;
    registry
        .insert<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                math::MathDialect, tensor::TensorDialect, FusionDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Parses `text`, a module of one function.
  func::FuncOp parse(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return *module->getOps<func::FuncOp>().begin();
  }

  /// Moves the operations of `func` into another order that is valid.
  void shuffle(func::FuncOp func, unsigned seed) {
    std::mt19937 random(seed);
    Block &block = func.getBody().front();
    std::vector<Operation *> waiting;
    for (Operation &op : block.without_terminator())
      waiting.push_back(&op);
    std::set<Operation *> placed;
    auto isReady = [&](Operation *op) {
      return llvm::all_of(op->getOperands(), [&](Value operand) {
        Operation *def = operand.getDefiningOp();
        return !def || placed.count(def);
      });
    };
    while (!waiting.empty()) {
      std::vector<Operation *> ready;
      llvm::copy_if(waiting, std::back_inserter(ready), isReady);
      Operation *next = ready[random() % ready.size()];
      next->moveBefore(block.getTerminator());
      placed.insert(next);
      llvm::erase(waiting, next);
    }
  }

  std::string toText(const FusionPlan &plan) {
    return llvm::formatv("{0:2}", plan.ledger.toJson()).str();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

/// Checks that the kernels of `plan` can run in order and compute everything.
void checkPlan(const ComputeGraph &graph, const FusionPlan &plan) {
  std::set<unsigned> stored, computed;
  double bytes = 0;
  for (const PlannedKernel &kernel : plan.kernels) {
    EXPECT_TRUE(llvm::is_sorted(kernel.nodes));
    for (unsigned id : kernel.nodes) {
      computed.insert(id);
      for (const TensorRead &read : graph.getNode(id).reads) {
        unsigned base = graph.getBase(read.value);
        int producer = graph.getValue(base).producer;
        // Computed in the same kernel, or stored by an earlier one.
        if (producer >= 0 && !llvm::is_contained(kernel.nodes, producer))
          EXPECT_TRUE(stored.count(base)) << kernel.name;
      }
    }
    for (unsigned value : kernel.stored)
      EXPECT_TRUE(stored.insert(value).second) << "stored twice";
    KernelBody body = KernelBody::get(graph, kernel.nodes, kernel.stored);
    if (kernel.nodes.size() > 1)
      EXPECT_TRUE(bool(checkBody(body, KernelLimits()))) << kernel.name;
    bytes += getUniqueBytes(body);
  }
  EXPECT_EQ(computed.size(), graph.getNodes().size());
  for (auto [id, value] : llvm::enumerate(graph.getValues()))
    if (value.escapes && value.producer >= 0)
      EXPECT_TRUE(stored.count(id)) << "a result is not stored";
  EXPECT_EQ(plan.ledger.bytesAfter, static_cast<int64_t>(bytes));
  EXPECT_LE(plan.ledger.timeAfterUs, plan.ledger.timeBeforeUs * (1 + 1e-9));
  EXPECT_EQ(plan.ledger.kernelsAfter,
            static_cast<int64_t>(plan.kernels.size()));
}

TEST_F(FusionPlannerTest, RandomGraphs) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    func::FuncOp func = parse(makeProgram(12, seed, false));
    FailureOr<ComputeGraph> graph =
        ComputeGraph::build(func.getBody().front(), GraphOptions());
    ASSERT_TRUE(succeeded(graph));
    FusionPlan plan = planFusion(*graph, getDefaultTarget(), PlanOptions());
    EXPECT_TRUE(plan.violations.empty());
    checkPlan(*graph, plan);

    std::vector<IterationDims> planned;
    for (const PlannedKernel &kernel : plan.kernels)
      planned.push_back(
          IterationDims::get(*graph, kernel.nodes, kernel.stored));
    ASSERT_TRUE(succeeded(formKernels(func, *graph, plan)));
    EXPECT_TRUE(succeeded(verify(*module)));
    unsigned numKernels = 0;
    SymbolicShapes shapes(func);
    func.walk([&](KernelOp kernel) {
      const IterationDims &dims = planned[numKernels++];
      FailureOr<IterationSpace> space =
          IterationSpace::get(kernel.getBody(), shapes);
      ASSERT_TRUE(succeeded(space));
      // The kernel's dimensions are those that planning saw.
      ASSERT_EQ(space->getNumDims(), dims.getExtents().size());
      unsigned numNodes = space->getGraph().getNodes().size();
      ASSERT_EQ(numNodes, plan.kernels[numKernels - 1].nodes.size());
      for (unsigned node = 0; node < numNodes; ++node)
        for (auto [loop, dim] : llvm::enumerate(dims.getLoops(node)))
          EXPECT_EQ(
              space->getDimOfLoop(space->getGraph().getNode(node).op, loop),
              dim);
    });
    EXPECT_EQ(numKernels, plan.kernels.size());
    // Nothing but kernels computes.
    for (Operation &op : func.getBody().front())
      EXPECT_FALSE(isComputeOp(&op));
  }
}

TEST_F(FusionPlannerTest, OrderOfIndependentOpsDoesNotMatter) {
  for (unsigned seed = 0; seed < 15; ++seed) {
    SCOPED_TRACE(seed);
    func::FuncOp func = parse(makeProgram(14, seed, false));
    auto plan = planFusion(func, getDefaultTarget(), PlanOptions());
    ASSERT_TRUE(succeeded(plan));
    std::string expected = toText(*plan);
    for (unsigned i = 0; i < 4; ++i) {
      shuffle(func, seed * 7 + i);
      ASSERT_TRUE(succeeded(verify(*module)));
      auto again = planFusion(func, getDefaultTarget(), PlanOptions());
      ASSERT_TRUE(succeeded(again));
      EXPECT_EQ(toText(*again), expected);
    }
  }
}

/// The time of the best partition of `graph` in which every node is computed
/// once, by trying all.
double getBestPartition(const ComputeGraph &graph) {
  unsigned n = graph.getNodes().size();
  std::vector<unsigned> part(n, 0);
  double best = std::numeric_limits<double>::infinity();
  auto evaluate = [&](unsigned numParts) {
    // Parts must be orderable: repeatedly take one whose inputs are there.
    std::set<unsigned> done;
    while (done.size() < numParts) {
      unsigned before = done.size();
      for (unsigned p = 0; p < numParts; ++p) {
        bool ready = !done.count(p);
        for (unsigned id = 0; id < n && ready; ++id)
          for (unsigned producer : graph.getProducers(id))
            if (part[id] == p && part[producer] != p &&
                !done.count(part[producer]))
              ready = false;
        if (ready)
          done.insert(p);
      }
      if (done.size() == before)
        return;
    }
    double total = 0;
    for (unsigned p = 0; p < numParts; ++p) {
      SmallVector<unsigned> nodes, stored;
      for (unsigned id = 0; id < n; ++id) {
        if (part[id] != p)
          continue;
        nodes.push_back(id);
        for (const TensorWrite &write : graph.getNode(id).writes) {
          const GraphValue &value = graph.getValue(write.value);
          if (value.escapes || llvm::any_of(value.readers, [&](unsigned r) {
                return part[r] != p;
              }))
            stored.push_back(write.value);
        }
      }
      llvm::sort(stored);
      KernelBody body = KernelBody::get(graph, nodes, stored);
      if (nodes.size() > 1 && !checkBody(body, KernelLimits()))
        return;
      total += priceKernel(body, getDefaultTarget()).seconds();
    }
    best = std::min(best, total);
  };
  std::function<void(unsigned, unsigned)> assign = [&](unsigned id,
                                                       unsigned numParts) {
    if (id == n)
      return evaluate(numParts);
    for (unsigned p = 0; p <= numParts; ++p) {
      part[id] = p;
      assign(id + 1, std::max(numParts, p + 1));
    }
  };
  assign(0, 0);
  return best;
}

TEST_F(FusionPlannerTest, CloseToTheBestPartitionOfSmallGraphs) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    func::FuncOp func = parse(makeProgram(4, seed, false));
    FailureOr<ComputeGraph> graph =
        ComputeGraph::build(func.getBody().front(), GraphOptions());
    ASSERT_TRUE(succeeded(graph));
    FusionPlan plan = planFusion(*graph, getDefaultTarget(), PlanOptions());
    double best = getBestPartition(*graph);
    EXPECT_LE(plan.ledger.timeAfterUs, 1.10 * best * 1e6);
  }
}

TEST_F(FusionPlannerTest, ThreeHundredOpsInASecond) {
  func::FuncOp func = parse(makeProgram(300, 1, false));
  std::clock_t begin = std::clock();
  auto plan = planFusion(func, getDefaultTarget(), PlanOptions());
  double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  ASSERT_TRUE(succeeded(plan));
#ifdef __OPTIMIZE__
  EXPECT_LT(seconds, 1.0);
#else
  EXPECT_LT(seconds, 20.0);
#endif
}

TEST_F(FusionPlannerTest, EveryChipHasAPlan) {
  func::FuncOp func = parse(makeProgram(10, 3, false));
  for (const TargetInfo &target : getKnownTargets()) {
    auto plan = planFusion(func, target, PlanOptions());
    ASSERT_TRUE(succeeded(plan));
    EXPECT_EQ(plan->ledger.target, target.name.str());
    EXPECT_GE(plan->kernels.size(), 1u);
  }
}

TEST_F(FusionPlannerTest, OpLimitIsKept) {
  func::FuncOp func = parse(makeProgram(12, 5, true));
  PlanOptions options;
  options.limits.maxOps = 3;
  auto plan = planFusion(func, getDefaultTarget(), options);
  ASSERT_TRUE(succeeded(plan));
  bool refused = false;
  for (const PlannedKernel &kernel : plan->kernels)
    EXPECT_LE(kernel.nodes.size(), 3u);
  for (const LedgerEntry &entry : plan->ledger.entries)
    refused |= entry.reason == ReasonCode::OpLimit;
  EXPECT_TRUE(refused);
}

TEST_F(FusionPlannerTest, BodyOfAValueAtTwoPlaces) {
  // exp(x) + transpose(exp(x)): two dimensions, exp at two places.
  std::string type = kType;
  func::FuncOp func =
      parse("func.func @f(%x: " + type + ") -> " + type +
            " {\n"
            "  %e = tensor.empty() : " +
            type +
            "\n"
            "  %0 = linalg.exp ins(%x : " +
            type + ") outs(%e : " + type + ") -> " + type +
            "\n"
            "  %1 = linalg.transpose ins(%0 : " +
            type + ") outs(%e : " + type +
            ") permutation = [1, 0]\n"
            "  %2 = linalg.add ins(%0, %1 : " +
            type + ", " + type + ") outs(%e : " + type + ") -> " + type +
            "\n"
            "  return %2 : " +
            type + "\n}\n");
  FailureOr<ComputeGraph> graph =
      ComputeGraph::build(func.getBody().front(), GraphOptions());
  ASSERT_TRUE(succeeded(graph));
  ASSERT_EQ(graph->getNodes().size(), 3u);
  unsigned result = graph->getNode(2).writes.front().value;
  KernelBody body = KernelBody::get(*graph, {0, 1, 2}, result);
  EXPECT_EQ(body.getProblem(), BodyProblem::None);
  EXPECT_EQ(body.getInstances().size(), 4u);
  EXPECT_EQ(body.getInputs().size(), 2u);
  EXPECT_TRUE(body.recomputes(/*copiesPad=*/false));
  EXPECT_TRUE(bool(checkBody(body, KernelLimits())));
  // The input is read at two places but counted once.
  EXPECT_EQ(getUniqueBytes(body), 2.0 * 256 * 256 * 4);
}

} // namespace
