# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices: a CUDA device, or the built-in PTX emulator."""

import ctypes
import threading
import typing
import warnings
import weakref

from fusion_compiler import abi

_LOCK = threading.Lock()
_devices: typing.Dict[str, "Device"] = {}
# FUS-6101 and FUS-6102: no driver, no device.
_WITHOUT_GPU = (6101, 6102)


class Device:
    """An open device; `Device.open` gives the same object for the same name.

    `name` is "cuda:N" or "emulator", `description` the chip's name,
    `compute_capability` a tuple of two ints, (0, 0) on the emulator, which is
    what `is_emulator` says.
    """

    def __init__(self, name: str):
        self.name = name
        self.handle = abi.handle("DeviceCreate", name.encode(), None)
        info = abi.query(abi.DeviceInfo, "DeviceGetInfo", self.handle)
        self.is_emulator = bool(info.isEmulator)
        self.description = info.name.decode(errors="replace")
        self.compute_capability = (info.computeMajor, info.computeMinor)
        # Runs at exit too, after the finalizers of the packages on it, since
        # finalizers run newest first.
        weakref.finalize(self, abi.library().fusionRtDeviceDestroy, self.handle)

    @staticmethod
    def open(name: str) -> "Device":
        """The device "cuda", "cuda:N" or "emulator"."""
        if name == "cuda":
            name = "cuda:0"
        with _LOCK:
            if name not in _devices:
                _devices[name] = Device(name)
            return _devices[name]

    def target(self) -> typing.Optional[str]:
        """The chip to compile for; None for the emulator, which runs any."""
        major, minor = self.compute_capability
        if not major:
            return None
        # Architecture-specific instructions need an "a".
        has_variant = (major, minor) in ((9, 0), (10, 0))
        return f"sm_{major}{minor}{'a' if has_variant else ''}"

    def __repr__(self):
        return f"<fusion.Device {self.name}: {self.description}>"


class Memory:
    """Device memory that is freed with the object, or earlier by `free`."""

    def __init__(self, device, size, name=None):
        address = ctypes.c_uint64()
        abi.call("Malloc", device.handle, size, name and name.encode(),
                 ctypes.byref(address))
        self.device, self.size, self.address = device, size, address.value
        self.free = weakref.finalize(self, abi.library().fusionRtFree,
                                     device.handle, address.value)

    def write(self, address, size):
        """Copies `size` bytes from an address of the host."""
        abi.call("CopyToDevice", self.device.handle, self.address, address,
                 size, None)

    def read(self, address, size):
        """Copies `size` bytes to an address of the host."""
        abi.call("CopyToHost", self.device.handle, address, self.address, size,
                 None)

    def copy_from(self, array):
        """Copies the elements of a contiguous NumPy array."""
        self.write(array.ctypes.data, array.nbytes)

    def copy_to(self, array):
        """Copies to the elements of a contiguous NumPy array."""
        self.read(array.ctypes.data, array.nbytes)


def default_device() -> Device:
    """The first GPU where there is one, else the emulator.

    A driver that is there and does not work is a warning.
    """
    count = ctypes.c_int32()
    failed = abi.library().fusionRtGetCudaDeviceCount(ctypes.byref(count))
    if failed and failed not in _WITHOUT_GPU:
        reason = abi.library().fusionRtGetLastError().decode(errors="replace")
        warnings.warn(f"{reason}; running on the emulator", stacklevel=2)
    return Device.open("emulator" if failed or count.value < 1 else "cuda:0")
