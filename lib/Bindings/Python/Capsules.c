//===- Capsules.c - Capsules of DLPack ------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements reading tensors from the capsules of other frameworks,
// and making such capsules of device memory that the package owns.
//
//===----------------------------------------------------------------------===//

#include "Native.h"

#include <string.h>

static const char plainName[] = "dltensor";
static const char versionedName[] = "dltensor_versioned";
static const char plainTaken[] = "used_dltensor";
static const char versionedTaken[] = "used_dltensor_versioned";
static const char plainOwner[] = "fusion.dltensor";
static const char versionedOwner[] = "fusion.dltensor_versioned";

static void destroyPlainOwner(PyObject *capsule) {
  DLManagedTensor *tensor = PyCapsule_GetPointer(capsule, plainOwner);
  if (tensor && tensor->deleter)
    tensor->deleter(tensor);
}

static void destroyVersionedOwner(PyObject *capsule) {
  DLVersionedTensor *tensor = PyCapsule_GetPointer(capsule, versionedOwner);
  if (tensor && tensor->deleter)
    tensor->deleter(tensor);
}

/// (address, dims, strides or None, code, bits, lanes, device type, device
/// number, is read-only, owner)
static PyObject *describe(const DLTensor *tensor, bool isReadOnly,
                          PyObject *owner) {
  PyObject *dims = PyTuple_New(tensor->rank);
  PyObject *strides = NULL;
  if (tensor->strides) {
    strides = PyTuple_New(tensor->rank);
  } else {
    strides = Py_None;
    Py_INCREF(strides);
  }
  for (int32_t d = 0; dims && strides && d < tensor->rank; ++d) {
    PyObject *size = PyLong_FromLongLong(tensor->dims[d]);
    if (!size || PyTuple_SetItem(dims, d, size) < 0)
      Py_CLEAR(dims);
    if (!tensor->strides)
      continue;
    PyObject *stride = PyLong_FromLongLong(tensor->strides[d]);
    if (!stride || PyTuple_SetItem(strides, d, stride) < 0)
      Py_CLEAR(strides);
  }
  PyObject *result = NULL;
  if (dims && strides)
    result = Py_BuildValue(
        "KOOiiiiiOO",
        (unsigned long long)((uintptr_t)tensor->data + tensor->byteOffset),
        dims, strides, tensor->dtype.code, tensor->dtype.bits,
        tensor->dtype.lanes, tensor->device.type, tensor->device.id,
        isReadOnly ? Py_True : Py_False, owner);
  Py_XDECREF(dims);
  Py_XDECREF(strides);
  return result;
}

static PyObject *readPlain(PyObject *capsule) {
  DLManagedTensor *tensor = PyCapsule_GetPointer(capsule, plainName);
  PyObject *owner = PyCapsule_New(tensor, plainOwner, destroyPlainOwner);
  if (!owner)
    return NULL;
  // From here on the tensor belongs to the owner.
  PyCapsule_SetName(capsule, plainTaken);
  PyObject *result = describe(&tensor->tensor, false, owner);
  Py_DECREF(owner);
  return result;
}

static PyObject *readVersioned(PyObject *capsule) {
  DLVersionedTensor *tensor = PyCapsule_GetPointer(capsule, versionedName);
  if (tensor->version.major != DL_MAJOR)
    return PyErr_Format(PyExc_BufferError,
                        "DLPack of major version %u, expected %d",
                        (unsigned)tensor->version.major, DL_MAJOR);
  PyObject *owner =
      PyCapsule_New(tensor, versionedOwner, destroyVersionedOwner);
  if (!owner)
    return NULL;
  PyCapsule_SetName(capsule, versionedTaken);
  PyObject *result =
      describe(&tensor->tensor, tensor->flags & DL_READ_ONLY, owner);
  Py_DECREF(owner);
  return result;
}

PyObject *readCapsule(PyObject *module, PyObject *capsule) {
  (void)module;
  if (PyCapsule_IsValid(capsule, versionedName))
    return readVersioned(capsule);
  if (PyCapsule_IsValid(capsule, plainName))
    return readPlain(capsule);
  PyErr_SetString(PyExc_BufferError,
                  "__dlpack__ gave no capsule of a tensor, or one that was "
                  "taken before");
  return NULL;
}

