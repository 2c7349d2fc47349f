# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that appear whole or not at all, and files with numbers."""

import itertools
import os
import pathlib
import tempfile


def write_whole(path, data):
    """Writes bytes to a file: all of them, or nothing."""
    path = pathlib.Path(path)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent,
                                             prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        # mkstemp made the file private; give it a new file's mode.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


class Numbered:
    """Files for what is made several times: F.html, F-2.html, F-3.html, …"""

    def __init__(self, first):
        self._first = None if first is None else pathlib.Path(first)
        self._numbers = itertools.count(1)

    def take(self):
        """The next one; None where no file is wanted."""
        if self._first is None:
            return None
        number = next(self._numbers)
        if number == 1:
            return self._first
        return self._first.with_name(
            f"{self._first.stem}-{number}{self._first.suffix}")
