//===- module.c - Tests of the C API on modules ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// RUN: %fusion_obj_root/test/CAPI/fusion-capi-test 2>&1 | FileCheck %s
//
//===----------------------------------------------------------------------===//

#include "fusion-c/Module.h"
#include "fusion-c/Dialect/Fusion.h"
#include "fusion-c/Dialect/Tile.h"
#include "fusion-c/Passes.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"

#include <stdio.h>
#include <string.h>

static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static void print(MlirStringRef text, void *stream) {
  fwrite(text.data, 1, text.length, (FILE *)stream);
}

static void showAttribute(const char *label, MlirAttribute attribute) {
  printf("%s: ", label);
  if (mlirAttributeIsNull(attribute))
    printf("null");
  else
    mlirAttributePrint(attribute, print, stdout);
  printf("\n");
}

static void showWord(const char *label, MlirStringRef word) {
  printf("%s: %.*s\n", label, (int)word.length, word.data);
}

/// Prints errors of the context; those of compilations do not get here.
static MlirLogicalResult showError(MlirDiagnostic diagnostic, void *data) {
  (void)data;
  printf("error of the context: ");
  mlirDiagnosticPrint(diagnostic, print, stdout);
  printf("\n");
  return mlirLogicalResultSuccess();
}

// CHECK-LABEL: == attributes of fusion
static void testFusionAttributes(MlirContext context) {
  printf("== attributes of fusion\n");
  MlirAttribute none = {NULL};
  MlirAttribute target = mlirFusionTargetAttrGet(context, str("sm_90a"), none);
  // CHECK: target: #fusion.target<chip = "sm_90a">
  showAttribute("target", target);
  // CHECK: constants: null
  showAttribute("constants", mlirFusionTargetAttrGetConstants(target));
  // CHECK: is a target: 1 0
  printf("is a target: %d %d\n", mlirAttributeIsAFusionTarget(target),
         mlirAttributeIsAFusionAxis(target));
  // CHECK: error of the context: unknown chip 'sm_1'; known chips:
  // CHECK: wrong target: null
  showAttribute("wrong target",
                mlirFusionTargetAttrGet(context, str("sm_1"), none));

  MlirFusionAxis fields = mlirFusionAxisGetDefault();
  fields.kind = str("full");
  fields.tile = 4096;
  fields.warps = 4;
  fields.vector = 8;
  MlirAttribute axes[2];
  axes[0] = mlirFusionAxisAttrGet(context, mlirFusionAxisGetDefault());
  axes[1] = mlirFusionAxisAttrGet(context, fields);
  // CHECK: axis: #fusion.axis<grid, tile = 1>
  showAttribute("axis", axes[0]);
  // CHECK: axis: #fusion.axis<full, tile = 4096, warps = 4, vector = 8>
  showAttribute("axis", axes[1]);
  MlirFusionAxis read = mlirFusionAxisAttrGetFields(axes[1]);
  // CHECK: fields: 4096 4 8 1 0
  printf("fields: %d %d %d %d %d\n", (int)read.tile, (int)read.warps,
         (int)read.vector, (int)read.stages, read.limited);
  fields.kind = str("half");
  // CHECK: error of the context: unknown word 'half'
  // CHECK: axis: null
  showAttribute("axis", mlirFusionAxisAttrGet(context, fields));
  fields.kind = str("full");
  fields.tile = 3;
  // CHECK: error of the context: {{.*}}power of two
  // CHECK: axis: null
  showAttribute("axis", mlirFusionAxisAttrGet(context, fields));

  MlirAttribute schedule =
      mlirFusionScheduleAttrGet(context, str("reduction"), 2, axes, 4, none);
  // CHECK: schedule: #fusion.schedule<reduction, axes = [{{.*}}], warps = 4>
  showAttribute("schedule", schedule);
  // CHECK: strategy: reduction
  showWord("strategy", mlirFusionScheduleAttrGetStrategy(schedule));
  // CHECK: 2 axes on 4 warps
  printf("%d axes on %d warps\n",
         (int)mlirFusionScheduleAttrGetNumAxes(schedule),
         (int)mlirFusionScheduleAttrGetWarps(schedule));
  // CHECK: the axis: 1
  printf(
      "the axis: %d\n",
      mlirAttributeEqual(mlirFusionScheduleAttrGetAxis(schedule, 1), axes[1]));

  MlirFusionMma mma = mlirFusionMmaGetDefault();
  mma.kind = str("wgmma");
  mma.stages = 4;
  mma.blocks = 132;
  MlirAttribute products = mlirFusionMmaAttrGet(context, mma);
  // CHECK: mma: #fusion.mma<wgmma, stages = 4, blocks = 132>
  showAttribute("mma", products);
  // CHECK: blocks: 132
  printf("blocks: %d\n", (int)mlirFusionMmaAttrGetFields(products).blocks);

  MlirFusionEstimate estimate = {2.5, 4096, 8192, 40, 0, 1024, 1};
  MlirAttribute predicted = mlirFusionEstimateAttrGet(context, estimate);
  // CHECK: estimate: #fusion.estimate<time_us = 2.5
  showAttribute("estimate", predicted);
  // CHECK: 2.5 us, 8192 flops
  printf("%.1f us, %d flops\n",
         mlirFusionEstimateAttrGetFields(predicted).timeUs,
         (int)mlirFusionEstimateAttrGetFields(predicted).flops);
  MlirAttribute launch = mlirFusionLaunchAttrGet(context, 3, 1.25);
  // CHECK: launch 3 of 1.25 us
  printf("launch %d of %.2f us\n", (int)mlirFusionLaunchAttrGetNumber(launch),
         mlirFusionLaunchAttrGetTimeUs(launch));
}

