// Two blocks load the columns' operand together, for tiles of 192 columns.

// RUN: fusion-compile %s --target=sm_90a --compile-to=tile -o - | FileCheck %s --check-prefix=TILE
// RUN: fusion-compile %s --target=sm_90a --compile-to=ptx -o - | FileCheck %s

// Only what does not depend on the block's rank is loaded for both.
// TILE: fusion_tile.make_ring at {{[0-9]+}} multicast
// TILE: fusion_tile.async_load {{.*}} dims [0, 1] : <128x64xbf16, b128>
// TILE: fusion_tile.async_load {{.*}} dims [0, 1] multicast : <64x64xbf16, b128>
// TILE: fusion_tile.async_load {{.*}} dims [0, 1] multicast : <32x64xbf16, b128>
// TILE: fusion_tile.drain

// A stage is free when the warps of both blocks have said so.
// CHECK: mov.b32 [[ONE:%r[0-9]+]], 1;
// CHECK: mbarrier.init.shared.b64 {{.*}}, [[ONE]];
// CHECK: mov.b32 [[WARPS:%r[0-9]+]], 16;
// CHECK: mbarrier.init.shared.b64 {{.*}}, [[WARPS]];
// CHECK: barrier.cluster.arrive.relaxed.aligned
// CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [
// CHECK-COUNT-2: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [
// One instruction makes the products of both parts.
// CHECK: wgmma.mma_async.sync.aligned.m64n192k16
// CHECK: mapa.shared::cluster
// Not at cluster scope, which waits for all writes of the thread.
// CHECK: mbarrier.arrive.shared::cluster.b64 _,
// CHECK-NOT: release.cluster
// CHECK-NOT: acquire.cluster

#schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 192>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 4, columns = 64, group = 4, multicast = 2>>

func.func @main(%a: tensor<512x256xbf16>, %b: tensor<768x256xbf16>) -> tensor<512x768xbf16> {
  %r = fusion.kernel @product ins(%a, %b : tensor<512x256xbf16>, tensor<768x256xbf16>) -> (tensor<512x768xbf16>) attributes {schedule = #schedule} {
  ^bb0(%x: tensor<512x256xbf16>, %w: tensor<768x256xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x768xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x768xf32>) -> tensor<512x768xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<512x256xbf16>, tensor<768x256xbf16>) outs(%f : tensor<512x768xf32>) -> tensor<512x768xf32>
    %t = arith.truncf %p : tensor<512x768xf32> to tensor<512x768xbf16>
    fusion.yield %t : tensor<512x768xbf16>
  }
  return %r : tensor<512x768xbf16>
}
