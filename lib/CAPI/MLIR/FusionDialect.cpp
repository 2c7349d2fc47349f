//===- FusionDialect.cpp - The fusion dialect, from C ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements fusion-c/Dialect/Fusion.h.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion-c/Dialect/Fusion.h"
#include "fusion/Dialect/Fusion/FusionAttrs.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::fusion;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Fusion, fusion, FusionDialect)

/// The attribute of these parameters, or null with an error at no place. The
/// dialect is loaded: a caller of C may not have.
template <typename Attr, typename... Args>
static MlirAttribute getChecked(MlirContext context, Args &&...args) {
  MLIRContext *ctx = unwrap(context);
  ctx->loadDialect<FusionDialect>();
  return wrap(Attr::getChecked([&] { return emitError(UnknownLoc::get(ctx)); },
                               ctx, std::forward<Args>(args)...));
}

/// The case of an enumeration called `word`, which `symbolize` knows; else
/// none, with an error.
template <typename Symbolize>
static auto readWord(MlirContext context, MlirStringRef word,
                     Symbolize symbolize) {
  auto value = symbolize(unwrap(word));
  if (!value)
    emitError(UnknownLoc::get(unwrap(context)))
        << "unknown word '" << unwrap(word) << "'";
  return value;
}

//===----------------------------------------------------------------------===//
// #fusion.target
//===----------------------------------------------------------------------===//

bool mlirAttributeIsAFusionTarget(MlirAttribute attribute) {
  return isa<TargetAttr>(unwrap(attribute));
}

MlirTypeID mlirFusionTargetAttrGetTypeID(void) {
  return wrap(TargetAttr::getTypeID());
}

MlirAttribute mlirFusionTargetAttrGet(MlirContext context, MlirStringRef chip,
                                      MlirAttribute constants) {
  return getChecked<TargetAttr>(
      context, unwrap(chip),
      cast_if_present<DictionaryAttr>(unwrap(constants)));
}

MlirStringRef mlirFusionTargetAttrGetChip(MlirAttribute attribute) {
  return wrap(cast<TargetAttr>(unwrap(attribute)).getChip());
}

MlirAttribute mlirFusionTargetAttrGetConstants(MlirAttribute attribute) {
  return wrap(Attribute(cast<TargetAttr>(unwrap(attribute)).getFitted()));
}

//===----------------------------------------------------------------------===//
// #fusion.axis
//===----------------------------------------------------------------------===//

bool mlirAttributeIsAFusionAxis(MlirAttribute attribute) {
  return isa<AxisAttr>(unwrap(attribute));
}

MlirTypeID mlirFusionAxisAttrGetTypeID(void) {
  return wrap(AxisAttr::getTypeID());
}

MlirFusionAxis mlirFusionAxisGetDefault(void) {
  return {wrap(stringifyAxisKind(AxisKind::Grid)),
          /*tile=*/1,
          /*warps=*/1,
          /*vector=*/1,
          /*strip=*/1,
          /*steps=*/1,
          /*split=*/1,
          /*cluster=*/1,
          /*stages=*/1,
          /*limited=*/false,
          /*descending=*/false,
          /*parted=*/false};
}

MlirAttribute mlirFusionAxisAttrGet(MlirContext context, MlirFusionAxis axis) {
  std::optional<AxisKind> kind =
      readWord(context, axis.kind,
               [](StringRef word) { return symbolizeAxisKind(word); });
  if (!kind)
    return {nullptr};
  return getChecked<AxisAttr>(context, *kind, axis.tile, axis.warps,
                              axis.vector, axis.strip, axis.steps, axis.split,
                              axis.cluster, axis.stages, axis.limited,
                              axis.descending, axis.parted);
}

MlirFusionAxis mlirFusionAxisAttrGetFields(MlirAttribute attribute) {
  auto axis = cast<AxisAttr>(unwrap(attribute));
  return {wrap(stringifyAxisKind(axis.getKind())),
          axis.getTile(),
          axis.getWarps(),
          axis.getVector(),
          axis.getStrip(),
          axis.getSteps(),
          axis.getSplit(),
          axis.getCluster(),
          axis.getStages(),
          axis.getLimited(),
          axis.getDescending(),
          axis.getParted()};
}

//===----------------------------------------------------------------------===//
// #fusion.mma
//===----------------------------------------------------------------------===//

bool mlirAttributeIsAFusionMma(MlirAttribute attribute) {
  return isa<MmaAttr>(unwrap(attribute));
}

MlirTypeID mlirFusionMmaAttrGetTypeID(void) {
  return wrap(MmaAttr::getTypeID());
}

MlirFusionMma mlirFusionMmaGetDefault(void) {
  return {wrap(stringifyMmaKind(MmaKind::Fma)),
          /*stages=*/1,
          /*columns=*/0,
          /*split=*/1,
          /*group=*/1,
          /*blocks=*/0,
          /*multicast=*/1,
          /*groups=*/1,
          /*stream=*/0,
          /*apart=*/0,
          /*skew=*/0};
}

