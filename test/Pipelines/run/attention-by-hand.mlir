// Attention by a schedule by hand: two products and the maximum and sum of a
// softmax along one sequential dimension, in one walk of one kernel. Nothing of
// the size of the scores leaves the block.

// RUN: fusion-compile %s --target=sm_90a -o %t.fpk
// RUN: fusion-run %t.fpk --reference=%S/Inputs/attention-by-hand.mlir --device=emulator --random --seed=1 --numerics=fast --verify --entry=warpgroups | FileCheck %s --check-prefix=RIGHT
// RUN: fusion-run %t.fpk --reference=%S/Inputs/attention-by-hand.mlir --device=emulator --random --seed=1 --numerics=fast --verify --entry=warps | FileCheck %s --check-prefix=RIGHT
// RUN: fusion-run %t.fpk --reference=%S/Inputs/attention-by-hand.mlir --device=emulator --random --seed=1 --numerics=fast --verify --entry=threads | FileCheck %s --check-prefix=RIGHT
// RUN: fusion-run %t.fpk --reference=%S/Inputs/attention-by-hand.mlir --device=emulator --random --seed=1 --numerics=fast --verify --entry=window | FileCheck %s --check-prefix=RIGHT
// RUN: fusion-run %t.fpk --reference=%S/Inputs/attention-by-hand.mlir --device=emulator --random --seed=1 --numerics=fast --verify --entry=skewed | FileCheck %s --check-prefix=RIGHT
// RUN: fusion-run %t.fpk --reference=%S/Inputs/attention-by-hand.mlir --device=emulator --random --seed=2 --asynchrony=early --numerics=fast --verify --entry=warpgroups | FileCheck %s --check-prefix=RIGHT
// RUN: fusion-compile %s --target=sm_90a --compile-to=tile -o - | FileCheck %s

// RUN: fusion-run %t.fpk --reference=%S/Inputs/attention-by-hand.mlir --device=emulator --random --seed=2 --asynchrony=early --numerics=fast --verify --entry=skewed | FileCheck %s --check-prefix=RIGHT

// RIGHT: {{^}}verified

// The queries are loaded once; keys and values go through the ring. The result
// so far is repaired by what the maximum has grown.
// CHECK-LABEL: fusion_tile.program @warpgroups
// CHECK: fusion_tile.specialize
// CHECK: %[[Q:.*]] = fusion_tile.wait
// CHECK: scf.for
// CHECK: %[[STAGE:.*]]:2 = fusion_tile.wait
// CHECK: fusion_tile.mma_async %[[Q]], %[[STAGE]]#0
// CHECK: fusion_tile.reduce
// CHECK: arith.maximumf
// CHECK: %[[FACTOR:.*]] = math.exp
// CHECK: %[[REPAIR:.*]] = fusion_tile.broadcast %[[FACTOR]]
// CHECK: %[[SUM:.*]] = arith.mulf %{{.*}}, %[[REPAIR]]
// CHECK: %[[P:.*]] = arith.truncf
// CHECK: fusion_tile.mma_async %[[P]], %[[STAGE]]#1, %[[SUM]]
// CHECK-NOT: fusion_tile.mma_async
// CHECK: } producer {
// CHECK-LABEL: fusion_tile.program @warps
// CHECK-LABEL: fusion_tile.program @threads

// The first tiles of a row may have nothing that counts.
// CHECK-LABEL: fusion_tile.program @window
// CHECK: fusion_tile.specialize

// The second product runs a turn behind, beside the exponentials.
// CHECK-LABEL: fusion_tile.program @skewed
// CHECK: scf.for {{.*}} iter_args({{.*}}%[[P:[a-z0-9]+]] = %{{[a-z0-9]+}})
// CHECK: %[[SCORES:.*]] = fusion_tile.mma_async
// CHECK: %[[SUM:.*]] = fusion_tile.mma_async %[[P]]
// CHECK: fusion_tile.mma_wait %[[SCORES]] {pending = 1 : i64}
// CHECK: math.exp
// CHECK: fusion_tile.mma_wait %[[SUM]], %

#bij = affine_map<(b, i, j) -> (b, i, j)>
#bi = affine_map<(b, i, j) -> (b, i)>
#q = affine_map<(b, i, j, d) -> (b, i, d)>
#k = affine_map<(b, i, j, d) -> (b, j, d)>
#s = affine_map<(b, i, j, d) -> (b, i, j)>
#p = affine_map<(b, i, e, j) -> (b, i, j)>
#v = affine_map<(b, i, e, j) -> (b, j, e)>
#o = affine_map<(b, i, e, j) -> (b, i, e)>

