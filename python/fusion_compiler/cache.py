# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages on disk, by the program and the compiler that made them.

A package is a file named by a hash of the program's text, the target, the
options and the compiler's library, in `$FUSION_CACHE_DIR`, by default
`~/.cache/fusion`; an empty `FUSION_CACHE_DIR` means none. Files appear whole,
by a rename, so that writers of several processes do no harm: the last wins,
and all wrote the same. A file that is damaged is compiled again.
"""

import hashlib
import os
import pathlib

from fusion_compiler import libraries
from fusion_compiler.files import write_whole

# Grows when what is stored under a key changes its meaning.
_FORMAT = b"fusion-cache-1"


def folder():
    """Where packages are kept; None where they are not."""
    place = os.environ.get("FUSION_CACHE_DIR")
    if place is None:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.join(
            os.path.expanduser("~"), ".cache")
        place = os.path.join(home, "fusion")
    return pathlib.Path(place) if place else None


def _compiler():
    """What tells one compiler from another: its file's size and time."""
    path = pathlib.Path(libraries.path("compiler"))
    if not path.exists():  # The system's loader found it by its name.
        with open("/proc/self/maps") as maps:
            path = next(pathlib.Path(line.split()[-1]) for line in maps
                        if line.rstrip().endswith(path.name))
    status = path.stat()
    return f"{status.st_size}:{status.st_mtime_ns}"


def key(*parts):
    """A name for what is made of these texts by this compiler."""
    digest = hashlib.blake2b(_FORMAT, digest_size=20)
    for part in (_compiler(), *map(str, parts)):
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def find(name):
    """The bytes kept under a key, or None."""
    place = folder()
    if place is None:
        return None
    try:
        data = (place / name[:2] / name).read_bytes()
    except OSError:
        return None
    # The last bytes are a hash of the others.
    kept, check = data[:-16], data[-16:]
    if hashlib.blake2b(kept, digest_size=16).digest() != check:
        return None
    return kept


def keep(name, data):
    """Keeps bytes under a key; where that cannot be done, it is not."""
    place = folder()
    if place is None:
        return
    check = hashlib.blake2b(data, digest_size=16).digest()
    try:
        target = place / name[:2]
        target.mkdir(parents=True, exist_ok=True)
        write_whole(target / name, data + check)
    except OSError:
        pass
