// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-specialize-warps,canonicalize,cse))' --remarks-filter='fusion.*' --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks --allow-empty

// A 3x3 convolution of 14x14 images in steps of two with one element of padding
// makes 7x7 places: from -1 in steps of two, 7 of them, which ends at 11, the
// last step before 13, itself one before the image's end.

#image = affine_map<(d0, d1)[s0, s1, s2, s3] -> (((d0 + s0) floordiv 7) floordiv 7, (((d0 + s0) floordiv 7) mod 7) * 2 + s1 - 1, ((d0 + s0) mod 7) * 2 + s2 - 1, d1 + s3)>
#filter = affine_map<(d0, d1)[s0, s1, s2] -> (d0, s0, s1, d1 + s2)>

// CHECK-LABEL: fusion_tile.program @strided
// CHECK-DAG: %[[B:.*]] = gpu.block_id
// CHECK-DAG: %[[X:.*]] = fusion_tile.tensor_map %{{.*}} {element_strides = array<i64: 1, 2, 2, 1>, im2col = #fusion_tile.im2col<lower = [-1, -1], upper = [-1, -1]>} : <2x14x14x128xf16> -> <1x1x64x64xf16, b128>
// CHECK-DAG: %[[W:.*]] = fusion_tile.tensor_map %{{.*}} : <64x3x3x128xf16> -> <64x1x1x64xf16, b128>
// CHECK: producer
// CHECK: scf.for %[[KH:[a-z0-9]+]] =
// CHECK: scf.for %[[KW:[a-z0-9]+]] =
// CHECK: scf.for %[[C:[a-z0-9]+]] =
// CHECK: fusion_tile.async_load %[[X]][%{{.*}}, %{{.*}}, %{{.*}}, %[[C]]] offset[%[[KH]], %[[KW]]] into %{{.*}} dims [2, 3]
// CHECK: fusion_tile.async_load %[[W]][%{{.*}}, %[[KH]], %[[KW]], %[[C]]] into %{{.*}} dims [0, 3]
fusion_tile.program @strided(%px: !llvm.ptr<1>, %pw: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %block = gpu.block_id x
  %m = arith.muli %block, %c64 : index
  %x = fusion_tile.view %px[] {shape = affine_map<() -> (2, 14, 14, 128)>} : !llvm.ptr<1> to !fusion_tile.view<2x14x14x128xf16>
  %w = fusion_tile.view %pw[] {shape = affine_map<() -> (64, 3, 3, 128)>} : !llvm.ptr<1> to !fusion_tile.view<64x3x3x128xf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (98, 64)>} : !llvm.ptr<1> to !fusion_tile.view<98x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kh = %c0 to %c3 step %c1 iter_args(%a0 = %init) -> (tensor<64x64xf32>) {
    %s1 = scf.for %kw = %c0 to %c3 step %c1 iter_args(%a1 = %a0) -> (tensor<64x64xf32>) {
      %s2 = scf.for %c = %c0 to %c128 step %c64 iter_args(%a2 = %a1) -> (tensor<64x64xf32>) {
        %kx = fusion_tile.load %x[#image] (%m, %kh, %kw, %c) checked [true, true, true, false] : !fusion_tile.view<2x14x14x128xf16> -> tensor<64x64xf16>
        %kf = fusion_tile.load %w[#filter] (%kh, %kw, %c) checked [false, false, false, false] : !fusion_tile.view<64x3x3x128xf16> -> tensor<64x64xf16>
        %d = fusion_tile.dot %kx, %kf, %a2 : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
        scf.yield %d : tensor<64x64xf32>
      }
      scf.yield %s2 : tensor<64x64xf32>
    }
    scf.yield %s1 : tensor<64x64xf32>
  }
  fusion_tile.store %sum, %y[affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>] (%m) checked [true, false] : tensor<64x64xf32>, !fusion_tile.view<98x64xf32>
  fusion_tile.return
}

// -----

// Dilation, no padding; the image of a batch of one has no digit of its own:
// windows go on behind its end, where the next image is no image.

#image = affine_map<(d0, d1)[s0, s1, s2] -> (0, (d0 + s0) floordiv 10 + s1 * 3, (d0 + s0) mod 10 + s2 * 3, d1)>

// CHECK-LABEL: fusion_tile.program @dilated
// CHECK: fusion_tile.tensor_map {{.*}} im2col = #fusion_tile.im2col<lower = [0, 0], upper = [0, -6]>} : <1x16x16x64xf16> -> <1x1x64x64xf16, b128>
// CHECK: producer
// CHECK-DAG: %[[H:.*]] = arith.muli %[[KH:.*]], %c3
// CHECK-DAG: %[[V:.*]] = arith.muli %[[KW:.*]], %c3
// CHECK: offset[%[[H]], %[[V]]]
fusion_tile.program @dilated(%px: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %block = gpu.block_id x
  %m = arith.muli %block, %c64 : index
  %x = fusion_tile.view %px[] {shape = affine_map<() -> (1, 16, 16, 64)>} : !llvm.ptr<1> to !fusion_tile.view<1x16x16x64xf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %kh = %c0 to %c3 step %c1 iter_args(%a0 = %init) -> (tensor<64x64xf32>) {
    %s1 = scf.for %kw = %c0 to %c3 step %c1 iter_args(%a1 = %a0) -> (tensor<64x64xf32>) {
      %kx = fusion_tile.load %x[#image] (%m, %kh, %kw) checked [false, true, true, false] : !fusion_tile.view<1x16x16x64xf16> -> tensor<64x64xf16>
      %d = fusion_tile.dot %kx, %kx, %a1 : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    scf.yield %s1 : tensor<64x64xf32>
  }
  fusion_tile.return
}

// -----

// The gradient of a filter: the rows that windows of 3x3 lie along are what is
// contracted. The columns are 64 channels at each element of the filter, of
// which a tile has two, the second one of its own row in the last tile.

#image = affine_map<(d0, d1)[s0, s1] -> (((d1 + s1) floordiv 7) floordiv 7, ((d1 + s1) floordiv 7) mod 7 + ((d0 + s0) floordiv 64) floordiv 3 - 1, (d1 + s1) mod 7 + ((d0 + s0) floordiv 64) mod 3 - 1, (d0 + s0) mod 64)>
#grad = affine_map<(d0, d1)[s0] -> (d1 + s0, d0)>

// CHECK-LABEL: fusion_tile.program @gradient
// CHECK-DAG: fusion_tile.tensor_map {{.*}} im2col = #fusion_tile.im2col<lower = [-1, -1], upper = [-1, -1]>} : <4x7x7x64xf16> -> <1x1x64x64xf16, b128>
// CHECK: producer
// CHECK: fusion_tile.async_load {{.*}} dims [1, 0] :
// CHECK: fusion_tile.async_load %{{.*}}[%[[N:.*]], %[[H:.*]], %[[W:.*]], %{{.*}}, %[[N2:.*]], %[[H2:.*]], %[[W2:.*]], %{{.*}}] offset[%[[R0:.*]], %[[S0:.*]], %[[R1:.*]], %[[S1:.*]]] into {{.*}} dims [3, 2] along 0
fusion_tile.program @gradient(%px: !llvm.ptr<1>, %pg: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c196 = arith.constant 196 : index
  %block = gpu.block_id x
  %tile = arith.remui %block, %c5 : index
  %n = arith.muli %tile, %c128 : index
  %x = fusion_tile.view %px[] {shape = affine_map<() -> (4, 7, 7, 64)>} : !llvm.ptr<1> to !fusion_tile.view<4x7x7x64xf16>
  %g = fusion_tile.view %pg[] {shape = affine_map<() -> (196, 64)>} : !llvm.ptr<1> to !fusion_tile.view<196x64xf16>
  %init = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %c196 step %c64 iter_args(%a = %init) -> (tensor<64x128xf32>) {
    %kg = fusion_tile.load %g[#grad] (%k) checked [true, false] : !fusion_tile.view<196x64xf16> -> tensor<64x64xf16>
    %kx = fusion_tile.load %x[#image] (%n, %k) checked [true, true, true, false] : !fusion_tile.view<4x7x7x64xf16> -> tensor<128x64xf16>
    %d = fusion_tile.dot %kg, %kx, %a : tensor<64x64xf16>, tensor<128x64xf16> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  fusion_tile.return
}

// -----

// What the engine cannot count: steps of more than eight, an element of the
// window that no loop gives, a second image after the end of the first that is
// not counted, digits in another order, images that may have any size, channels
// of two elements of windows in one box.

// REMARK: FUS-3211: {{.*}}: windows are 9 elements apart, the copy engine steps by up to 8;
// REMARK: FUS-3211: {{.*}}: the place of an element in its window is not known;
// REMARK: FUS-3211: {{.*}}: rows do not go on in the next image;
// REMARK: FUS-3211: {{.*}}: the tile is no box of the tensor;
// REMARK: FUS-3211: {{.*}}: an image of windows has a dynamic size;
// REMARK: FUS-3211: {{.*}}: windows start or end -200 elements away
// REMARK: FUS-3211: {{.*}}: channels of one box lie at several elements of the windows;
// CHECK-NOT: fusion_tile.specialize
fusion_tile.program @far(%px: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %x = fusion_tile.view %px[] {shape = affine_map<() -> (2, 64, 64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<2x64x64x64xf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %kx = fusion_tile.load %x[affine_map<(d0, d1) -> (d0 floordiv 49, ((d0 floordiv 7) mod 7) * 9, (d0 mod 7) * 9, d1)>] () checked [true, true, true, false] : !fusion_tile.view<2x64x64x64xf16> -> tensor<64x64xf16>
  %d = fusion_tile.dot %kx, %kx, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  fusion_tile.return
}
fusion_tile.program @anywhere(%px: !llvm.ptr<1>, %n: index) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %x = fusion_tile.view %px[] {shape = affine_map<() -> (2, 8, 8, 64)>} : !llvm.ptr<1> to !fusion_tile.view<2x8x8x64xf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %kx = fusion_tile.load %x[affine_map<(d0, d1)[s0] -> (d0 floordiv 64, ((d0 floordiv 8) mod 8) + s0, d0 mod 8, d1)>] (%n) checked [true, true, true, false] : !fusion_tile.view<2x8x8x64xf16> -> tensor<64x64xf16>
  %d = fusion_tile.dot %kx, %kx, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  fusion_tile.return
}
fusion_tile.program @ends(%px: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %x = fusion_tile.view %px[] {shape = affine_map<() -> (2, 8, 8, 64)>} : !llvm.ptr<1> to !fusion_tile.view<2x8x8x64xf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %kx = fusion_tile.load %x[affine_map<(d0, d1) -> (1, d0 floordiv 8, d0 mod 8, d1)>] () checked [true, true, true, false] : !fusion_tile.view<2x8x8x64xf16> -> tensor<64x64xf16>
  %d = fusion_tile.dot %kx, %kx, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  fusion_tile.return
}
fusion_tile.program @order(%px: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %x = fusion_tile.view %px[] {shape = affine_map<() -> (2, 8, 8, 64)>} : !llvm.ptr<1> to !fusion_tile.view<2x8x8x64xf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %kx = fusion_tile.load %x[affine_map<(d0, d1) -> (d0 floordiv 64, d0 mod 8, (d0 floordiv 8) mod 8, d1)>] () checked [true, true, true, false] : !fusion_tile.view<2x8x8x64xf16> -> tensor<64x64xf16>
  %d = fusion_tile.dot %kx, %kx, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  fusion_tile.return
}
fusion_tile.program @dynamic(%px: !llvm.ptr<1>, %h: index) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %x = fusion_tile.view %px[%h] {shape = affine_map<()[s0] -> (2, s0, 8, 64)>} : !llvm.ptr<1> to !fusion_tile.view<2x?x8x64xf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %kx = fusion_tile.load %x[affine_map<(d0, d1) -> (d0 floordiv 48, (d0 floordiv 8) mod 6, d0 mod 8, d1)>] () checked [true, true, true, false] : !fusion_tile.view<2x?x8x64xf16> -> tensor<64x64xf16>
  %d = fusion_tile.dot %kx, %kx, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  fusion_tile.return
}
fusion_tile.program @corner(%px: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %x = fusion_tile.view %px[] {shape = affine_map<() -> (2, 8, 208, 64)>} : !llvm.ptr<1> to !fusion_tile.view<2x8x208x64xf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %kx = fusion_tile.load %x[affine_map<(d0, d1) -> (d0 floordiv 64, (d0 floordiv 8) mod 8, d0 mod 8, d1)>] () checked [true, true, true, false] : !fusion_tile.view<2x8x208x64xf16> -> tensor<64x64xf16>
  %d = fusion_tile.dot %kx, %kx, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  fusion_tile.return
}
fusion_tile.program @pieces(%px: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %x = fusion_tile.view %px[] {shape = affine_map<() -> (2, 8, 8, 32)>} : !llvm.ptr<1> to !fusion_tile.view<2x8x8x32xf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %kx = fusion_tile.load %x[affine_map<(d0, d1) -> (d1 floordiv 64, (d1 floordiv 8) mod 8, d1 mod 8 + d0 floordiv 32, d0 mod 32)>] () checked [true, true, true, false] : !fusion_tile.view<2x8x8x32xf16> -> tensor<64x64xf16>
  %d = fusion_tile.dot %kx, %kx, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  fusion_tile.return
}