//===----------------------------------------------------------------------===//
// Making capsules
//===----------------------------------------------------------------------===//

/// A tensor of either form with its sizes and strides behind it.
typedef struct Made {
  union {
    DLManagedTensor plain;
    DLVersionedTensor versioned;
  };
  int64_t dims[FUSION_RT_MAX_RANK], strides[FUSION_RT_MAX_RANK];
} Made;

static void dropOwner(void *owner) {
  // A framework may let go of a tensor after Python has ended.
  if (!Py_IsInitialized())
    return;
  PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF((PyObject *)owner);
  PyGILState_Release(state);
}

static void deletePlain(DLManagedTensor *self) {
  dropOwner(self->owner);
  free(self);
}

static void deleteVersioned(DLVersionedTensor *self) {
  dropOwner(self->owner);
  free(self);
}

/// Capsules that nobody took still own their tensor.
static void destroyPlain(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, plainName))
    deletePlain(PyCapsule_GetPointer(capsule, plainName));
}

static void destroyVersioned(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, versionedName))
    deleteVersioned(PyCapsule_GetPointer(capsule, versionedName));
}

/// Sizes and row-major strides from a tuple; false with an exception.
static bool readDims(PyObject *dims, Made *made, DLTensor *tensor) {
  Py_ssize_t rank = PyTuple_Size(dims);
  if (rank < 0)
    return false;
  if (rank > FUSION_RT_MAX_RANK) {
    PyErr_SetString(PyExc_ValueError, "too many dimensions");
    return false;
  }
  int64_t stride = 1;
  for (Py_ssize_t d = rank - 1; d >= 0; --d) {
    made->dims[d] = PyLong_AsLongLong(PyTuple_GetItem(dims, d));
    if (made->dims[d] < 0) {
      if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "negative size");
      return false;
    }
    made->strides[d] = stride;
    stride *= made->dims[d] > 1 ? made->dims[d] : 1;
  }
  tensor->rank = (int32_t)rank;
  tensor->dims = made->dims;
  tensor->strides = made->strides;
  return true;
}

/// make_capsule(owner, address, dims, dtype, device type, device number,
/// versioned): the capsule keeps `owner` until its tensor is let go.
PyObject *makeCapsule(PyObject *module, PyObject *arguments) {
  (void)module;
  PyObject *owner = NULL, *dims = NULL;
  unsigned long long address = 0;
  int dtype = 0, deviceType = 0, deviceId = 0, isVersioned = 0;
  if (!PyArg_ParseTuple(arguments, "OKO!iiip", &owner, &address, &PyTuple_Type,
                        &dims, &dtype, &deviceType, &deviceId, &isVersioned))
    return NULL;
  if (dtype < 0 || dtype >= NUM_DTYPES || dtype == FUSION_RT_I4)
    return PyErr_Format(PyExc_BufferError, "DLPack has no such element type");
  Made *made = calloc(1, sizeof(Made));
  if (!made)
    return PyErr_NoMemory();
  DLTensor *tensor =
      isVersioned ? &made->versioned.tensor : &made->plain.tensor;
  tensor->data = (void *)(uintptr_t)address;
  tensor->device.type = deviceType;
  tensor->device.id = deviceId;
  tensor->dtype = dlDataTypes[dtype];
  PyObject *capsule = NULL;
  if (readDims(dims, made, tensor)) {
    if (isVersioned) {
      made->versioned.version.major = DL_MAJOR;
      made->versioned.version.minor = DL_MINOR;
      made->versioned.owner = owner;
      made->versioned.deleter = deleteVersioned;
      capsule = PyCapsule_New(made, versionedName, destroyVersioned);
    } else {
      made->plain.owner = owner;
      made->plain.deleter = deletePlain;
      capsule = PyCapsule_New(made, plainName, destroyPlain);
    }
  }
  if (!capsule) {
    free(made);
    return NULL;
  }
  Py_INCREF(owner);
  return capsule;
}
