// RUN: fusion-opt %s --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-pipeline-loads,cse))" --allow-unregistered-dialect --split-input-file | FileCheck %s

// Each thread copies what it loads of the next two chunks, in the layout in
// which it reads them: it waits for its own copies and for no other thread.

#v = #fusion_tile.layout<"{reg=[[1],[2],[4]], lane=[[8],[16],[32],[64],[128]], warp=[[256]], shape=[512]}">

// CHECK-LABEL: fusion_tile.program @walk
// CHECK: %[[BUFFER:.*]] = fusion_tile.alloc stages 3 : <512xbf16, #fusion_tile.shared_layout<"{bytes=2, align=16, offsets={{\[\[}}2,4,8,16,32,64,128,256,512]]}">>
// CHECK-COUNT-2: fusion_tile.copy_start {{.*}} by <"{reg={{\[\[}}1],[2],[4]], lane={{\[\[}}8],[16],[32],[64],[128]], warp={{\[\[}}256]], shape=[512]}"> when
// CHECK: scf.for
// CHECK-NEXT: fusion_tile.copy_wait 1
// CHECK-NOT: fusion_tile.barrier
// CHECK: fusion_tile.copy_start
// CHECK: fusion_tile.copy_commit
// CHECK: fusion_tile.local_load
// CHECK-NOT: fusion_tile.load
// CHECK: arith.addf
// CHECK-NOT: fusion_tile.num_stages
fusion_tile.program @walk(%p: !llvm.ptr<1>, %begin: index, %end: index) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<512xf32, #v>
  %aligned = arith.muli %begin, %c512 : index
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<1048576xbf16>
  %s = scf.for %k = %aligned to %end step %c512 iter_args(%a = %zero) -> (tensor<512xf32, #v>) {
    %t = fusion_tile.load %x[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : !fusion_tile.view<1048576xbf16> -> tensor<512xbf16, #v>
    %e = arith.extf %t : tensor<512xbf16, #v> to tensor<512xf32, #v>
    %b = arith.addf %a, %e : tensor<512xf32, #v>
    scf.yield %b : tensor<512xf32, #v>
  } {fusion_tile.num_stages = 3 : i64}
  "test.use"(%s) : (tensor<512xf32, #v>) -> ()
  fusion_tile.return
}

// -----

// Where a thread copies a word of a piece, the lanes' words lie side by side in the
// buffer, which meet in no bank.

#v = #fusion_tile.layout<"{reg=[[1,0,0],[0,0,4]], lane=[[0,1,0],[0,2,0],[0,4,0],[0,8,0],[0,0,1]], warp=[[0,0,2]], shape=[2,16,8]}">

// CHECK-LABEL: fusion_tile.program @lanes
// CHECK: fusion_tile.alloc stages 3 : <2x16x8xf16, #fusion_tile.shared_layout<"{bytes=2, align=16, offsets={{\[\[}}2],[4,8,16,32],[64,128,256]]}">>
fusion_tile.program @lanes(%p: !llvm.ptr<1>, %end: index) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0.0> : tensor<2x16x8xf16, #v>
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<8000x5x16x2xf16>
  %s = scf.for %k = %c0 to %end step %c8 iter_args(%a = %zero) -> (tensor<2x16x8xf16, #v>) {
    %t = fusion_tile.load %x[affine_map<(a, b, c)[s] -> (c + s, 0, b, a)>] (%k) checked [false, false, false, false] : !fusion_tile.view<8000x5x16x2xf16> -> tensor<2x16x8xf16, #v>
    %b = arith.addf %a, %t : tensor<2x16x8xf16, #v>
    scf.yield %b : tensor<2x16x8xf16, #v>
  } {fusion_tile.num_stages = 3 : i64}
  "test.use"(%s) : (tensor<2x16x8xf16, #v>) -> ()
  fusion_tile.return
}

// -----

// A nest of walks is one walk, so that copies run ahead over the ends of rows.

#v = #fusion_tile.layout<"{reg=[[1],[2]], lane=[[4],[8],[16],[32],[64]], warp=[], shape=[128]}">

// CHECK-LABEL: fusion_tile.program @nest
// CHECK: scf.for
// CHECK-NEXT: fusion_tile.copy_wait 1
// CHECK-NOT: scf.for
// CHECK: fusion_tile.return
fusion_tile.program @nest(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<128xf32, #v>
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<7x256xf32>
  %s = scf.for %i = %c0 to %c7 step %c1 iter_args(%a = %zero) -> (tensor<128xf32, #v>) {
    %r = scf.for %k = %c0 to %c256 step %c128 iter_args(%b = %a) -> (tensor<128xf32, #v>) {
      %t = fusion_tile.load %x[affine_map<(a)[r, s] -> (r, a + s)>] (%i, %k) checked [false, false] : !fusion_tile.view<7x256xf32> -> tensor<128xf32, #v>
      %c = arith.addf %b, %t : tensor<128xf32, #v>
      scf.yield %c : tensor<128xf32, #v>
    } {fusion_tile.num_stages = 3 : i64}
    scf.yield %r : tensor<128xf32, #v>
  }
  "test.use"(%s) : (tensor<128xf32, #v>) -> ()
  fusion_tile.return
}

// -----

// Rows that begin at any 2 bytes: no copy moves fewer than 4.

#v = #fusion_tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[32]}">

// CHECK-LABEL: fusion_tile.program @narrow
// CHECK-NOT: fusion_tile.copy_start
// CHECK: fusion_tile.load
// CHECK-NOT: fusion_tile.num_stages
fusion_tile.program @narrow(%p: !llvm.ptr<1>, %row: index) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant dense<0.0> : tensor<32xbf16, #v>
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<9x97xbf16>
  %s = scf.for %k = %c0 to %c96 step %c32 iter_args(%a = %zero) -> (tensor<32xbf16, #v>) {
    %t = fusion_tile.load %x[affine_map<(a)[r, s] -> (r, a + s)>] (%row, %k) checked [false, false] : !fusion_tile.view<9x97xbf16> -> tensor<32xbf16, #v>
    %b = arith.addf %a, %t : tensor<32xbf16, #v>
    scf.yield %b : tensor<32xbf16, #v>
  } {fusion_tile.num_stages = 3 : i64}
  "test.use"(%s) : (tensor<32xbf16, #v>) -> ()
  fusion_tile.return
}

// -----

// What lanes have in common one would copy for the others, who would have to
// wait for it; what lies beside it is copied.

#v = #fusion_tile.layout<"{reg=[[0,1],[0,2]], lane=[[0,4],[0,8],[0,16],[0,32],[0,64]], warp=[[1,0]], shape=[2,128]}">
#b = #fusion_tile.layout<"{reg=[[1],[2]], lane=[[4],[8],[16],[32],[64]], warp=[[0]], shape=[128]}">

// CHECK-LABEL: fusion_tile.program @shared
// CHECK: fusion_tile.alloc stages 2 : <2x128xf32
// CHECK: scf.for
// CHECK: fusion_tile.copy_start {{.*}} into {{.*}}2x128xf32
// CHECK: fusion_tile.local_load
// CHECK: fusion_tile.load {{.*}} -> tensor<128xf32
// CHECK-NOT: fusion_tile.local_load
fusion_tile.program @shared(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %end: index) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : tensor<2x128xf32, #v>
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<2x4096xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<4096xf32>
  %s = scf.for %k = %c0 to %end step %c128 iter_args(%a = %zero) -> (tensor<2x128xf32, #v>) {
    %t = fusion_tile.load %x[affine_map<(a, b)[s] -> (a, b + s)>] (%k) checked [false, false] : !fusion_tile.view<2x4096xf32> -> tensor<2x128xf32, #v>
    %u = fusion_tile.load %y[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : !fusion_tile.view<4096xf32> -> tensor<128xf32, #b>
    %w = fusion_tile.broadcast %u dims [1] : tensor<128xf32, #b> -> tensor<2x128xf32, #v>
    %m = arith.mulf %t, %w : tensor<2x128xf32, #v>
    %c = arith.addf %a, %m : tensor<2x128xf32, #v>
    scf.yield %c : tensor<2x128xf32, #v>
  } {fusion_tile.num_stages = 2 : i64}
  "test.use"(%s) : (tensor<2x128xf32, #v>) -> ()
  fusion_tile.return
}

// -----

// Into registers, before an iteration does anything else: in the last one its
// own tile again.

#v = #fusion_tile.layout<"{reg=[[1],[2]], lane=[[4],[8],[16],[32],[64]], warp=[[128]], shape=[256]}">

// CHECK-LABEL: fusion_tile.program @ahead
// CHECK: %[[FIRST:.*]] = fusion_tile.load
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[END:.*]] step %[[STEP:.*]] iter_args(%{{.*}} = %{{.*}}, %[[X:.*]] = %[[FIRST]])
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %{{.*}} : index
// CHECK-NEXT: %[[IN:.*]] = arith.cmpi slt, %[[NEXT]], %[[END]]
// CHECK-NEXT: %[[AT:.*]] = arith.select %[[IN]], %[[NEXT]], %[[I]]
// CHECK-NEXT: %[[LOADED:.*]] = fusion_tile.load %{{.*}} (%[[AT]])
// CHECK-NOT: fusion_tile.load
// CHECK: "test.wait"
// CHECK: arith.addf %{{.*}}, %[[X]]
// CHECK: scf.yield %{{.*}}, %[[LOADED]]
// CHECK-NOT: fusion_tile.load_ahead
fusion_tile.program @ahead(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant dense<0.0> : tensor<256xf32, #v>
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<1024xf32>
  %s = scf.for %k = %c0 to %c1024 step %c256 iter_args(%a = %zero) -> (tensor<256xf32, #v>) {
    "test.wait"() : () -> ()
    %t = fusion_tile.load %x[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : !fusion_tile.view<1024xf32> -> tensor<256xf32, #v>
    %b = arith.addf %a, %t : tensor<256xf32, #v>
    scf.yield %b : tensor<256xf32, #v>
  } {fusion_tile.load_ahead}
  "test.use"(%s) : (tensor<256xf32, #v>) -> ()
  fusion_tile.return
}

// -----

// Conditions have a byte each, four of them a thread: enough for a copy.

#v = #fusion_tile.layout<"{reg=[[1],[2]], lane=[[4],[8],[16],[32],[64]], warp=[], shape=[128]}">

// CHECK-LABEL: fusion_tile.program @conditions
// CHECK: fusion_tile.alloc stages 3 : <128xi1, #fusion_tile.shared_layout<"{bytes=1, {{.*}}>
// CHECK: scf.for
// CHECK: fusion_tile.copy_start
// CHECK: fusion_tile.local_load {{.*}} -> tensor<128xi1
// CHECK-NOT: fusion_tile.load
// CHECK: fusion_tile.return
fusion_tile.program @conditions(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant dense<0.0> : tensor<128xf32, #v>
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<1024xi1>
  %s = scf.for %k = %c0 to %c1024 step %c128 iter_args(%a = %zero) -> (tensor<128xf32, #v>) {
    %t = fusion_tile.load %x[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : !fusion_tile.view<1024xi1> -> tensor<128xi1, #v>
    %b = arith.select %t, %zero, %a : tensor<128xi1, #v>, tensor<128xf32, #v>
    scf.yield %b : tensor<128xf32, #v>
  } {fusion_tile.num_stages = 3 : i64}
  "test.use"(%s) : (tensor<128xf32, #v>) -> ()
  fusion_tile.return
}
