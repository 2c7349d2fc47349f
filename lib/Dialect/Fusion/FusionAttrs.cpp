//===- FusionAttrs.cpp - Attributes of the fusion dialect -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the attributes of the fusion dialect: custom syntax and
// verification.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/FusionAttrs.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Custom syntax
//===----------------------------------------------------------------------===//

namespace {
/// A field of an axis that may be left out: a number or a flag.
struct AxisField {
  StringLiteral name;
  int64_t *number;
  bool *flag = nullptr;
};
} // namespace

/// Parses `, warps = N`, `, vector = N`, `, strip = N`, `, steps = N`,
/// `, split = N`, `, cluster = N`, `, stages = N`, `, limited`,
/// `, descending` and `, parted`, each optional, in this order.
static ParseResult parseAxisFields(AsmParser &parser, int64_t &warps,
                                   int64_t &vector, int64_t &strip,
                                   int64_t &steps, int64_t &split,
                                   int64_t &cluster, int64_t &stages,
                                   bool &limited, bool &descending,
                                   bool &parted) {
  warps = vector = strip = steps = split = cluster = stages = 1;
  limited = descending = parted = false;
  AxisField fields[] = {{"warps", &warps},
                        {"vector", &vector},
                        {"strip", &strip},
                        {"steps", &steps},
                        {"split", &split},
                        {"cluster", &cluster},
                        {"stages", &stages},
                        {"limited", nullptr, &limited},
                        {"descending", nullptr, &descending},
                        {"parted", nullptr, &parted}};
  unsigned next = 0;
  while (succeeded(parser.parseOptionalComma())) {
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name))
      return failure();
    while (next < std::size(fields) && fields[next].name != name)
      ++next;
    if (next == std::size(fields))
      return parser.emitError(loc, "expected 'warps', 'vector', 'strip', "
                                   "'steps', 'split', 'cluster', 'stages', "
                                   "'limited', 'descending' or 'parted', in "
                                   "this order");
    const AxisField &field = fields[next++];
    if (field.flag)
      *field.flag = true;
    else if (parser.parseEqual() || parser.parseInteger(*field.number))
      return failure();
  }
  return success();
}

static void printAxisFields(AsmPrinter &printer, int64_t warps, int64_t vector,
                            int64_t strip, int64_t steps, int64_t split,
                            int64_t cluster, int64_t stages, bool limited,
                            bool descending, bool parted) {
  if (warps != 1)
    printer << ", warps = " << warps;
  if (vector != 1)
    printer << ", vector = " << vector;
  if (strip != 1)
    printer << ", strip = " << strip;
  if (steps != 1)
    printer << ", steps = " << steps;
  if (split != 1)
    printer << ", split = " << split;
  if (cluster != 1)
    printer << ", cluster = " << cluster;
  if (stages != 1)
    printer << ", stages = " << stages;
  if (limited)
    printer << ", limited";
  if (descending)
    printer << ", descending";
  if (parted)
    printer << ", parted";
}

static ParseResult parseAxes(AsmParser &parser, SmallVector<AxisAttr> &axes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() {
    return parser.parseAttribute(axes.emplace_back());
  });
}

static void printAxes(AsmPrinter &printer, ArrayRef<AxisAttr> axes) {
  // In full, not stripped of `#fusion.axis`: an axis reads the same here and on
  // its own.
  printer << "[";
  llvm::interleaveComma(axes, printer,
                        [&](AxisAttr axis) { printer.printAttribute(axis); });
  printer << "]";
}

static ParseResult parseDouble(AsmParser &parser, FailureOr<APFloat> &value) {
  double number;
  if (parser.parseFloat(number))
    return failure();
  value = APFloat(number);
  return success();
}

static void printDouble(AsmPrinter &printer, const APFloat &value) {
  printer.printFloat(value);
}

#include "fusion/Dialect/Fusion/FusionEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "fusion/Dialect/Fusion/FusionAttrs.cpp.inc"

void FusionDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fusion/Dialect/Fusion/FusionAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static bool isPowerOf2(int64_t value) {
  return value > 0 && llvm::isPowerOf2_64(value);
}

/// Elements that are written out at most.
static constexpr int64_t kMaxStrip = 64;

/// Blocks of a cluster at most, on any chip.
static constexpr int64_t kMaxCluster = 16;

/// Chunks of a walk in flight or in use at once.
static constexpr int64_t kMaxStages = 16;

