// Short rows that are needed again: a tile has as many of them as the block has
// threads, so that each thread keeps its own; several of very short ones.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select | FileCheck %s

// CHECK-LABEL: func.func @short
// CHECK: axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<full, tile = 32, vector = 8>], warps = 4
func.func @short(%x: tensor<544960x20xbf16>) -> tensor<544960x20xbf16> {
  %y = fusion.log_softmax %x axis(1) : tensor<544960x20xbf16>
  return %y : tensor<544960x20xbf16>
}

// CHECK-LABEL: func.func @shorter
// CHECK: axes = [#fusion.axis<grid, tile = 512>, #fusion.axis<full, tile = 4, vector = 4>], warps = 4
func.func @shorter(%x: tensor<19988480x3xf16>) -> tensor<19988480x3xf16> {
  %y = fusion.log_softmax %x axis(1) : tensor<19988480x3xf16>
  return %y : tensor<19988480x3xf16>
}

// Too long for the registers of a thread.
// CHECK-LABEL: func.func @long
// CHECK-NOT: tile = 128>
// CHECK: return
func.func @long(%x: tensor<544960x200xbf16>) -> tensor<544960x200xbf16> {
  %y = fusion.log_softmax %x axis(1) : tensor<544960x200xbf16>
  return %y : tensor<544960x200xbf16>
}

// Too few for all multiprocessors to have some.
// CHECK-LABEL: func.func @few
// CHECK-NOT: tile = 128>
// CHECK: return
func.func @few(%x: tensor<5000x20xbf16>) -> tensor<5000x20xbf16> {
  %y = fusion.log_softmax %x axis(1) : tensor<5000x20xbf16>
  return %y : tensor<5000x20xbf16>
}

// Rows that no thread keeps alone: a warp has one, which no others wait for.
// CHECK-LABEL: func.func @of_warps
// CHECK: axes = [#fusion.axis<grid, tile = 2>, #fusion.axis<full, tile = 1024, vector = 8>], warps = 2>
func.func @of_warps(%x: tensor<262144x952xbf16>, %scale: tensor<952xbf16>) -> tensor<262144x952xbf16> {
  %y = fusion.rms_norm %x scale(%scale) axis(1) eps(1.0e-5) : (tensor<262144x952xbf16>, tensor<952xbf16>) -> tensor<262144x952xbf16>
  return %y : tensor<262144x952xbf16>
}
