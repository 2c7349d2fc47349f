// What a step has of a vector along the walk, the logarithms of sums of rows that
// are walked, comes through the ring as well, and lanes read it as they use it:
// no loads from memory, no exchange between threads.

// RUN: fusion-compile %s --target=sm_90a --compile-to=tile -o - | FileCheck %s
// RUN: fusion-compile %s --target=sm_90a --compile-to=ptx -o - | FileCheck %s --check-prefix=PTX --implicit-check-not=ld.global

// CHECK: fusion_tile.program @matmul
// CHECK: fusion_tile.make_ring {{.*}}!fusion_tile.buffer<1x128xf32
// CHECK: fusion_tile.mma_async
// CHECK: fusion_tile.local_load {{.*}}<1x128xf32{{.*}} -> tensor<1x128xf32, #fusion_tile.layout<"{reg=[{{\[}}0,1],[0,8],[0,16],[0,32],[0,64]]
// CHECK-NOT: fusion_tile.local_store {{.*}}f32
// CHECK: fusion_tile.mma_wait
// PTX: ld.shared.v2.b32
#qk = affine_map<(b, i, j, e) -> (b, i, e)>
#kk = affine_map<(b, i, j, e) -> (b, j, e)>
#s = affine_map<(b, i, j, e) -> (b, i, j)>
#all = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
func.func @main(%q: tensor<64x4096x64xbf16>, %k: tensor<64x4096x64xbf16>, %g: tensor<64x4096x64xbf16>, %l: tensor<64x4096xf32>) -> tensor<64x4096x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x4096x4096xf32>) -> tensor<64x4096x4096xf32>
  %s = linalg.contract indexing_maps = [#qk, #kk, #s] ins(%q, %k : tensor<64x4096x64xbf16>, tensor<64x4096x64xbf16>) outs(%f : tensor<64x4096x4096xf32>) -> tensor<64x4096x4096xf32>
  %h = tensor.empty() : tensor<64x4096x4096xbf16>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %l : tensor<64x4096x4096xf32>, tensor<64x4096xf32>) outs(%h : tensor<64x4096x4096xbf16>) {
  ^bb0(%a: f32, %b: f32, %o: bf16):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<64x4096x4096xbf16>
  %r = tensor.empty() : tensor<64x4096x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<64x4096x64xf32>) -> tensor<64x4096x64xf32>
  %dv = linalg.contract indexing_maps = [#s, #qk, #kk] ins(%p, %g : tensor<64x4096x4096xbf16>, tensor<64x4096x64xbf16>) outs(%z : tensor<64x4096x64xf32>) -> tensor<64x4096x64xf32>
  return %dv : tensor<64x4096x64xf32>
}
