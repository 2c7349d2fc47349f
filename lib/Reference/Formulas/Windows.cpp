//===- Windows.cpp - Formulas of convolution and pooling ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file writes the ops of FusionWindowOps.td as formulas.
//
//===----------------------------------------------------------------------===//

#include "FormulaRegistry.h"

#include "fusion/Support/ElementType.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::formulas;

namespace {

/// Where channels and space lie in [N, C, space...] or [N, space..., C].
struct Layout {
  bool isChannelsLast;
  int64_t rank;

  int64_t getChannel() const { return isChannelsLast ? rank - 1 : 1; }
  int64_t getSpace(int64_t dim) const { return dim + (isChannelsLast ? 1 : 2); }
  int64_t getNumSpatial() const { return rank - 2; }
  Shape getSpaceOf(ArrayRef<int64_t> shape) const {
    return Shape(shape.slice(getSpace(0), getNumSpatial()));
  }
  /// [n, c] and the sizes or the index in space in this order.
  Shape arrange(int64_t n, int64_t c, ArrayRef<int64_t> space) const {
    Shape index{n};
    if (!isChannelsLast)
      index.push_back(c);
    llvm::append_range(index, space);
    if (isChannelsLast)
      index.push_back(c);
    return index;
  }
};

/// The attributes of a sliding window, with their defaults.
struct Window {
  Shape sizes, strides, padding, dilations;

  /// Where element `w` of the window at `o` lies along `dim` of the input.
  int64_t locate(int64_t dim, int64_t o, int64_t w) const {
    return o * strides[dim] + w * dilations[dim] - padding[2 * dim];
  }
};

/// An element of the input and the one of the window that it meets, each as
/// its index in space.
struct Meeting {
  Shape input, window;
};

} // namespace

static Shape getOr(std::optional<ArrayRef<int64_t>> given, size_t count,
                   int64_t fill) {
  return given ? Shape(*given) : Shape(count, fill);
}

template <typename OpTy>
static Window getWindow(OpTy op, ArrayRef<int64_t> sizes) {
  size_t n = sizes.size();
  return {Shape(sizes), getOr(op.getStrides(), n, 1),
          getOr(op.getPadding(), 2 * n, 0), getOr(op.getDilations(), n, 1)};
}

/// `O = (I + lo + hi - d (k - 1) - 1) / s + 1`, rounded down.
static Shape getOutputSpace(const Window &window, ArrayRef<int64_t> input) {
  Shape output;
  for (size_t dim = 0; dim < input.size(); ++dim)
    output.push_back((input[dim] + window.padding[2 * dim] +
                      window.padding[2 * dim + 1] -
                      window.dilations[dim] * (window.sizes[dim] - 1) - 1) /
                         window.strides[dim] +
                     1);
  return output;
}

/// `O = (I - 1) s + d (k - 1) + 1 - lo - hi + output_padding`.
static Shape getTransposedSpace(const Window &window, ArrayRef<int64_t> input,
                                ArrayRef<int64_t> outputPadding) {
  Shape output;
  for (size_t dim = 0; dim < input.size(); ++dim)
    output.push_back((input[dim] - 1) * window.strides[dim] +
                     window.dilations[dim] * (window.sizes[dim] - 1) + 1 -
                     window.padding[2 * dim] - window.padding[2 * dim + 1] +
                     outputPadding[dim]);
  return output;
}

/// What the window at `o` meets: `i = o s + w d - lo`, inside of the input.
static SmallVector<Meeting> findMeetings(const Window &window,
                                         ArrayRef<int64_t> input,
                                         ArrayRef<int64_t> o) {
  SmallVector<Meeting> meetings;
  forEachIndex(window.sizes, [&](int64_t, ArrayRef<int64_t> w) {
    Shape i;
    for (size_t dim = 0; dim < input.size(); ++dim) {
      i.push_back(window.locate(dim, o[dim], w[dim]));
      if (i.back() < 0 || i.back() >= input[dim])
        return;
    }
    meetings.push_back({i, Shape(w)});
  });
  return meetings;
}

