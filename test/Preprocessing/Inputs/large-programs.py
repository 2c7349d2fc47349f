"""Prints a program of a kind that is one step larger than the compiler takes,
or, with a third argument, as large as it takes."""

import sys

KIND, LIMIT = sys.argv[1], int(sys.argv[2])
COUNT = LIMIT + (0 if len(sys.argv) > 3 else 1)
T = "tensor<4xf32>"


def chain(count, kind=T, first="%x", indent="  "):
    """`count` adds, each of the one before."""
    lines, last = [], first
    for i in range(count):
        lines.append(f"{indent}%v{i} = arith.addf {last}, {first} : {kind}")
        last = f"%v{i}"
    return "\n".join(lines), last


def function(name, body, last, arguments=f"%x: {T}"):
    return (f"func.func {name}({arguments}) -> {T} {{\n{body}\n"
            f"  return {last} : {T}\n}}")


if KIND == "ops":
    print(function("@f", *chain(COUNT - 2)))  # and return, and the function
elif KIND == "calls":
    # Each calls the one before twice.
    print(function("private @f0", *chain(1)))
    for i in range(1, COUNT):
        print(function(f"private @f{i}" if i < COUNT - 1 else f"@f{i}",
                       f"  %a = call @f{i - 1}(%x) : ({T}) -> {T}\n"
                       f"  %b = call @f{i - 1}(%a) : ({T}) -> {T}", "%b"))
elif KIND == "functions":
    # 1,000 functions of 100 ops each, or a little more.
    for i in range(1000):
        print(function(f"@f{i}", *chain(98 + (COUNT > LIMIT))))
elif KIND == "rank":
    kind = f"tensor<{'x'.join(['1'] * COUNT)}xf32>"
    print(f"func.func @f(%x: {kind}) -> {kind} {{\n  return %x : {kind}\n}}")
elif KIND == "tensors":
    names = [f"%a{i}" for i in range(COUNT)]
    kinds = ", ".join(["tensor<1xf32>"] * COUNT)
    result = f"tensor<{COUNT}xf32>"
    print(f"func.func @f({', '.join(f'{n}: tensor<1xf32>' for n in names)}) "
          f"-> {result} {{\n"
          f"  %c = tensor.concat dim(0) {', '.join(names)} : ({kinds}) -> "
          f"{result}\n  return %c : {result}\n}}")
elif KIND == "arguments":
    print(function("@f", *chain(1, first="%a0"),
                   ", ".join(f"%a{i}: {T}" for i in range(COUNT - 1))))
elif KIND == "loops":
    # Two inputs and one output of up to 16 dimensions name all loops.
    dims = [f"d{i}" for i in range(COUNT)]
    parts = [dims[:16], dims[16:32], dims[32:48]]
    kinds = [f"tensor<{'x'.join(['1'] * len(p))}{'x' if p else ''}f32>"
             for p in parts]
    maps = [f"affine_map<({', '.join(dims)}) -> ({', '.join(p)})>"
            for p in parts]
    iterators = ", ".join('"parallel"' if i >= 32 else '"reduction"'
                          for i in range(COUNT))
    print(f"""func.func @f(%a: {kinds[0]}, %b: {kinds[1]}, %e: {kinds[2]})
    -> {kinds[2]} {{
  %r = linalg.generic {{indexing_maps = [{', '.join(maps)}],
      iterator_types = [{iterators}]}}
      ins(%a, %b : {kinds[0]}, {kinds[1]}) outs(%e : {kinds[2]}) {{
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  }} -> {kinds[2]}
  return %r : {kinds[2]}
}}""")
elif KIND == "body":
    body, last = chain(COUNT - 1, "f32", "%a", "    ")
    print(f"""func.func @f(%x: {T}, %e: {T}) -> {T} {{
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>,
      affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      ins(%x : {T}) outs(%e : {T}) {{
  ^bb0(%a: f32, %o: f32):
{body}
    linalg.yield {last} : f32
  }} -> {T}
  return %r : {T}
}}""")
