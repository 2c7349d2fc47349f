# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Philox4x32 of seven rounds (Salmon et al. 2011): as MLIR, and by PyTorch.

Element n of a tensor, counted row-major, has word n mod 4 of the draw whose
counter is n / 4 and whose key are the two words of the seed. `fusion.dropout`
draws by the same rounds (docs/Rationale/Random.md).
"""

import math

import torch

_FACTORS = 0xD2511F53, 0xCD9E8D57
_STEPS = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 7
_WORD = 0xFFFFFFFF


# --- By PyTorch --------------------------------------------------------------

def _words_of_product(word, factor):
    """(high, low word) of the product of words of 32 bits; i64 holds no
    product of them without a sign."""
    low = (word & 0xFFFF) * factor
    high = (word >> 16) * factor + (low >> 16)
    return high >> 16, (high & 0xFFFF) << 16 | low & 0xFFFF


def draw(counter, seed):
    """The four words for each number of `counter`, as tensors of i64; `seed`
    is a tensor of no dimension, of i64."""
    words = [counter & _WORD, counter >> 32,
             torch.zeros_like(counter), torch.zeros_like(counter)]
    keys = [seed & _WORD, seed >> 32 & _WORD]
    for _ in range(_ROUNDS):
        first = _words_of_product(words[0], _FACTORS[0])
        second = _words_of_product(words[2], _FACTORS[1])
        words = [second[0] ^ words[1] ^ keys[0], second[1],
                 first[0] ^ words[3] ^ keys[1], first[1]]
        keys = [key + step & _WORD for key, step in zip(keys, _STEPS)]
    return words


# --- As MLIR -----------------------------------------------------------------

class _Body:
    """Lines of a region, of integers of 32 bits."""

    def __init__(self):
        self.lines, self.constants = [], {}

    def add(self, operation, *operands, types="i32"):
        name = f"%v{len(self.lines)}"
        self.lines.append(
            f"  {name} = arith.{operation} {', '.join(operands)} : {types}")
        return name

    def constant(self, value, type_="i32"):
        if type_ == "i32" and value >= 1 << 31:
            value -= 1 << 32
        key = value, type_
        if key not in self.constants:
            name = f"%v{len(self.lines)}"
            self.lines.append(f"  {name} = arith.constant {value} : {type_}")
            self.constants[key] = name
        return self.constants[key]

    def index(self, dim):
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = linalg.index {dim} : index")
        return name

    def words(self, value):
        """(high, low word) of an i64."""
        high = self.add("shrui", value, self.constant(32, "i64"), types="i64")
        return [self.add("trunci", one, types="i64 to i32")
                for one in (high, value)]

    def words_of_product(self, word, factor):
        wide = self.add("extui", word, types="i32 to i64")
        return self.words(self.add("muli", wide, self.constant(factor, "i64"),
                                   types="i64"))

    def xor(self, *operands):
        result = operands[0]
        for one in operands[1:]:
            result = self.add("xori", result, one)
        return result

    def draw(self, counter, keys):
        """As the function `draw`, of the counter's words, the lower first."""
        zero = self.constant(0)
        words = [*counter, zero, zero]
        for number in range(_ROUNDS):
            own = [self.add("addi", key, self.constant(number * step & _WORD))
                   for key, step in zip(keys, _STEPS)]
            first = self.words_of_product(words[0], _FACTORS[0])
            second = self.words_of_product(words[2], _FACTORS[1])
            words = [self.xor(second[0], words[1], own[0]), second[1],
                     self.xor(first[0], words[3], own[1]), first[1]]
        return words

    def pick(self, words, number):
        """The word of a number, of which two bits count."""
        for bit in (1, 2):
            is_set = self.add("cmpi eq,", self.add(
                "andi", number, self.constant(bit)), self.constant(bit))
            words = [self.add("select", is_set, odd, even, types="i32")
                     for even, odd in zip(words[::2], words[1::2])]
        return words[0]


def _counted(body, sizes):
    """The number of an element, row-major, as an index."""
    number = body.constant(0, "index")
    for dim, size in enumerate(sizes):
        number = body.add("muli", number, size, types="index")
        number = body.add("addi", number, body.index(dim), types="index")
    return number


def bits(result, type_, like, seed, like_type):
    """Lines of MLIR that define `result`, a tensor of i32 of `type_` with a
    word for each element. `like` is a tensor of its sizes; `seed`, a tensor of
    no dimension, is of i64."""
    shape = [None if one == "?" else int(one)
             for one in type_[len("tensor<"):-1].split("x")[:-1]]
    own = result[1:]
    lines = [f"%seed_of_{own} = tensor.extract {seed}[] : tensor<i64>"]
    sizes, unknown = [], []
    for dim, size in enumerate(shape):
        name = f"%size{dim}_of_{own}"
        lines.append(f"{name}_at = arith.constant {dim} : index")
        lines.append(
            f"{name} = tensor.dim {like}, {name}_at : {like_type}"
            if size is None else f"{name} = arith.constant {size} : index")
        sizes.append(name)
        unknown += [name] if size is None else []
    dims = ", ".join(f"d{dim}" for dim in range(len(shape)))
    parallel = ", ".join(['"parallel"'] * len(shape))
    body = _Body()
    number = _counted(body, sizes)
    group = body.add("divui", number, body.constant(4, "index"), types="index")
    if None in shape or math.prod(shape) >= 1 << 33:
        counter = body.words(body.add("index_cast", group,
                                      types="index to i64"))[::-1]
    else:
        counter = [body.add("index_cast", group, types="index to i32"),
                   body.constant(0)]
    keys = body.words(f"%seed_of_{own}")[::-1]
    word = body.pick(body.draw(counter, keys),
                     body.add("index_cast", number, types="index to i32"))
    return [
        *lines,
        f"%memory_of_{own} = tensor.empty({', '.join(unknown)}) : {type_}",
        f"{result} = linalg.generic {{indexing_maps = [affine_map<({dims}) -> "
        f"({dims})>], iterator_types = [{parallel}]}} "
        f"outs(%memory_of_{own} : {type_}) {{",
        "^bb0(%old: i32):", *body.lines, f"  linalg.yield {word} : i32",
        f"}} -> {type_}"]
