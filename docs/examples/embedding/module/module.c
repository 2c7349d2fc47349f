//===- module.c - Compiles a module of MLIR's C API -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fusion-c/Module.h"
#include "fusion-c/Passes.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/IR.h"

#include <stdio.h>

static MlirStringRef str(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

/// Appends an op with one result of the type of its operands.
static MlirValue append(MlirBlock block, const char *name, intptr_t count,
                        MlirValue *operands) {
  MlirType type = mlirValueGetType(operands[0]);
  MlirOperationState state = mlirOperationStateGet(
      str(name), mlirLocationUnknownGet(mlirTypeGetContext(type)));
  mlirOperationStateAddOperands(&state, count, operands);
  mlirOperationStateAddResults(&state, 1, &type);
  MlirOperation op = mlirOperationCreate(&state);
  mlirBlockAppendOwnedOperation(block, op);
  return mlirOperationGetResult(op, 0);
}

/// A module with the function @gate(x, y) = silu(x) * y of 64x96 floats.
static MlirModule makeProgram(MlirContext context) {
  MlirLocation nowhere = mlirLocationUnknownGet(context);
  MlirModule module = mlirModuleCreateEmpty(nowhere);
  int64_t shape[2] = {64, 96};
  MlirType type = mlirRankedTensorTypeGet(2, shape, mlirF32TypeGet(context),
                                          mlirAttributeGetNull());
  MlirType inputs[2] = {type, type};
  MlirLocation places[2] = {nowhere, nowhere};
  MlirBlock body = mlirBlockCreate(2, inputs, places);
  MlirValue x = mlirBlockGetArgument(body, 0);
  MlirValue factors[2] = {append(body, "fusion.silu", 1, &x),
                          mlirBlockGetArgument(body, 1)};
  MlirValue gated = append(body, "arith.mulf", 2, factors);
  MlirOperationState end = mlirOperationStateGet(str("func.return"), nowhere);
  mlirOperationStateAddOperands(&end, 1, &gated);
  mlirBlockAppendOwnedOperation(body, mlirOperationCreate(&end));

  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, body);
  MlirNamedAttribute attributes[2] = {
      mlirNamedAttributeGet(mlirIdentifierGet(context, str("sym_name")),
                            mlirStringAttrGet(context, str("gate"))),
      mlirNamedAttributeGet(mlirIdentifierGet(context, str("function_type")),
                            mlirTypeAttrGet(mlirFunctionTypeGet(
                                context, 2, inputs, 1, &type)))};
  MlirOperationState func = mlirOperationStateGet(str("func.func"), nowhere);
  mlirOperationStateAddAttributes(&func, 2, attributes);
  mlirOperationStateAddOwnedRegions(&func, 1, &region);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(module),
                                mlirOperationCreate(&func));
  return module;
}

/// Compiles `module` and says what was decided, or what is wrong with it.
static FusionStatus compile(MlirModule module) {
  FusionCompileOptions options = {sizeof(FusionCompileOptions)};
  options.target = "sm_90a";
  FusionCompilation *compilation = NULL;
  FusionStatus status = fusionCompileModule(module, &options, &compilation);
  size_t size = 0;
  fusionCompilationGetOutput(compilation, &size); // The package.
  if (status == FUSION_OK)
    printf("%zu bytes\n%s", size, fusionCompilationGetExplanation(compilation));
  else
    fprintf(stderr, "%s", fusionCompilationGetDiagnostics(compilation));
  fusionCompilationDestroy(compilation);
  return status;
}

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirFusionRegisterAllDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, true);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  MlirModule module = makeProgram(context);
  FusionStatus status = compile(module);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return status;
}
