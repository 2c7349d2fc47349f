"""Wrong compilers: one planted fault each, as an edit of a source file.

A mutant is a slip that an author could make. All but those of `PRICES` must be
found by running programs with --verify; a price decides what is fast, so that a
wrong one must change no result.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """`before`, which occurs once in `path`, becomes `after`."""
    name: str
    path: str
    before: str
    after: str


def _group(path, *edits):
    return [Mutant(name, path, before, after) for name, before, after in edits]


_FUSION = "lib/Dialect/Fusion/"
DECOMPOSITIONS = [
    *_group(
        _FUSION + "AttentionOps.cpp",
        ("causal-inverted", "select(gt(column, row),",
         "select(gt(row, column),"),
        ("causal-corner", "if (*op.getCausal() == CausalMask::BottomRight)",
         "if (*op.getCausal() != CausalMask::BottomRight)"),
        ("scale-without-root", "1.0 / std::sqrt(static_cast<double>(*size))",
         "1.0 / static_cast<double>(*size)"),
        ("attention-dropout-scale", "weight * (1.0 / (1.0 - p))",
         "weight * (1.0 / (1.0 + p))"),
        ("mask-inverted", """          score =
              select(args[next++], score,
                     score.constant(-std::numeric_limits<double>::infinity()));
""", """          score =
              select(args[next++],
                     score.constant(-std::numeric_limits<double>::infinity()),
                     score);
