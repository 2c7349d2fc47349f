// REQUIRES: ptxas
// RUN: fusion-opt %s --fusion-tile --fusion-gpu=target=sm_80 \
// RUN:   --fusion-ptx-split-kernels | fusion-opt -o /dev/null \
// RUN:   --pass-pipeline="builtin.module(gpu.module(fusion-expand-math,convert-scf-to-cf,fusion-ptx-lower-to-llvm,fusion-target-emit-ptx{chip=sm_80 print assemble}))" \
// RUN:   | FileCheck %s --implicit-check-not=advisory
// RUN: fusion-opt %s --fusion-tile --fusion-gpu=target=sm_86 \
// RUN:   --fusion-ptx-split-kernels | fusion-opt -o /dev/null \
// RUN:   --pass-pipeline="builtin.module(gpu.module(fusion-expand-math,convert-scf-to-cf,fusion-ptx-lower-to-llvm,fusion-target-emit-ptx{chip=sm_86 print assemble}))" \
// RUN:   | FileCheck %s --implicit-check-not=advisory
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

// ptxas takes products by mma.sync with copies ahead on every target, without
// spills.
// CHECK-DAG: resources large: registers {{[0-9]+}}, stack 0, spill stores 0, spill loads 0
// CHECK-DAG: resources kxn: registers {{[0-9]+}}, stack 0, spill stores 0, spill loads 0
// CHECK-DAG: resources int8: registers {{[0-9]+}}, stack 0, spill stores 0, spill loads 0
// CHECK-DAG: resources few_rows: registers {{[0-9]+}}, stack 0, spill stores 0, spill loads 0

fusion_tile.program @large(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 4>} {
  %c0 = arith.constant 0 : index
  %tk = arith.constant 32 : index
  %tm = arith.constant 128 : index
  %tn = arith.constant 128 : index
  %cols = arith.constant 32 : index
  %end = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %acc = fusion_tile.splat %zero : f32 -> tensor<128x128xf32>
  %a = fusion_tile.view %pa[] : !llvm.ptr<1> to !fusion_tile.view<4096x4096xbf16>
  %b = fusion_tile.view %pb[] : !llvm.ptr<1> to !fusion_tile.view<4096x4096xbf16>
  %c = fusion_tile.view %pc[] : !llvm.ptr<1> to !fusion_tile.view<4096x4096xbf16>
  %block = gpu.block_id x
  %bi = arith.divui %block, %cols : index
  %bj = arith.remui %block, %cols : index
  %i = arith.muli %bi, %tm : index
  %j = arith.muli %bj, %tn : index
  %r = scf.for %k = %c0 to %end step %tk iter_args(%s = %acc) -> tensor<128x128xf32> {
    %x = fusion_tile.load %a[affine_map<(i,k)[r,s] -> (i+r, k+s)>] (%i, %k) checked [false, false] : !fusion_tile.view<4096x4096xbf16> -> tensor<128x32xbf16>
    %y = fusion_tile.load %b[affine_map<(i,k)[r,s] -> (i+r, k+s)>] (%j, %k) checked [false, false] : !fusion_tile.view<4096x4096xbf16> -> tensor<128x32xbf16>
    %n = fusion_tile.dot %x, %y, %s  : tensor<128x32xbf16>, tensor<128x32xbf16> -> tensor<128x128xf32>
    scf.yield %n : tensor<128x128xf32>
  }
  %o = arith.truncf %r : tensor<128x128xf32> to tensor<128x128xbf16>
  fusion_tile.store %o, %c[affine_map<(i, j)[r,s] -> (i+r, j+s)>] (%i, %j) checked [false, false] : tensor<128x128xbf16>, !fusion_tile.view<4096x4096xbf16>
  fusion_tile.return
}

fusion_tile.program @kxn(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>) attributes {num_warps = 8 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 3>} {
  %c0 = arith.constant 0 : index
  %tk = arith.constant 64 : index
  %tm = arith.constant 128 : index
  %tn = arith.constant 128 : index
  %cols = arith.constant 32 : index
  %end = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %acc = fusion_tile.splat %zero : f32 -> tensor<128x128xf32>
  %a = fusion_tile.view %pa[] : !llvm.ptr<1> to !fusion_tile.view<4096x4096xf16>
  %b = fusion_tile.view %pb[] : !llvm.ptr<1> to !fusion_tile.view<4096x4096xf16>
  %c = fusion_tile.view %pc[] : !llvm.ptr<1> to !fusion_tile.view<4096x4096xf16>
  %block = gpu.block_id x
  %bi = arith.divui %block, %cols : index
  %bj = arith.remui %block, %cols : index
  %i = arith.muli %bi, %tm : index
  %j = arith.muli %bj, %tn : index
  %r = scf.for %k = %c0 to %end step %tk iter_args(%s = %acc) -> tensor<128x128xf32> {
    %x = fusion_tile.load %a[affine_map<(i,k)[r,s] -> (i+r, k+s)>] (%i, %k) checked [false, false] : !fusion_tile.view<4096x4096xf16> -> tensor<128x64xf16>
    %y = fusion_tile.load %b[affine_map<(i,k)[r,s] -> (k+s, i+r)>] (%j, %k) checked [false, false] : !fusion_tile.view<4096x4096xf16> -> tensor<128x64xf16>
    %n = fusion_tile.dot %x, %y, %s  : tensor<128x64xf16>, tensor<128x64xf16> -> tensor<128x128xf32>
    scf.yield %n : tensor<128x128xf32>
  }
  %o = arith.truncf %r : tensor<128x128xf32> to tensor<128x128xf16>
  fusion_tile.store %o, %c[affine_map<(i, j)[r,s] -> (i+r, j+s)>] (%i, %j) checked [false, false] : tensor<128x128xf16>, !fusion_tile.view<4096x4096xf16>
  fusion_tile.return
}