// CHECK-LABEL: == types and layouts of tiles
static void testTile(MlirContext context) {
  printf("== types and layouts of tiles\n");
  MlirAttribute layout = mlirFusionTileLayoutAttrGet(
      context, str("{reg=[[0,1]], lane=[[0,2],[0,4],[0,8],[0,16],[0,32]], "
                   "warp=[[1,0]], shape=[2,64]}"));
  // CHECK: 2 x 64 elements on 2 registers, 32 lanes, 2 warps
  printf("%d x %d elements on %d registers, %d lanes, %d warps\n",
         (int)mlirFusionTileLayoutAttrGetDimSize(layout, 0),
         (int)mlirFusionTileLayoutAttrGetDimSize(layout, 1),
         (int)mlirFusionTileLayoutAttrGetNumRegisters(layout),
         (int)mlirFusionTileLayoutAttrGetNumLanes(layout),
         (int)mlirFusionTileLayoutAttrGetNumWarps(layout));
  // Register 1 of lane 3 of warp 1 holds row 1, column 1 + 2 * 3.
  // CHECK: element 71
  printf("element %d\n",
         (int)mlirFusionTileLayoutAttrGetElement(layout, 1, 3, 1));
  // CHECK: error of the context:
  // CHECK: no layout: null
  showAttribute("no layout", mlirFusionTileLayoutAttrGet(context, str("{")));

  int64_t shape[2] = {mlirShapedTypeGetDynamicSize(), 4096};
  MlirType view = mlirFusionTileViewTypeGet(2, shape, mlirBF16TypeGet(context));
  // CHECK: !fusion_tile.view<?x4096xbf16>
  mlirTypePrint(view, print, stdout);
  // CHECK-SAME: : 2, 4096, 1 0
  printf(": %d, %d, %d %d\n", (int)mlirFusionTileViewTypeGetRank(view),
         (int)mlirFusionTileViewTypeGetDimSize(view, 1),
         mlirTypeIsAFusionTileView(view), mlirTypeIsAFusionTileBuffer(view));

  MlirAttribute shared = mlirFusionTileSharedAttrGet(
      context, str("{bytes=4, align=16, offsets=[[16,32],[4,8]]}"));
  int64_t tile[2] = {4, 4};
  MlirType buffer =
      mlirFusionTileBufferTypeGet(2, tile, mlirF32TypeGet(context), shared);
  // CHECK: !fusion_tile.buffer<4x4xf32, #fusion_tile.shared_layout<{{.*}}>>
  mlirTypePrint(buffer, print, stdout);
  // CHECK-SAME: : 1
  printf(": %d\n",
         mlirAttributeEqual(mlirFusionTileBufferTypeGetLayout(buffer), shared));
}

