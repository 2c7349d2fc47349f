//===- Native.h - The Python extension module's own parts ----- -*- C -*---===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what the files of the extension module share. The module
// is Python's limited API of 3.9 and links neither the runtime nor PyTorch:
// the package hands over the addresses of the runtime that it has loaded, and
// PyTorch gives its tensors through DLPack's table of functions.
//
// The module does what a call has to do when everything about it is as usual.
// For anything else it answers SLOW, changes nothing, and the package's Python
// code repeats the call: that does the rest, or says what is wrong.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_BINDINGS_PYTHON_NATIVE_H
#define FUSION_LIB_BINDINGS_PYTHON_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "DLPack.h"
#include "fusion-rt/Runtime.h"

#include <stdbool.h>
#include <stddef.h>

/// How a step of a call ended. After FAILED a Python exception is set, after
/// SLOW none is.
typedef enum Outcome { DONE, SLOW, FAILED } Outcome;

/// The runtime's functions, and abi.check, which raises a status.
typedef struct Runtime {
  FusionRtStatus (*inferShapes)(FusionRtEntry *, const FusionRtTensor *,
                                uint32_t, FusionRtShape *, uint32_t);
  FusionRtStatus (*queryWorkspace)(FusionRtEntry *, const FusionRtTensor *,
                                   uint32_t, uint64_t *);
  FusionRtStatus (*launch)(FusionRtEntry *, const FusionRtLaunchArgs *);
  FusionRtStatus (*allocate)(FusionRtDevice *, uint64_t, const char *,
                             FusionRtAddress *);
  FusionRtStatus (*release)(FusionRtDevice *, FusionRtAddress);
  FusionRtStatus (*copyIn)(FusionRtDevice *, FusionRtAddress, const void *,
                           uint64_t, FusionRtStream);
  FusionRtStatus (*copyOut)(FusionRtDevice *, void *, FusionRtAddress, uint64_t,
                            FusionRtStream);
  FusionRtStatus (*createSections)(FusionRtEntry *, const FusionRtTensor *,
                                   uint32_t, const FusionRtSectionOptions *,
                                   FusionRtSections **);
  void (*destroySections)(FusionRtSections *);
  FusionRtStatus (*getSections)(const FusionRtSections *,
                                FusionRtSectionsInfo *);
  FusionRtStatus (*getUse)(const FusionRtSections *, int32_t, uint32_t,
                           FusionRtUse *);
  PyObject *check;
} Runtime;
enum { NUM_FUNCTIONS = offsetof(Runtime, check) / sizeof(void *) };
extern Runtime runtime;

/// PyTorch, once the package has met a tensor of it.
typedef struct Torch {
  const DLExchange *exchange; // null until then
  /// torch.Tensor and torch.nn.Parameter. Other types may do anything.
  PyTypeObject *tensor, *parameter;
  /// (sizes, strides, dtype): on the current CUDA device, and on the host.
  PyObject *emptyCuda, *emptyCpu;
  /// (sizes, strides, dtype, device type, device number): anywhere.
  PyObject *emptyAnywhere;
  PyObject *bytes;      // torch.uint8
  PyObject *one;        // (1,)
  PyObject *isNegated;  // the name of the method
  PyObject *dtypes[12]; // by FusionRtDType; None where PyTorch has none
} Torch;
extern Torch torch;

enum { NUM_DTYPES = 12 };
extern const DLDataType dlDataTypes[NUM_DTYPES];

/// An input or output of an entry.
typedef struct Field {
  int32_t dtype, rank;
  int32_t overwrites; // the input whose memory an output is, or -1
  char name[32];      // in reports of the emulator
  bool byValue;
  bool isSize;         // by value, and sizes depend on it
  Py_ssize_t keyPlace; // of its sizes, or its value, in a key; -1 if none
} Field;

/// A launch in sections: when it needs which memory.
typedef struct Stages {
  FusionRtSections *sections;
  uint32_t numBlocks;
  FusionRtUse *inputs, *outputs, *blocks;
  PyObject **blockSizes; // tuples of one number
} Stages;

/// What depends on the sizes of a call alone.
typedef struct Plan {
  struct Plan *next;
  Py_ssize_t uses; // one of the table, one of each call under way
  uint64_t hash;
  uint64_t workspaceBytes;
  uint64_t *outputBytes;
  int64_t *outputDims; // of all outputs, each MAX_RANK apart
  PyObject **sizes;    // of each output as a tensor: two tuples
  PyObject **strides;
  PyObject *workspaceSize; // tuples of one number
  Stages *stages;          // null: launched as a whole
  int64_t key[];
} Plan;