LogicalResult AxisAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               AxisKind kind, int64_t tile, int64_t warps,
                               int64_t vector, int64_t strip, int64_t steps,
                               int64_t split, int64_t cluster, int64_t stages,
                               bool limited, bool descending, bool parted) {
  if (kind == AxisKind::Grid ? tile < 1 : !isPowerOf2(tile))
    return emitError() << "'tile' must be "
                       << (kind == AxisKind::Grid ? "positive"
                                                  : "a power of two")
                       << ", got " << tile;
  if (!isPowerOf2(warps))
    return emitError() << "'warps' must be a power of two, got " << warps;
  if (!isPowerOf2(vector))
    return emitError() << "'vector' must be a power of two, got " << vector;
  if (vector > tile)
    return emitError() << "'vector' (" << vector
                       << ") must not be larger than 'tile' (" << tile << ")";
  if (strip < 1 || strip > kMaxStrip)
    return emitError() << "'strip' must be 1 to " << kMaxStrip << ", got "
                       << strip;
  if (steps < 1)
    return emitError() << "'steps' must be positive, got " << steps;
  StringRef name = strip > 1 ? "strip" : "steps";
  bool isOfRounds = strip == 1 && kind == AxisKind::Loop && split > 1;
  // A walk element by element, several of which are written out.
  bool isOfElements = steps == 1 && kind == AxisKind::Loop && tile == 1;
  if ((strip > 1 || steps > 1) && kind != AxisKind::Grid && !isOfRounds &&
      !isOfElements)
    return emitError() << "'" << name << "' is for dimensions of the grid";
  if (steps > 1 && isOfRounds && (vector == 1 || vector == tile))
    return emitError() << "'vector' must be more than 1 and less than 'tile' ("
                       << tile << ") beside the 'steps' of a 'loop' dimension";
  if ((strip > 1 || steps > 1) && !isPowerOf2(tile))
    return emitError() << "'tile' must be a power of two beside '" << name
                       << "', got " << tile;
  if (split < 1)
    return emitError() << "'split' must be positive, got " << split;
  if (split > 1 && kind != AxisKind::Loop)
    return emitError() << "'split' is for dimensions that blocks walk";
  if (cluster < 1 || cluster > kMaxCluster)
    return emitError() << "'cluster' must be 1 to " << kMaxCluster << ", got "
                       << cluster;
  if (cluster > 1 && kind != AxisKind::Full && split != cluster)
    return emitError() << "'cluster' is for dimensions that as many blocks "
                          "share ('full' or 'split')";
  if (stages < 1 || stages > kMaxStages)
    return emitError() << "'stages' must be 1 to " << kMaxStages << ", got "
                       << stages;
  if (stages > 1 && kind != AxisKind::Loop && kind != AxisKind::Sequential)
    return emitError() << "'stages' are for dimensions that blocks walk";
  bool isByElement = kind == AxisKind::Loop && tile == 1 && split == 1;
  if (limited && kind != AxisKind::Sequential && !isByElement)
    return emitError() << "'limited' is for 'sequential' dimensions, and for "
                          "'loop' dimensions with tiles of 1 and no 'split'";
  if (descending && kind != AxisKind::Grid)
    return emitError() << "'descending' is for dimensions of the grid";
  if (parted && kind != AxisKind::Grid)
    return emitError() << "'parted' is for dimensions of the grid";
  return success();
}

