// Tiles fill the chip that they are for, and are chosen for the size that
// dynamic dimensions are said to have.

// RUN: fusion-opt %s --fusion-to-schedule=target=sm_110 | FileCheck %s --check-prefix=SMALL
// RUN: fusion-opt %s --fusion-to-schedule=target=sm_121 | FileCheck %s --check-prefix=LARGE
// RUN: fusion-opt %s --fusion-to-schedule=representative-size=16 | FileCheck %s --check-prefix=FEW

// 32 blocks are enough for 20 multiprocessors, for 48 they are not.
// SMALL-LABEL: func @pointwise
// SMALL: #fusion.axis<grid, tile = 1024, vector = 4>
// LARGE-LABEL: func @pointwise
// LARGE: #fusion.axis<grid, tile = 512, vector = 4>
func.func @pointwise(%x: tensor<32768xf32>) -> tensor<32768xf32> {
  %0 = arith.negf %x : tensor<32768xf32>
  return %0 : tensor<32768xf32>
}

// FEW-LABEL: func @dynamic
// FEW: #fusion.axis<grid, tile = 16, vector = 4>
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.negf %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
