//===- Plan.c - What depends on the sizes of a call alone -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements remembering, for each set of sizes that an entry is
// called with, the shapes of its results and the size of its workspace.
//
//===----------------------------------------------------------------------===//

#include "Native.h"

#include <string.h>

Outcome raiseStatus(FusionRtStatus status) {
  PyObject *number = PyLong_FromLong(status);
  PyObject *none =
      number ? PyObject_CallFunctionObjArgs(runtime.check, number, NULL) : NULL;
  Py_XDECREF(number);
  Py_XDECREF(none);
  if (none)
    PyErr_SetString(PyExc_SystemError, "a failed status raised no error");
  return FAILED;
}

static uint64_t hashKey(const int64_t *key, Py_ssize_t size) {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  for (Py_ssize_t i = 0; i < size; ++i) {
    hash = (hash ^ (uint64_t)key[i]) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

static void freePlan(const Caller *caller, Plan *plan) {
  for (uint32_t i = 0; i < caller->numOutputs; ++i) {
    Py_XDECREF(plan->sizes[i]);
    Py_XDECREF(plan->strides[i]);
  }
  Py_XDECREF(plan->workspaceSize);
  freeStages(plan->stages);
  PyMem_Free(plan);
}

void releasePlan(const Caller *caller, Plan *plan) {
  if (--plan->uses == 0)
    freePlan(caller, plan);
}

void clearPlans(const Caller *caller, Signature *signature) {
  for (int i = 0; i < NUM_BUCKETS; ++i) {
    Plan *plan = signature->buckets[i];
    signature->buckets[i] = NULL;
    while (plan) {
      Plan *next = plan->next;
      releasePlan(caller, plan);
      plan = next;
    }
  }
  signature->last = NULL;
  signature->numPlans = 0;
}

/// A plan without contents, in one piece of memory with its arrays.
static Plan *allocatePlan(const Caller *caller, const int64_t *key) {
  size_t count = caller->numOutputs,
         keyBytes = sizeof(int64_t) * caller->keySize;
  size_t bytes =
      sizeof(Plan) + keyBytes +
      count * (sizeof(uint64_t) + sizeof(int64_t) * FUSION_RT_MAX_RANK +
               2 * sizeof(PyObject *));
  Plan *plan = PyMem_Malloc(bytes);
  if (!plan) {
    PyErr_NoMemory();
    return NULL;
  }
  memset(plan, 0, bytes);
  plan->uses = 1;
  memcpy(plan->key, key, keyBytes);
  plan->outputDims = plan->key + caller->keySize;
  plan->outputBytes =
      (uint64_t *)(plan->outputDims + count * FUSION_RT_MAX_RANK);
  plan->sizes = (PyObject **)(plan->outputBytes + count);
  plan->strides = plan->sizes + count;
  return plan;
}

PyObject *makeTuple(const int64_t *numbers, int32_t count) {
  PyObject *tuple = PyTuple_New(count);
  for (int32_t i = 0; tuple && i < count; ++i) {
    PyObject *number = PyLong_FromLongLong(numbers[i]);
    // SetItem takes the reference, also where it fails.
    if (!number || PyTuple_SetItem(tuple, i, number) < 0)
      Py_CLEAR(tuple);
  }
  return tuple;
}

/// The sizes and strides of the tensor that a result is returned as.
static bool describeOutput(Plan *plan, uint32_t index, int32_t rank,
                           const int8_t *order) {
  const int64_t *dims = plan->outputDims + index * FUSION_RT_MAX_RANK;
  int64_t sizes[FUSION_RT_MAX_RANK], strides[FUSION_RT_MAX_RANK], stride = 1;
  for (int32_t d = rank - 1; d >= 0; --d) {
    int32_t axis = order ? order[d] : d;
    sizes[axis] = dims[d];
    strides[axis] = stride;
    // As PyTorch counts the strides of a tensor without elements.
    stride *= dims[d] > 1 ? dims[d] : 1;
  }
  plan->sizes[index] = makeTuple(sizes, rank);
  plan->strides[index] = makeTuple(strides, rank);
  return plan->sizes[index] && plan->strides[index];
}

static Outcome fillPlan(Caller *caller, const Signature *signature,
                        const Frame *frame, Plan *plan) {
  uint32_t count = caller->numOutputs;
  FusionRtShape *shapes = PyMem_Malloc(sizeof(FusionRtShape) * (count + 1));
  if (!shapes) {
    PyErr_NoMemory();
    return FAILED;
  }
  FusionRtStatus status = runtime.inferShapes(caller->entry, frame->inputs,
                                              caller->numInputs, shapes, count);
  if (!status)
    status = runtime.queryWorkspace(caller->entry, frame->inputs,
                                    caller->numInputs, &plan->workspaceBytes);
  bool isDescribed = !status;
  for (uint32_t i = 0; isDescribed && i < count; ++i) {
    memcpy(plan->outputDims + i * FUSION_RT_MAX_RANK, shapes[i].dims,
           sizeof(shapes[i].dims));
    plan->outputBytes[i] = shapes[i].bytes;
    isDescribed = describeOutput(
        plan, i, shapes[i].rank,
        signature->outputOrders ? signature->outputOrders[i] : NULL);
  }
  PyMem_Free(shapes);
  if (status)
    return raiseStatus(status);
  int64_t workspace = (int64_t)plan->workspaceBytes;
  if (isDescribed)
    plan->workspaceSize = makeTuple(&workspace, 1);
  if (!plan->workspaceSize)
    return FAILED;
  return makeStages(caller, signature, frame, &plan->stages);
}

static Outcome makePlan(Caller *caller, Signature *signature,
                        const Frame *frame, uint64_t hash, Plan **found) {
  Plan *plan = allocatePlan(caller, frame->key);
  if (!plan)
    return FAILED;
  Outcome outcome = fillPlan(caller, signature, frame, plan);
  if (outcome != DONE) {
    freePlan(caller, plan);
    return outcome;
  }
  if (signature->numPlans >= MOST_PLANS) // sizes that never come again
    clearPlans(caller, signature);
  plan->hash = hash;
  Plan **bucket = &signature->buckets[hash % NUM_BUCKETS];
  plan->next = *bucket;
  *bucket = plan;
  ++signature->numPlans;
  *found = plan;
  return DONE;
}

Outcome findPlan(Caller *caller, Signature *signature, Frame *frame,
                 Plan **found) {
  size_t bytes = sizeof(int64_t) * caller->keySize;
  Plan *plan = signature->last;
  if (!plan || memcmp(plan->key, frame->key, bytes) != 0) {
    uint64_t hash = hashKey(frame->key, caller->keySize);
    plan = signature->buckets[hash % NUM_BUCKETS];
    while (plan &&
           (plan->hash != hash || memcmp(plan->key, frame->key, bytes) != 0))
      plan = plan->next;
    if (!plan) {
      Outcome outcome = makePlan(caller, signature, frame, hash, &plan);
      if (outcome != DONE)
        return outcome;
    }
    signature->last = plan;
  }
  ++plan->uses;
  *found = plan;
  return DONE;
}
