//===- Module.c - The Python extension module -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the module: its functions, and what the package hands
// over to it.
//
//===----------------------------------------------------------------------===//

#include "Native.h"

#include <string.h>

Runtime runtime;
Torch torch;

/// By FusionRtDType; codes of DLPack: 0 integer, 2 float, 4 bfloat, 6 bool, 10
/// and 12 floats of 8 bits. Four-bit integers have none.
const DLDataType dlDataTypes[NUM_DTYPES] = {
    {2, 64, 1}, {2, 32, 1}, {2, 16, 1}, {4, 16, 1}, {10, 8, 1}, {12, 8, 1},
    {0, 64, 1}, {0, 32, 1}, {0, 16, 1}, {0, 8, 1},  {0, 4, 0},  {6, 8, 1}};

/// bind_runtime(check, address...): functions in the order of Runtime.
static PyObject *bindRuntime(PyObject *module, PyObject *arguments) {
  (void)module;
  PyObject *check = PyTuple_GetItem(arguments, 0);
  if (!check)
    return NULL;
  if (PyTuple_Size(arguments) != 1 + NUM_FUNCTIONS) {
    PyErr_Format(PyExc_TypeError, "expected %d addresses", NUM_FUNCTIONS);
    return NULL;
  }
  void *functions[NUM_FUNCTIONS];
  for (int i = 0; i < NUM_FUNCTIONS; ++i) {
    unsigned long long address =
        PyLong_AsUnsignedLongLong(PyTuple_GetItem(arguments, 1 + i));
    if (PyErr_Occurred())
      return NULL;
    functions[i] = (void *)(uintptr_t)address;
  }
  // A function pointer has the size of any other where CUDA runs.
  memcpy(&runtime, functions, sizeof(functions));
  Py_INCREF(check);
  Py_XDECREF(runtime.check);
  runtime.check = check;
  Py_RETURN_NONE;
}

static PyObject *hold(PyObject *object) {
  Py_INCREF(object);
  return object;
}

/// bind_torch(exchange, tensor type, parameter type, empty on CUDA, empty on
/// the host, empty anywhere, bytes, dtypes): whether the exchange is one that
/// this module knows. The objects are held for good.
static PyObject *bindTorch(PyObject *module, PyObject *arguments) {
  (void)module;
  PyObject *capsule, *tensor, *parameter, *cuda, *cpu, *anywhere, *bytes,
      *dtypes;
  if (!PyArg_ParseTuple(arguments, "OO!O!OOOOO!", &capsule, &PyType_Type,
                        &tensor, &PyType_Type, &parameter, &cuda, &cpu,
                        &anywhere, &bytes, &PyTuple_Type, &dtypes))
    return NULL;
  const DLExchange *exchange =
      PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
  if (!exchange)
    return NULL;
  while (exchange && exchange->version.major != DL_MAJOR)
    exchange = exchange->older;
  if (!exchange || !exchange->describe || !exchange->currentStream ||
      PyTuple_Size(dtypes) != NUM_DTYPES)
    Py_RETURN_FALSE;
  if (torch.exchange)
    Py_RETURN_TRUE;
  torch.isNegated = PyUnicode_InternFromString("is_neg");
  torch.one = Py_BuildValue("(i)", 1);
  if (!torch.isNegated || !torch.one)
    return NULL;
  torch.tensor = (PyTypeObject *)hold(tensor);
  torch.parameter = (PyTypeObject *)hold(parameter);
  torch.emptyCuda = hold(cuda);
  torch.emptyCpu = hold(cpu);
  torch.emptyAnywhere = hold(anywhere);
  torch.bytes = hold(bytes);
  for (int i = 0; i < NUM_DTYPES; ++i)
    torch.dtypes[i] = hold(PyTuple_GetItem(dtypes, i));
  torch.exchange = exchange;
  Py_RETURN_TRUE;
}

static PyMethodDef functions[] = {
    {"bind_runtime", bindRuntime, METH_VARARGS,
     "Hands over the runtime's functions."},
    {"bind_torch", bindTorch, METH_VARARGS, "Hands over PyTorch's."},
    {"read_capsule", readCapsule, METH_O,
     "Takes the tensor of a capsule of DLPack."},
    {"make_capsule", makeCapsule, METH_VARARGS,
     "Makes a capsule of DLPack from an address."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "fusion_native",
    "Calls of packages from C; part of fusion_compiler.",
    -1,
    functions,
    NULL,
    NULL,
    NULL,
    NULL};

PyMODINIT_FUNC PyInit_fusion_native(void) {
  PyObject *module = PyModule_Create(&definition);
  if (!module)
    return NULL;
  if (PyModule_AddIntConstant(module, "ABI_VERSION", FUSION_RT_ABI_VERSION) ==
          0 &&
      addCaller(module) == 0 && addLauncher(module) == 0)
    return module;
  Py_DECREF(module);
  return NULL;
}
