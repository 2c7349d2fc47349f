# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrong compilers: one planted fault each, as an edit of a source file.

A mutant is a slip that an author could make. All but those of `PRICES` must be
found by running programs with --verify; a price decides what is fast, so that a
wrong one must change no result.

An edit replaces a complete expression, or complete statements (they end with a
semicolon or a brace), so that schemata.py can keep both in one build.
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
        ("causal-inverted", "gt(column, row)", "gt(row, column)"),
        ("causal-corner", "*op.getCausal() == CausalMask::BottomRight",
         "*op.getCausal() != CausalMask::BottomRight"),
        ("scale-without-root", "1.0 / std::sqrt(static_cast<double>(*size))",
         "1.0 / static_cast<double>(*size)"),
        ("attention-dropout-scale", "p == 1.0 ? 0.0 : 1.0 / (1.0 - p)",
         "p == 1.0 ? 0.0 : 1.0 / (1.0 + p)"),
        ("mask-inverted", """\
select(args[next++], score,
                     score.constant(-std::numeric_limits<double>::infinity()))\
""", """\
select(args[next++],
                     score.constant(-std::numeric_limits<double>::infinity()),
                     score)""")),
    *_group(
        _FUSION + "NormalizationOps.cpp",
        ("eps-plus-one", "args[0] + norm.eps", "args[0] + (norm.eps + 1.0)"),
        ("bias-subtracted", "y + args[next++]", "y - args[next++]"),
        ("rms-of-values", "args[0] * args[0]", "args[0]"),
        ("log-softmax-without-log", "shifted - log(args[2])",
         "shifted - args[2]")),
    *_group(
        _FUSION + "ActivationOps.cpp",
        ("gelu-digits-exchanged", "0.044715", "0.044751"),
        ("gelu-half", "x * sqrtHalf", "x * 0.70170678118654752440"),
        ("silu-sign", "x / (x.constant(1.0) + exp(-x))",
         "x / (x.constant(1.0) + exp(x))"),
        ("selu-scale", "(max(x, zero) + min(expm1(x) * alpha, zero)) * scale",
         "(max(x, zero) + min(expm1(x) * alpha, zero)) * 1.0570009873554805"),
        ("softplus-threshold", "select(gt(scaled, limit), x, curve)",
         "select(gt(limit, scaled), x, curve)")),
    *_group(
        _FUSION + "PointwiseOps.cpp",
        ("rope-sign", "select(isFirst, -turned, turned)",
         "select(isFirst, turned, -turned)")),
    *_group(
        _FUSION + "QuantizationOps.cpp",
        ("quantize-low-bound", "q.constant(low)", "q.constant(low + 1)"),
        ("nibbles-exchanged",
         "makeInteger(b, i32, 28) - parity * makeInteger(b, i32, 4)",
         "makeInteger(b, i32, 24) + parity * makeInteger(b, i32, 4)")),
    *_group(
        _FUSION + "PoolOp.cpp",
        ("pool-count-of-padding", "max(low - start, zero)", "zero")),
    *_group(
        _FUSION + "LossOps.cpp",
        ("loss-without-log", "args[1] + log(args[2])", "args[1] + args[2]"),
        ("loss-counts-ignored",
         "makeConstant(b, d.computeType, 0.0)", "one")),
]

LEGALITY = _group(
    "lib/FusionPlanning/FusionLegality.cpp",
    ("outputs-of-any-dimensions", "output.mask != first.mask", "false"),
    ("rows-written-by-several", "outer & ~output.mask", "DimMask(0)"))

