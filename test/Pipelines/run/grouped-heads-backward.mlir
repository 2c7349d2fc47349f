// Gradients of keys that several heads share: the walk runs through the queries of
// one head after the other, within the limits of the mask for each. Of so few rows
// two kernels would be as fast, which `fusion.must` refuses.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a | FileCheck %s
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=3 --verify --entry=causal
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=3 --verify --asynchrony=early --entry=causal
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=4 --verify --entry=full

#q = affine_map<(b, h, g, i, j, e) -> (b, h, g, i, e)>
#k = affine_map<(b, h, g, i, j, e) -> (b, h, j, e)>
#s = affine_map<(b, h, g, i, j, e) -> (b, h, g, i, j)>
#all = affine_map<(b, h, g, i, j) -> (b, h, g, i, j)>
#row = affine_map<(b, h, g, i, j) -> (b, h, g, i)>

// CHECK-LABEL: func.func @causal(
// CHECK: fusion.kernel {{.*}} -> (tensor<2x2x512x32xf32>)
// CHECK-SAME: #fusion.axis<loop, tile = 1>, #fusion.axis<sequential, tile = {{[0-9]+}}, limited>
// CHECK-NOT: fusion.kernel
// CHECK: return
func.func @causal(%q: tensor<2x2x2x512x32xbf16>, %k: tensor<2x2x512x32xbf16>, %v: tensor<2x2x512x32xbf16>, %g: tensor<2x2x2x512x32xbf16>, %l: tensor<2x2x2x512xf32>, %d: tensor<2x2x2x512xf32>) -> tensor<2x2x512x32xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.176776695 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x2x2x512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x2x512x512xf32>) -> tensor<2x2x2x512x512xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x2x2x512x32xbf16>, tensor<2x2x512x32xbf16>) outs(%f : tensor<2x2x2x512x512xf32>) -> tensor<2x2x2x512x512xf32>
  %dp = linalg.contract indexing_maps = [#q, #k, #s] ins(%g, %v : tensor<2x2x2x512x32xbf16>, tensor<2x2x512x32xbf16>) outs(%f : tensor<2x2x2x512x512xf32>) -> tensor<2x2x2x512x512xf32>
  %h = tensor.empty() : tensor<2x2x2x512x512xbf16>
  %ds = linalg.generic {indexing_maps = [#all, #row, #all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"], fusion.must}
      ins(%s, %l, %dp, %d : tensor<2x2x2x512x512xf32>, tensor<2x2x2x512xf32>, tensor<2x2x2x512x512xf32>, tensor<2x2x2x512xf32>) outs(%h : tensor<2x2x2x512x512xbf16>) {
  ^bb0(%a: f32, %lse: f32, %c: f32, %delta: f32, %o: bf16):
    %0 = arith.mulf %a, %scale : f32
    %1 = arith.subf %0, %lse : f32
    %i = linalg.index 3 : index
    %j = linalg.index 4 : index
    %isPast = arith.cmpi sgt, %j, %i : index
    %masked = arith.select %isPast, %lowest, %1 : f32
    %2 = math.exp %masked : f32
    %3 = arith.subf %c, %delta : f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.mulf %4, %scale : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<2x2x2x512x512xbf16>
  %r = tensor.empty() : tensor<2x2x512x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<2x2x512x32xf32>) -> tensor<2x2x512x32xf32>
  %dk = linalg.contract indexing_maps = [#s, #q, #k] ins(%ds, %q : tensor<2x2x2x512x512xbf16>, tensor<2x2x2x512x32xbf16>) outs(%z : tensor<2x2x512x32xf32>) -> tensor<2x2x512x32xf32>
  return %dk : tensor<2x2x512x32xf32>
}

// Three heads of which none is a whole number of steps, and products alone.
// CHECK-LABEL: func.func @full(
// CHECK: #fusion.axis<loop, tile = 1>, #fusion.axis<sequential, tile = {{[0-9]+}}>
// CHECK-NOT: fusion.kernel
// CHECK: return
func.func @full(%q: tensor<4x3x1000x32xf16>, %k: tensor<4x1000x32xf16>, %v: tensor<4x3x1000x32xf16>) -> tensor<4x1000x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x3x1000x1000xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x3x1000x1000xf32>) -> tensor<4x3x1000x1000xf32>
  %s = linalg.contract indexing_maps = [affine_map<(h, g, i, j, e) -> (h, g, i, e)>, affine_map<(h, g, i, j, e) -> (h, j, e)>, affine_map<(h, g, i, j, e) -> (h, g, i, j)>] ins(%q, %k : tensor<4x3x1000x32xf16>, tensor<4x1000x32xf16>) outs(%f : tensor<4x3x1000x1000xf32>) -> tensor<4x3x1000x1000xf32>
  %h = tensor.empty() : tensor<4x3x1000x1000xf16>
  %p = linalg.generic {indexing_maps = [affine_map<(h, g, i, j) -> (h, g, i, j)>, affine_map<(h, g, i, j) -> (h, g, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<4x3x1000x1000xf32>) outs(%h : tensor<4x3x1000x1000xf16>) {
  ^bb0(%a: f32, %o: f16):
    %0 = arith.maximumf %a, %zero : f32
    %1 = arith.truncf %0 : f32 to f16
    linalg.yield %1 : f16
  } -> tensor<4x3x1000x1000xf16>
  %r = tensor.empty() : tensor<4x1000x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<4x1000x32xf32>) -> tensor<4x1000x32xf32>
  %o = linalg.contract indexing_maps = [affine_map<(h, g, i, j, e) -> (h, g, i, j)>, affine_map<(h, g, i, j, e) -> (h, g, i, e)>, affine_map<(h, g, i, j, e) -> (h, j, e)>] ins(%p, %v : tensor<4x3x1000x1000xf16>, tensor<4x3x1000x32xf16>) outs(%z : tensor<4x1000x32xf32>) -> tensor<4x1000x32xf32>
  return %o : tensor<4x1000x32xf32>
}
