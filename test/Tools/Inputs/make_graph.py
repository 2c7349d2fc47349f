"""Writes a program of about so many operations: layers of a residual network
whose branches fork and join.

make_graph.py COUNT > graph.mlir
"""

import sys

ROWS, WIDTH = 512, 256
MATRIX, WEIGHT, ROW = f"tensor<{ROWS}x{WIDTH}xf32>", f"tensor<{WIDTH}x{WIDTH}xf32>", f"tensor<{ROWS}xf32>"


class Program:
    """The body of a function, one operation a line."""

    def __init__(self):
        self.lines = []
        self.operations = 0

    def add(self, text, counts=True):
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        self.operations += counts
        return name

    def apply(self, op, *operands):
        return self.add(f"{op} {', '.join(operands)} : {MATRIX}")

    def product(self, x, weight):
        return self.add(f"linalg.matmul ins({x}, {weight} : {MATRIX}, {WEIGHT}) "
                        f"outs(%zeros : {MATRIX}) -> {MATRIX}")

    def mean_free(self, x):
        """`x` less the sum of its row, scaled down."""
        total = self.add(f"linalg.reduce {{ arith.addf }} ins({x} : {MATRIX}) "
                         f"outs(%zero_row : {ROW}) dimensions = [1]")
        wide = self.add(f"linalg.broadcast ins({total} : {ROW}) "
                        f"outs(%empty : {MATRIX}) dimensions = [1]")
        return self.apply("arith.subf", x, self.apply("arith.mulf", wide, "%small"))

    def layer(self, x, number):
        """A layer of 18 operations: two branches of `x`, and `x` itself."""
        normal = self.mean_free(x)
        left = self.product(normal, f"%w{number % 4}")
        right = self.product(normal, f"%w{(number + 1) % 4}")
        gate = self.apply("math.tanh", self.apply("arith.mulf", left, "%small"))
        value = self.apply("arith.maximumf", right, "%small")
        joined = self.apply("arith.mulf", gate, value)
        out = self.product(joined, f"%w{(number + 2) % 4}")
        for op in ("math.exp", "math.sin", "math.absf") if number % 3 else ("math.cos",):
            out = self.apply(op, self.apply("arith.mulf", out, "%small"))
        return self.apply("arith.addf", x, out)


def main():
    program = Program()
    x, number = "%x", 0
    while program.operations < int(sys.argv[1]):
        x = program.layer(x, number)
        number += 1
    weights = ", ".join(f"%w{i}: {WEIGHT}" for i in range(4))
    print(f"func.func @network(%x: {MATRIX}, {weights}) -> {MATRIX} {{")
    print("  %zero = arith.constant 0.0 : f32")
    print(f"  %small = arith.constant dense<0.001> : {MATRIX}")
    print(f"  %empty = tensor.empty() : {MATRIX}")
    print(f"  %empty_row = tensor.empty() : {ROW}")
    print(f"  %zeros = linalg.fill ins(%zero : f32) outs(%empty : {MATRIX}) -> {MATRIX}")
    print(f"  %zero_row = linalg.fill ins(%zero : f32) outs(%empty_row : {ROW}) -> {ROW}")
    print("\n".join(program.lines))
    print(f"  return {x} : {MATRIX}\n}}")


if __name__ == "__main__":
    main()