MASKS = [
    *_group(
        "lib/Codegen/Coordinates.cpp",
        ("last-element-in-bounds", "bounds->second < constant.getValue()",
         "bounds->second <= constant.getValue()"),
        ("axis-taken-as-exact",
         "info.exact && (info.extent == size || (dim && info.dim == dim))",
         "info.extent == size || (dim && info.dim == dim)"),
        ("least-of-sum", "std::make_pair(low, high)",
         "std::make_pair(low, high - 1)"),
        ("collapse-order", "linear % sizes[i]", "linear % sizes[0]")),
    *_group(
        "lib/Codegen/TileBuilder.cpp",
        ("below-or-equal", "arith::CmpIPredicate::ult",
         "arith::CmpIPredicate::ule"),
        ("reduced-tail-unmasked", "axes[axis].exact", "true")),
    *_group(
        "lib/Codegen/ReductionStates.cpp",
        ("initial-value-dropped", "!isIdentityFill(init, combiner)",
         "false")),
    *_group(
        "lib/Analysis/Selections.cpp",
        ("ties-in-any-order", "!inOrder || keepsLast", "keepsLast"),
        ("last-of-equals-first",
         "keepsLast ? CmpIPredicate::sgt : CmpIPredicate::slt",
         "CmpIPredicate::slt")),
    *_group(
        "lib/Codegen/DataMovement.cpp",
        ("pad-low-ignored", "coord = coord - *low;",
         "coord = coord - *low - 1;"),
        ("slice-stride-dropped", "dropped.test(dim) ? *offset\n" + 39 * " " +
         ": *offset + coords[next++] * *stride",
         "dropped.test(dim) ? *offset : *offset + coords[next++]")),
    *_group(
        "lib/Codegen/JoinedParts.cpp",
        ("concat-end-of-first", "builder.below(getCoord(), parts[number].end)",
         "builder.below(getCoord() + 1, parts[number].end)"),
        ("straddling-part-left-out",
         "arith::CmpIPredicate::sgt, place - axes[axis].tile",
         "arith::CmpIPredicate::sge, place"),
        ("part-takes-all-of-tile", "!before || begins", "true"),
        ("part-of-next-tile", "arith::CmpIPredicate::slt, place",
         "arith::CmpIPredicate::sle, place")),
    *_group(
        "lib/Codegen/ScanEmitter.cpp",
        ("reverse-scan-unmasked", "op.getReverse() && !axes[axis].exact",
         "false"),
        ("backward-rounds-not-mirrored", "index(panels.getPanel()->members - 1)",
         "index(panels.getPanel()->members)")),
    *_group(
        "lib/Conversion/TileToNVVM/LowerPanelScan.cpp",
        ("members-after-included", "before[reg] = builder.selectAll(isBefore, "
         "all[reg], before[reg]);", "before[reg] = all[reg];"),
        ("panel-lanes-out-of-order",
         "builder.selectAll(isRight, other, own)",
         "builder.selectAll(isRight, own, other)")),
    *_group(
        "lib/Conversion/TileToNVVM/LowerScan.cpp",
        ("exclusive-scan-inclusive",
         "i == 0 ? *start : combine(*start, round.own[i - 1])",
         "combine(*start, round.own[i])"),
        ("scan-lanes-out-of-order", "combine(before, states)",
         "combine(states, before)")),
    *_group(
        "lib/Conversion/TileToNVVM/AccessPlan.cpp",
        ("bounds-or-equal", "arith::CmpIPredicate::ult",
         "arith::CmpIPredicate::ule")),
]

LAYOUTS = [
    *_group(
        "lib/Dialect/Tile/Transforms/AccessAnalysis.cpp",
        ("half-aligned-vectors", "run->alignment % width == 0",
         "run->alignment % (width / 2) == 0"),
        ("masks-within-vectors", "size % width != 0 || run->base % width != 0",
         "run->base % width != 0")),
    *_group(
        "lib/Conversion/TileToNVVM/LowerExchange.cpp",
        ("registers-not-flipped",
         "builder.shuffle(source[reg], source32, NVVM::ShflKind::idx)",
         "builder.shuffle(source[reg], lane, NVVM::ShflKind::idx)"),
        ("register-combined-twice",
         "lowering.combine(op.getCombiner(), states[i], states[i + 1])",
         "lowering.combine(op.getCombiner(), states[i], states[i])"),
        ("lanes-of-another-bit", "1 << bit", "1 << (4 - bit)")),
    *_group(
        "lib/Conversion/TileToNVVM/ThreadBuilder.cpp",
        ("high-word-twice",
         "shuffle32(arith::TruncIOp::create(*this, i32, raw))",
         "shuffle32(arith::TruncIOp::create(*this, i32, high))")),
    *_group(
        "lib/Conversion/MathExpansion/IntegerPatterns.cpp",
        ("byte-bias", "isSigned ? 128.0 : 0.0", "isSigned ? 127.0 : 0.0"),
        ("power-of-base", "square * square", "square * result")),
]

BARRIERS = [
    *_group(
        "lib/Dialect/Tile/Transforms/PlaceBarriers.cpp",
        ("reads-before-writes-forgotten", "write || other.write",
         "write && other.write"),
        ("ranges-only-at-start", "begin < other.end && other.begin < end",
         "begin == other.begin"),
        ("next-iteration-forgotten", "addAll(atEnd, pending);\n"
         "      place(*loop.getBody(), atEnd);\n", ""),
        ("warps-taken-as-blocks", "!barrier.getWithinWarp()", "true"),
        ("branches-forgotten", "addAll(merged, path);", "")),
    *_group(
        "lib/Dialect/Tile/Transforms/SharedPieces.cpp",
        ("last-use-of-buffer-lost",
         "std::max(piece.last, spans.at(ancestor).second)", "piece.last")),
    *_group(
        "lib/Support/SharedPlaces.cpp",
        ("gap-too-small", "offset + piece->bytes <= other->offset",
         "offset <= other->offset && "
         "offset + piece->bytes / 2 <= other->offset")),
    *_group(
        "lib/Executable/BufferPlan.cpp",
        ("workspace-reused-early", "lifetimes[other].last < life.first",
         "lifetimes[other].last <= life.first"),
        ("workspace-last-use-lost",
         "std::max(lifetimes[buffer].last, step)", "lifetimes[buffer].first")),
]

PRICES = _group(
    "lib/Analysis/CostModel.cpp",
    ("price-of-registers", "static_cast<int64_t>(std::ceil(widest))",
     "static_cast<int64_t>(std::ceil(widest / 4))"),
    ("price-of-launch", "target.fitted.rates.launchSeconds + steps",
     "100 * target.fitted.rates.launchSeconds + steps"),
    ("price-of-overlap", "(1 - time.hidden) * std::min(compute, time.memory)",
     "10 * std::min(compute, time.memory)"))

MUST_BE_FOUND = DECOMPOSITIONS + LEGALITY + MASKS + LAYOUTS + BARRIERS
