//===- Fusion.h - The fusion dialect, from C -------------------- -*- C -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the dialect `fusion` to programs that use MLIR's C API:
// its handle, and the attributes in which phases record what they decided.
//
// Functions that make an attribute check it: one that is not valid is null, and
// the reason is an error of the context. Enumerations are words, as in the text
// of the attributes ("grid", "reduction", "wgmma").
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_C_DIALECT_FUSION_H
#define FUSION_C_DIALECT_FUSION_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Fusion, fusion);

//===----------------------------------------------------------------------===//
// #fusion.target, the chip that a module is compiled for
//===----------------------------------------------------------------------===//

MLIR_CAPI_EXPORTED bool mlirAttributeIsAFusionTarget(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirTypeID mlirFusionTargetAttrGetTypeID(void);
/// `chip` is a name of the target table ("sm_90a"); `constants`, which may be
/// null, a dictionary of what the chip has other values of, by group and name
/// (docs/CostModel.md).
MLIR_CAPI_EXPORTED MlirAttribute mlirFusionTargetAttrGet(
    MlirContext context, MlirStringRef chip, MlirAttribute constants);
MLIR_CAPI_EXPORTED MlirStringRef
mlirFusionTargetAttrGetChip(MlirAttribute attribute);
/// Null if there are none.
MLIR_CAPI_EXPORTED MlirAttribute
mlirFusionTargetAttrGetConstants(MlirAttribute attribute);

//===----------------------------------------------------------------------===//
// #fusion.axis, how one dimension of a kernel is covered
//===----------------------------------------------------------------------===//

/// The fields of the attribute; docs/Dialects/Fusion.md says what they mean.
/// `kind` is never null.
typedef struct MlirFusionAxis {
  MlirStringRef kind;
  int64_t tile, warps, vector, strip, steps, split, cluster, stages;
  bool limited, descending, parted;
} MlirFusionAxis;

MLIR_CAPI_EXPORTED bool mlirAttributeIsAFusionAxis(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirTypeID mlirFusionAxisAttrGetTypeID(void);
/// An axis that nothing is said of: one block for each tile of one element, on
/// one warp.
MLIR_CAPI_EXPORTED MlirFusionAxis mlirFusionAxisGetDefault(void);
MLIR_CAPI_EXPORTED MlirAttribute mlirFusionAxisAttrGet(MlirContext context,
                                                       MlirFusionAxis axis);
MLIR_CAPI_EXPORTED MlirFusionAxis
mlirFusionAxisAttrGetFields(MlirAttribute attribute);

//===----------------------------------------------------------------------===//
// #fusion.mma, how a kernel makes products
//===----------------------------------------------------------------------===//

typedef struct MlirFusionMma {
  MlirStringRef kind;
  int64_t stages, columns, split, group, blocks, multicast, groups, stream,
      apart, skew;
} MlirFusionMma;

MLIR_CAPI_EXPORTED bool mlirAttributeIsAFusionMma(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirTypeID mlirFusionMmaAttrGetTypeID(void);
/// Products of single threads, and the defaults of the attribute.
MLIR_CAPI_EXPORTED MlirFusionMma mlirFusionMmaGetDefault(void);
MLIR_CAPI_EXPORTED MlirAttribute mlirFusionMmaAttrGet(MlirContext context,
                                                      MlirFusionMma mma);
MLIR_CAPI_EXPORTED MlirFusionMma
mlirFusionMmaAttrGetFields(MlirAttribute attribute);

//===----------------------------------------------------------------------===//
// #fusion.schedule, how a kernel is executed
//===----------------------------------------------------------------------===//

MLIR_CAPI_EXPORTED bool mlirAttributeIsAFusionSchedule(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirTypeID mlirFusionScheduleAttrGetTypeID(void);
/// `axes` has one `#fusion.axis` for each dimension of the kernel; `mma` may be
/// null.
MLIR_CAPI_EXPORTED MlirAttribute mlirFusionScheduleAttrGet(
    MlirContext context, MlirStringRef strategy, intptr_t numAxes,
    const MlirAttribute *axes, int64_t warps, MlirAttribute mma);
MLIR_CAPI_EXPORTED MlirStringRef
mlirFusionScheduleAttrGetStrategy(MlirAttribute attribute);
MLIR_CAPI_EXPORTED intptr_t
mlirFusionScheduleAttrGetNumAxes(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute
mlirFusionScheduleAttrGetAxis(MlirAttribute attribute, intptr_t position);
MLIR_CAPI_EXPORTED int64_t
mlirFusionScheduleAttrGetWarps(MlirAttribute attribute);
/// Null if there is none.
MLIR_CAPI_EXPORTED MlirAttribute
mlirFusionScheduleAttrGetMma(MlirAttribute attribute);

//===----------------------------------------------------------------------===//
// #fusion.estimate and #fusion.launch, what is predicted
//===----------------------------------------------------------------------===//

/// Time in microseconds; bytes and registers as in the text.
typedef struct MlirFusionEstimate {
  double timeUs;
  int64_t dramBytes, flops, registers, sharedBytes, savedBytes, savedLaunches;
} MlirFusionEstimate;

MLIR_CAPI_EXPORTED bool mlirAttributeIsAFusionEstimate(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirTypeID mlirFusionEstimateAttrGetTypeID(void);
MLIR_CAPI_EXPORTED MlirAttribute
mlirFusionEstimateAttrGet(MlirContext context, MlirFusionEstimate estimate);
MLIR_CAPI_EXPORTED MlirFusionEstimate
mlirFusionEstimateAttrGetFields(MlirAttribute attribute);

MLIR_CAPI_EXPORTED bool mlirAttributeIsAFusionLaunch(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirTypeID mlirFusionLaunchAttrGetTypeID(void);
/// Kernels of a function with the same number start in one launch, for which
/// `timeUs` microseconds are predicted.
MLIR_CAPI_EXPORTED MlirAttribute mlirFusionLaunchAttrGet(MlirContext context,
                                                         int64_t number,
                                                         double timeUs);
MLIR_CAPI_EXPORTED int64_t
mlirFusionLaunchAttrGetNumber(MlirAttribute attribute);
MLIR_CAPI_EXPORTED double
mlirFusionLaunchAttrGetTimeUs(MlirAttribute attribute);

#ifdef __cplusplus
}
#endif

#endif // FUSION_C_DIALECT_FUSION_H