static const char program[] =
    "func.func @gate(%x: tensor<64x96xf32>, %y: tensor<64x96xf32>)\n"
    "    -> tensor<64x96xf32> {\n"
    "  %0 = arith.mulf %x, %y : tensor<64x96xf32>\n"
    "  return %0 : tensor<64x96xf32>\n"
    "}\n";

/// The program, with fusion.silu made here in the place of its first argument.
static MlirModule makeModule(MlirContext context) {
  MlirModule module = mlirModuleCreateParse(context, str(program));
  MlirOperation func = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  MlirOperation product = mlirBlockGetFirstOperation(body);
  MlirValue x = mlirBlockGetArgument(body, 0);
  MlirType type = mlirValueGetType(x);
  MlirOperationState state = mlirOperationStateGet(
      str("fusion.silu"), mlirLocationUnknownGet(context));
  mlirOperationStateAddOperands(&state, 1, &x);
  mlirOperationStateAddResults(&state, 1, &type);
  MlirOperation silu = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationBefore(body, product, silu);
  mlirOperationSetOperand(product, 0, mlirOperationGetResult(silu, 0));
  return module;
}

/// Prints every error: its code, cause and remedy.
static void showDiagnostics(const FusionCompilation *compilation) {
  for (size_t i = 0; i < fusionCompilationGetNumDiagnostics(compilation); ++i) {
    FusionDiagnostic found = {.structSize = sizeof(found)};
    if (fusionCompilationGetDiagnostic(compilation, i, &found) == FUSION_OK)
      printf("FUS-%04d: %s; %s\n", found.code, found.cause, found.remedy);
  }
}

/// Says how it ended, and of what the output is.
static void show(FusionStatus status, FusionCompilation *compilation) {
  size_t size = 0;
  const char *output = fusionCompilationGetOutput(compilation, &size);
  printf("status %d, %s\n", status,
         size == 0 ? "nothing"
                   : (memcmp(output, "// kernel", 9) == 0 ? "PTX" : "bytes"));
  showDiagnostics(compilation);
  fusionCompilationDestroy(compilation);
}

// CHECK-LABEL: == compiling
static void testCompile(MlirContext context) {
  printf("== compiling\n");
  MlirModule module = makeModule(context);
  FusionCompileOptions options = {.structSize = sizeof(options)};
  options.target = "sm_90a";
  options.skipPtxas = 1;
  FusionCompilation *compilation = NULL;

  // The planner alone changes nothing, also where it is given a function.
  MlirOperation func = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  FusionStatus status =
      fusionRunPipeline(mlirModuleGetOperation(module),
                        str("builtin.module(fusion-input)"), &compilation);
  // CHECK: status 0, nothing
  show(status, compilation);
  status = fusionPlanOperation(func, &options, &compilation);
  // CHECK: @gate for sm_90a: {{[2-9]}} operations -> 1 kernel
  // CHECK-NEXT: kernel silu_mul: silu, mul; loop; 1.{{.*}} us
  printf("%s", fusionCompilationGetExplanation(compilation));
  // CHECK: ledger: 1
  printf("ledger: %d\n", strstr(fusionCompilationGetLedger(compilation),
                                "\"functions\"") != NULL);
  // CHECK: status 0, nothing
  show(status, compilation);
  // CHECK-NOT: fusion.kernel
  mlirOperationPrint(mlirModuleGetOperation(module), print, stdout);

  // Up to a phase, which the module then is in; the module of the compilation
  // before goes through all of them.
  MlirModule copy = mlirModuleFromOperation(
      mlirOperationClone(mlirModuleGetOperation(module)));
  options.compileTo = "plan";
  status = fusionCompileModule(copy, &options, &compilation);
  // CHECK: status 0, nothing
  show(status, compilation);
  // CHECK: fusion.kernel @
  mlirOperationPrint(mlirModuleGetOperation(copy), print, stdout);
  options.compileTo = "ptx";
  status = fusionCompileModule(copy, &options, &compilation);
  // CHECK: status 0, PTX
  show(status, compilation);
  options.compileTo = NULL;
  status = fusionCompileModule(module, &options, &compilation);
  // CHECK: status 0, bytes
  show(status, compilation);
  mlirModuleDestroy(copy);
  mlirModuleDestroy(module);
}

