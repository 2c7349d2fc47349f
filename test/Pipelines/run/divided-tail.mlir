// Divisions of integers in tiles that go past the end of their tensors. There
// the divisor is a zero that nothing has loaded: were the division undefined,
// the condition of the load could be taken for true.

// RUN: fusion-run %s --entry=words --device=emulator --random --verify \
// RUN:   --int-range=1:9 | FileCheck %s
// RUN: fusion-run %s --entry=signs --device=emulator --random --verify \
// RUN:   --int-range=-9:-1 | FileCheck %s
// RUN: fusion-run %s --entry=sums --device=emulator --random --verify \
// RUN:   --int-range=1:9 --dim=n=37 | FileCheck %s
// CHECK: verified

func.func @words(%x: tensor<49xi16>, %y: tensor<49xi16>, %z: tensor<49xi8>)
    -> (tensor<49xi16>, tensor<49xi16>, tensor<49xi8>) {
  %q = arith.divsi %x, %y : tensor<49xi16>
  %r = arith.remui %x, %y : tensor<49xi16>
  %b = arith.divui %z, %z : tensor<49xi8>
  return %q, %r, %b : tensor<49xi16>, tensor<49xi16>, tensor<49xi8>
}

func.func @signs(%x: tensor<7x9xi32>, %y: tensor<9xi32>, %z: tensor<9xi64>)
    -> (tensor<7x9xi32>, tensor<9xi32>, tensor<9xi64>) {
  %e = tensor.empty() : tensor<7x9xi32>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
                                        affine_map<(i, j) -> (j)>,
                                        affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<7x9xi32>, tensor<9xi32>)
      outs(%e : tensor<7x9xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %f = arith.floordivsi %a, %b : i32
    %r = arith.remsi %f, %b : i32
    linalg.yield %r : i32
  } -> tensor<7x9xi32>
  %c = arith.ceildivsi %y, %y : tensor<9xi32>
  %d = arith.ceildivui %z, %z : tensor<9xi64>
  return %q, %c, %d : tensor<7x9xi32>, tensor<9xi32>, tensor<9xi64>
}

// What lies past the end does not count in a sum either.
func.func @sums(%x: tensor<5x?xi32> {fusion.dims = ["_", "n"]},
                %y: tensor<?xi32> {fusion.dims = ["n"]}) -> tensor<5xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<5xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<5xi32>)
      -> tensor<5xi32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
                                          affine_map<(i, j) -> (j)>,
                                          affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<5x?xi32>, tensor<?xi32>) outs(%init : tensor<5xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %q = arith.divui %a, %b : i32
    %s = arith.addi %o, %q : i32
    linalg.yield %s : i32
  } -> tensor<5xi32>
  return %sum : tensor<5xi32>
}