fusion_tile.program @int8(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>) attributes {num_warps = 8 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 3>} {
  %c0 = arith.constant 0 : index
  %tk = arith.constant 64 : index
  %tm = arith.constant 128 : index
  %tn = arith.constant 128 : index
  %cols = arith.constant 32 : index
  %end = arith.constant 4096 : index
  %zero = arith.constant 0 : i32
  %acc = fusion_tile.splat %zero : i32 -> tensor<128x128xi32>
  %a = fusion_tile.view %pa[] : !llvm.ptr<1> to !fusion_tile.view<4096x4096xi8>
  %b = fusion_tile.view %pb[] : !llvm.ptr<1> to !fusion_tile.view<4096x4096xi8>
  %c = fusion_tile.view %pc[] : !llvm.ptr<1> to !fusion_tile.view<4096x4096xi32>
  %block = gpu.block_id x
  %bi = arith.divui %block, %cols : index
  %bj = arith.remui %block, %cols : index
  %i = arith.muli %bi, %tm : index
  %j = arith.muli %bj, %tn : index
  %r = scf.for %k = %c0 to %end step %tk iter_args(%s = %acc) -> tensor<128x128xi32> {
    %x = fusion_tile.load %a[affine_map<(i,k)[r,s] -> (i+r, k+s)>] (%i, %k) checked [false, false] : !fusion_tile.view<4096x4096xi8> -> tensor<128x64xi8>
    %y = fusion_tile.load %b[affine_map<(i,k)[r,s] -> (i+r, k+s)>] (%j, %k) checked [false, false] : !fusion_tile.view<4096x4096xi8> -> tensor<128x64xi8>
    %n = fusion_tile.dot %x, %y, %s  : tensor<128x64xi8>, tensor<128x64xi8> -> tensor<128x128xi32>
    scf.yield %n : tensor<128x128xi32>
  }
  %o = fusion_tile.convert_layout %r : tensor<128x128xi32> -> tensor<128x128xi32>
  fusion_tile.store %o, %c[affine_map<(i, j)[r,s] -> (i+r, j+s)>] (%i, %j) checked [false, false] : tensor<128x128xi32>, !fusion_tile.view<4096x4096xi32>
  fusion_tile.return
}

fusion_tile.program @few_rows(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 4>} {
  %c0 = arith.constant 0 : index
  %tk = arith.constant 64 : index
  %tm = arith.constant 8 : index
  %tn = arith.constant 128 : index
  %cols = arith.constant 32 : index
  %end = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %acc = fusion_tile.splat %zero : f32 -> tensor<8x128xf32>
  %a = fusion_tile.view %pa[] : !llvm.ptr<1> to !fusion_tile.view<8x4096xbf16>
  %b = fusion_tile.view %pb[] : !llvm.ptr<1> to !fusion_tile.view<4096x4096xbf16>
  %c = fusion_tile.view %pc[] : !llvm.ptr<1> to !fusion_tile.view<8x4096xbf16>
  %block = gpu.block_id x
  %bi = arith.divui %block, %cols : index
  %bj = arith.remui %block, %cols : index
  %i = arith.muli %bi, %tm : index
  %j = arith.muli %bj, %tn : index
  %r = scf.for %k = %c0 to %end step %tk iter_args(%s = %acc) -> tensor<8x128xf32> {
    %x = fusion_tile.load %a[affine_map<(i,k)[r,s] -> (i+r, k+s)>] (%i, %k) checked [false, false] : !fusion_tile.view<8x4096xbf16> -> tensor<8x64xbf16>
    %y = fusion_tile.load %b[affine_map<(i,k)[r,s] -> (i+r, k+s)>] (%j, %k) checked [false, false] : !fusion_tile.view<4096x4096xbf16> -> tensor<128x64xbf16>
    %n = fusion_tile.dot %x, %y, %s  : tensor<8x64xbf16>, tensor<128x64xbf16> -> tensor<8x128xf32>
    scf.yield %n : tensor<8x128xf32>
  }
  %o = arith.truncf %r : tensor<8x128xf32> to tensor<8x128xbf16>
  fusion_tile.store %o, %c[affine_map<(i, j)[r,s] -> (i+r, j+s)>] (%i, %j) checked [false, false] : tensor<8x128xbf16>, !fusion_tile.view<8x4096xbf16>
  fusion_tile.return
}
