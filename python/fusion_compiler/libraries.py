# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds and loads the two shared libraries, each when it is first needed.

A library is looked for, in order: where set_*_library said; where the
environment says (FUSION_RT_LIBRARY, FUSION_C_LIBRARY: a file); in lib/ of
FUSION_BUILD_DIR; in lib/ beside this file (an installed package); in build/lib
of the source tree that this file is in; by name, as the system's loader finds
libraries.
"""

import ctypes
import os
import pathlib
import threading
import typing

from fusion_compiler.errors import FusionError

_HERE = pathlib.Path(__file__).resolve().parent
_LOCK = threading.RLock()


def folders() -> typing.List[pathlib.Path]:
    """Where the files of a build are looked for, in order."""
    found = []
    if os.environ.get("FUSION_BUILD_DIR"):
        found.append(pathlib.Path(os.environ["FUSION_BUILD_DIR"]) / "lib")
    return [*found, _HERE / "lib", _HERE.parent.parent / "build" / "lib"]


class _Library:
    """One shared library: its name, where it may be, and it, once loaded."""

    def __init__(self, file_name, variable, declare):
        self.file_name, self.variable, self.declare = (file_name, variable,
                                                       declare)
        self.path, self.handle, self.loaded = None, None, None

    def candidates(self):
        if self.path:
            return [self.path]
        if os.environ.get(self.variable):
            return [pathlib.Path(os.environ[self.variable])]
        return [folder / self.file_name for folder in folders()]

    def get(self):
        if self.handle:
            return self.handle
        with _LOCK:
            if not self.handle:
                handle = self.load()
                self.declare(handle)
                self.handle = handle
        return self.handle

    def load(self):
        tried = []
        for path in self.candidates():
            if path.exists():
                tried.append(path)
                try:
                    self.loaded = path
                    return ctypes.CDLL(str(path))
                except OSError as error:
                    raise FusionError.of(
                        "FUS-1301", f"{path} cannot be loaded: {error}",
                        "rebuild it on this machine, or set "
                        f"{self.variable}") from error
            tried.append(path)
        try:
            self.loaded = self.file_name
            return ctypes.CDLL(self.file_name)
        except OSError:
            places = "".join(f"\n  {path}" for path in tried)
            raise FusionError.of(
                "FUS-1301", f"{self.file_name} was not found in:{places}\n",
                "build it (tools/dev/build.sh), or name its build folder with "
                f"FUSION_BUILD_DIR, or the file with {self.variable}"
            ) from None


_libraries: typing.Dict[str, _Library] = {}


def register(key, file_name, variable, declare):
    """Announces a library; `declare` gives its functions their types."""
    _libraries[key] = _Library(file_name, variable, declare)


def get(key):
    """The loaded library, loading it at the first call."""
    return _libraries[key].get()


def path(key):
    """The file of a library, which is loaded for it."""
    get(key)
    return _libraries[key].loaded


def load_ahead(key, *others):
    """Begins to load shared libraries, those at the paths `others` and then
    `key`'s, in a thread. Who needs one later finds it, or waits for it, and
    reports what cannot be loaded. Does nothing where `key`'s is loaded."""
    library = _libraries[key]
    if library.handle:
        return
    own = [path for path in library.candidates() if path.exists()][:1]
    files = [os.fsencode(path) for path in (*others, *own)]
    # Python keeps its lock while it loads a library, not while it calls a
    # function of one.
    load = ctypes.CDLL(None).dlopen
    load.argtypes = [ctypes.c_char_p, ctypes.c_int]
    load.restype = ctypes.c_void_p

    def load_all():
        for file in files:
            load(file, os.RTLD_NOW)

    threading.Thread(target=load_all, daemon=True).start()


def _set(key, path):
    library = _libraries[key]
    with _LOCK:
        if library.handle:
            raise FusionError.of("FUS-1303",
                                 f"{library.file_name} is already loaded",
                                 "choose the library before its first use")
        library.path = pathlib.Path(path)


def set_runtime_library(path: typing.Union[str, os.PathLike]) -> None:
    """Chooses the libfusion-rt.so to use; before its first use only."""
    _set("runtime", path)


def set_compiler_library(path: typing.Union[str, os.PathLike]) -> None:
    """Chooses the libfusion-c.so to use; before its first use only."""
    _set("compiler", path)
