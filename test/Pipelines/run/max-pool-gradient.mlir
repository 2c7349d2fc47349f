// The gradient of maxima over windows: elements look up which one of each of their
// windows is the maximum, at places computed of their own and cut off at the ends.

// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify
// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=2 --verify

#row = affine_map<(i) -> (i)>
#along = affine_map<(n, i) -> (i)>
#all = affine_map<(n, i) -> (n, i)>
func.func @main(%dy: tensor<6x24xf32>) -> tensor<6x48xf32> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %last = arith.constant 23 : i64
  %size = arith.constant 24 : i64
  %zero = arith.constant 0.0 : f32
  %pe = tensor.empty() : tensor<48xi64>
  %me = tensor.empty() : tensor<48xi1>
  %ie = tensor.empty() : tensor<6x48xi64>
  %fe = tensor.empty() : tensor<6x48xf32>
  %we = tensor.empty() : tensor<6x24xi64>
  %which = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%we : tensor<6x24xi64>) {
  ^bb0(%o: i64):
    %n = linalg.index 0 : index
    %p = linalg.index 1 : index
    %nn = arith.index_cast %n : index to i64
    %pn = arith.index_cast %p : index to i64
    %twice = arith.muli %pn, %c2 : i64
    %odd = arith.remsi %nn, %c2 : i64
    %r = arith.addi %twice, %odd : i64
    linalg.yield %r : i64
  } -> tensor<6x24xi64>
  %place0 = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%pe : tensor<48xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %next = arith.addi %n, %c1 : i64
    %half = arith.divsi %next, %c2 : i64
    %p0 = arith.subi %half, %c0 : i64
    %l0 = arith.maxsi %p0, %c0 : i64
    %u0 = arith.minsi %l0, %last : i64
    linalg.yield %u0 : i64
  } -> tensor<48xi64>
  %inside0 = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%me : tensor<48xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %next = arith.addi %n, %c1 : i64
    %half = arith.divsi %next, %c2 : i64
    %p = arith.subi %half, %c0 : i64
    %low = arith.cmpi sge, %p, %c0 : i64
    %high = arith.cmpi sle, %p, %last : i64
    %in = arith.andi %low, %high : i1
    linalg.yield %in : i1
  } -> tensor<48xi1>
  %which0 = linalg.generic {indexing_maps = [#along, #all], iterator_types = ["parallel", "parallel"]} ins(%place0 : tensor<48xi64>) outs(%ie : tensor<6x48xi64>) {
  ^bb0(%p: i64, %o: i64):
    %n = linalg.index 0 : index
    %negative = arith.cmpi slt, %p, %c0 : i64
    %wrapped = arith.addi %p, %size : i64
    %s = arith.select %negative, %wrapped, %p : i64
    %place = arith.index_cast %s : i64 to index
    %e = tensor.extract %which[%n, %place] : tensor<6x24xi64>
    linalg.yield %e : i64
  } -> tensor<6x48xi64>
  %grad0 = linalg.generic {indexing_maps = [#along, #all], iterator_types = ["parallel", "parallel"]} ins(%place0 : tensor<48xi64>) outs(%fe : tensor<6x48xf32>) {
  ^bb0(%p: i64, %o: f32):
    %n = linalg.index 0 : index
    %negative = arith.cmpi slt, %p, %c0 : i64
    %wrapped = arith.addi %p, %size : i64
    %s = arith.select %negative, %wrapped, %p : i64
    %place = arith.index_cast %s : i64 to index
    %e = tensor.extract %dy[%n, %place] : tensor<6x24xf32>
    linalg.yield %e : f32
  } -> tensor<6x48xf32>
  %part0 = linalg.generic {indexing_maps = [#all, #along, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%which0, %inside0, %grad0 : tensor<6x48xi64>, tensor<48xi1>, tensor<6x48xf32>) outs(%fe : tensor<6x48xf32>) {
  ^bb0(%w: i64, %in: i1, %g: f32, %o: f32):
    %i = linalg.index 1 : index
    %own = arith.index_cast %i : index to i64
    %is = arith.cmpi eq, %w, %own : i64
    %takes = arith.andi %is, %in : i1
    %r = arith.select %takes, %g, %zero : f32
    linalg.yield %r : f32
  } -> tensor<6x48xf32>
  %place1 = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%pe : tensor<48xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %next = arith.addi %n, %c1 : i64
    %half = arith.divsi %next, %c2 : i64
    %p1 = arith.subi %half, %c1 : i64
    %l1 = arith.maxsi %p1, %c0 : i64
    %u1 = arith.minsi %l1, %last : i64
    linalg.yield %u1 : i64
  } -> tensor<48xi64>
  %inside1 = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%me : tensor<48xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %next = arith.addi %n, %c1 : i64
    %half = arith.divsi %next, %c2 : i64
    %p = arith.subi %half, %c1 : i64
    %low = arith.cmpi sge, %p, %c0 : i64
    %high = arith.cmpi sle, %p, %last : i64
    %in = arith.andi %low, %high : i1
    linalg.yield %in : i1
  } -> tensor<48xi1>
  %which1 = linalg.generic {indexing_maps = [#along, #all], iterator_types = ["parallel", "parallel"]} ins(%place1 : tensor<48xi64>) outs(%ie : tensor<6x48xi64>) {
  ^bb0(%p: i64, %o: i64):
    %n = linalg.index 0 : index
    %negative = arith.cmpi slt, %p, %c0 : i64
    %wrapped = arith.addi %p, %size : i64
    %s = arith.select %negative, %wrapped, %p : i64
    %place = arith.index_cast %s : i64 to index
    %e = tensor.extract %which[%n, %place] : tensor<6x24xi64>
    linalg.yield %e : i64
  } -> tensor<6x48xi64>
  %grad1 = linalg.generic {indexing_maps = [#along, #all], iterator_types = ["parallel", "parallel"]} ins(%place1 : tensor<48xi64>) outs(%fe : tensor<6x48xf32>) {
  ^bb0(%p: i64, %o: f32):
    %n = linalg.index 0 : index
    %negative = arith.cmpi slt, %p, %c0 : i64
    %wrapped = arith.addi %p, %size : i64
    %s = arith.select %negative, %wrapped, %p : i64
    %place = arith.index_cast %s : i64 to index
    %e = tensor.extract %dy[%n, %place] : tensor<6x24xf32>
    linalg.yield %e : f32
  } -> tensor<6x48xf32>
  %part1 = linalg.generic {indexing_maps = [#all, #along, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%which1, %inside1, %grad1 : tensor<6x48xi64>, tensor<48xi1>, tensor<6x48xf32>) outs(%fe : tensor<6x48xf32>) {
  ^bb0(%w: i64, %in: i1, %g: f32, %o: f32):
    %i = linalg.index 1 : index
    %own = arith.index_cast %i : index to i64
    %is = arith.cmpi eq, %w, %own : i64
    %takes = arith.andi %is, %in : i1
    %r = arith.select %takes, %g, %zero : f32
    linalg.yield %r : f32
  } -> tensor<6x48xf32>
  %sum = arith.addf %part0, %part1 : tensor<6x48xf32>
  return %sum : tensor<6x48xf32>
}
