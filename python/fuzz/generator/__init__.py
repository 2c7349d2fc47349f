# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs, valid by construction, one for each seed."""

import random
import re

from . import fusionops, patterns, pointwise, reductions, tensors, tosa
from .core import Program, Refused, count

FAMILIES = {"pointwise": (pointwise, 4), "reductions": (reductions, 4),
            "tensors": (tensors, 3), "fusion": (fusionops, 4),
            "patterns": (patterns, 3), "tosa": (tosa, 2)}
TARGETS = ("sm_90a", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_100a",
           "sm_120")
# Of the largest value between contractions, in bytes.
LIMITS = (256, 2048, 16384, 131072)


class Generated:
    """A program, the options to run it with, and what it was made of."""

    def __init__(self, seed, text, options, builders):
        self.seed = seed
        self.text = text
        self.options = options
        self.builders = builders

    def file_text(self):
        """The program under a line that says how to run it."""
        return f"// fuzz: {' '.join(self.options)}\n{self.text}"


def generate(seed, family=None, **options):
    """The program of a seed. With a family, half of its ops are from there;
    TOSA, which has no dynamic sizes here, mixes with all others."""
    rng = random.Random(f"fusion {seed} {family}")
    for _ in range(100):
        program = Program(rng, options)
        results = _build(program, family)
        if results:
            return Generated(seed, program.text(results),
                             _options(program), program.used)
    raise RuntimeError(f"seed {seed} gives no program")


def _build(p, family):
    chosen = family or p.rng.choices(
        list(FAMILIES), [weight for _, weight in FAMILIES.values()])[0]
    steps = p.rng.choices((1, 2, 3, 4, 5, 7, 9), (2, 4, 5, 4, 3, 2, 1))[0]
    made = []
    for _ in range(4 * steps):
        if len(made) >= steps:
            break
        name = chosen if p.chance(0.55) else p.rng.choices(
            list(FAMILIES), [weight for _, weight in FAMILIES.values()])[0]
        value = _step(p, name)
        if value is not None:
            made.append(value)
    if not made:
        return None
    _contracts(p)
    return _results(p, made)


def _step(p, family):
    """Runs one builder; what a refused one wrote is taken back."""
    builders = FAMILIES[family][0].BUILDERS
    builder = p.rng.choices(list(builders), list(builders.values()))[0]
    state = (len(p.lines), len(p.arguments), len(p.values),
             dict(p.constants), dict(p.flags))
    sources = {id(v): [d.source for d in v.dims] for v in p.values}
    dims = [(d, d.source) for d in p.sizes]
    try:
        value = builder(p)
        if value.is_float() and value.magnitude > 1e30:
            raise Refused("out of range")
        if count(value.dims) > 1 << 16:
            raise Refused("too large")
    except (Refused, OverflowError, ValueError, IndexError,
            ZeroDivisionError):
        lines, arguments, values, constants, flags = state
        del p.lines[lines:], p.arguments[arguments:], p.values[values:]
        p.constants, p.flags = constants, flags
        for value in p.values:
            for dim, source in zip(value.dims, sources[id(value)]):
                dim.source = source
        for dim, source in dims:
            dim.source = source
        return None
    p.used.append(f"{family}.{builder.__name__.strip('_')}")
    return value


# Ops on whole tensors that take an attribute before their types.
_PLAIN = re.compile(r"%\S+ = (?:fusion|arith|math)\.[^{\n]* : [^\n]*tensor")


def _contracts(p):
    """Now and then what users ask of the planner."""
    for name, share in (("fusion.never", 0.06), ("fusion.must", 0.02)):
        plain = [i for i, line in enumerate(p.lines) if _PLAIN.match(line) and
                 "arith.constant" not in line and "fusion.scan" not in line]
        if plain and p.chance(share):
            at = p.rng.choice(plain)
            head, tail = p.lines[at].split(" : ", 1)
            p.lines[at] = f"{head} {{{name}}} : {tail}"
            p.used.append(name)
    if p.chance(0.03):
        p.attributes.append(f"fusion.max_kernels = {len(p.lines)} : i64")
        p.used.append("fusion.max_kernels")
    if p.chance(0.05):
        p.attributes.append("fusion.tf32")
        p.used.append("fusion.tf32")


def _results(p, made):
    """What is returned: the last value, and some of those before it."""
    results = [made[-1]]
    for value in reversed(made[:-1]):
        used = any(f"{value.name}," in line or f"{value.name} " in line or
                   f"{value.name})" in line or f"{value.name}[" in line
                   for line in p.lines
                   if not line.startswith(value.name.split("#")[0]))
        if not used or p.chance(0.15):
            results.append(value)
    return results[:5]


def _options(p):
    """The command line of fusion-run for the program."""
    options = [f"--seed={p.rng.randrange(1000)}"]
    target = p.rng.choice(TARGETS)
    options.append(f"--target={target}")
    if p.chance(0.25):
        options.append("--numerics=fast")
    if p.chance(0.4):
        options.append("--asynchrony=early")
    options += [f"--dim={name}={size}"
                for name, size in sorted(p.flags.items())]
    # Values between contractions that are made in parts.
    if p.chance(0.3):
        options.append(f"--largest-value={p.rng.choice(LIMITS)}")
    return options
