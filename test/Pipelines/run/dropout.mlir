// The mask is the same however a kernel is tiled: threads with one row and with
// several rows, which begin at any element, and of rows that are one dimension.

// RUN: fusion-opt %s --fusion-set-target=target=sm_90a --fusion-input --fusion-plan-form-kernels --fusion-plan-collapse-dims -o %t.plan.mlir
// RUN: fusion-opt %t.plan.mlir --fusion-schedule-select=candidate=0 -o %t.0.mlir
// RUN: fusion-opt %t.plan.mlir --fusion-schedule-select=candidate=1 -o %t.1.mlir
// RUN: cat %t.0.mlir %t.1.mlir | FileCheck %s --check-prefix=TILES
// RUN: fusion-compile %t.0.mlir -o %t.0.fpk
// RUN: fusion-compile %t.1.mlir -o %t.1.fpk
// RUN: fusion-run %t.0.fpk --reference=%s --entry=pairs --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %t.1.fpk --reference=%s --entry=pairs --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %t.0.fpk --reference=%s --entry=odd --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %t.1.fpk --reference=%s --entry=odd --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %t.0.fpk --reference=%s --entry=whole --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %t.1.fpk --reference=%s --entry=whole --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %t.0.fpk --reference=%s --entry=joined --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %t.0.fpk --reference=%s --entry=dynamic --dim=arg0.0=9 --dim=arg0.1=1030 --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %t.1.fpk --reference=%s --entry=dynamic --dim=arg0.0=9 --dim=arg0.1=1037 --device=emulator --random --verify | FileCheck %s

// TILES-DAG: axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 2048, vector = 8>]
// TILES-DAG: axes = [#fusion.axis<grid, tile = 8>, #fusion.axis<grid, tile = 512, vector = 8>]
// CHECK: verified

func.func @pairs(%x: tensor<524x1030xbf16>, %b: tensor<1030xbf16>, %seed: i64) -> tensor<524x1030xbf16> {
  %empty = tensor.empty() : tensor<524x1030xbf16>
  %bias = linalg.broadcast ins(%b : tensor<1030xbf16>) outs(%empty : tensor<524x1030xbf16>) dimensions = [0]
  %sum = arith.addf %x, %bias : tensor<524x1030xbf16>
  %y = fusion.dropout %sum, %seed probability(0.3) op_id(1) : tensor<524x1030xbf16>
  return %y : tensor<524x1030xbf16>
}

func.func @odd(%x: tensor<524x1031xbf16>, %b: tensor<1031xbf16>, %seed: i64) -> tensor<524x1031xbf16> {
  %empty = tensor.empty() : tensor<524x1031xbf16>
  %bias = linalg.broadcast ins(%b : tensor<1031xbf16>) outs(%empty : tensor<524x1031xbf16>) dimensions = [0]
  %sum = arith.addf %x, %bias : tensor<524x1031xbf16>
  %y = fusion.dropout %sum, %seed probability(0.3) op_id(1) : tensor<524x1031xbf16>
  return %y : tensor<524x1031xbf16>
}

func.func @whole(%x: tensor<524x1032xbf16>, %b: tensor<1032xbf16>, %seed: i64) -> tensor<524x1032xbf16> {
  %empty = tensor.empty() : tensor<524x1032xbf16>
  %bias = linalg.broadcast ins(%b : tensor<1032xbf16>) outs(%empty : tensor<524x1032xbf16>) dimensions = [0]
  %sum = arith.addf %x, %bias : tensor<524x1032xbf16>
  %y = fusion.dropout %sum, %seed probability(0.3) op_id(1) : tensor<524x1032xbf16>
  return %y : tensor<524x1032xbf16>
}

func.func @joined(%x: tensor<17x103xf32>, %seed: i64) -> tensor<17x103xf32> {
  %y = fusion.dropout %x, %seed probability(0.3) op_id(1) : tensor<17x103xf32>
  return %y : tensor<17x103xf32>
}

func.func @dynamic(%x: tensor<?x?xbf16>, %b: tensor<?xbf16>, %seed: i64) -> tensor<?x?xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xbf16>
  %columns = tensor.dim %x, %c1 : tensor<?x?xbf16>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xbf16>
  %bias = linalg.broadcast ins(%b : tensor<?xbf16>) outs(%empty : tensor<?x?xbf16>) dimensions = [0]
  %sum = arith.addf %x, %bias : tensor<?x?xbf16>
  %y = fusion.dropout %sum, %seed probability(0.3) op_id(1) : tensor<?x?xbf16>
  return %y : tensor<?x?xbf16>
}
