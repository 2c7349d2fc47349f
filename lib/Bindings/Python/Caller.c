//===- Caller.c - Calling an entry with PyTorch tensors -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the base type of entries: a call with PyTorch tensors
// from the check of its arguments to the launch and back.
//
//===----------------------------------------------------------------------===//

#include "Native.h"

#include <string.h>

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

static size_t roundUp(size_t bytes) { return (bytes + 15) / 16 * 16; }

static void linkFrame(const Caller *caller, Frame *frame) {
  for (uint32_t i = 0; i < caller->numInputs; ++i) {
    const Field *field = &caller->inputs[i];
    frame->inputs[i].dtype = field->dtype;
    frame->inputs[i].rank = field->rank;
    if (field->byValue)
      frame->inputs[i].value = &frame->scalars[i];
    else
      frame->inputs[i].dims = frame->key + field->keyPlace;
  }
  for (uint32_t i = 0; i < caller->numOutputs; ++i) {
    frame->outputs[i].dtype = caller->outputs[i].dtype;
    frame->outputs[i].rank = caller->outputs[i].rank;
  }
}

/// The memory for one call; null with an exception.
static Frame *takeFrame(Caller *caller) {
  Frame *frame = caller->frames;
  if (frame) {
    caller->frames = frame->next;
    return frame;
  }
  size_t inputs = caller->numInputs, outputs = caller->numOutputs;
  size_t parts[] = {sizeof(Frame),
                    sizeof(FusionRtTensor) * inputs,
                    sizeof(FusionRtTensor) * outputs,
                    sizeof(uint64_t) * inputs,
                    sizeof(void *) * (inputs + outputs),
                    sizeof(PyObject *) * outputs,
                    sizeof(int64_t) * caller->keySize};
  enum { NUM_PARTS = sizeof(parts) / sizeof(parts[0]) };
  char *places[NUM_PARTS];
  size_t bytes = 0;
  for (int i = 0; i < NUM_PARTS; ++i)
    bytes += roundUp(parts[i]);
  char *memory = PyMem_Malloc(bytes);
  if (!memory) {
    PyErr_NoMemory();
    return NULL;
  }
  memset(memory, 0, bytes);
  for (int i = 0; i < NUM_PARTS; ++i) {
    places[i] = memory;
    memory += roundUp(parts[i]);
  }
  frame = (Frame *)places[0];
  frame->inputs = (FusionRtTensor *)places[1];
  frame->outputs = (FusionRtTensor *)places[2];
  frame->scalars = (uint64_t *)places[3];
  frame->hosts = (void **)places[4];
  frame->results = (PyObject **)places[5];
  frame->key = (int64_t *)places[6];
  linkFrame(caller, frame);
  return frame;
}

