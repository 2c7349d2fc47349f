// REQUIRES: ptxas
// RUN: fusion-opt %s --fusion-tile --fusion-gpu=target=sm_89 \
// RUN:   --fusion-ptx-split-kernels | fusion-opt -o /dev/null \
// RUN:   --pass-pipeline="builtin.module(gpu.module(fusion-expand-math,convert-scf-to-cf,fusion-ptx-lower-to-llvm,fusion-target-emit-ptx{chip=sm_89 print assemble}))" \
// RUN:   | FileCheck %s --implicit-check-not=advisory
// RUN: fusion-opt %s --fusion-tile --fusion-gpu=target=sm_90a \
// RUN:   --fusion-ptx-split-kernels | fusion-opt -o /dev/null \
// RUN:   --pass-pipeline="builtin.module(gpu.module(fusion-expand-math,convert-scf-to-cf,fusion-ptx-lower-to-llvm,fusion-target-emit-ptx{chip=sm_90a print assemble}))" \
// RUN:   | FileCheck %s --implicit-check-not=advisory
// RUN: fusion-opt %s --fusion-tile --fusion-gpu=target=sm_100a \
// RUN:   --fusion-ptx-split-kernels | fusion-opt -o /dev/null \
// RUN:   --pass-pipeline="builtin.module(gpu.module(fusion-expand-math,convert-scf-to-cf,fusion-ptx-lower-to-llvm,fusion-target-emit-ptx{chip=sm_100a print assemble}))" \
// RUN:   | FileCheck %s --implicit-check-not=advisory
// RUN: fusion-opt %s --fusion-tile --fusion-gpu=target=sm_120 \
// RUN:   --fusion-ptx-split-kernels | fusion-opt -o /dev/null \
// RUN:   --pass-pipeline="builtin.module(gpu.module(fusion-expand-math,convert-scf-to-cf,fusion-ptx-lower-to-llvm,fusion-target-emit-ptx{chip=sm_120 print assemble}))" \
// RUN:   | FileCheck %s --implicit-check-not=advisory

// The products of 8-bit floats, from sm_89 on.
// CHECK-DAG: resources fp8: registers {{[0-9]+}}, stack 0, spill stores 0, spill loads 0

fusion_tile.program @fp8(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>) attributes {num_warps = 8 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 3>} {
  %c0 = arith.constant 0 : index
  %tk = arith.constant 64 : index
  %tm = arith.constant 128 : index
  %tn = arith.constant 128 : index
  %cols = arith.constant 32 : index
  %end = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %acc = fusion_tile.splat %zero : f32 -> tensor<128x128xf32>
  %a = fusion_tile.view %pa[] : !llvm.ptr<1> to !fusion_tile.view<4096x4096xf8E4M3FN>
  %b = fusion_tile.view %pb[] : !llvm.ptr<1> to !fusion_tile.view<4096x4096xf8E4M3FN>
  %c = fusion_tile.view %pc[] : !llvm.ptr<1> to !fusion_tile.view<4096x4096xbf16>
  %block = gpu.block_id x
  %bi = arith.divui %block, %cols : index
  %bj = arith.remui %block, %cols : index
  %i = arith.muli %bi, %tm : index
  %j = arith.muli %bj, %tn : index
  %r = scf.for %k = %c0 to %end step %tk iter_args(%s = %acc) -> tensor<128x128xf32> {
    %x = fusion_tile.load %a[affine_map<(i,k)[r,s] -> (i+r, k+s)>] (%i, %k) checked [false, false] : !fusion_tile.view<4096x4096xf8E4M3FN> -> tensor<128x64xf8E4M3FN>
    %y = fusion_tile.load %b[affine_map<(i,k)[r,s] -> (i+r, k+s)>] (%j, %k) checked [false, false] : !fusion_tile.view<4096x4096xf8E4M3FN> -> tensor<128x64xf8E4M3FN>
    %n = fusion_tile.dot %x, %y, %s  : tensor<128x64xf8E4M3FN>, tensor<128x64xf8E4M3FN> -> tensor<128x128xf32>
    scf.yield %n : tensor<128x128xf32>
  }
  %o = arith.truncf %r : tensor<128x128xf32> to tensor<128x128xbf16>
  fusion_tile.store %o, %c[affine_map<(i, j)[r,s] -> (i+r, j+s)>] (%i, %j) checked [false, false] : tensor<128x128xbf16>, !fusion_tile.view<4096x4096xbf16>
  fusion_tile.return
}
