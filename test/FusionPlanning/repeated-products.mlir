// The backward pass of attention as it is written down, each gradient a product of
// what the same scores are made into: every gradient walks by itself and makes the
// scores again, and nothing of rows times keys is in memory.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-COUNT-3: fusion.kernel @{{.*}} -> (tensor<64x4096x128xf32>)
// CHECK-NOT: fusion.kernel
// CHECK: return

#qd = affine_map<(b, i, j, k) -> (b, i, k)>
#kd = affine_map<(b, i, j, k) -> (b, j, k)>
#qk = affine_map<(b, i, j, k) -> (b, i, j)>
#all = affine_map<(b, i, j) -> (b, i, j)>
#rows = affine_map<(b, i, j) -> (b, i)>
#walkK = affine_map<(b, i, e, w) -> (b, i, w)>
#walkQ = affine_map<(b, i, e, w) -> (b, w, i)>
#kE = affine_map<(b, i, e, w) -> (b, w, e)>
#qE = affine_map<(b, i, e, w) -> (b, i, e)>

func.func @main(%q: tensor<64x4096x128xbf16>, %k: tensor<64x4096x128xbf16>, %v: tensor<64x4096x128xbf16>, %g: tensor<64x4096x128xbf16>, %l: tensor<64x4096xf32>, %d: tensor<64x4096xf32>) -> (tensor<64x4096x128xf32>, tensor<64x4096x128xf32>, tensor<64x4096x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<64x4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x4096x4096xf32>) -> tensor<64x4096x4096xf32>
  %r = tensor.empty() : tensor<64x4096x128xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<64x4096x128xf32>) -> tensor<64x4096x128xf32>
  %h = tensor.empty() : tensor<64x4096x4096xbf16>
  %s = linalg.contract indexing_maps = [#qd, #kd, #qk] ins(%q, %k : tensor<64x4096x128xbf16>, tensor<64x4096x128xbf16>) outs(%f : tensor<64x4096x4096xf32>) -> tensor<64x4096x4096xf32>
  %dp = linalg.contract indexing_maps = [#qd, #kd, #qk] ins(%g, %v : tensor<64x4096x128xbf16>, tensor<64x4096x128xbf16>) outs(%f : tensor<64x4096x4096xf32>) -> tensor<64x4096x4096xf32>
  %p = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %l : tensor<64x4096x4096xf32>, tensor<64x4096xf32>) outs(%h : tensor<64x4096x4096xbf16>) {
  ^bb0(%a: f32, %lse: f32, %o: bf16):
    %0 = arith.mulf %a, %scale : f32
    %1 = arith.subf %0, %lse : f32
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %isPast = arith.cmpi sgt, %j, %i : index
    %masked = arith.select %isPast, %lowest, %1 : f32
    %2 = math.exp %masked : f32
    %3 = arith.truncf %2 : f32 to bf16
    linalg.yield %3 : bf16
  } -> tensor<64x4096x4096xbf16>
  %ds = linalg.generic {indexing_maps = [#all, #rows, #all, #rows, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %l, %dp, %d : tensor<64x4096x4096xf32>, tensor<64x4096xf32>, tensor<64x4096x4096xf32>, tensor<64x4096xf32>) outs(%h : tensor<64x4096x4096xbf16>) {
  ^bb0(%a: f32, %lse: f32, %c: f32, %delta: f32, %o: bf16):
    %0 = arith.mulf %a, %scale : f32
    %1 = arith.subf %0, %lse : f32
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %isPast = arith.cmpi sgt, %j, %i : index
    %masked = arith.select %isPast, %lowest, %1 : f32
    %2 = math.exp %masked : f32
    %3 = arith.subf %c, %delta : f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.mulf %4, %scale : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<64x4096x4096xbf16>
  %dq = linalg.contract indexing_maps = [#walkK, #kE, #qE] ins(%ds, %k : tensor<64x4096x4096xbf16>, tensor<64x4096x128xbf16>) outs(%z : tensor<64x4096x128xf32>) -> tensor<64x4096x128xf32>
  %dk = linalg.contract indexing_maps = [#walkQ, #kE, #qE] ins(%ds, %q : tensor<64x4096x4096xbf16>, tensor<64x4096x128xbf16>) outs(%z : tensor<64x4096x128xf32>) -> tensor<64x4096x128xf32>
  %dv = linalg.contract indexing_maps = [#walkQ, #kE, #qE] ins(%p, %g : tensor<64x4096x4096xbf16>, tensor<64x4096x128xbf16>) outs(%z : tensor<64x4096x128xf32>) -> tensor<64x4096x128xf32>
  return %dq, %dk, %dv : tensor<64x4096x128xf32>, tensor<64x4096x128xf32>, tensor<64x4096x128xf32>
}

// Scores that the function returns are stored by the steps of one walk, and made
// again by the others.
// CHECK-LABEL: func.func @returned
// CHECK: fusion.kernel {{.*}} -> (tensor<64x4096x4096xf32>, tensor<64x4096x128xf32>)
// CHECK: fusion.kernel {{.*}} -> (tensor<64x4096x128xf32>)
// CHECK: fusion.kernel {{.*}} -> (tensor<64x4096x128xf32>)
// CHECK-NOT: fusion.kernel
// CHECK: return
func.func @returned(%q: tensor<64x4096x128xbf16>, %k: tensor<64x4096x128xbf16>, %v: tensor<64x4096x128xbf16>, %g: tensor<64x4096x128xbf16>, %l: tensor<64x4096xf32>, %d: tensor<64x4096xf32>) -> (tensor<64x4096x4096xf32>, tensor<64x4096x128xf32>, tensor<64x4096x128xf32>, tensor<64x4096x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<64x4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x4096x4096xf32>) -> tensor<64x4096x4096xf32>
  %r = tensor.empty() : tensor<64x4096x128xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<64x4096x128xf32>) -> tensor<64x4096x128xf32>
  %h = tensor.empty() : tensor<64x4096x4096xbf16>
  %s = linalg.contract indexing_maps = [#qd, #kd, #qk] ins(%q, %k : tensor<64x4096x128xbf16>, tensor<64x4096x128xbf16>) outs(%f : tensor<64x4096x4096xf32>) -> tensor<64x4096x4096xf32>
  %dp = linalg.contract indexing_maps = [#qd, #kd, #qk] ins(%g, %v : tensor<64x4096x128xbf16>, tensor<64x4096x128xbf16>) outs(%f : tensor<64x4096x4096xf32>) -> tensor<64x4096x4096xf32>
  %p = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %l : tensor<64x4096x4096xf32>, tensor<64x4096xf32>) outs(%h : tensor<64x4096x4096xbf16>) {
  ^bb0(%a: f32, %lse: f32, %o: bf16):
    %0 = arith.mulf %a, %scale : f32
    %1 = arith.subf %0, %lse : f32
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %isPast = arith.cmpi sgt, %j, %i : index
    %masked = arith.select %isPast, %lowest, %1 : f32
    %2 = math.exp %masked : f32
    %3 = arith.truncf %2 : f32 to bf16
    linalg.yield %3 : bf16
  } -> tensor<64x4096x4096xbf16>
  %ds = linalg.generic {indexing_maps = [#all, #rows, #all, #rows, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %l, %dp, %d : tensor<64x4096x4096xf32>, tensor<64x4096xf32>, tensor<64x4096x4096xf32>, tensor<64x4096xf32>) outs(%h : tensor<64x4096x4096xbf16>) {
  ^bb0(%a: f32, %lse: f32, %c: f32, %delta: f32, %o: bf16):
    %0 = arith.mulf %a, %scale : f32
    %1 = arith.subf %0, %lse : f32
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %isPast = arith.cmpi sgt, %j, %i : index
    %masked = arith.select %isPast, %lowest, %1 : f32
    %2 = math.exp %masked : f32
    %3 = arith.subf %c, %delta : f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.mulf %4, %scale : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<64x4096x4096xbf16>
  %dq = linalg.contract indexing_maps = [#walkK, #kE, #qE] ins(%ds, %k : tensor<64x4096x4096xbf16>, tensor<64x4096x128xbf16>) outs(%z : tensor<64x4096x128xf32>) -> tensor<64x4096x128xf32>
  %dk = linalg.contract indexing_maps = [#walkQ, #kE, #qE] ins(%ds, %q : tensor<64x4096x4096xbf16>, tensor<64x4096x128xbf16>) outs(%z : tensor<64x4096x128xf32>) -> tensor<64x4096x128xf32>
  %dv = linalg.contract indexing_maps = [#walkQ, #kE, #qE] ins(%p, %g : tensor<64x4096x4096xbf16>, tensor<64x4096x128xbf16>) outs(%z : tensor<64x4096x128xf32>) -> tensor<64x4096x128xf32>
  return %s, %dq, %dk, %dv : tensor<64x4096x4096xf32>, tensor<64x4096x128xf32>, tensor<64x4096x128xf32>, tensor<64x4096x128xf32>
}