MlirAttribute mlirFusionMmaAttrGet(MlirContext context, MlirFusionMma mma) {
  std::optional<MmaKind> kind = readWord(
      context, mma.kind, [](StringRef word) { return symbolizeMmaKind(word); });
  if (!kind)
    return {nullptr};
  return getChecked<MmaAttr>(context, *kind, mma.stages, mma.columns, mma.split,
                             mma.group, mma.blocks, mma.multicast, mma.groups,
                             mma.stream, mma.apart, mma.skew);
}

MlirFusionMma mlirFusionMmaAttrGetFields(MlirAttribute attribute) {
  auto mma = cast<MmaAttr>(unwrap(attribute));
  return {wrap(stringifyMmaKind(mma.getKind())),
          mma.getStages(),
          mma.getColumns(),
          mma.getSplit(),
          mma.getGroup(),
          mma.getBlocks(),
          mma.getMulticast(),
          mma.getGroups(),
          mma.getStream(),
          mma.getApart(),
          mma.getSkew()};
}

//===----------------------------------------------------------------------===//
// #fusion.schedule
//===----------------------------------------------------------------------===//

bool mlirAttributeIsAFusionSchedule(MlirAttribute attribute) {
  return isa<ScheduleAttr>(unwrap(attribute));
}

MlirTypeID mlirFusionScheduleAttrGetTypeID(void) {
  return wrap(ScheduleAttr::getTypeID());
}

MlirAttribute mlirFusionScheduleAttrGet(MlirContext context,
                                        MlirStringRef strategy,
                                        intptr_t numAxes,
                                        const MlirAttribute *axes,
                                        int64_t warps, MlirAttribute mma) {
  std::optional<Strategy> form =
      readWord(context, strategy,
               [](StringRef word) { return symbolizeStrategy(word); });
  if (!form)
    return {nullptr};
  SmallVector<AxisAttr> parts;
  for (intptr_t i = 0; i < numAxes; ++i)
    parts.push_back(cast<AxisAttr>(unwrap(axes[i])));
  return getChecked<ScheduleAttr>(context, *form, ArrayRef(parts), warps,
                                  cast_if_present<MmaAttr>(unwrap(mma)));
}

MlirStringRef mlirFusionScheduleAttrGetStrategy(MlirAttribute attribute) {
  return wrap(
      stringifyStrategy(cast<ScheduleAttr>(unwrap(attribute)).getStrategy()));
}

intptr_t mlirFusionScheduleAttrGetNumAxes(MlirAttribute attribute) {
  return cast<ScheduleAttr>(unwrap(attribute)).getAxes().size();
}

MlirAttribute mlirFusionScheduleAttrGetAxis(MlirAttribute attribute,
                                            intptr_t position) {
  return wrap(
      Attribute(cast<ScheduleAttr>(unwrap(attribute)).getAxes()[position]));
}

int64_t mlirFusionScheduleAttrGetWarps(MlirAttribute attribute) {
  return cast<ScheduleAttr>(unwrap(attribute)).getWarps();
}

MlirAttribute mlirFusionScheduleAttrGetMma(MlirAttribute attribute) {
  return wrap(Attribute(cast<ScheduleAttr>(unwrap(attribute)).getMma()));
}

//===----------------------------------------------------------------------===//
// #fusion.estimate and #fusion.launch
//===----------------------------------------------------------------------===//

bool mlirAttributeIsAFusionEstimate(MlirAttribute attribute) {
  return isa<EstimateAttr>(unwrap(attribute));
}

MlirTypeID mlirFusionEstimateAttrGetTypeID(void) {
  return wrap(EstimateAttr::getTypeID());
}

MlirAttribute mlirFusionEstimateAttrGet(MlirContext context,
                                        MlirFusionEstimate estimate) {
  return getChecked<EstimateAttr>(context, APFloat(estimate.timeUs),
                                  estimate.dramBytes, estimate.flops,
                                  estimate.registers, estimate.sharedBytes,
                                  estimate.savedBytes, estimate.savedLaunches);
}

MlirFusionEstimate mlirFusionEstimateAttrGetFields(MlirAttribute attribute) {
  auto estimate = cast<EstimateAttr>(unwrap(attribute));
  return {estimate.getTimeUs(),       estimate.getDramBytes(),
          estimate.getFlops(),        estimate.getRegisters(),
          estimate.getSharedBytes(),  estimate.getSavedBytes(),
          estimate.getSavedLaunches()};
}

bool mlirAttributeIsAFusionLaunch(MlirAttribute attribute) {
  return isa<LaunchAttr>(unwrap(attribute));
}

MlirTypeID mlirFusionLaunchAttrGetTypeID(void) {
  return wrap(LaunchAttr::getTypeID());
}

MlirAttribute mlirFusionLaunchAttrGet(MlirContext context, int64_t number,
                                      double timeUs) {
  MLIRContext *ctx = unwrap(context);
  ctx->loadDialect<FusionDialect>();
  return wrap(Attribute(LaunchAttr::get(ctx, number, timeUs)));
}

int64_t mlirFusionLaunchAttrGetNumber(MlirAttribute attribute) {
  return cast<LaunchAttr>(unwrap(attribute)).getNumber();
}

double mlirFusionLaunchAttrGetTimeUs(MlirAttribute attribute) {
  return cast<LaunchAttr>(unwrap(attribute)).getTimeUs();
}