enum { NUM_BUCKETS = 256, MOST_PLANS = 1024 };

/// The plans of one way to call an entry. `orders` has one pointer for each
/// input and output: null, or for each axis of the package's tensor which axis
/// of PyTorch's it is.
typedef struct Signature {
  Plan *last, *buckets[NUM_BUCKETS];
  unsigned numPlans;
  int8_t **inputOrders, **outputOrders; // null: none has an order
  /// Of each input, whether it is let go of when nothing needs it any more, and
  /// how many bytes less are worth a launch in sections. Null: as a whole.
  uint8_t *released;
  uint64_t leastGain;
} Signature;

/// The memory that one call needs, kept from call to call.
typedef struct Frame {
  struct Frame *next;
  FusionRtTensor *inputs, *outputs;
  uint64_t *scalars;
  void **hosts; // inputs, then outputs
  PyObject **results;
  int64_t *key;
} Frame;

/// The base of an entry on a device.
typedef struct Caller {
  PyObject object;
  FusionRtEntry *entry; // null until configured
  FusionRtDevice *device;
  int32_t deviceType, deviceId;
  /// The emulator cannot reach the tensors' memory: they are copied.
  bool staged;
  uint32_t numInputs, numOutputs;
  Py_ssize_t keySize;
  Field *inputs, *outputs;
  Signature signature;
  Frame *frames;
} Caller;

/// Creates the two types and adds them to the module; -1 with an exception.
int addCaller(PyObject *module);
int addLauncher(PyObject *module);
PyTypeObject *getCallerType(void);

/// Runs an entry on the tensors and numbers of a tuple. `out` is null or a
/// tuple of tensors. `isChecked`: guards have proved what is costly to check.
/// After DONE `results` holds a new list (`asList`), tuple or object. Where the
/// signature has inputs to let go of, `values` is the caller's alone, and they
/// are replaced in it.
Outcome runCaller(Caller *caller, Signature *signature, PyObject *values,
                  PyObject *out, bool isChecked, bool asList,
                  PyObject **results);

/// The plan for what stands in the frame, with one use more.
Outcome findPlan(Caller *caller, Signature *signature, Frame *frame,
                 Plan **plan);
void releasePlan(const Caller *caller, Plan *plan);
/// A new tuple of one number for each axis.
PyObject *makeTuple(const int64_t *numbers, int32_t count);

/// A new tensor of PyTorch's on the entry's device, described.
Outcome allocateTensor(const Caller *caller, PyObject *sizes, PyObject *strides,
                       PyObject *dtype, PyObject **object, DLTensor *tensor);
/// Finds or allocates the memory of one result.
Outcome placeOutput(const Caller *caller, const Plan *plan, uint32_t index,
                    PyObject *values, PyObject *out, Frame *frame);
uint64_t addressOf(const DLTensor *tensor);

/// How a launch in sections goes, for these sizes; null for a launch as a
/// whole. SLOW never.
Outcome makeStages(const Caller *caller, const Signature *signature,
                   const Frame *frame, Stages **stages);
void freeStages(Stages *stages);
/// Launches in sections: places results, and lets go of values, as it goes.
Outcome launchInStages(const Caller *caller, const Signature *signature,
                       const Plan *plan, Frame *frame, PyObject *values);
/// Copies inputs to the emulator; results back; frees what is there.
FusionRtStatus stageInputs(const Caller *caller, Frame *frame);
FusionRtStatus stageOutput(const Caller *caller, const Plan *plan,
                           uint32_t index, Frame *frame);
FusionRtStatus unstage(const Caller *caller, const Plan *plan, Frame *frame,
                       FusionRtStatus status);
void clearPlans(const Caller *caller, Signature *signature);

/// A number as the eight or fewer bytes of a by-value input.
Outcome convertScalar(Caller *caller, uint32_t index, PyObject *number,
                      uint64_t *bytes);

/// Raises the runtime's error and returns FAILED.
Outcome raiseStatus(FusionRtStatus status);

/// Functions of the module: capsules of DLPack.
PyObject *readCapsule(PyObject *module, PyObject *capsule);
PyObject *makeCapsule(PyObject *module, PyObject *arguments);

#endif // FUSION_LIB_BINDINGS_PYTHON_NATIVE_H
