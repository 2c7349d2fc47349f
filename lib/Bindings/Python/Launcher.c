//===- Launcher.c - Calls whose arguments were checked --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what Entry.launcher returns: a call that takes a flat
// list from who has checked the arguments before, as the guards of a compiled
// graph have, and returns a list. Types, devices, ranks and the order of the
// elements in memory are looked at all the same, which costs next to nothing.
//
//===----------------------------------------------------------------------===//

#include "Native.h"

#include <string.h>

typedef struct Launcher {
  PyObject object;
  PyObject *caller; // an Entry; null once the collector has broken a cycle
  /// What Entry._launch_slow is called with.
  PyObject *inputOrders, *outputOrders;
  Signature signature;
} Launcher;

static PyTypeObject *launcherType;

/// A tuple of its own: another thread may change the list meanwhile.
static PyObject *copyValues(PyObject *values) {
  if (PyTuple_CheckExact(values)) {
    Py_INCREF(values);
    return values;
  }
  return PyList_Check(values) ? PyList_AsTuple(values)
                              : PySequence_Tuple(values);
}

/// A new tuple of the values of a list, which is empty then: they can be let go
/// of one by one.
static PyObject *takeValues(PyObject *list) {
  if (!PyList_Check(list)) {
    PyErr_SetString(PyExc_TypeError, "this launcher takes a list, to empty it");
    return NULL;
  }
  PyObject *values = PyList_AsTuple(list);
  if (values && PyList_SetSlice(list, 0, PyList_Size(list), NULL) < 0)
    Py_CLEAR(values);
  return values;
}

static PyObject *callLauncher(PyObject *self, PyObject *arguments,
                              PyObject *keywords) {
  Launcher *launcher = (Launcher *)self;
  PyObject *values = NULL, *results = NULL;
  if (keywords && PyDict_Size(keywords) != 0) {
    PyErr_SetString(PyExc_TypeError, "a launcher takes no keyword arguments");
    return NULL;
  }
  if (!PyArg_ParseTuple(arguments, "O", &values))
    return NULL;
  if (!launcher->caller) {
    PyErr_SetString(PyExc_ReferenceError, "the launcher's entry is gone");
    return NULL;
  }
  values =
      launcher->signature.released ? takeValues(values) : copyValues(values);
  if (!values)
    return NULL;
  Outcome outcome = runCaller((Caller *)launcher->caller, &launcher->signature,
                              values, NULL, true, true, &results);
  if (outcome == SLOW)
    results =
        PyObject_CallMethod(launcher->caller, "_launch_slow", "OOO", values,
                            launcher->inputOrders, launcher->outputOrders);
  Py_DECREF(values);
  return results;
}

/// One array of pointers with the orders behind them, or null where no tensor
/// has one. `orders` is a tuple of None and tuples, which Python has checked.
static bool readOrders(PyObject *orders, uint32_t count, int8_t ***result) {
  *result = NULL;
  if (PyTuple_Size(orders) != (Py_ssize_t)count) {
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_ValueError, "one order for each tensor");
    return false;
  }
  size_t bytes = (sizeof(int8_t *) + FUSION_RT_MAX_RANK) * (count + 1);
  int8_t **pointers = PyMem_Calloc(1, bytes);
  if (!pointers) {
    PyErr_NoMemory();
    return false;
  }
  int8_t *next = (int8_t *)(pointers + count);
  bool hasAny = false;
  for (uint32_t i = 0; i < count; ++i) {
    PyObject *order = PyTuple_GetItem(orders, i);
    if (order == Py_None)
      continue;
    Py_ssize_t rank = PyTuple_Size(order);
    if (rank < 0 || rank > FUSION_RT_MAX_RANK) {
      PyMem_Free(pointers);
      if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "too many axes");
      return false;
    }
    hasAny = true;
    pointers[i] = next;
    for (Py_ssize_t d = 0; d < rank; ++d)
      *next++ = (int8_t)PyLong_AsLong(PyTuple_GetItem(order, d));
  }
  if (hasAny)
    *result = pointers;
  else
    PyMem_Free(pointers);
  return !PyErr_Occurred();
}

