# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages: loading, what is inside, and on which device they run."""

import json
import os
import pathlib
import threading
import typing
import weakref

from fusion_compiler import abi, files, tensors
from fusion_compiler.devices import Device, default_device
from fusion_compiler.entry import Entry, TensorSpec, entry_class
from fusion_compiler.errors import FusionError

__all__ = ["Entry", "Package", "TensorSpec", "load"]


class _Loaded:
    """A package on one device. The owner keeps it; a strong reference back
    would leave the kernels loaded until some later garbage collection."""

    def __init__(self, owner, data, device):
        self._owner, self.device = weakref.ref(owner), device
        self.handle = abi.handle("PackageLoad", device.handle, data, len(data))
        weakref.finalize(self, _unload, self.handle, device.name)
        self.info = abi.query(abi.PackageInfo, "PackageGetInfo", self.handle)
        make = entry_class()
        entries = [make(self, abi.handle("PackageGetEntry", self.handle, i))
                   for i in range(self.info.numEntries)]
        self.entries = {entry.name: entry for entry in entries}

    def package_on(self, device_name):
        """The same package on another device."""
        owner = self._owner()
        if owner is None:
            raise FusionError.of(
                "FUS-1304", f"the tensors are on {device_name}, and the "
                f"package, loaded on {self.device.name}, is gone",
                "keep the Package")
        return owner.on(device_name)

    def __getitem__(self, name):
        return self.entries[name]


def _unload(handle, device_name):
    if device_name.startswith("cuda:"):
        try:
            tensors.synchronize(int(device_name[len("cuda:"):]))
        except RuntimeError:
            pass  # The device is in error: nothing is running on it.
    abi.library().fusionRtPackageDestroy(handle)


class Package:
    """Compiled kernels with their launch plan.

    Called with arrays it runs its only entry; `package["name"]` is one of
    several. It is loaded on a device at its first use there. `data` is its
    bytes, by which it is pickled and copied. `explanation` is what the
    compiler decided and why, as text, where `fusion.compile` made the package;
    "" where it was loaded.
    """

    def __init__(self, data: bytes,
                 device: typing.Union[str, Device, None] = None):
        self.data = bytes(data)
        self.explanation = ""
        self._loaded: typing.Dict[str, "_Loaded"] = {}
        self._lock = threading.Lock()
        self._device = device
        self._single: typing.Optional[Entry] = None

    def __reduce__(self):
        device = self._device
        if isinstance(device, Device):
            device = device.name
        return _unpickle, (self.data, device, self.explanation)

    def on(self, device: typing.Union[str, Device, None] = None) -> "_Loaded":
        """The entries by name, on a device ("cuda:1", "emulator", a Device)."""
        device = device or self._device or default_device()
        if not isinstance(device, Device):
            device = Device.open(device)
        with self._lock:
            if device.name not in self._loaded:
                self._loaded[device.name] = _Loaded(self, self.data, device)
            return self._loaded[device.name]

    def __call__(self, *inputs, out=None):
        """Runs the only entry, as Entry's call does."""
        entry = self._single or self._only()
        return entry(*inputs) if out is None else entry(*inputs, out=out)

    def __getitem__(self, name: str) -> Entry:
        try:
            return self.on().entries[name]
        except KeyError:
            raise KeyError(f"the package has no entry {name!r}, only "
                           f"{', '.join(self.entries)}") from None

    def figures(self, *inputs) -> typing.Dict[str, typing.Optional[int]]:
        """Entry.figures of the only entry."""
        return self._only().figures(*inputs)

    @property
    def device(self) -> Device:
        """The device for NumPy arrays."""
        return self.on().device

    @property
    def entries(self) -> typing.List[str]:
        """The names of the entries."""
        return list(self.on().entries)

    @property
    def target(self) -> str:
        """The chip that the package was compiled for."""
        return (self.on().info.target or b"").decode()

    @property
    def num_kernels(self) -> int:
        """The number of distinct kernels."""
        return self.on().info.numKernels

    @property
    def ledger(self) -> typing.Any:
        """Every fusion decision with its reason and numbers, or None."""
        text = self.on().info.ledgerJson
        return json.loads(text) if text else None

    @property
    def kernels(self) -> typing.List[typing.Dict[str, typing.Any]]:
        """What is known of each kernel, as dictionaries."""
        result = []
        for i in range(self.num_kernels):
            info = abi.query(abi.KernelInfo, "PackageGetKernel",
                             self.on().handle, i)
            values = {name: getattr(info, name)
                      for name, *_ in abi.KernelInfo._fields_[1:]}
            result.append({key: value.decode() if isinstance(value, bytes)
                           else value for key, value in values.items()})
        return result

    def save(self, path: typing.Union[str, os.PathLike]) -> None:
        """Writes the package: either the whole of it, or nothing."""
        files.write_whole(path, self.data)

    def __repr__(self) -> str:
        return (f"<fusion.Package for {self.target} on {self.device.name}: "
                f"{', '.join(map(repr, self.on().entries.values()))}>")

    def _only(self):
        entries = self.on().entries
        if len(entries) != 1:
            raise TypeError("the package has several entries; choose one: "
                            f"package[name], name in {', '.join(entries)}")
        self._single = next(iter(entries.values()))
        return self._single


def _unpickle(data, device, explanation):
    package = Package(data, device)
    package.explanation = explanation
    return package


def load(path: typing.Union[str, os.PathLike],
         device: typing.Union[str, Device, None] = None) -> Package:
    """Loads a package from a file.

    `device` is where it runs on NumPy arrays: "cuda", "cuda:N" or "emulator";
    by default the first GPU, or the emulator where there is none.
    """
    return Package(pathlib.Path(path).read_bytes(), device)
