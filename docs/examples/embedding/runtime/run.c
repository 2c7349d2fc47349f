//===- run.c - Run a package from a C program -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file loads a package, gives its only entry inputs of zeros with every
// open dimension set to one size, runs it and prints the shapes of the results:
//
//   run PACKAGE.fpk [DEVICE [SIZE]]
//
//===----------------------------------------------------------------------===//

#include "fusion-rt/Runtime.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_TENSORS = 64 };

/// Everything that has to be given back in the end.
typedef struct State {
  FusionRtDevice *device;
  FusionRtPackage *package;
  FusionRtTensor inputs[MAX_TENSORS], outputs[MAX_TENSORS];
  FusionRtShape inputShapes[MAX_TENSORS], outputShapes[MAX_TENSORS];
  uint32_t numInputs, numOutputs;
} State;

/// Bytes of a contiguous tensor. Four-bit integers lie two to a byte.
static uint64_t countBytes(int32_t dtype, const int64_t *dims, int32_t rank) {
  static const unsigned bits[] = {64, 32, 16, 16, 8, 8, 64, 32, 16, 8, 4, 8};
  uint64_t elements = 1;
  for (int32_t d = 0; d < rank; ++d)
    elements *= (uint64_t)dims[d];
  return (elements * bits[dtype] + 7) / 8;
}

/// Allocates one zeroed input as the signature describes it.
static FusionRtStatus makeInput(State *state, const FusionRtEntry *entry,
                                uint32_t index, int64_t size) {
  static const double zero = 0; // eight zero bytes serve every scalar type
  FusionRtTensorInfo info = FUSION_RT_INIT(FusionRtTensorInfo);
  FusionRtStatus status = fusionRtEntryGetInput(entry, index, &info);
  if (status)
    return status;
  FusionRtShape *shape = &state->inputShapes[index];
  FusionRtTensor *tensor = &state->inputs[index];
  for (int32_t d = 0; d < info.rank; ++d)
    shape->dims[d] = info.dims[d] < 0 ? size : info.dims[d];
  tensor->dtype = info.dtype;
  tensor->rank = info.rank;
  tensor->dims = shape->dims;
  if (info.byValue) {
    tensor->value = &zero;
    return 0;
  }
  uint64_t bytes = countBytes(info.dtype, shape->dims, info.rank);
  status = fusionRtMalloc(state->device, bytes, info.name, &tensor->address);
  return status ? status
                : fusionRtFill(state->device, tensor->address, 0, bytes, NULL);
}

/// Allocates the outputs, whose shapes follow from the inputs.
static FusionRtStatus makeOutputs(State *state, FusionRtEntry *entry) {
  FusionRtStatus status =
      fusionRtInferShapes(entry, state->inputs, state->numInputs,
                          state->outputShapes, state->numOutputs);
  for (uint32_t i = 0; !status && i < state->numOutputs; ++i) {
    FusionRtShape *shape = &state->outputShapes[i];
    FusionRtTensor *tensor = &state->outputs[i];
    tensor->dtype = shape->dtype;
    tensor->rank = shape->rank;
    tensor->dims = shape->dims;
    status =
        fusionRtMalloc(state->device, shape->bytes, "output", &tensor->address);
  }
  return status;
}

static FusionRtStatus run(State *state, const char *path, const char *device,
                          int64_t size) {
  FusionRtEntry *entry = NULL;
  FusionRtStatus status = fusionRtDeviceCreate(device, NULL, &state->device);
  if (!status)
    status = fusionRtPackageLoadFile(state->device, path, &state->package);
  if (!status)
    status = fusionRtPackageFindEntry(state->package, NULL, &entry);
  FusionRtEntryInfo info = FUSION_RT_INIT(FusionRtEntryInfo);
  if (!status)
    status = fusionRtEntryGetInfo(entry, &info);
  if (status)
    return status;
  if (info.numInputs > MAX_TENSORS || info.numOutputs > MAX_TENSORS) {
    fprintf(stderr, "the entry has too many tensors for this example\n");
    return -1;
  }
  state->numInputs = info.numInputs;
  state->numOutputs = info.numOutputs;
  for (uint32_t i = 0; !status && i < info.numInputs; ++i)
    status = makeInput(state, entry, i, size);
  if (!status)
    status = makeOutputs(state, entry);
  if (status)
    return status;

  FusionRtLaunchArgs args = FUSION_RT_INIT(FusionRtLaunchArgs);
  args.inputs = state->inputs;
  args.outputs = state->outputs;
  args.numInputs = state->numInputs;
  args.numOutputs = state->numOutputs;
  status = fusionRtLaunch(entry, &args);
  // A launch only starts the work. What went wrong on the device shows here.
  if (!status)
    status = fusionRtSynchronize(state->device, args.stream);
  for (uint32_t i = 0; !status && i < info.numOutputs; ++i) {
    printf("output %u:", i);
    for (int32_t d = 0; d < state->outputShapes[i].rank; ++d)
      printf(" %lld", (long long)state->outputShapes[i].dims[d]);
    printf("\n");
  }
  return status;
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 4) {
    fprintf(stderr, "usage: run PACKAGE.fpk [DEVICE [SIZE]]\n");
    return 2;
  }
  State *state = calloc(1, sizeof(State));
  if (!state)
    return 1;
  FusionRtStatus status = run(state, argv[1], argc > 2 ? argv[2] : "emulator",
                              argc > 3 ? atoll(argv[3]) : 7);
  // The text belongs to the last call that failed on this thread.
  if (status > 0)
    fprintf(stderr, "%s\n", fusionRtGetLastError());
  for (uint32_t i = 0; state->device && i < MAX_TENSORS; ++i) {
    fusionRtFree(state->device, state->inputs[i].address);
    fusionRtFree(state->device, state->outputs[i].address);
  }
  fusionRtPackageDestroy(state->package);
  fusionRtDeviceDestroy(state->device);
  free(state);
  return status ? 1 : 0;
}