/// Reads which inputs are let go of, from bytes or None. An argument that is a
/// result as well is not.
static bool readReleased(PyObject *released, const Caller *entry,
                         uint8_t **result) {
  *result = NULL;
  if (released == Py_None)
    return true;
  char *bytes = NULL;
  Py_ssize_t count = 0;
  if (PyBytes_AsStringAndSize(released, &bytes, &count) < 0)
    return false;
  if (count != (Py_ssize_t)entry->numInputs) {
    PyErr_SetString(PyExc_ValueError, "one byte for each input");
    return false;
  }
  *result = PyMem_Calloc((size_t)count + 1, 1);
  if (!*result) {
    PyErr_NoMemory();
    return false;
  }
  memcpy(*result, bytes, (size_t)count);
  for (uint32_t i = 0; i < entry->numOutputs; ++i)
    if (entry->outputs[i].overwrites >= 0)
      (*result)[entry->outputs[i].overwrites] = 0;
  return true;
}

/// Launcher(entry, input orders, output orders, released, least gain), the
/// orders as tuples.
static PyObject *newLauncher(PyTypeObject *type, PyObject *arguments,
                             PyObject *keywords) {
  PyObject *caller = NULL, *inputOrders = NULL, *outputOrders = NULL,
           *released = Py_None;
  unsigned long long leastGain = 0;
  (void)keywords;
  if (!PyArg_ParseTuple(arguments, "O!O!O!|OK", getCallerType(), &caller,
                        &PyTuple_Type, &inputOrders, &PyTuple_Type,
                        &outputOrders, &released, &leastGain))
    return NULL;
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Launcher *launcher = (Launcher *)allocate(type, 0);
  if (!launcher)
    return NULL;
  const Caller *entry = (Caller *)caller;
  Py_INCREF(caller);
  Py_INCREF(inputOrders);
  Py_INCREF(outputOrders);
  launcher->caller = caller;
  launcher->inputOrders = inputOrders;
  launcher->outputOrders = outputOrders;
  Signature *signature = &launcher->signature;
  signature->leastGain = leastGain;
  if (readReleased(released, entry, &signature->released) &&
      readOrders(inputOrders, entry->numInputs, &signature->inputOrders) &&
      readOrders(outputOrders, entry->numOutputs, &signature->outputOrders))
    return (PyObject *)launcher;
  Py_DECREF(launcher);
  return NULL;
}

/// An entry may hold its launcher, which is a cycle.
static int visitLauncher(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(((Launcher *)self)->caller);
  Py_VISIT(Py_TYPE(self));
  return 0;
}

static int clearLauncher(PyObject *self) {
  Launcher *launcher = (Launcher *)self;
  if (launcher->caller)
    clearPlans((Caller *)launcher->caller, &launcher->signature);
  Py_CLEAR(launcher->caller);
  return 0;
}

static void destroyLauncher(PyObject *self) {
  Launcher *launcher = (Launcher *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  (void)clearLauncher(self);
  PyMem_Free(launcher->signature.inputOrders);
  PyMem_Free(launcher->signature.outputOrders);
  PyMem_Free(launcher->signature.released);
  Py_XDECREF(launcher->inputOrders);
  Py_XDECREF(launcher->outputOrders);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyType_Slot launcherSlots[] = {
    {Py_tp_doc, "Runs an entry on a list of checked arguments."},
    {Py_tp_new, (void *)newLauncher},
    {Py_tp_call, (void *)callLauncher},
    {Py_tp_dealloc, (void *)destroyLauncher},
    {Py_tp_traverse, (void *)visitLauncher},
    {Py_tp_clear, (void *)clearLauncher},
    {0, NULL}};

static PyType_Spec launcherSpec = {"fusion_native.Launcher", sizeof(Launcher),
                                   0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                   launcherSlots};

int addLauncher(PyObject *module) {
  launcherType = (PyTypeObject *)PyType_FromSpec(&launcherSpec);
  return launcherType
             ? PyModule_AddObject(module, "Launcher", (PyObject *)launcherType)
             : -1;
}