""")),
    *_group(
        _FUSION + "NormalizationOps.cpp",
        ("eps-plus-one", "rsqrt(args[0] + norm.eps)",
         "rsqrt(args[0] + (norm.eps + 1.0))"),
        ("bias-subtracted", "y = y + args[next++]", "y = y - args[next++]"),
        ("rms-of-values", "return args[0] * args[0];", "return args[0];"),
        ("log-softmax-without-log", "shifted - log(args[2])",
         "shifted - args[2]")),
    *_group(
        _FUSION + "ActivationOps.cpp",
        ("gelu-digits-exchanged", "0.044715", "0.044751"),
        ("gelu-half", "sqrtHalf = 0.70710678118654752440",
         "sqrtHalf = 0.70710578118654752440"),
        ("silu-sign", "return x / (x.constant(1.0) + exp(-x));",
         "return x / (x.constant(1.0) + exp(x));"),
        ("selu-scale", "1.0507009873554805", "1.0570009873554805"),
        ("softplus-threshold", "select(gt(scaled, limit), x, curve)",
         "select(gt(limit, scaled), x, curve)")),
    *_group(
        _FUSION + "PointwiseOps.cpp",
        ("rope-sign", "select(isFirst, -turned, turned)",
         "select(isFirst, turned, -turned)")),
    *_group(
        _FUSION + "QuantizationOps.cpp",
        ("quantize-low-bound", "Value(q.constant(low))",
         "Value(q.constant(low + 1))"),
        ("nibbles-exchanged",
         "makeInteger(b, i32, 28) - parity * makeInteger(b, i32, 4)",
         "makeInteger(b, i32, 24) + parity * makeInteger(b, i32, 4)")),
    *_group(
        _FUSION + "PoolOp.cpp",
        ("pool-count-of-padding", "Scalar before = max(low - start, zero);",
         "Scalar before = zero;")),
    *_group(
        _FUSION + "LossOps.cpp",
        ("loss-without-log", "args[1] + log(args[2])", "args[1] + args[2]"),
        ("loss-counts-ignored",
         "select(eq(target, ignored), makeConstant(b, d.computeType, 0.0), one)",
         "select(eq(target, ignored), one, one)")),
]

LEGALITY = _group(
    "lib/FusionPlanning/FusionLegality.cpp",
    ("outputs-of-any-dimensions", "if (output.mask != first.mask)",
     "if (false && output.mask != first.mask)"),
    ("reductions-of-any-rows", "if (instance.outerMask == root->outerMask)\n"
     "      continue;", "if (instance.outerMask == root->outerMask || true)\n"
     "      continue;"),
    ("rows-written-by-several", "if (outer & ~output.mask)",
     "if (false && (outer & ~output.mask))"),
    ("dimensions-beyond-tile", "if (instance.mask & ~allowed)",
     "if (false && (instance.mask & ~allowed))"))

MASKS = [
    *_group(
        "lib/Codegen/EmitCoordinates.cpp",
        ("last-element-in-bounds", "bounds->second < constant.getValue();",
         "bounds->second <= constant.getValue();"),
        ("axis-taken-as-exact", "if (info.exact && (info.extent == size ||",
         "if ((info.extent == size ||"),
        ("below-or-equal", "arith::CmpIPredicate::ult,\n"
         "                                operands[0].value",
         "arith::CmpIPredicate::ule,\n"
         "                                operands[0].value"),
        ("least-of-sum", "std::make_pair(low, high)",
         "std::make_pair(low, high - 1)")),
    *_group(
        "lib/Codegen/EmitReductions.cpp",
        ("reduced-tail-unmasked", "    if (axes[axis].exact)\n      continue;",
         "    if (axes[axis].exact || true)\n      continue;"),
        ("initial-value-dropped", "if (!isIdentityFill(init, combiner)) {",
         "if (false && !isIdentityFill(init, combiner)) {")),
    *_group(
        "lib/Codegen/EmitTensors.cpp",
        ("pad-low-ignored", "coord = coord - *low;",
         "coord = coord - *low - 1;"),
        ("concat-end-of-first",
         "result = select(below(coords[dim], end), piece, result);",
         "result = select(below(coords[dim] + 1, end), piece, result);"),
        ("slice-stride-dropped", "*offset + coords[next++] * *stride",
         "*offset + coords[next++]"),
        ("collapse-order", "linear % sizes[i];", "linear % sizes[0];")),
    *_group(
        "lib/Codegen/EmitScans.cpp",
        ("exclusive-scan-inclusive", "scan.getExclusive() ? states[i] : state",
         "scan.getExclusive() ? state : state")),
    *_group(
        "lib/Conversion/TileToNVVM/LowerMemory.cpp",
        ("bounds-or-equal", "arith::CmpIPredicate::ult,\n"
         "                                coordinateValue",
         "arith::CmpIPredicate::ule,\n"
         "                                coordinateValue")),
]

LAYOUTS = [
    *_group(
        "lib/Dialect/Tile/Transforms/AccessAnalysis.cpp",
        ("half-aligned-vectors", "run->alignment % width == 0 &&",
         "run->alignment % (width / 2) == 0 &&"),
        ("masks-within-vectors", "size % width != 0 || run->base % width != 0",
         "run->base % width != 0")),
    *_group(
        "lib/Conversion/TileToNVVM/LowerExchange.cpp",
        ("registers-not-flipped", "results.push_back(shuffle(source[reg], "
         "source32,", "results.push_back(shuffle(source[reg], lane,"),
        ("odd-register-lost", "if (states.size() % 2)",
         "if (states.size() % 2 && next.empty())"),
        ("lanes-of-another-bit", "builder.getI32IntegerAttr(1 << bit)",
         "builder.getI32IntegerAttr(1 << (4 - bit))"),
        ("high-word-twice", "exchange32(arith::TruncIOp::create(builder, loc, "
         "i32, raw))", "exchange32(arith::TruncIOp::create(builder, loc, i32, "
         "high))")),
    *_group(
        "lib/Conversion/MathExpansion/IntegerPatterns.cpp",
        ("byte-bias", "(isSigned ? 128.0 : 0.0)", "(isSigned ? 127.0 : 0.0)"),
        ("power-of-base", "square * square, rest.shr(1)",
         "square * base, rest.shr(1)")),
]

BARRIERS = [
    *_group(
        "lib/Dialect/Tile/Transforms/PlaceBarriers.cpp",
        ("reads-before-writes-forgotten", "(write || other.write)",
         "(write && other.write)"),
        ("ranges-only-at-start", "begin < other.end && other.begin < end",
         "begin == other.begin"),
        ("next-iteration-forgotten", "      addAll(atEnd, pending);\n"
         "      place(*loop.getBody(), atEnd);\n", ""),
        ("warps-taken-as-blocks", "if (!barrier.getWithinWarp())",
         "if (!barrier.getWithinWarp() || true)"),
        ("branches-forgotten", "          addAll(merged, path);\n", "")),
    *_group(
        "lib/Dialect/Tile/Transforms/AllocateSharedMemory.cpp",
        ("buffers-meet-later", "first <= other.last && other.first <= last",
         "first < other.last && other.first < last"),
        ("gap-too-small", "if (offset + life->bytes <= other->offset)",
         "if (offset <= other->offset && offset + life->bytes / 2 <= "
         "other->offset)")),
    *_group(
        "lib/Executable/BufferPlan.cpp",
        ("workspace-reused-early", "lifetimes[other].last < life.first",
         "lifetimes[other].last <= life.first"),
        ("workspace-last-use-lost",
         "std::max(lifetimes[buffer].last, step)", "lifetimes[buffer].first")),
]

PRICES = _group(
    "lib/Analysis/CostModel.cpp",
    ("price-of-registers", "static_cast<int64_t>(std::ceil(widest));",
     "static_cast<int64_t>(std::ceil(widest / 4));"),
    ("price-of-launch", "time.launch = target.launchSeconds +",
     "time.launch = 100 * target.launchSeconds +"),
    ("price-of-overlap", "(1 - cost::kOverlap) * (sum - largest)",
     "10 * (sum - largest)"))

MUST_BE_FOUND = DECOMPOSITIONS + LEGALITY + MASKS + LAYOUTS + BARRIERS
