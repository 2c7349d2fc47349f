// Sizes that nobody gave are drawn such that the program allows them.

// Two arguments that are added.
// RUN: fusion-run %s --entry=sum --device=emulator --random --verify --seed=3 \
// RUN:   | FileCheck %s
// A product of sizes that an argument tells, in its range.
// RUN: fusion-run %s --entry=count --device=emulator --random --verify \
// RUN:   | FileCheck %s
// At most 2^20 elements, whatever four sizes would give.
// RUN: fusion-run %s --entry=many --device=emulator --random --verify --seed=1 \
// RUN:   | FileCheck %s
// CHECK: verified
// A size that is given stays.
// RUN: not fusion-run %s --entry=even --device=emulator --random --dim=n=7 \
// RUN:   2>&1 | FileCheck %s --check-prefix=GIVEN
// GIVEN: FUS-6009: entry 'even' (n = 7)

func.func @sum(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = arith.addf %x, %y : tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @count(%x: tensor<?x3xf32>, %m: index) -> tensor<?x2xf32> {
  %c2 = arith.constant 2 : index
  %s = tensor.from_elements %m, %c2 : tensor<2xindex>
  %r = tensor.reshape %x(%s)
      : (tensor<?x3xf32>, tensor<2xindex>) -> tensor<?x2xf32>
  %y = arith.negf %r : tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

func.func @many(%x: tensor<?x?x?x?xi8>) -> tensor<?x?x?x?xi8> {
  %r = arith.addi %x, %x : tensor<?x?x?x?xi8>
  return %r : tensor<?x?x?x?xi8>
}

func.func @even(%x: tensor<?xf32> {fusion.dims = ["n"]}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %rest = arith.remui %n, %c2 : index
  %even = arith.cmpi eq, %rest, %c0 : index
  cf.assert %even, "even"
  %r = math.absf %x : tensor<?xf32>
  return %r : tensor<?xf32>
}
