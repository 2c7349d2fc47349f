# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of the CUDA driver's interface that timing needs, in ctypes."""

import contextlib
import ctypes
from ctypes import byref, c_float, c_int, c_void_p

THREAD_LOCAL = 1  # CU_STREAM_CAPTURE_MODE_THREAD_LOCAL


class Driver:
    """A device's primary context, current on this thread: the one that the
    runtime uses, too."""

    def __init__(self, ordinal=0):
        self._library = ctypes.CDLL("libcuda.so.1")
        device, self._context = c_int(), c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", byref(device), ordinal)
        self.call("cuDevicePrimaryCtxRetain", byref(self._context), device)
        self.call("cuCtxSetCurrent", self._context)

    def call(self, name, *arguments):
        status = getattr(self._library, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self._library.cuGetErrorString(status, byref(text))
            reason = text.value.decode() if text.value else f"status {status}"
            raise RuntimeError(f"{name}: {reason}")

    @contextlib.contextmanager
    def graph(self, stream, enqueue):
        """What `enqueue` puts on a stream, to be launched again and again."""
        graph, ready = c_void_p(), c_void_p()
        self.call("cuStreamBeginCapture_v2", stream, THREAD_LOCAL)
        try:
            enqueue()
        finally:
            self.call("cuStreamEndCapture", stream, byref(graph))
        try:
            self.call("cuGraphInstantiateWithFlags", byref(ready), graph,
                      ctypes.c_ulonglong(0))
            try:
                yield ready
            finally:
                self.call("cuGraphExecDestroy", ready)
        finally:
            self.call("cuGraphDestroy", graph)

    def time(self, ready, stream, repeat):
        """Seconds of each of `repeat` launches of a graph, after two more."""
        events = [c_void_p() for _ in range(2)]
        for event in events:
            self.call("cuEventCreate", byref(event), 0)
        seconds = []
        try:
            for turn in range(repeat + 2):
                self.call("cuEventRecord", events[0], stream)
                self.call("cuGraphLaunch", ready, stream)
                self.call("cuEventRecord", events[1], stream)
                self.call("cuEventSynchronize", events[1])
                elapsed = c_float()
                self.call("cuEventElapsedTime", byref(elapsed), *events)
                if turn >= 2:
                    seconds.append(elapsed.value * 1e-3)
        finally:
            for event in events:
                self.call("cuEventDestroy_v2", event)
        return seconds
