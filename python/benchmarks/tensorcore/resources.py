# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kernels need of a multiprocessor: predicted, allocated, and by ptxas."""

import dataclasses
import hashlib
import pathlib
import re
import shutil
import subprocess

from . import schedules

_KERNEL = re.compile(
    r"fusion\.kernel @(\w+) .*?estimate = #fusion\.estimate<(.*?)>"
    r"(.*?)program = @(\w+)(.*)")
_PROGRAM = re.compile(r"fusion_tile\.program @(\w+)\(.*?\) attributes \{(.*)\} \{")
_PROPERTIES = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, "
                         r"(\d+) bytes spill loads")


@dataclasses.dataclass
class Assembled:
    """What ptxas says of one kernel; `advisories` are its remarks on what it
    could not do, C75xx among them."""
    registers: int
    stack: int
    spills: int
    advisories: list


@dataclasses.dataclass
class Kernel:
    """`schedule` is None where there is no product. `assembled` is the kernel
    as it is launched; `needed` the registers of a thread when nothing limits
    or moves them, which is what the model predicts: a kernel that moves
    registers between its warps has the same number at its launch whatever its
    warps need."""
    name: str
    schedule: object
    predicted_registers: int
    predicted_shared: int
    shared: int
    assembled: Assembled = None
    needed: int = None


class ToolError(Exception):
    pass


def _run(command):
    try:
        result = subprocess.run(command, capture_output=True, text=True,
                                stdin=subprocess.DEVNULL, timeout=240)
    except subprocess.TimeoutExpired:
        raise ToolError(f"{command[0]}: no result within 240 s") from None
    if result.returncode != 0:
        raise ToolError((result.stdout + result.stderr).strip()
                        or f"{command[0]}: status {result.returncode}")
    return result.stdout + result.stderr


def _number(key, text):
    found = re.search(rf"\b{key} = (\d+)", text)
    return int(found.group(1)) if found else 0


def _name_launch(programs, known):
    """The name of the kernel that starts `programs` together: fusion-gpu-
    pack-kernels gives it."""
    name = f"{programs[0]}_and_{len(programs) - 1}_more"
    names = [name] + [f"{name}_{i}" for i in range(len(known))]
    return next(each for each in names
                if known.setdefault(each, programs) == programs)


def read_kernels(text):
    """The kernels of a module after the tile phase, by name. Of those that
    start together, the needs of the neediest."""
    programs = {name: attributes
                for name, attributes in _PROGRAM.findall(text)}
    kernels, launches, alone = {}, {}, set()
    for _, estimate, between, program, rest in _KERNEL.findall(text):
        launch = re.search(r"launch = #fusion\.launch<(\d+)", between)
        if launch:
            launches.setdefault(launch.group(1), []).append(program)
        else:
            alone.add(program)
        found = schedules.find(rest)
        kernels[program] = Kernel(
            program, found[0] if found else None,
            _number("registers", estimate), _number("shared_bytes", estimate),
            _number("shared_bytes", programs[program]))
    result, known = {name: kernels[name] for name in alone}, {}
    for started in launches.values():
        members = [kernels[program] for program in started]
        name = _name_launch(started, known)
        result[name] = Kernel(
            name, None, max(each.predicted_registers for each in members),
            max(each.predicted_shared for each in members),
            max(each.shared for each in members))
    return result


def split_modules(ptx):
    """[(kernel, text)]: a file of several modules has one kernel in each."""
    parts = re.split(r"(?m)^(?=\.version )", ptx)
    modules = [part for part in parts[1:]]
    return [(re.search(r"\.entry (\w+)", text).group(1), text)
            for text in modules]


def without_limits(ptx):
    """The kernel with all registers that a thread can have, moving none."""
    ptx = re.sub(r"(?m)^\s*setmaxnreg\..*\n", "", ptx)
    ptx = re.sub(r"(?m)^\.minnctapersm .*\n", "", ptx)
    # Registers of 256 threads are not limited by there being 64 Ki of them.
    return re.sub(r"(?m)^\.reqntid (\d+)(?=, 1, 1)",
                  lambda m: f".reqntid {min(int(m.group(1)), 256)}", ptx)


