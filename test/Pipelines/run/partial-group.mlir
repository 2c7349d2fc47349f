// RUN: fusion-compile %s --compile-to=ptx -o - | FileCheck %s
// RUN: fusion-compile %s --target=sm_89 --compile-to=ptx -o - | FileCheck %s
// RUN: fusion-compile %s -o %t.fpk
// RUN: fusion-run %t.fpk --reference=%S/Inputs/partial-group.mlir --device=emulator --random --verify

// The last three of seven elements are a part of a group of four. LLVM may fill
// up what a thread loads to a wider access where it knows that one to be
// aligned, here beyond the end of the tensor; the group before is no reason to
// believe that.

// CHECK: ld.global.v4.b16 {{.*}}, [[[V:%rd[0-9]+]]];
// CHECK-NOT: [[[V]]+{{.*}}]
// CHECK: ld.global.b16 %rs{{[0-9]+}}, [[[V]]+8];
// CHECK: ld.global.b16 %rs{{[0-9]+}}, [[[V]]+10];
// CHECK: ld.global.b16 %rs{{[0-9]+}}, [[[V]]+12];
// CHECK-NOT: [[[V]]+{{.*}}]

#vector = affine_map<(n, k) -> (k)>
#matrix = affine_map<(n, k) -> (k, n)>
#result = affine_map<(n, k) -> (n)>
func.func @main(%v: tensor<7xf16>, %m: tensor<7x32xf16>) -> tensor<32xf32> {
  %r = fusion.kernel @sum ins(%v, %m : tensor<7xf16>, tensor<7x32xf16>) -> (tensor<32xf32>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 32, vector = 8>, #fusion.axis<loop, tile = 4>], warps = 1>} {
  ^bb0(%a: tensor<7xf16>, %b: tensor<7x32xf16>):
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<32xf32>
    %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<32xf32>) -> tensor<32xf32>
    %sum = linalg.generic {indexing_maps = [#vector, #matrix, #result], iterator_types = ["parallel", "reduction"]} ins(%a, %b : tensor<7xf16>, tensor<7x32xf16>) outs(%none : tensor<32xf32>) {
    ^bb0(%x: f16, %y: f16, %out: f32):
      %f = arith.extf %x : f16 to f32
      %g = arith.extf %y : f16 to f32
      %p = arith.mulf %f, %g : f32
      %s = arith.addf %out, %p : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    fusion.yield %sum : tensor<32xf32>
  }
  return %r : tensor<32xf32>
}
