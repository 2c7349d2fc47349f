// Sizes of quotients and remainders of numbers of both signs, as frontends
// write ceil divisions and paddings, and of comparisons.

// RUN: fusion-run %s --entry=ceil --device=emulator --random --verify \
// RUN:   --dim=n=7 | FileCheck %s
// RUN: fusion-run %s --entry=toward_zero --device=emulator --random --verify \
// RUN:   --dim=n=7 | FileCheck %s
// RUN: fusion-run %s --entry=toward_zero --device=emulator --random --verify \
// RUN:   --dim=n=15 | FileCheck %s
// RUN: fusion-run %s --entry=negative_divisor --device=emulator --random \
// RUN:   --verify --dim=n=7 | FileCheck %s
// RUN: fusion-run %s --entry=argument --device=emulator --random --verify \
// RUN:   --dim=n=7 --int-range=-3:-3 | FileCheck %s
// RUN: fusion-run %s --entry=argument --device=emulator --random --verify \
// RUN:   --dim=n=7 --int-range=2:2 | FileCheck %s
// RUN: fusion-run %s --entry=map --device=emulator --random --verify \
// RUN:   --dim=n=3 | FileCheck %s
// RUN: fusion-run %s --entry=map --device=emulator --random --verify \
// RUN:   --dim=n=13 | FileCheck %s
// RUN: fusion-run %s --entry=windows --device=emulator --random --verify \
// RUN:   --dim=n=1 | FileCheck %s
// RUN: fusion-run %s --entry=windows --device=emulator --random --verify \
// RUN:   --dim=n=8 | FileCheck %s
// RUN: fusion-run %s --entry=windows --device=emulator --random --verify \
// RUN:   --dim=n=9 | FileCheck %s
// RUN: fusion-run %s --entry=inferred --device=emulator --random --verify \
// RUN:   --dim=n=6 --int-range=-1:-1 | FileCheck %s
// RUN: fusion-run %s --entry=inferred --device=emulator --random --verify \
// RUN:   --dim=n=6 --int-range=6:6 | FileCheck %s
// CHECK: verified

// -(-n // 2)
func.func @ceil(%x: tensor<?xf32> {fusion.dims = ["n"]}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %minus = arith.subi %c0, %n : index
  %half = arith.floordivsi %minus, %c2 : index
  %size = arith.subi %c0, %half : index
  %s = tensor.extract_slice %x[0] [%size] [1] : tensor<?xf32> to tensor<?xf32>
  %y = math.absf %s : tensor<?xf32>
  return %y : tensor<?xf32>
}

// 5 + (10 - n) / 3 + (10 - n) rem 3, both rounded towards zero
func.func @toward_zero(%x: tensor<?xf32> {fusion.dims = ["n"]})
    -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c10 = arith.constant 10 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %left = arith.subi %c10, %n : index
  %quotient = arith.divsi %left, %c3 : index
  %remainder = arith.remsi %left, %c3 : index
  %sum = arith.addi %quotient, %remainder : index
  %size = arith.addi %sum, %c5 : index
  %s = tensor.extract_slice %x[0] [%size] [1] : tensor<?xf32> to tensor<?xf32>
  %y = math.absf %s : tensor<?xf32>
  return %y : tensor<?xf32>
}

// -(n // -2)
func.func @negative_divisor(%x: tensor<?xf32> {fusion.dims = ["n"]})
    -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %by = arith.constant -2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %half = arith.floordivsi %n, %by : index
  %size = arith.subi %c0, %half : index
  %s = tensor.extract_slice %x[0] [%size] [1] : tensor<?xf32> to tensor<?xf32>
  %y = math.absf %s : tensor<?xf32>
  return %y : tensor<?xf32>
}

// 4 + n // m + ceil(n / m) / 2 + n rem m, where m may be negative
func.func @argument(%x: tensor<?xf32> {fusion.dims = ["n"]}, %m: index)
    -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %floor = arith.floordivsi %n, %m : index
  %ceil = arith.ceildivsi %n, %m : index
  %half = arith.divsi %ceil, %c2 : index
  %remainder = arith.remsi %n, %m : index
  %0 = arith.addi %floor, %half : index
  %1 = arith.addi %0, %remainder : index
  %2 = arith.addi %1, %c4 : index
  %size = arith.minsi %2, %n : index
  %s = tensor.extract_slice %x[0] [%size] [1] : tensor<?xf32> to tensor<?xf32>
  %y = math.absf %s : tensor<?xf32>
  return %y : tensor<?xf32>
}

// What is missing to a multiple of 4.
func.func @map(%x: tensor<?xf32> {fusion.dims = ["n"]}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %missing = affine.apply affine_map<()[s0] -> ((-s0) mod 4)>()[%n]
  %p = tensor.pad %x low[0] high[%missing] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<?xf32>
  %y = math.cos %p : tensor<?xf32>
  return %y : tensor<?xf32>
}

// As many windows of two elements as begin in the image.
func.func @windows(%x: tensor<?xf32> {fusion.dims = ["n"]}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %size = arith.index_cast %n : index to i64
  %less = arith.subi %size, %c2 : i64
  %whole = arith.ceildivsi %less, %c2 : i64
  %more = arith.addi %whole, %c1 : i64
  %begin = arith.muli %whole, %c2 : i64
  %isOutside = arith.cmpi uge, %begin, %size : i64
  %count = arith.select %isOutside, %whole, %more : i64
  %windows = arith.index_cast %count : i64 to index
  %p = tensor.pad %x low[0] high[2] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<?xf32>
  %window = tensor.empty() : tensor<2xf32>
  %empty = tensor.empty(%windows) : tensor<?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>)
      -> tensor<?xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, r) -> (2 * i + r)>,
                       affine_map<(i, r) -> (r)>, affine_map<(i, r) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%p, %window : tensor<?xf32>, tensor<2xf32>)
      outs(%init : tensor<?xf32>) {
  ^bb0(%in: f32, %unused: f32, %sum: f32):
    %next = arith.addf %sum, %in : f32
    linalg.yield %next : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// An argument that is no size asks for all elements.
func.func @inferred(%x: tensor<?xf32> {fusion.dims = ["n"]}, %m: i64)
    -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0 : i64
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %all = arith.index_cast %n : index to i64
  %isInferred = arith.cmpi slt, %m, %none : i64
  %size = arith.select %isInferred, %all, %m : i64
  %shape = tensor.from_elements %size : tensor<1xi64>
  %r = tensor.reshape %x(%shape)
      : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  %y = math.absf %r : tensor<?xf32>
  return %y : tensor<?xf32>
}
