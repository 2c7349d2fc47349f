//===- Stages.c - Launches in sections ------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements calls that allocate results and temporaries when a
// section of the launch begins to need them, and let go of arguments and
// temporaries after the last that does. PyTorch's allocator hands memory on in
// the order of the stream, so that nothing waits.
//
//===----------------------------------------------------------------------===//

#include "Native.h"

//===----------------------------------------------------------------------===//
// What depends on sizes alone
//===----------------------------------------------------------------------===//

void freeStages(Stages *stages) {
  if (!stages)
    return;
  for (uint32_t i = 0; i < stages->numBlocks; ++i)
    Py_XDECREF(stages->blockSizes[i]);
  runtime.destroySections(stages->sections);
  PyMem_Free(stages);
}

/// In one piece of memory with its arrays, and without contents.
static Stages *allocateStages(const Caller *caller, uint32_t numBlocks) {
  size_t numUses =
      (size_t)caller->numInputs + caller->numOutputs + (size_t)numBlocks;
  Stages *stages =
      PyMem_Calloc(1, sizeof(Stages) + numUses * sizeof(FusionRtUse) +
                          numBlocks * sizeof(PyObject *));
  if (!stages) {
    PyErr_NoMemory();
    return NULL;
  }
  stages->numBlocks = numBlocks;
  stages->inputs = (FusionRtUse *)(stages + 1);
  stages->outputs = stages->inputs + caller->numInputs;
  stages->blocks = stages->outputs + caller->numOutputs;
  stages->blockSizes = (PyObject **)(stages->blocks + numBlocks);
  return stages;
}

static FusionRtStatus readUses(const FusionRtSections *sections, int32_t used,
                               FusionRtUse *uses, uint32_t count) {
  FusionRtStatus status = 0;
  for (uint32_t i = 0; i < count && !status; ++i)
    status = runtime.getUse(sections, used, i, &uses[i]);
  return status;
}

/// Takes `sections`, also where it fails.
static Outcome describeSections(const Caller *caller,
                                FusionRtSections *sections, uint32_t numBlocks,
                                Stages **result) {
  Stages *stages = allocateStages(caller, numBlocks);
  if (!stages) {
    runtime.destroySections(sections);
    return FAILED;
  }
  stages->sections = sections;
  FusionRtStatus status = readUses(sections, FUSION_RT_USED_INPUT,
                                   stages->inputs, caller->numInputs);
  if (!status)
    status = readUses(sections, FUSION_RT_USED_OUTPUT, stages->outputs,
                      caller->numOutputs);
  if (!status)
    status =
        readUses(sections, FUSION_RT_USED_BLOCK, stages->blocks, numBlocks);
  Outcome outcome = status ? raiseStatus(status) : DONE;
  for (uint32_t i = 0; i < numBlocks && outcome == DONE; ++i) {
    int64_t bytes = (int64_t)stages->blocks[i].bytes;
    stages->blockSizes[i] = makeTuple(&bytes, 1);
    outcome = stages->blockSizes[i] ? DONE : FAILED;
  }
  if (outcome == DONE)
    *result = stages;
  else
    freeStages(stages);
  return outcome;
}

