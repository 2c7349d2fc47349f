//===- BodyPricer.h - Pricing of one kernel body ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the pricing of a body along one choice of the dimension
// that neighbouring threads follow. Each form of kernel has a file of its own.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_ANALYSIS_BODYPRICER_H
#define FUSION_LIB_ANALYSIS_BODYPRICER_H

#include "fusion/Analysis/BodyProduct.h"
#include "fusion/Analysis/KernelEstimate.h"
#include <cmath>

namespace mlir::fusion::pricing {

/// The largest number of elements of one tensor that a thread loads at once.
inline constexpr double kMaxVector = 8;

inline double ceilDiv(double a, double b) { return std::ceil(a / b); }

/// What pricing needs of one tensor read or written, beside the access.
struct Stream {
  double elementBytes;
  /// Elements asked for, counting each point of the access's dimensions.
  double points;
  /// The part of the tensor's bytes that this access brings in for the first
  /// time.
  double uniqueBytes;
  DimMask mask;
  double factor;
  /// Passes through shared memory to change its layout.
  bool transposed;
  unsigned instance;
  bool isWrite;
};

struct ContractionTiles;

/// Prices one body along one choice of the dimension that neighbouring threads
/// follow.
class Pricer {
public:
  Pricer(const KernelBody &body, const TargetInfo &target, unsigned fast,
         const BodyProduct *product, const ProductConfigs &configs);

  KernelEstimate price();

private:
  void priceContraction();
  /// Keeps products of few rows by single warps.
  void priceFewRows(const MmaConfig &config);
  /// Keeps the best of products of threads, which have no tiles yet.
  void priceByThreads();
  void priceContractionWith(int64_t tileM, int64_t tileN, int64_t threads,
                            const MmaConfig *config = nullptr);
  ContractionTiles tileContraction(int64_t tileM, int64_t tileN,
                                   int64_t threads,
                                   const MmaConfig *config) const;
  /// Adds the arithmetic of all instances, on operands to `before`; returns the
  /// accumulators of a thread.
  double addInstances(const ContractionTiles &tiles, bool isAsync,
                      KernelCost &cost, KernelCost &before) const;
  /// Adds what is read and written; returns the bytes of the widest element of
  /// an operand.
  double addOperands(const ContractionTiles &tiles, KernelCost &cost) const;
  /// Keeps the products of warpgroups by `config`.
  void keepAsync(const MmaConfig &config, const KernelCost &cost,
                 const KernelCost &before, KernelShape shape);
  /// Keeps products by warps or threads, if they are the best so far.
  void keepByThreads(const ContractionTiles &tiles, double accumulators,
                     double stagedBytes, KernelCost cost, KernelShape shape);

  /// How the fast dimension moves through the tensor of an access: bytes moved
  /// for each byte used, and whether its layout changes on the way.
  std::pair<double, bool> getFactor(ArrayRef<AffineExpr> coords,
                                    const GraphValue &value) const;
  /// True when the products of `node` run on tensor cores. Products that differ
  /// share no tile, and are made by plain arithmetic.
  bool onTensorCores(const GraphNode &node) const {
    return node.perPoint.doubles == 0 &&
           (!product->obstacle || product->byWarps) &&
           llvm::any_of(product->sums, [&](const Contraction &sum) {
             return sum.op == node.op;
           });
  }
  void addArithmetic(KernelCost &cost, const BodyInstance &instance,
                     double points) const;
  void addStream(KernelCost &cost, const Stream &stream, double copies,
                 double sweeps, double reuseDistance) const;
  /// Registers of the widest point when each thread holds `elements` of a
  /// value along the fast dimension, and `kept` more.
  int64_t getRegisters(double elements, double kept) const;
  double getBytesInFlight(double elements) const;
  /// Keeps the shape if it is the best so far. A block takes `blockSeconds` at
  /// least, to wait for its operands.
  void keep(const KernelCost &cost, const KernelShape &shape,
            double blockSeconds);

  const KernelBody &body;
  const TargetInfo &target;
  unsigned fast;
  /// Only for bodies with a contraction.
  const BodyProduct *product;
  /// How tensor cores can make it.
  const ProductConfigs &configs;
  DimMask outerMask = 0;
  SmallVector<Stream> streams;
  /// Registers of one element of the widest point, and of values that the fast
  /// dimension does not touch.
  double liveVector = 0;
  double liveScalar = 0;
  KernelEstimate best;
};

} // namespace mlir::fusion::pricing

#endif // FUSION_LIB_ANALYSIS_BODYPRICER_H