/// The same, transposed: `i s + w d - lo = o`.
static SmallVector<Meeting> findTransposedMeetings(const Window &window,
                                                   ArrayRef<int64_t> input,
                                                   ArrayRef<int64_t> o) {
  SmallVector<Meeting> meetings;
  forEachIndex(window.sizes, [&](int64_t, ArrayRef<int64_t> w) {
    Shape i;
    for (size_t dim = 0; dim < input.size(); ++dim) {
      int64_t distance = o[dim] - window.locate(dim, 0, w[dim]);
      if (distance % window.strides[dim] != 0)
        return;
      i.push_back(distance / window.strides[dim]);
      if (i.back() < 0 || i.back() >= input[dim])
        return;
    }
    meetings.push_back({i, Shape(w)});
  });
  return meetings;
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

static Results conv(ConvOp op, const Operands &in) {
  const BoundedTensor &x = in.get(op.getInput());
  const BoundedTensor &filter = in.get(op.getFilter());
  Layout layout{op.getLayout() == SpatialLayout::ChannelsLast, x.getRank()};
  bool isTransposed = op.getTransposed();
  int64_t groups = op.getGroups(), channels = x.getDim(layout.getChannel());
  int64_t features = isTransposed ? filter.getDim(layout.getChannel()) * groups
                                  : filter.getDim(0);
  int64_t groupChannels = channels / groups, groupFeatures = features / groups;
  Shape inputSpace = layout.getSpaceOf(x.getShape());
  Window window = getWindow(op, layout.getSpaceOf(filter.getShape()));
  Shape space = isTransposed ? getTransposedSpace(window, inputSpace,
                                                  getOr(op.getOutputPadding(),
                                                        inputSpace.size(), 0))
                             : getOutputSpace(window, inputSpace);
  DType factors = getFactorType(x.getElementType());

  Array y(layout.arrange(x.getDim(0), features, space), in.getArithmetic());
  forEachIndex(space, [&](int64_t, ArrayRef<int64_t> o) {
    SmallVector<Meeting> meetings =
        isTransposed ? findTransposedMeetings(window, inputSpace, o)
                     : findMeetings(window, inputSpace, o);
    for (int64_t n = 0; n < x.getDim(0); ++n)
      for (int64_t f = 0; f < features; ++f) {
        Sum sum(in.getArithmetic(), factors);
        int64_t firstChannel = f / groupFeatures * groupChannels;
        for (int64_t c = 0; c < groupChannels; ++c)
          for (const Meeting &at : meetings)
            sum.addProduct(
                x.getNumber(
                    x.locate(layout.arrange(n, firstChannel + c, at.input))),
                filter.getNumber(filter.locate(
                    isTransposed ? layout.arrange(firstChannel + c,
                                                  f % groupFeatures, at.window)
                                 : layout.arrange(f, c, at.window))));
        y.set(fusion::locate(y.getShape(), layout.arrange(n, f, o)), sum.get());
      }
  });
  if (op.getBias())
    y = y + in[op.getBias()].along(layout.getChannel(), layout.rank);
  return {y.round(elementTypeOf(op.getResult()))};
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

/// The largest element; NaN where there is one. Of integers, too.
static BoundedTensor poolMax(const BoundedTensor &x, const Layout &layout,
                             const Window &window, ArrayRef<int64_t> space) {
  Shape inputSpace = layout.getSpaceOf(x.getShape());
  int64_t channels = x.getDim(layout.getChannel());
  BoundedTensor y(x.getElementType(),
                  layout.arrange(x.getDim(0), channels, space),
                  /*isDerived=*/!x.isInteger());
  // What lies below all integers of the type.
  unsigned bits = x.getElementType().getIntOrFloatBitWidth();
  int64_t smallest = -(int64_t(1) << (bits - 1));
  double infinity = std::numeric_limits<double>::infinity();
  Bounded lowest = x.isFloat() ? -infinity : static_cast<double>(smallest);
  forEachIndex(space, [&](int64_t, ArrayRef<int64_t> o) {
    SmallVector<Meeting> meetings = findMeetings(window, inputSpace, o);
    for (int64_t n = 0; n < x.getDim(0); ++n)
      for (int64_t c = 0; c < channels; ++c) {
        int64_t to = y.locate(layout.arrange(n, c, o));
        int64_t largest = smallest;
        Bounded bounded = lowest;
        for (const Meeting &at : meetings) {
          int64_t from = x.locate(layout.arrange(n, c, at.input));
          if (x.isInteger())
            largest = std::max(largest, x.integer(from));
          else
            bounded = maximum(bounded, x[from]);
        }
        if (x.isInteger())
          y.integer(to) = largest;
        else
          y[to] = bounded;
      }
  });
  return y;
}

/// The sum over the window, divided by the number of its elements that lie in
/// the input, or by its size.
static BoundedTensor poolAvg(PoolOp op, const BoundedTensor &x,
                             const Layout &layout, const Window &window,
                             ArrayRef<int64_t> space,
                             const Arithmetic &arithmetic) {
  Shape inputSpace = layout.getSpaceOf(x.getShape());
  int64_t channels = x.getDim(layout.getChannel());
  Array y(layout.arrange(x.getDim(0), channels, space), arithmetic);
  forEachIndex(space, [&](int64_t, ArrayRef<int64_t> o) {
    SmallVector<Meeting> meetings = findMeetings(window, inputSpace, o);
    double count =
        op.getCountIncludePad() ? countElements(window.sizes) : meetings.size();
    for (int64_t n = 0; n < x.getDim(0); ++n)
      for (int64_t c = 0; c < channels; ++c) {
        Sum sum(arithmetic);
        for (const Meeting &at : meetings)
          sum.add(x[x.locate(layout.arrange(n, c, at.input))]);
        y.set(fusion::locate(y.getShape(), layout.arrange(n, c, o)),
              (sum.get() / count).loosen(1));
      }
  });
  return y.round(elementTypeOf(op.getResult()));
}

static Results pool(PoolOp op, const Operands &in) {
  const BoundedTensor &x = in.get(op.getInput());
  Layout layout{op.getLayout() == SpatialLayout::ChannelsLast, x.getRank()};
  Window window = getWindow(op, op.getWindow());
  Shape space = getOutputSpace(window, layout.getSpaceOf(x.getShape()));
  if (op.getKind() == PoolKind::Max)
    return {poolMax(x, layout, window, space)};
  return {poolAvg(op, x, layout, window, space, in.getArithmetic())};
}

void formulas::addWindowFormulas(FormulaRegistry &registry) {
  registry.add(conv);
  registry.add(pool);
}