static void giveFrame(Caller *caller, Frame *frame) {
  for (uint32_t i = 0; i < caller->numOutputs; ++i)
    Py_CLEAR(frame->results[i]);
  frame->next = caller->frames;
  caller->frames = frame;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Whether the elements lie row-major in the order of axes `order`; writes the
/// sizes in that order.
static bool readDims(const DLTensor *tensor, const int8_t *order,
                     int64_t *dims) {
  bool isRowMajor = true, isEmpty = false;
  uint64_t stride = 1;
  for (int32_t d = tensor->rank - 1; d >= 0; --d) {
    int32_t axis = order ? order[d] : d;
    int64_t size = tensor->dims[axis];
    dims[d] = size;
    isEmpty |= size == 0;
    isRowMajor &= size == 1 || !tensor->strides ||
                  (uint64_t)tensor->strides[axis] == stride;
    stride *= (uint64_t)size;
  }
  return isRowMajor || isEmpty;
}

/// Whether PyTorch still has to negate the elements, which is a flag of
/// tensors that are views of complex ones.
static Outcome refuseNegated(PyObject *object) {
  PyObject *answer = PyObject_CallMethodObjArgs(object, torch.isNegated, NULL);
  if (!answer)
    return FAILED;
  Outcome outcome = answer == Py_False ? DONE : SLOW;
  Py_DECREF(answer);
  return outcome;
}

/// Describes a tensor object of the type, device and rank that an input or
/// output has; SLOW for any other object.
static Outcome describeTensor(const Caller *caller, const Field *field,
                              PyObject *object, bool isChecked,
                              DLTensor *tensor) {
  PyTypeObject *type = Py_TYPE(object);
  if (type != torch.tensor && type != torch.parameter)
    return SLOW;
  if (torch.exchange->describe(object, tensor) != 0) {
    PyErr_Clear();
    return SLOW;
  }
  DLDataType wanted = dlDataTypes[field->dtype];
  if (tensor->dtype.code != wanted.code || tensor->dtype.bits != wanted.bits ||
      tensor->dtype.lanes != wanted.lanes || tensor->rank != field->rank ||
      tensor->device.type != caller->deviceType ||
      tensor->device.id != caller->deviceId)
    return SLOW;
  return isChecked || field->dtype > FUSION_RT_F16 ? DONE
                                                   : refuseNegated(object);
}

uint64_t addressOf(const DLTensor *tensor) {
  return (uint64_t)(uintptr_t)tensor->data + tensor->byteOffset;
}

static Outcome readInput(Caller *caller, const Signature *signature,
                         uint32_t index, PyObject *object, bool isChecked,
                         Frame *frame) {
  const Field *field = &caller->inputs[index];
  if (field->byValue) {
    Outcome outcome =
        convertScalar(caller, index, object, &frame->scalars[index]);
    if (outcome == DONE && field->isSize)
      frame->key[field->keyPlace] = (int64_t)frame->scalars[index];
    return outcome;
  }
  DLTensor tensor;
  Outcome outcome = describeTensor(caller, field, object, isChecked, &tensor);
  if (outcome != DONE)
    return outcome;
  const int8_t *order =
      signature->inputOrders ? signature->inputOrders[index] : NULL;
  if (!readDims(&tensor, order, frame->key + field->keyPlace))
    return SLOW;
  uint64_t address = addressOf(&tensor);
  // Only the Python code copies; who checked the rest did not look at this.
  if (isChecked && address % 16 != 0)
    return SLOW;
  frame->inputs[index].address = address;
  frame->hosts[index] = (void *)(uintptr_t)address;
  return DONE;
}

Outcome allocateTensor(const Caller *caller, PyObject *sizes, PyObject *strides,
                       PyObject *dtype, PyObject **object, DLTensor *tensor) {
  PyObject *allocate =
      caller->deviceType == DL_CUDA ? torch.emptyCuda : torch.emptyCpu;
  *object = PyObject_CallFunctionObjArgs(allocate, sizes, strides, dtype, NULL);
  if (!*object || torch.exchange->describe(*object, tensor) != 0)
    return FAILED;
  if (tensor->device.type == caller->deviceType &&
      tensor->device.id == caller->deviceId)
    return DONE;
  // The current device is another than the tensors'.
  Py_CLEAR(*object);
  *object = PyObject_CallFunction(torch.emptyAnywhere, "OOOii", sizes, strides,
                                  dtype, caller->deviceType, caller->deviceId);
  if (!*object || torch.exchange->describe(*object, tensor) != 0)
    return FAILED;
  return DONE;
}

/// Takes the caller's tensor for a result, if it is right.
static Outcome takeOut(const Caller *caller, const Plan *plan, uint32_t index,
                       PyObject *object, DLTensor *tensor) {
  const Field *field = &caller->outputs[index];
  Outcome outcome = describeTensor(caller, field, object, false, tensor);
  if (outcome != DONE)
    return outcome;
  int64_t dims[FUSION_RT_MAX_RANK];
  if (!readDims(tensor, NULL, dims) ||
      memcmp(dims, plan->outputDims + index * FUSION_RT_MAX_RANK,
             sizeof(int64_t) * field->rank) != 0)
    return SLOW;
  return DONE;
}

Outcome placeOutput(const Caller *caller, const Plan *plan, uint32_t index,
                    PyObject *values, PyObject *out, Frame *frame) {
  const Field *field = &caller->outputs[index];
  PyObject *given = out ? PyTuple_GetItem(out, index) : NULL;
  DLTensor tensor;
  Outcome outcome = DONE;
  uint64_t address = 0;
  if (field->overwrites >= 0) {
    PyObject *input = PyTuple_GetItem(values, field->overwrites);
    if (given && given != input)
      return SLOW;
    address = (uint64_t)(uintptr_t)frame->hosts[field->overwrites];
    Py_INCREF(input);
    frame->results[index] = input;
  } else if (given) {
    outcome = takeOut(caller, plan, index, given, &tensor);
    Py_INCREF(given);
    frame->results[index] = given;
  } else if (torch.dtypes[field->dtype] == Py_None) {
    return SLOW;
  } else {
    outcome = allocateTensor(caller, plan->sizes[index], plan->strides[index],
                             torch.dtypes[field->dtype], &frame->results[index],
                             &tensor);
  }
  if (outcome != DONE)
    return outcome;
  if (field->overwrites < 0)
    address = addressOf(&tensor);
  frame->outputs[index].dims = plan->outputDims + index * FUSION_RT_MAX_RANK;
  frame->outputs[index].address = address;
  frame->hosts[caller->numInputs + index] = (void *)(uintptr_t)address;
  return DONE;
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

static uint64_t countBytes(const FusionRtTensor *tensor) {
  uint64_t elements = 1;
  for (int32_t d = 0; d < tensor->rank; ++d)
    elements *= (uint64_t)tensor->dims[d];
  return elements * dlDataTypes[tensor->dtype].bits / 8;
}

FusionRtStatus stageInputs(const Caller *caller, Frame *frame) {
  FusionRtStatus status = 0;
  for (uint32_t i = 0; i < caller->numOutputs; ++i)
    frame->outputs[i].address = 0;
  for (uint32_t i = 0; i < caller->numInputs; ++i)
    frame->inputs[i].address = 0;
  for (uint32_t i = 0; i < caller->numInputs && !status; ++i) {
    FusionRtTensor *tensor = &frame->inputs[i];
    uint64_t bytes = caller->inputs[i].byValue ? 0 : countBytes(tensor);
    if (bytes == 0)
      continue;
    status = runtime.allocate(caller->device, bytes, caller->inputs[i].name,
                              &tensor->address);
    if (!status)
      status = runtime.copyIn(caller->device, tensor->address, frame->hosts[i],
                              bytes, NULL);
  }
  return status;
}

FusionRtStatus stageOutput(const Caller *caller, const Plan *plan,
                           uint32_t index, Frame *frame) {
  frame->outputs[index].address = 0;
  if (caller->outputs[index].overwrites >= 0 || plan->outputBytes[index] == 0)
    return 0;
  return runtime.allocate(caller->device, plan->outputBytes[index],
                          caller->outputs[index].name,
                          &frame->outputs[index].address);
}

FusionRtStatus unstage(const Caller *caller, const Plan *plan, Frame *frame,
                       FusionRtStatus status) {
  for (uint32_t i = 0; i < caller->numOutputs && !status; ++i) {
    int32_t input = caller->outputs[i].overwrites;
    const FusionRtTensor *result =
        input < 0 ? &frame->outputs[i] : &frame->inputs[input];
    if (plan->outputBytes[i] != 0)
      status =
          runtime.copyOut(caller->device, frame->hosts[caller->numInputs + i],
                          result->address, plan->outputBytes[i], NULL);
  }
  // A failure that was met before stays the last error of this thread.
  for (uint32_t i = 0; i < caller->numInputs; ++i)
    if (frame->inputs[i].address != 0)
      (void)runtime.release(caller->device, frame->inputs[i].address);
  for (uint32_t i = 0; i < caller->numOutputs; ++i)
    if (frame->outputs[i].address != 0)
      (void)runtime.release(caller->device, frame->outputs[i].address);
  return status;
}

/// The launch on the emulator, whose memory is apart from the tensors'.
static FusionRtStatus launchStaged(const Caller *caller, const Plan *plan,
                                   Frame *frame,
                                   const FusionRtLaunchArgs *args) {
  FusionRtStatus status = stageInputs(caller, frame);
  for (uint32_t i = 0; i < caller->numOutputs && !status; ++i)
    status = stageOutput(caller, plan, i, frame);
  if (!status)
    status = runtime.launch(caller->entry, args);
  return unstage(caller, plan, frame, status);
}

static Outcome launch(const Caller *caller, const Plan *plan, Frame *frame) {
  FusionRtLaunchArgs args = FUSION_RT_INIT(FusionRtLaunchArgs);
  args.inputs = frame->inputs;
  args.outputs = frame->outputs;
  args.numInputs = caller->numInputs;
  args.numOutputs = caller->numOutputs;
  PyObject *workspace = NULL;
  if (!caller->staged && plan->workspaceBytes != 0) {
    DLTensor tensor;
    Outcome outcome = allocateTensor(caller, plan->workspaceSize, torch.one,
                                     torch.bytes, &workspace, &tensor);
    if (outcome != DONE) {
      Py_XDECREF(workspace);
      return outcome;
    }
    args.workspace = addressOf(&tensor);
    args.workspaceBytes = plan->workspaceBytes;
  }
  FusionRtStatus status = 0;
  if (caller->deviceType == DL_CUDA &&
      torch.exchange->currentStream(DL_CUDA, caller->deviceId, &args.stream)) {
    Py_XDECREF(workspace);
    return FAILED;
  }
  Py_BEGIN_ALLOW_THREADS;
  status = caller->staged ? launchStaged(caller, plan, frame, &args)
                          : runtime.launch(caller->entry, &args);
  Py_END_ALLOW_THREADS;
  // PyTorch gives the workspace to later work of this stream only.
  Py_XDECREF(workspace);
  return status ? raiseStatus(status) : DONE;
}

/// The results as the caller wants them; null with an exception.
static PyObject *gatherResults(const Caller *caller, Frame *frame,
                               bool asList) {
  if (!asList && caller->numOutputs == 1) {
    PyObject *only = frame->results[0];
    frame->results[0] = NULL;
    return only;
  }
  PyObject *all =
      asList ? PyList_New(caller->numOutputs) : PyTuple_New(caller->numOutputs);
  for (uint32_t i = 0; all && i < caller->numOutputs; ++i) {
    PyObject *one = frame->results[i];
    frame->results[i] = NULL;
    if ((asList ? PyList_SetItem(all, i, one) : PyTuple_SetItem(all, i, one)) <
        0)
      Py_CLEAR(all);
  }
  return all;
}

Outcome runCaller(Caller *caller, Signature *signature, PyObject *values,
                  PyObject *out, bool isChecked, bool asList,
                  PyObject **results) {
  if (!torch.exchange || !caller->entry ||
      PyTuple_Size(values) != (Py_ssize_t)caller->numInputs ||
      (out && PyTuple_Size(out) != (Py_ssize_t)caller->numOutputs))
    return SLOW;
  Frame *frame = takeFrame(caller);
  if (!frame)
    return FAILED;
  Plan *plan = NULL;
  Outcome outcome = DONE;
  for (uint32_t i = 0; i < caller->numInputs && outcome == DONE; ++i)
    outcome = readInput(caller, signature, i, PyTuple_GetItem(values, i),
                        isChecked, frame);
  if (outcome == DONE)
    outcome = findPlan(caller, signature, frame, &plan);
  bool isWhole = outcome == DONE && !plan->stages;
  for (uint32_t i = 0; i < caller->numOutputs && isWhole && outcome == DONE;
       ++i)
    outcome = placeOutput(caller, plan, i, values, out, frame);
  if (outcome == DONE)
    outcome = isWhole ? launch(caller, plan, frame)
                      : launchInStages(caller, signature, plan, frame, values);
  if (outcome == DONE) {
    *results = gatherResults(caller, frame, asList);
    if (!*results)
      outcome = FAILED;
  }
  if (plan)
    releasePlan(caller, plan);
  giveFrame(caller, frame);
  return outcome;
}

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

static PyTypeObject *callerType;

PyTypeObject *getCallerType(void) { return callerType; }

/// The keyword `out` as a new tuple, or null for None; SLOW for other keywords.
static Outcome readOut(PyObject *keywords, PyObject **result) {
  *result = NULL;
  if (!keywords || PyDict_Size(keywords) == 0)
    return DONE;
  PyObject *out = PyDict_GetItemString(keywords, "out");
  if (!out || PyDict_Size(keywords) != 1)
    return SLOW;
  if (out == Py_None)
    return DONE;
  if (PyTuple_CheckExact(out)) {
    Py_INCREF(out);
    *result = out;
  } else if (PyList_CheckExact(out)) {
    *result = PyList_AsTuple(out);
  } else {
    *result = PyTuple_Pack(1, out);
  }
  return *result ? DONE : FAILED;
}

/// Some argument or output is an array: without one, results are NumPy's.
static bool hasArrays(const Caller *caller, PyObject *out) {
  for (uint32_t i = 0; i < caller->numInputs; ++i)
    if (!caller->inputs[i].byValue)
      return true;
  return out != NULL;
}

static PyObject *callCaller(PyObject *self, PyObject *arguments,
                            PyObject *keywords) {
  Caller *caller = (Caller *)self;
  PyObject *out = NULL, *results = NULL;
  Outcome outcome = readOut(keywords, &out);
  if (outcome == DONE && !hasArrays(caller, out))
    outcome = SLOW;
  if (outcome == DONE)
    outcome = runCaller(caller, &caller->signature, arguments, out, false,
                        false, &results);
  Py_XDECREF(out);
  if (outcome != SLOW)
    return results;
  PyObject *slow = PyObject_GetAttrString(self, "_call");
  if (slow)
    results = PyObject_Call(slow, arguments, keywords);
  Py_XDECREF(slow);
  return results;
}

/// One input or output from a tuple: (name, type, rank, by value, size), or
/// (name, type, rank, overwritten input or -1).
static bool readField(PyObject *tuple, bool isInput, Field *field) {
  const char *name = NULL;
  int byValue = 0, isSize = 0;
  field->overwrites = -1;
  if (isInput ? !PyArg_ParseTuple(tuple, "siipp", &name, &field->dtype,
                                  &field->rank, &byValue, &isSize)
              : !PyArg_ParseTuple(tuple, "siii", &name, &field->dtype,
                                  &field->rank, &field->overwrites))
    return false;
  field->byValue = byValue;
  field->isSize = isSize;
  PyOS_snprintf(field->name, sizeof(field->name), "%s", name);
  if (field->dtype >= 0 && field->dtype < NUM_DTYPES && field->rank >= 0 &&
      field->rank <= FUSION_RT_MAX_RANK)
    return true;
  PyErr_SetString(PyExc_ValueError, "no such type or rank");
  return false;
}

/// A new array of the fields of a tuple of tuples.
static Field *readFields(PyObject *tuples, bool isInput, uint32_t *count) {
  Py_ssize_t size = PyTuple_Size(tuples);
  if (size < 0)
    return NULL;
  Field *fields = PyMem_Calloc((size_t)size + 1, sizeof(Field));
  if (!fields) {
    PyErr_NoMemory();
    return NULL;
  }
  for (Py_ssize_t i = 0; i < size; ++i)
    if (!readField(PyTuple_GetItem(tuples, i), isInput, &fields[i])) {
      PyMem_Free(fields);
      return NULL;
    }
  *count = (uint32_t)size;
  return fields;
}

/// Where each input's sizes, or the value that sizes depend on, are in a key.
static void placeKeys(Caller *caller) {
  caller->keySize = 0;
  for (uint32_t i = 0; i < caller->numInputs; ++i) {
    Field *field = &caller->inputs[i];
    field->keyPlace = -1;
    if (field->byValue && !field->isSize)
      continue;
    field->keyPlace = caller->keySize;
    caller->keySize += field->byValue ? 1 : field->rank;
  }
}

/// _configure(entry, device, device type, device number, staged, inputs,
/// outputs): once, before the first call.
static PyObject *configure(PyObject *self, PyObject *arguments) {
  Caller *caller = (Caller *)self;
  unsigned long long entry = 0, device = 0;
  int type = 0, id = 0, staged = 0;
  PyObject *inputs = NULL, *outputs = NULL;
  if (!PyArg_ParseTuple(arguments, "KKiipO!O!", &entry, &device, &type, &id,
                        &staged, &PyTuple_Type, &inputs, &PyTuple_Type,
                        &outputs))
    return NULL;
  if (caller->entry) {
    PyErr_SetString(PyExc_RuntimeError, "configured before");
    return NULL;
  }
  uint32_t numInputs = 0, numOutputs = 0;
  Field *inputFields = readFields(inputs, true, &numInputs);
  if (!inputFields)
    return NULL;
  Field *outputFields = readFields(outputs, false, &numOutputs);
  if (!outputFields) {
    PyMem_Free(inputFields);
    return NULL;
  }
  for (uint32_t i = 0; i < numOutputs; ++i)
    if (outputFields[i].overwrites >= (int32_t)numInputs)
      outputFields[i].overwrites = -1;
  caller->inputs = inputFields;
  caller->outputs = outputFields;
  caller->numInputs = numInputs;
  caller->numOutputs = numOutputs;
  placeKeys(caller);
  caller->device = (FusionRtDevice *)(uintptr_t)device;
  caller->deviceType = type;
  caller->deviceId = id;
  caller->staged = staged;
  caller->entry = (FusionRtEntry *)(uintptr_t)entry;
  Py_RETURN_NONE;
}

static void destroyCaller(PyObject *self) {
  Caller *caller = (Caller *)self;
  PyTypeObject *type = Py_TYPE(self);
  clearPlans(caller, &caller->signature);
  while (caller->frames) {
    Frame *frame = caller->frames;
    caller->frames = frame->next;
    PyMem_Free(frame);
  }
  PyMem_Free(caller->inputs);
  PyMem_Free(caller->outputs);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyMethodDef callerMethods[] = {
    {"_configure", configure, METH_VARARGS,
     "Tells the entry and its signature; once, before the first call."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot callerSlots[] = {
    {Py_tp_doc, "An entry of a package on a device, called from C."},
    {Py_tp_call, (void *)callCaller},
    {Py_tp_dealloc, (void *)destroyCaller},
    {Py_tp_methods, callerMethods},
    {0, NULL}};

static PyType_Spec callerSpec = {"fusion_native.Caller", sizeof(Caller), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                 callerSlots};

int addCaller(PyObject *module) {
  callerType = (PyTypeObject *)PyType_FromSpec(&callerSpec);
  if (!callerType)
    return -1;
  Py_INCREF(callerType);
  if (PyModule_AddObject(module, "Caller", (PyObject *)callerType) == 0)
    return 0;
  Py_DECREF(callerType);
  return -1;
}
