// Arithmetic that folds to a constant when its operands turn out to be one
// value.

// RUN: fusion-run %s --entry=fixed --device=emulator --random --seed=1 --verify
// RUN: fusion-run %s --entry=dynamic --device=emulator --random --seed=1

#m = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>

func.func @fixed(%x: tensor<39x39xi32>, %b: tensor<39x39xi1>) -> (tensor<39x39xi32>, tensor<39x39xi1>, tensor<39x39xi32>) {
  %e = tensor.empty() : tensor<39x39xi32>
  %eb = tensor.empty() : tensor<39x39xi1>
  %difference = linalg.sub ins(%x, %x : tensor<39x39xi32>, tensor<39x39xi32>) outs(%e : tensor<39x39xi32>) -> tensor<39x39xi32>
  %xor = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel", "parallel"]} ins(%b, %b : tensor<39x39xi1>, tensor<39x39xi1>) outs(%eb : tensor<39x39xi1>) {
  ^bb0(%p: i1, %q: i1, %o: i1):
    %c = arith.xori %p, %q : i1
    linalg.yield %c : i1
  } -> tensor<39x39xi1>
  // Only layouts show that both are the same.
  %quotient = linalg.generic {indexing_maps = [#m, #t, #m], iterator_types = ["parallel", "parallel"]} ins(%x, %difference : tensor<39x39xi32>, tensor<39x39xi32>) outs(%e : tensor<39x39xi32>) {
  ^bb0(%p: i32, %q: i32, %o: i32):
    %minus = arith.constant -1 : i32
    %d = arith.subi %p, %p : i32
    %f = arith.divui %d, %minus : i32
    %g = arith.addi %f, %q : i32
    linalg.yield %g : i32
  } -> tensor<39x39xi32>
  return %difference, %xor, %quotient : tensor<39x39xi32>, tensor<39x39xi1>, tensor<39x39xi32>
}

func.func @dynamic(%x: tensor<?x4xi32>) -> (tensor<?x4xi32>, tensor<?x4xi1>) {
  %a = arith.xori %x, %x : tensor<?x4xi32>
  %b = arith.cmpi eq, %x, %x : tensor<?x4xi32>
  return %a, %b : tensor<?x4xi32>, tensor<?x4xi1>
}