// CHECK-LABEL: == errors
static void testErrors(MlirContext context) {
  printf("== errors\n");
  MlirModule module = makeModule(context);
  MlirOperation op = mlirModuleGetOperation(module);
  FusionCompileOptions options = {.structSize = sizeof(options)};
  FusionCompilation *compilation = NULL;
  options.target = "sm_1";
  FusionStatus status = fusionCompileModule(module, &options, &compilation);
  // CHECK: status {{[12]}}, nothing
  // CHECK-NEXT: FUS-{{[0-9]+}}: {{.*}}sm_1
  show(status, compilation);
  options.target = NULL;
  options.timeLimitSeconds = 1;
  status = fusionCompileModule(module, &options, &compilation);
  // CHECK: status 2, nothing
  // CHECK-NEXT: FUS-1001: {{.*}}no time limit; leave timeLimitSeconds at 0
  show(status, compilation);
  status = fusionRunPipeline(op, str("builtin.module(no-pass)"), &compilation);
  // CHECK: status 2, nothing
  // CHECK-NEXT: FUS-1001: {{.*}}'no-pass' does not refer to a registered
  // pass{{.*}}; name passes
  show(status, compilation);
  // A contract that cannot be kept.
  MlirModule limited = mlirModuleCreateParse(
      context, str("func.func @f(%x: tensor<8x4xf32>, %y: tensor<3x5xf32>)\n"
                   "    -> (tensor<8x4xf32>, tensor<3x5xf32>)\n"
                   "    attributes {fusion.max_kernels = 1} {\n"
                   "  %a = arith.addf %x, %x : tensor<8x4xf32>\n"
                   "  %b = arith.addf %y, %y : tensor<3x5xf32>\n"
                   "  return %a, %b : tensor<8x4xf32>, tensor<3x5xf32>\n"
                   "}\n"));
  FusionCompileOptions defaults = {.structSize = sizeof(defaults)};
  status = fusionRunPipeline(mlirModuleGetOperation(limited),
                             str("any(fusion-input)"), &compilation);
  // CHECK: status 0
  show(status, compilation);
  status = fusionPlanOperation(mlirModuleGetOperation(limited), &defaults,
                               &compilation);
  // CHECK: FUS-2006: {{.*}}contract broken
  show(status, compilation);
  // CHECK: no result: 2
  printf("no result: %d\n", fusionCompileModule(module, NULL, NULL));
  mlirModuleDestroy(limited);
  mlirModuleDestroy(module);
}

// CHECK-LABEL: == passes
static void testPasses(MlirContext context) {
  printf("== passes\n");
  MlirModule module = makeModule(context);
  MlirPassManager manager = mlirPassManagerCreate(context);
  mlirPassManagerAddOwnedPass(manager,
                              mlirCreateFusionPreprocessingDecomposePass());
  // CHECK: any(fusion-input-decompose{
  mlirPrintPassPipeline(mlirPassManagerGetAsOpPassManager(manager), print,
                        stdout);
  printf("\n");
  // CHECK: ran: 1
  printf("ran: %d\n", mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(
                          manager, mlirModuleGetOperation(module))));
  // CHECK-NOT: fusion.silu
  mlirOperationPrint(mlirModuleGetOperation(module), print, stdout);
  // CHECK: done
  printf("done\n");
  mlirPassManagerDestroy(manager);
  mlirModuleDestroy(module);
}

int main(void) {
  mlirFusionRegisterAllPasses();
  mlirFusionRegisterAllPasses();
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirFusionRegisterAllDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, true);
  mlirDialectRegistryDestroy(registry);
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__fusion__(), context);
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__fusion_tile__(), context);
  mlirContextAttachDiagnosticHandler(context, showError, NULL, NULL);
  testFusionAttributes(context);
  testTile(context);
  testCompile(context);
  testErrors(context);
  testPasses(context);
  mlirContextDestroy(context);
  return 0;
}