LogicalResult MmaAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              MmaKind kind, int64_t stages, int64_t columns,
                              int64_t split, int64_t group, int64_t blocks,
                              int64_t multicast, int64_t groups, int64_t stream,
                              int64_t apart, int64_t skew) {
  if (stages < 1 || stages > 32)
    return emitError() << "'stages' must be 1 to 32, got " << stages;
  if (columns != 0 && !isPowerOf2(columns))
    return emitError() << "'columns' must be 0 or a power of two, got "
                       << columns;
  // Blocks that are no cluster signal to each other, one from each lane.
  if (int64_t most = apart ? 32 : 16; !isPowerOf2(split) || split > most)
    return emitError() << "'split' must be a power of two of at most " << most
                       << ", got " << split;
  if (!isPowerOf2(multicast) || multicast > 16)
    return emitError() << "'multicast' must be a power of two of at most 16, "
                          "got "
                       << multicast;
  if (multicast > 1 && split > 1)
    return emitError() << "blocks of a cluster either share a sum ('split') or "
                          "an operand ('multicast')";
  if (blocks % multicast != 0)
    return emitError() << "'blocks' (" << blocks
                       << ") must be a multiple of 'multicast' (" << multicast
                       << ")";
  if (group < 1 || blocks < 0)
    return emitError() << "'group' must be positive and 'blocks' not negative";
  if (groups < 1 || groups > 4)
    return emitError() << "'groups' must be 1 to 4, got " << groups;
  if (groups > 1 && (kind != MmaKind::Wgmma || split > 1 || multicast > 1))
    return emitError() << "several 'groups' are for wgmma without clusters";
  if (stream < 0 || stream > 1024)
    return emitError() << "'stream' must be 0 to 1024, got " << stream;
  if (stream &&
      (kind != MmaKind::Wgmma || blocks == 0 || split > 1 || groups > 1))
    return emitError() << "'stream' is for wgmma on a grid of 'blocks' without "
                          "'split' or 'groups'";
  if (apart < 0 || apart > 1)
    return emitError() << "'apart' must be 0 or 1, got " << apart;
  if (apart && (kind != MmaKind::Wgmma || split == 1 || blocks != 0))
    return emitError() << "'apart' is for wgmma with a 'split' and without "
                          "'blocks'";
  if (skew < 0 || skew > 1)
    return emitError() << "'skew' must be 0 or 1, got " << skew;
  if (skew && kind != MmaKind::Wgmma)
    return emitError() << "'skew' is for wgmma";
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   Strategy strategy, ArrayRef<AxisAttr> axes,
                                   int64_t warps, MmaAttr mma) {
  if (mma && strategy != Strategy::Contraction)
    return emitError() << "'mma' is for contractions";
  if (!isPowerOf2(warps) || warps > 32)
    return emitError() << "'warps' must be a power of two of at most 32, got "
                       << warps;
  bool hasParts = false, hasRowGroups = false;
  for (AxisAttr axis : axes) {
    int64_t groups = mma ? mma.getGroups() : 1;
    if (isPowerOf2(axis.getTile()))
      continue;
    // The rows, which come first, are those of several groups.
    if (groups > 1 && !hasRowGroups && axis.getTile() % groups == 0 &&
        isPowerOf2(axis.getTile() / groups)) {
      hasRowGroups = true;
      continue;
    }
    if (!mma || mma.getSplit() > 1 || hasParts)
      return emitError() << "'tile' must be a power of two, got "
                         << axis.getTile()
                         << "; one axis of a contraction that no cluster "
                            "shares may have a sum of them";
    hasParts = true;
  }
  if (llvm::count_if(axes, [](AxisAttr axis) { return axis.getSteps() > 1; }) >
      1)
    return emitError() << "only one axis may have 'steps'";
  if (strategy != Strategy::Scan && llvm::any_of(axes, [](AxisAttr axis) {
        return axis.getSteps() > 1 && axis.getKind() == AxisKind::Loop;
      }))
    return emitError() << "'steps' of a 'loop' dimension are for scans";
  if (llvm::count_if(axes, [](AxisAttr axis) { return axis.getSplit() > 1; }) >
      1)
    return emitError() << "only one axis may have a 'split'";
  if (mma && mma.getGroups() > 1 && !hasRowGroups && mma.getBlocks() == 0)
    return emitError() << "several 'groups' take turns on a grid of 'blocks', "
                          "or have rows of a tile whose number is no power of "
                          "two";
  // Producers are at most four more.
  if (mma && mma.getGroups() > 1 && mma.getGroups() * warps > 28)
    return emitError() << "'groups' of 'warps' must be at most 28 warps, got "
                       << mma.getGroups() * warps;
  int64_t product = 1;
  for (AxisAttr axis : axes) {
    // Each factor is bounded before it is multiplied, so nothing overflows.
    if (axis.getWarps() > 32)
      return emitError() << "an axis has " << axis.getWarps()
                         << " warps, a block at most 32";
    product = std::min<int64_t>(product * axis.getWarps(), 1024);
  }
  if (product > warps)
    return emitError() << "the axes use " << product
                       << " warps, the schedule has " << warps;
  return success();
}

LogicalResult EstimateAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   APFloat time, int64_t dramBytes,
                                   int64_t flops, int64_t registers,
                                   int64_t sharedBytes, int64_t savedBytes,
                                   int64_t savedLaunches) {
  if (&time.getSemantics() != &APFloat::IEEEdouble())
    return emitError() << "'time_us' must be a double";
  if (!time.isFinite() || time.isNegative())
    return emitError() << "'time_us' must be finite and not negative";
  std::pair<StringRef, int64_t> counts[] = {{"dram_bytes", dramBytes},
                                            {"flops", flops},
                                            {"registers", registers},
                                            {"shared_bytes", sharedBytes}};
  for (auto [name, count] : counts)
    if (count < 0)
      return emitError() << "'" << name << "' must not be negative, got "
                         << count;
  return success();
}

ArrayRef<StringLiteral> TargetAttr::getKnownChips() {
  static constexpr StringLiteral chips[] = {
#define FUSION_CHIP(name, describe) name,
#include "fusion/Support/Chips.def"
  };
  return chips;
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef chip, DictionaryAttr) {
  if (llvm::is_contained(getKnownChips(), chip))
    return success();
  InFlightDiagnostic diag = emitError();
  diag << "unknown chip '" << chip << "'; known chips: ";
  llvm::interleaveComma(getKnownChips(), diag,
                        [&](StringRef name) { diag << name; });
  return diag;
}
