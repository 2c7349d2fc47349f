"""Writes a function of so many small convolutions, and a large one behind them.

    many_convolutions.py COUNT
"""

import sys


def conv(name, image, filters, result):
    return (f"  %{name} = fusion.conv nchw %x{name}, %w{name} : "
            f"(tensor<{image}xbf16>, tensor<{filters}xbf16>)"
            f" -> tensor<{result}xbf16>\n")


def main(count):
    small = ("1x16x9x9", "16x16x3x3", "1x16x7x7")
    large = ("64x256x56x56", "256x256x3x3", "64x256x54x54")
    shapes = [small] * count + [large]
    arguments = ", ".join(f"%x{i}: tensor<{image}xbf16>, "
                          f"%w{i}: tensor<{filters}xbf16>"
                          for i, (image, filters, _) in enumerate(shapes))
    results = ", ".join(f"tensor<{result}xbf16>" for *_, result in shapes)
    print(f"func.func @main({arguments}) -> ({results}) {{")
    print("".join(conv(i, *shape) for i, shape in enumerate(shapes)), end="")
    print(f"  return {', '.join(f'%{i}' for i in range(len(shapes)))} : "
          f"{results}\n}}")


main(int(sys.argv[1]))