class Assembler:
    """Runs ptxas, once for kernels that differ in their names only."""

    def __init__(self, target, directory):
        self.target, self.directory, self.known = target, directory, {}

    def assemble(self, name, ptx):
        key = hashlib.sha256(
            re.sub(rf"\b{name}(?=\b|_)", "kernel", ptx).encode()).digest()
        if key not in self.known:
            path = pathlib.Path(self.directory) / f"{key.hex()[:16]}.ptx"
            path.write_text(ptx)
            self.known[key] = parse_log(_run(
                ["ptxas", "-v", f"-arch={self.target}", path, "-o",
                 path.with_suffix(".cubin")]))
        return self.known[key]


def parse_log(log):
    """The only kernel of a log of ptxas -v."""
    frames = [tuple(map(int, found)) for found in _PROPERTIES.findall(log)]
    registers = re.search(r"Used (\d+) registers", log)
    if not frames or not registers:
        raise ToolError(f"ptxas said nothing of the kernel:\n{log}")
    return Assembled(
        int(registers.group(1)), max(frame[0] for frame in frames),
        sum(frame[1] + frame[2] for frame in frames),
        [line.split(" : ", 1)[-1].strip() for line in log.splitlines()
         if "(C7" in line or "Potential Performance Loss" in line
         or "warning" in line.lower()])


def _compiler_of(program, compiler, target, directory):
    """Compiles `program` to a phase, and gives the text."""
    directory = pathlib.Path(directory)
    source, out = directory / "program.mlir", directory / "out"
    source.write_text(program)

    def compile_to(phase):
        _run([compiler, source, f"--target={target}",
              f"--compile-to={phase}", "-o", out])
        return out.read_text()

    return compile_to


def examine_loops(program, compiler, target, assembler, directory):
    """The kernels of a program that have no product; without an assembler,
    what the compiler says of them."""
    compile_to = _compiler_of(program, compiler, target, directory)
    kernels = {name: kernel
               for name, kernel in read_kernels(compile_to("tile")).items()
               if not kernel.schedule}
    if assembler:
        for name, ptx in split_modules(compile_to("ptx")):
            if name in kernels:
                kernels[name].assembled = assembler.assemble(name, ptx)
    return list(kernels.values())


def examine(program, compiler, assembler, directory, needs=True):
    """The kernels of a program, compiled for the assembler's target."""
    compile_to = _compiler_of(program, compiler, assembler.target, directory)
    kernels = read_kernels(compile_to("tile"))
    for name, ptx in split_modules(compile_to("ptx")):
        kernel = kernels.get(name)
        if kernel is None:
            raise ToolError(f"no estimate of kernel {name}")
        kernel.assembled = assembler.assemble(name, ptx)
        if needs and kernel.schedule and kernel.schedule.mma:
            free = without_limits(ptx)
            kernel.needed = assembler.assemble(name, free).registers
    return list(kernels.values())


# Tiles of the epilogue that are exchanged between threads are allocated by
# what happens to be live; the model has an upper bound of most. What the
# epilogue gathers, as the angles of a rotation, has rings that the model does
# not know, for which one of the buffers that it counts gives way.
_SHARED_MORE, _SHARED_LESS = 0.04, 0.08


# To have more warps at a time, ptxas keeps a value or two of some small kernels
# in memory although it takes few registers.
_CHOSEN_SPILLS, _FEW_REGISTERS = 16, 72


def complaints(kernel, predicted=True):
    """Why a kernel is not as it should be, as texts; `predicted`: nor as the
    compiler says that it is."""
    found = []
    made = kernel.assembled
    if made is None:
        return ["there is no PTX of it"]
    chosen = made.registers < _FEW_REGISTERS and made.spills <= _CHOSEN_SPILLS
    if made.spills and not chosen:
        found.append(f"spills {made.spills} bytes")
    if made.stack > (_CHOSEN_SPILLS if chosen else 0):
        found.append(f"has a stack of {made.stack} bytes")
    found += made.advisories
    wgmma = kernel.schedule and kernel.schedule.kind == "wgmma"
    error = kernel.shared - (kernel.predicted_shared or 0)
    if predicted and wgmma and not (-_SHARED_LESS * kernel.shared <= error <=
                                    _SHARED_MORE * kernel.shared):
        found.append(f"has {kernel.shared} bytes of shared memory, not "
                     f"{kernel.predicted_shared} as predicted")
    return found


def find_assembler():
    return shutil.which("ptxas")