func.func @warpgroups(%q0: tensor<2x128x64xf16>, %k0: tensor<2x192x64xf16>, %v0: tensor<2x192x64xf16>) -> tensor<2x128x64xf16> {
  %r = fusion.kernel @warpgroups ins(%q0, %k0, %v0 : tensor<2x128x64xf16>, tensor<2x192x64xf16>, tensor<2x192x64xf16>) -> (tensor<2x128x64xf16>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 64>, #fusion.axis<sequential, tile = 64>, #fusion.axis<full, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 2>>} {
  ^bb0(%q: tensor<2x128x64xf16>, %k: tensor<2x192x64xf16>, %v: tensor<2x192x64xf16>):
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x128x192xf32>
  %re = tensor.empty() : tensor<2x128xf32>
  %oe = tensor.empty() : tensor<2x128x64xf32>
  %si = linalg.fill ins(%zero : f32) outs(%se : tensor<2x128x192xf32>) -> tensor<2x128x192xf32>
  %s = linalg.generic
      {indexing_maps = [#q,
                        #k,
                        #s],
       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x128x64xf16>, tensor<2x192x64xf16>) outs(%si : tensor<2x128x192xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %a1 = arith.extf %a : f16 to f32
    %b1 = arith.extf %b : f16 to f32
    %product = arith.mulf %a1, %b1 : f32
    %sum = arith.addf %product, %acc : f32
    linalg.yield %sum : f32
  } -> tensor<2x128x192xf32>
  %c = linalg.generic
      {indexing_maps = [#bij, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x128x192xf32>) outs(%se : tensor<2x128x192xf32>) {
  ^bb0(%x: f32, %out: f32):
    %scale = arith.constant 0.125 : f32
    %y = arith.mulf %x, %scale : f32
    linalg.yield %y : f32
  } -> tensor<2x128x192xf32>
  %mi = linalg.fill ins(%lowest : f32) outs(%re : tensor<2x128xf32>) -> tensor<2x128xf32>
  %m = linalg.generic
      {indexing_maps = [#bij, #bi], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%c : tensor<2x128x192xf32>) outs(%mi : tensor<2x128xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.maximumf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<2x128xf32>
  %p = linalg.generic
      {indexing_maps = [#bij, #bi, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c, %m : tensor<2x128x192xf32>, tensor<2x128xf32>) outs(%se : tensor<2x128x192xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %d = arith.subf %x, %y : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<2x128x192xf32>
  %li = linalg.fill ins(%zero : f32) outs(%re : tensor<2x128xf32>) -> tensor<2x128xf32>
  %l = linalg.generic
      {indexing_maps = [#bij, #bi], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p : tensor<2x128x192xf32>) outs(%li : tensor<2x128xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<2x128xf32>
  %he = tensor.empty() : tensor<2x128x192xf16>
  %h = linalg.generic
      {indexing_maps = [#bij, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<2x128x192xf32>) outs(%he : tensor<2x128x192xf16>) {
  ^bb0(%x: f32, %out: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<2x128x192xf16>
  %oi = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x128x64xf32>) -> tensor<2x128x64xf32>
  %o = linalg.generic
      {indexing_maps = [#p,
                        #v,
                        #o],
       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%h, %v : tensor<2x128x192xf16>, tensor<2x192x64xf16>) outs(%oi : tensor<2x128x64xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %a1 = arith.extf %a : f16 to f32
    %b1 = arith.extf %b : f16 to f32
    %product = arith.mulf %a1, %b1 : f32
    %sum = arith.addf %product, %acc : f32
    linalg.yield %sum : f32
  } -> tensor<2x128x64xf32>
  %ye = tensor.empty() : tensor<2x128x64xf16>
  %r = linalg.generic
      {indexing_maps = [#bij, #bi, #bij],
       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%o, %l : tensor<2x128x64xf32>, tensor<2x128xf32>) outs(%ye : tensor<2x128x64xf16>) {
  ^bb0(%x: f32, %y: f32, %out: f16):
    %w = arith.divf %x, %y : f32
    %t = arith.truncf %w : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x128x64xf16>
  fusion.yield %r : tensor<2x128x64xf16>
  }
  return %r : tensor<2x128x64xf16>
}

func.func @warps(%q0: tensor<2x128x64xf16>, %k0: tensor<2x192x64xf16>, %v0: tensor<2x192x64xf16>) -> tensor<2x128x64xf16> {
  %r = fusion.kernel @warps ins(%q0, %k0, %v0 : tensor<2x128x64xf16>, tensor<2x192x64xf16>, tensor<2x192x64xf16>) -> (tensor<2x128x64xf16>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 64>, #fusion.axis<sequential, tile = 32>, #fusion.axis<full, tile = 64>], warps = 4, mma = #fusion.mma<mma_sync, stages = 2>>} {
  ^bb0(%q: tensor<2x128x64xf16>, %k: tensor<2x192x64xf16>, %v: tensor<2x192x64xf16>):
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x128x192xf32>
  %re = tensor.empty() : tensor<2x128xf32>
  %oe = tensor.empty() : tensor<2x128x64xf32>
  %si = linalg.fill ins(%zero : f32) outs(%se : tensor<2x128x192xf32>) -> tensor<2x128x192xf32>
  %s = linalg.generic
      {indexing_maps = [#q,
                        #k,
                        #s],
       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x128x64xf16>, tensor<2x192x64xf16>) outs(%si : tensor<2x128x192xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %a1 = arith.extf %a : f16 to f32
    %b1 = arith.extf %b : f16 to f32
    %product = arith.mulf %a1, %b1 : f32
    %sum = arith.addf %product, %acc : f32
    linalg.yield %sum : f32
  } -> tensor<2x128x192xf32>
  %c = linalg.generic
      {indexing_maps = [#bij, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x128x192xf32>) outs(%se : tensor<2x128x192xf32>) {
  ^bb0(%x: f32, %out: f32):
    %scale = arith.constant 0.125 : f32
    %y = arith.mulf %x, %scale : f32
    linalg.yield %y : f32
  } -> tensor<2x128x192xf32>
  %mi = linalg.fill ins(%lowest : f32) outs(%re : tensor<2x128xf32>) -> tensor<2x128xf32>
  %m = linalg.generic
      {indexing_maps = [#bij, #bi], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%c : tensor<2x128x192xf32>) outs(%mi : tensor<2x128xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.maximumf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<2x128xf32>
  %p = linalg.generic
      {indexing_maps = [#bij, #bi, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c, %m : tensor<2x128x192xf32>, tensor<2x128xf32>) outs(%se : tensor<2x128x192xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %d = arith.subf %x, %y : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<2x128x192xf32>
  %li = linalg.fill ins(%zero : f32) outs(%re : tensor<2x128xf32>) -> tensor<2x128xf32>
  %l = linalg.generic
      {indexing_maps = [#bij, #bi], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p : tensor<2x128x192xf32>) outs(%li : tensor<2x128xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<2x128xf32>
  %he = tensor.empty() : tensor<2x128x192xf16>
  %h = linalg.generic
      {indexing_maps = [#bij, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<2x128x192xf32>) outs(%he : tensor<2x128x192xf16>) {
  ^bb0(%x: f32, %out: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<2x128x192xf16>
  %oi = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x128x64xf32>) -> tensor<2x128x64xf32>
  %o = linalg.generic
      {indexing_maps = [#p,
                        #v,
                        #o],
       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%h, %v : tensor<2x128x192xf16>, tensor<2x192x64xf16>) outs(%oi : tensor<2x128x64xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %a1 = arith.extf %a : f16 to f32
    %b1 = arith.extf %b : f16 to f32
    %product = arith.mulf %a1, %b1 : f32
    %sum = arith.addf %product, %acc : f32
    linalg.yield %sum : f32
  } -> tensor<2x128x64xf32>
  %ye = tensor.empty() : tensor<2x128x64xf16>
  %r = linalg.generic
      {indexing_maps = [#bij, #bi, #bij],
       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%o, %l : tensor<2x128x64xf32>, tensor<2x128xf32>) outs(%ye : tensor<2x128x64xf16>) {
  ^bb0(%x: f32, %y: f32, %out: f16):
    %w = arith.divf %x, %y : f32
    %t = arith.truncf %w : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x128x64xf16>
  fusion.yield %r : tensor<2x128x64xf16>
  }
  return %r : tensor<2x128x64xf16>
}

func.func @threads(%q0: tensor<2x128x64xf16>, %k0: tensor<2x192x64xf16>, %v0: tensor<2x192x64xf16>) -> tensor<2x128x64xf16> {
  %r = fusion.kernel @threads ins(%q0, %k0, %v0 : tensor<2x128x64xf16>, tensor<2x192x64xf16>, tensor<2x192x64xf16>) -> (tensor<2x128x64xf16>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 16>, #fusion.axis<grid, tile = 16>, #fusion.axis<sequential, tile = 16>, #fusion.axis<full, tile = 64>], warps = 4, mma = #fusion.mma<fma>>} {
  ^bb0(%q: tensor<2x128x64xf16>, %k: tensor<2x192x64xf16>, %v: tensor<2x192x64xf16>):
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x128x192xf32>
  %re = tensor.empty() : tensor<2x128xf32>
  %oe = tensor.empty() : tensor<2x128x64xf32>
  %si = linalg.fill ins(%zero : f32) outs(%se : tensor<2x128x192xf32>) -> tensor<2x128x192xf32>
  %s = linalg.generic
      {indexing_maps = [#q,
                        #k,
                        #s],
       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x128x64xf16>, tensor<2x192x64xf16>) outs(%si : tensor<2x128x192xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %a1 = arith.extf %a : f16 to f32
    %b1 = arith.extf %b : f16 to f32
    %product = arith.mulf %a1, %b1 : f32
    %sum = arith.addf %product, %acc : f32
    linalg.yield %sum : f32
  } -> tensor<2x128x192xf32>
  %c = linalg.generic
      {indexing_maps = [#bij, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x128x192xf32>) outs(%se : tensor<2x128x192xf32>) {
  ^bb0(%x: f32, %out: f32):
    %scale = arith.constant 0.125 : f32
    %y = arith.mulf %x, %scale : f32
    linalg.yield %y : f32
  } -> tensor<2x128x192xf32>
  %mi = linalg.fill ins(%lowest : f32) outs(%re : tensor<2x128xf32>) -> tensor<2x128xf32>
  %m = linalg.generic
      {indexing_maps = [#bij, #bi], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%c : tensor<2x128x192xf32>) outs(%mi : tensor<2x128xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.maximumf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<2x128xf32>
  %p = linalg.generic
      {indexing_maps = [#bij, #bi, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c, %m : tensor<2x128x192xf32>, tensor<2x128xf32>) outs(%se : tensor<2x128x192xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %d = arith.subf %x, %y : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<2x128x192xf32>
  %li = linalg.fill ins(%zero : f32) outs(%re : tensor<2x128xf32>) -> tensor<2x128xf32>
  %l = linalg.generic
      {indexing_maps = [#bij, #bi], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p : tensor<2x128x192xf32>) outs(%li : tensor<2x128xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<2x128xf32>
  %he = tensor.empty() : tensor<2x128x192xf16>
  %h = linalg.generic
      {indexing_maps = [#bij, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<2x128x192xf32>) outs(%he : tensor<2x128x192xf16>) {
  ^bb0(%x: f32, %out: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<2x128x192xf16>
  %oi = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x128x64xf32>) -> tensor<2x128x64xf32>
  %o = linalg.generic
      {indexing_maps = [#p,
                        #v,
                        #o],
       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%h, %v : tensor<2x128x192xf16>, tensor<2x192x64xf16>) outs(%oi : tensor<2x128x64xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %a1 = arith.extf %a : f16 to f32
    %b1 = arith.extf %b : f16 to f32
    %product = arith.mulf %a1, %b1 : f32
    %sum = arith.addf %product, %acc : f32
    linalg.yield %sum : f32
  } -> tensor<2x128x64xf32>
  %ye = tensor.empty() : tensor<2x128x64xf16>
  %r = linalg.generic
      {indexing_maps = [#bij, #bi, #bij],
       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%o, %l : tensor<2x128x64xf32>, tensor<2x128xf32>) outs(%ye : tensor<2x128x64xf16>) {
  ^bb0(%x: f32, %y: f32, %out: f16):
    %w = arith.divf %x, %y : f32
    %t = arith.truncf %w : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x128x64xf16>
  fusion.yield %r : tensor<2x128x64xf16>
  }
  return %r : tensor<2x128x64xf16>
}

func.func @window(%q0: tensor<2x128x64xf16>, %k0: tensor<2x192x64xf16>, %v0: tensor<2x192x64xf16>) -> tensor<2x128x64xf16> {
  %r = fusion.kernel @window ins(%q0, %k0, %v0 : tensor<2x128x64xf16>, tensor<2x192x64xf16>, tensor<2x192x64xf16>) -> (tensor<2x128x64xf16>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 64>, #fusion.axis<sequential, tile = 64>, #fusion.axis<full, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 2>>} {
  ^bb0(%q: tensor<2x128x64xf16>, %k: tensor<2x192x64xf16>, %v: tensor<2x192x64xf16>):
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x128x192xf32>
  %re = tensor.empty() : tensor<2x128xf32>
  %oe = tensor.empty() : tensor<2x128x64xf32>
  %si = linalg.fill ins(%zero : f32) outs(%se : tensor<2x128x192xf32>) -> tensor<2x128x192xf32>
  %s = linalg.generic
      {indexing_maps = [#q,
                        #k,
                        #s],
       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x128x64xf16>, tensor<2x192x64xf16>) outs(%si : tensor<2x128x192xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %a1 = arith.extf %a : f16 to f32
    %b1 = arith.extf %b : f16 to f32
    %product = arith.mulf %a1, %b1 : f32
    %sum = arith.addf %product, %acc : f32
    linalg.yield %sum : f32
  } -> tensor<2x128x192xf32>
  %c = linalg.generic
      {indexing_maps = [#bij, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x128x192xf32>) outs(%se : tensor<2x128x192xf32>) {
  ^bb0(%x: f32, %out: f32):
    %scale = arith.constant 0.125 : f32
    %y = arith.mulf %x, %scale : f32
    %i = linalg.index 1 : index
    %n = linalg.index 2 : index
    %reach = arith.constant 40 : index
    %end = arith.addi %n, %reach : index
    %after = arith.cmpi ule, %n, %i : index
    %near = arith.cmpi ugt, %end, %i : index
    %seen = arith.andi %after, %near : i1
    %none = arith.constant 0xFF800000 : f32
    %z = arith.select %seen, %y, %none : f32
    linalg.yield %z : f32
  } -> tensor<2x128x192xf32>
  %mi = linalg.fill ins(%lowest : f32) outs(%re : tensor<2x128xf32>) -> tensor<2x128xf32>
  %m = linalg.generic
      {indexing_maps = [#bij, #bi], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%c : tensor<2x128x192xf32>) outs(%mi : tensor<2x128xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.maximumf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<2x128xf32>
  %p = linalg.generic
      {indexing_maps = [#bij, #bi, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c, %m : tensor<2x128x192xf32>, tensor<2x128xf32>) outs(%se : tensor<2x128x192xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %d = arith.subf %x, %y : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<2x128x192xf32>
  %li = linalg.fill ins(%zero : f32) outs(%re : tensor<2x128xf32>) -> tensor<2x128xf32>
  %l = linalg.generic
      {indexing_maps = [#bij, #bi], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p : tensor<2x128x192xf32>) outs(%li : tensor<2x128xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<2x128xf32>
  %he = tensor.empty() : tensor<2x128x192xf16>
  %h = linalg.generic
      {indexing_maps = [#bij, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<2x128x192xf32>) outs(%he : tensor<2x128x192xf16>) {
  ^bb0(%x: f32, %out: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<2x128x192xf16>
  %oi = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x128x64xf32>) -> tensor<2x128x64xf32>
  %o = linalg.generic
      {indexing_maps = [#p,
                        #v,
                        #o],
       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%h, %v : tensor<2x128x192xf16>, tensor<2x192x64xf16>) outs(%oi : tensor<2x128x64xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %a1 = arith.extf %a : f16 to f32
    %b1 = arith.extf %b : f16 to f32
    %product = arith.mulf %a1, %b1 : f32
    %sum = arith.addf %product, %acc : f32
    linalg.yield %sum : f32
  } -> tensor<2x128x64xf32>
  %ye = tensor.empty() : tensor<2x128x64xf16>
  %r = linalg.generic
      {indexing_maps = [#bij, #bi, #bij],
       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%o, %l : tensor<2x128x64xf32>, tensor<2x128xf32>) outs(%ye : tensor<2x128x64xf16>) {
  ^bb0(%x: f32, %y: f32, %out: f16):
    %w = arith.divf %x, %y : f32
    %t = arith.truncf %w : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x128x64xf16>
  fusion.yield %r : tensor<2x128x64xf16>
  }
  return %r : tensor<2x128x64xf16>
}

func.func @skewed(%q0: tensor<2x128x64xf16>, %k0: tensor<2x192x64xf16>, %v0: tensor<2x192x64xf16>) -> tensor<2x128x64xf16> {
  %r = fusion.kernel @skewed ins(%q0, %k0, %v0 : tensor<2x128x64xf16>, tensor<2x192x64xf16>, tensor<2x192x64xf16>) -> (tensor<2x128x64xf16>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 64>, #fusion.axis<sequential, tile = 64>, #fusion.axis<full, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 2, skew = 1>>} {
  ^bb0(%q: tensor<2x128x64xf16>, %k: tensor<2x192x64xf16>, %v: tensor<2x192x64xf16>):
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x128x192xf32>
  %re = tensor.empty() : tensor<2x128xf32>
  %oe = tensor.empty() : tensor<2x128x64xf32>
  %si = linalg.fill ins(%zero : f32) outs(%se : tensor<2x128x192xf32>) -> tensor<2x128x192xf32>
  %s = linalg.generic
      {indexing_maps = [#q,
                        #k,
                        #s],
       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x128x64xf16>, tensor<2x192x64xf16>) outs(%si : tensor<2x128x192xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %a1 = arith.extf %a : f16 to f32
    %b1 = arith.extf %b : f16 to f32
    %product = arith.mulf %a1, %b1 : f32
    %sum = arith.addf %product, %acc : f32
    linalg.yield %sum : f32
  } -> tensor<2x128x192xf32>
  %c = linalg.generic
      {indexing_maps = [#bij, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x128x192xf32>) outs(%se : tensor<2x128x192xf32>) {
  ^bb0(%x: f32, %out: f32):
    %scale = arith.constant 0.125 : f32
    %y = arith.mulf %x, %scale : f32
    %i = linalg.index 1 : index
    %n = linalg.index 2 : index
    %reach = arith.constant 40 : index
    %end = arith.addi %n, %reach : index
    %after = arith.cmpi ule, %n, %i : index
    %near = arith.cmpi ugt, %end, %i : index
    %seen = arith.andi %after, %near : i1
    %none = arith.constant 0xFF800000 : f32
    %z = arith.select %seen, %y, %none : f32
    linalg.yield %z : f32
  } -> tensor<2x128x192xf32>
  %mi = linalg.fill ins(%lowest : f32) outs(%re : tensor<2x128xf32>) -> tensor<2x128xf32>
  %m = linalg.generic
      {indexing_maps = [#bij, #bi], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%c : tensor<2x128x192xf32>) outs(%mi : tensor<2x128xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.maximumf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<2x128xf32>
  %p = linalg.generic
      {indexing_maps = [#bij, #bi, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c, %m : tensor<2x128x192xf32>, tensor<2x128xf32>) outs(%se : tensor<2x128x192xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %d = arith.subf %x, %y : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<2x128x192xf32>
  %li = linalg.fill ins(%zero : f32) outs(%re : tensor<2x128xf32>) -> tensor<2x128xf32>
  %l = linalg.generic
      {indexing_maps = [#bij, #bi], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p : tensor<2x128x192xf32>) outs(%li : tensor<2x128xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<2x128xf32>
  %he = tensor.empty() : tensor<2x128x192xf16>
  %h = linalg.generic
      {indexing_maps = [#bij, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<2x128x192xf32>) outs(%he : tensor<2x128x192xf16>) {
  ^bb0(%x: f32, %out: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<2x128x192xf16>
  %oi = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x128x64xf32>) -> tensor<2x128x64xf32>
  %o = linalg.generic
      {indexing_maps = [#p,
                        #v,
                        #o],
       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%h, %v : tensor<2x128x192xf16>, tensor<2x192x64xf16>) outs(%oi : tensor<2x128x64xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %a1 = arith.extf %a : f16 to f32
    %b1 = arith.extf %b : f16 to f32
    %product = arith.mulf %a1, %b1 : f32
    %sum = arith.addf %product, %acc : f32
    linalg.yield %sum : f32
  } -> tensor<2x128x64xf32>
  %ye = tensor.empty() : tensor<2x128x64xf16>
  %r = linalg.generic
      {indexing_maps = [#bij, #bi, #bij],
       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%o, %l : tensor<2x128x64xf32>, tensor<2x128xf32>) outs(%ye : tensor<2x128x64xf16>) {
  ^bb0(%x: f32, %y: f32, %out: f16):
    %w = arith.divf %x, %y : f32
    %t = arith.truncf %w : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x128x64xf16>
  fusion.yield %r : tensor<2x128x64xf16>
  }
  return %r : tensor<2x128x64xf16>
}