Outcome makeStages(const Caller *caller, const Signature *signature,
                   const Frame *frame, Stages **stages) {
  *stages = NULL;
  if (!signature->released)
    return DONE;
  // Results that PyTorch has no type for are the Python code's.
  for (uint32_t i = 0; i < caller->numOutputs; ++i)
    if (torch.dtypes[caller->outputs[i].dtype] == Py_None)
      return DONE;
  FusionRtSectionOptions options = FUSION_RT_INIT(FusionRtSectionOptions);
  options.isReleased = signature->released;
  options.leastGain = signature->leastGain;
  FusionRtSections *sections = NULL;
  FusionRtSectionsInfo info = FUSION_RT_INIT(FusionRtSectionsInfo);
  FusionRtStatus status = runtime.createSections(
      caller->entry, frame->inputs, caller->numInputs, &options, &sections);
  if (!status)
    status = runtime.getSections(sections, &info);
  if (status || info.numSections < 2) {
    if (sections)
      runtime.destroySections(sections);
    return status ? raiseStatus(status) : DONE;
  }
  return describeSections(caller, sections, info.numBlocks, stages);
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

/// A launch under way.
typedef struct Progress {
  const Caller *caller;
  const Signature *signature;
  const Plan *plan;
  Frame *frame;
  PyObject *values;
  PyObject **blocks; // not on the emulator
  FusionRtAddress *addresses;
  /// Of the thread while the runtime has it.
  PyThreadState *thread;
  Outcome outcome;
  /// The exception of what failed, until the launch has ended.
  PyObject *type, *value, *traceback;
} Progress;

static Outcome placeBlock(Progress *call, uint32_t index) {
  const Caller *caller = call->caller;
  const Stages *stages = call->plan->stages;
  if (caller->staged) {
    FusionRtStatus status =
        runtime.allocate(caller->device, stages->blocks[index].bytes,
                         "temporaries", &call->addresses[index]);
    return status ? raiseStatus(status) : DONE;
  }
  DLTensor tensor;
  Outcome outcome = allocateTensor(caller, stages->blockSizes[index], torch.one,
                                   torch.bytes, &call->blocks[index], &tensor);
  if (outcome == DONE)
    call->addresses[index] = addressOf(&tensor);
  return outcome;
}

static void releaseBlock(Progress *call, uint32_t index) {
  if (call->caller->staged && call->addresses[index])
    (void)runtime.release(call->caller->device, call->addresses[index]);
  Py_CLEAR(call->blocks[index]);
  call->addresses[index] = 0;
}

static Outcome placeResult(Progress *call, uint32_t index) {
  const Caller *caller = call->caller;
  Outcome outcome =
      placeOutput(caller, call->plan, index, call->values, NULL, call->frame);
  if (outcome != DONE || !caller->staged)
    return outcome;
  FusionRtStatus status = stageOutput(caller, call->plan, index, call->frame);
  return status ? raiseStatus(status) : DONE;
}

/// Lets go of an argument, whose place in the tuple takes None.
static Outcome releaseInput(Progress *call, uint32_t index) {
  FusionRtTensor *input = &call->frame->inputs[index];
  if (call->caller->staged && input->address) {
    (void)runtime.release(call->caller->device, input->address);
    input->address = 0;
  }
  Py_INCREF(Py_None);
  return PyTuple_SetItem(call->values, index, Py_None) < 0 ? FAILED : DONE;
}

/// Whether nothing from `section` on needs what is used like this, and the
/// section before it did.
static bool hasEnded(const FusionRtUse *use, uint32_t section) {
  return use->first <= use->last ? use->last + 1 == section : section == 0;
}

static Outcome prepareSection(Progress *call, uint32_t section) {
  const Caller *caller = call->caller;
  const Stages *stages = call->plan->stages;
  Outcome outcome = DONE;
  for (uint32_t i = 0; i < stages->numBlocks; ++i)
    if (hasEnded(&stages->blocks[i], section))
      releaseBlock(call, i);
  for (uint32_t i = 0; i < caller->numInputs && outcome == DONE; ++i)
    if (call->signature->released[i] && !caller->inputs[i].byValue &&
        hasEnded(&stages->inputs[i], section))
      outcome = releaseInput(call, i);
  for (uint32_t i = 0; i < caller->numOutputs && outcome == DONE; ++i)
    if (caller->outputs[i].overwrites < 0 &&
        stages->outputs[i].first == section)
      outcome = placeResult(call, i);
  for (uint32_t i = 0; i < stages->numBlocks && outcome == DONE; ++i)
    if (stages->blocks[i].first == section)
      outcome = placeBlock(call, i);
  return outcome;
}

/// What the runtime calls, without Python's lock.
static int32_t beginSection(void *data, uint32_t section) {
  Progress *call = data;
  PyEval_RestoreThread(call->thread);
  call->outcome = prepareSection(call, section);
  if (call->outcome != DONE)
    PyErr_Fetch(&call->type, &call->value, &call->traceback);
  call->thread = PyEval_SaveThread();
  return call->outcome == DONE ? 0 : 1;
}

/// Results that are the memory of arguments, which they hold from here on.
static Outcome placeOverwritten(Progress *call) {
  Outcome outcome = DONE;
  for (uint32_t i = 0; i < call->caller->numOutputs && outcome == DONE; ++i)
    if (call->caller->outputs[i].overwrites >= 0)
      outcome = placeOutput(call->caller, call->plan, i, call->values, NULL,
                            call->frame);
  return outcome;
}

static Outcome runLaunch(Progress *call) {
  const Caller *caller = call->caller;
  Frame *frame = call->frame;
  FusionRtLaunchArgs args = FUSION_RT_INIT(FusionRtLaunchArgs);
  args.inputs = frame->inputs;
  args.outputs = frame->outputs;
  args.numInputs = caller->numInputs;
  args.numOutputs = caller->numOutputs;
  args.sections = call->plan->stages->sections;
  args.blocks = call->addresses;
  args.beginSection = beginSection;
  args.userData = call;
  if (caller->deviceType == DL_CUDA &&
      torch.exchange->currentStream(DL_CUDA, caller->deviceId, &args.stream))
    return FAILED;
  FusionRtStatus status = 0;
  call->thread = PyEval_SaveThread();
  if (caller->staged)
    status = stageInputs(caller, frame);
  if (!status)
    status = runtime.launch(caller->entry, &args);
  if (caller->staged)
    status = unstage(caller, call->plan, frame, status);
  PyEval_RestoreThread(call->thread);
  if (call->outcome != DONE)
    return call->outcome;
  return status ? raiseStatus(status) : DONE;
}

Outcome launchInStages(const Caller *caller, const Signature *signature,
                       const Plan *plan, Frame *frame, PyObject *values) {
  uint32_t numBlocks = plan->stages->numBlocks;
  Progress call = {.caller = caller,
                   .signature = signature,
                   .plan = plan,
                   .frame = frame,
                   .values = values,
                   .outcome = DONE};
  void *memory =
      PyMem_Calloc(numBlocks + 1, sizeof(PyObject *) + sizeof(FusionRtAddress));
  if (!memory) {
    PyErr_NoMemory();
    return FAILED;
  }
  call.addresses = memory;
  call.blocks = (PyObject **)(call.addresses + numBlocks + 1);
  // The shapes of results are looked at before there is memory for them.
  for (uint32_t i = 0; i < caller->numOutputs; ++i) {
    frame->outputs[i].dims = plan->outputDims + i * FUSION_RT_MAX_RANK;
    frame->outputs[i].address = 0;
  }
  Outcome outcome = placeOverwritten(&call);
  if (outcome == DONE)
    outcome = runLaunch(&call);
  for (uint32_t i = 0; i < numBlocks; ++i)
    releaseBlock(&call, i);
  PyMem_Free(memory);
  if (call.type)
    PyErr_Restore(call.type, call.value, call.traceback);
  return outcome;
}
