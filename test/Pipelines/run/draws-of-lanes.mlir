// What is drawn for eight elements side by side is drawn once in a walk, too: lanes
// have fragments of products, two neighbours or one, and draw for each other.

// RUN: split-file %s %t
// RUN: fusion-compile %t/pairs.mlir --target=sm_90a --explain -o %t.fpk | FileCheck %s --check-prefix=PLAN
// RUN: fusion-compile %t/rows.mlir --target=sm_90a --explain -o %t.fpk | FileCheck %s --check-prefix=PLAN
// RUN: fusion-run %t/pairs.mlir --target=sm_90a --device=emulator --random --seed=3 --verify | FileCheck %s
// RUN: fusion-run %t/rows.mlir --target=sm_90a --device=emulator --random --seed=4 --verify | FileCheck %s
// RUN: fusion-compile %t/pairs.mlir --target=sm_90a --compile-to=ptx -o - | FileCheck %s --check-prefix=PAIRS
// RUN: fusion-compile %t/rows.mlir --target=sm_90a --compile-to=ptx -o - | FileCheck %s --check-prefix=ROWS

// PLAN: unfused -> 1
// CHECK: {{^}}verified

// A lane has 64 elements of a step of 128 keys, in the loop and before it: eight
// draws of twelve products each, one more of the key. Words go to four lanes.
// PAIRS-COUNT-193: mul.wide.u32 wide
// PAIRS-NOT: mul.wide.u32 wide

// The same of rows, of which lanes have one element each.
// ROWS-COUNT-193: mul.wide.u32 wide
// ROWS-NOT: mul.wide.u32 wide

//--- pairs.mlir
func.func @main(%q: tensor<2x2x200x64xf16>, %k: tensor<2x2x200x64xf16>, %v: tensor<2x2x200x64xf16>, %s: i64) -> tensor<2x2x200x64xf16> {
  %0 = fusion.attention %q, %k, %v seed(%s) {dropout = 0.1 : f64, op_id = 3 : i64} : (tensor<2x2x200x64xf16>, tensor<2x2x200x64xf16>, tensor<2x2x200x64xf16>, i64) -> tensor<2x2x200x64xf16>
  return %0 : tensor<2x2x200x64xf16>
}

//--- rows.mlir
#q = affine_map<(b, i, j, e) -> (b, i, e)>
#k = affine_map<(b, i, j, e) -> (b, j, e)>
#s = affine_map<(b, i, j, e) -> (b, i, j)>
#all = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
func.func @main(%q: tensor<2x256x64xf16>, %k: tensor<2x256x64xf16>, %g: tensor<2x256x64xf16>, %l: tensor<2x256xf32>, %seed: i64) -> tensor<2x256x64xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<2x256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x256x256xf32>) -> tensor<2x256x256xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x256x64xf16>, tensor<2x256x64xf16>) outs(%f : tensor<2x256x256xf32>) -> tensor<2x256x256xf32>
  %h = tensor.empty() : tensor<2x256x256xf16>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %l : tensor<2x256x256xf32>, tensor<2x256xf32>) outs(%h : tensor<2x256x256xf16>) {
  ^bb0(%a: f32, %lse: f32, %o: f16):
    %0 = arith.mulf %a, %scale : f32
    %1 = arith.subf %0, %lse : f32
    %2 = math.exp %1 : f32
    %3 = arith.truncf %2 : f32 to f16
    linalg.yield %3 : f16
  } -> tensor<2x256x256xf16>
  %d = fusion.dropout %p, %seed probability(0.1) op_id(5) : tensor<2x256x256xf16>
  %r = tensor.empty() : tensor<2x256x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<2x256x64xf32>) -> tensor<2x256x64xf32>
  %dv = linalg.contract indexing_maps = [affine_map<(b, j, e, i) -> (b, i, j)>, affine_map<(b, j, e, i) -> (b, i, e)>, affine_map<(b, j, e, i) -> (b, j, e)>] ins(%d, %g : tensor<2x256x256xf16>, tensor<2x256x64xf16>) outs(%z : tensor<2x256x64xf32>) -> tensor<2x256x64xf32>
  return %dv : tensor<2x256x64xf32>
}
