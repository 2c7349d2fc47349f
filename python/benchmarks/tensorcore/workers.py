# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A process of its own for the GPU: it may hang or die without the run.

Both sides speak lines of JSON. The worker answers a question about a case with
one line for each package and a last one, {"end": true}.
"""

import json
import os
import pathlib
import queue
import subprocess
import sys
import threading

_MAIN = pathlib.Path(__file__).resolve().parent / "worker_main.py"
_START_SECONDS = 180  # PyTorch's import and the machine's rates.


class Worker:
    """Starts the process when needed, again after each failure."""

    def __init__(self, settings, main=_MAIN):
        self._settings, self._main, self._process = settings, main, None

    def start(self):
        """What the worker says of the machine."""
        # The worker writes answers to a pipe of its own: whatever a library
        # prints to the standard output cannot be taken for one.
        reader, writer = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, self._main, str(writer)], stdin=subprocess.PIPE,
            pass_fds=[writer], text=True)
        os.close(writer)
        self._lines = queue.Queue()
        threading.Thread(target=self._read, args=(reader, self._lines),
                         daemon=True).start()
        self._send(self._settings)
        answer = self._receive(_START_SECONDS)
        return answer if answer else {"error": self._failure(_START_SECONDS)}

    def ask(self, question, limit):
        """{"rows": …} for a case, with "failure" if the process was lost; a
        package may take `limit` seconds."""
        rows = []
        if self._process is None:
            machine = self.start()
            if "error" in machine:
                return {"rows": rows, "failure": machine["error"]}
        self._send(question)
        while True:
            answer = self._receive(limit)
            if answer is None:
                return {"rows": rows, "failure": self._failure(limit)}
            if "end" in answer:
                return {"rows": rows}
            if "failure" in answer:
                self.stop()  # Graphs that failed leave the context in doubt.
                return {"rows": rows, "failure": answer["failure"]}
            if "partial" in answer:  # A time for a row that was checked.
                rows[answer["index"]].update(answer["partial"])
                continue
            rows.append(answer)
            if answer.get("broken"):
                # The context is lost: the next package gets a new process.
                self.stop()
                return {"rows": rows}

    def stop(self):
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _failure(self, limit):
        """Why there was no answer; the process is gone afterwards."""
        try:  # Its pipe is closed a moment before it is gone.
            status = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            status = None
        self.stop()
        if status is None:
            return f"no answer within {limit:.0f} s"
        return f"the process ended with status {status}"

    def _send(self, message):
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # It died; the missing answer says so.

    def _receive(self, limit):
        try:
            line = self._lines.get(timeout=limit)
        except queue.Empty:
            return None
        return json.loads(line) if line else None

    @staticmethod
    def _read(descriptor, lines):
        with os.fdopen(descriptor) as stream:
            for line in stream:
                lines.put(line)
        lines.put(None)
