// Reductions that several blocks share: sums of all elements and of columns in
// parts, rows in several blocks' tiles, a maximum that no float has, rows that
// are too long for all blocks together; of sizes that no tile divides.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify --entry=all
// RUN: fusion-run %s --device=emulator --random --seed=1 --verify=payload --entry=all
// RUN: fusion-run %s --device=emulator --random --seed=1 --verify --entry=columns
// RUN: fusion-run %s --device=emulator --random --seed=1 --verify --entry=rows
// RUN: fusion-run %s --device=emulator --random --seed=1 --asynchrony=early --verify --entry=rows
// RUN: fusion-run %s --device=emulator --random --seed=1 --verify --entry=kept_columns
// RUN: fusion-run %s --device=emulator --random --seed=1 --asynchrony=early --verify --entry=kept_columns
// RUN: fusion-run %s --device=emulator --random --seed=1 --verify --entry=two_inputs
// RUN: fusion-run %s --device=emulator --random --seed=1 --verify --entry=channels
// RUN: fusion-run %s --device=emulator --random --seed=1 --verify --entry=broadcast
// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a | FileCheck %s

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  // One walk through all rows, of which blocks have whole chunks.
  // CHECK-LABEL: func.func @all
  // CHECK: #fusion.schedule<reduction, axes = [#fusion.axis<loop, tile = {{4096|16384}}, {{.*}}split = {{[0-9]+}}{{.*}}>]
  func.func @all(%x: tensor<700x1000xf32>) -> (tensor<f32>, tensor<f32>) {
    %z = arith.constant 0.0 : f32
    %l = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %g = linalg.fill ins(%l : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %s = linalg.reduce { arith.addf } ins(%x : tensor<700x1000xf32>) outs(%f : tensor<f32>) dimensions = [0, 1]
    %m = linalg.reduce { arith.maximumf } ins(%x : tensor<700x1000xf32>) outs(%g : tensor<f32>) dimensions = [0, 1]
    return %s, %m : tensor<f32>, tensor<f32>
  }

  // CHECK-LABEL: func.func @columns
  // CHECK: #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 32, {{.*}}>, #fusion.axis<loop, tile = 128, split = {{[0-9]+}}>]
  func.func @columns(%x: tensor<30001x45xi32>) -> tensor<45xi32> {
    %l = arith.constant -2147483648 : i32
    %e = tensor.empty() : tensor<45xi32>
    %f = linalg.fill ins(%l : i32) outs(%e : tensor<45xi32>) -> tensor<45xi32>
    %m = linalg.reduce { arith.maxsi } ins(%x : tensor<30001x45xi32>) outs(%f : tensor<45xi32>) dimensions = [0]
    return %m : tensor<45xi32>
  }

  // CHECK-LABEL: func.func @rows
  // CHECK: #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<full, tile = 8192, vector = 4>]
  func.func @rows(%x: tensor<3x100003xf32>) -> tensor<3x100003xf32> {
    %e = tensor.empty() : tensor<3x100003xf32>
    %r = linalg.softmax dimension(1) ins(%x : tensor<3x100003xf32>) outs(%e : tensor<3x100003xf32>) -> tensor<3x100003xf32>
    return %r : tensor<3x100003xf32>
  }

  // A sector or two of columns, of which blocks keep parts of the rows.
  // CHECK-LABEL: func.func @kept_columns
  // CHECK: #fusion.schedule<reduction, axes = [#fusion.axis<full, tile = {{[0-9]+}}, cluster = {{[0-9]+}}>, #fusion.axis<grid, tile = {{8|16}}, vector = 4>]
  func.func @kept_columns(%x: tensor<2500x45xf32>) -> tensor<2500x45xf32> {
    %e = tensor.empty() : tensor<2500x45xf32>
    %r = linalg.softmax dimension(0) ins(%x : tensor<2500x45xf32>) outs(%e : tensor<2500x45xf32>) -> tensor<2500x45xf32>
    return %r : tensor<2500x45xf32>
  }

  // Both inputs are kept, in a cluster.
  // CHECK-LABEL: func.func @two_inputs
  // CHECK-SAME: kernels_after = 1 : i64
  // CHECK: #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = {{[0-9]+}}, vector = 4>, #fusion.axis<full, tile = {{[0-9]+}}, cluster = {{[0-9]+}}>]
  func.func @two_inputs(%x: tensor<1500x45xf32>, %t: tensor<1500x45xf32>) -> tensor<45xf32> {
    %p = fusion.log_softmax %x axis(0) : tensor<1500x45xf32>
    %q = fusion.log_softmax %t axis(0) : tensor<1500x45xf32>
    %e = math.exp %q : tensor<1500x45xf32>
    %d = arith.subf %q, %p : tensor<1500x45xf32>
    %m = arith.mulf %e, %d : tensor<1500x45xf32>
    %z = arith.constant 0.0 : f32
    %i = tensor.empty() : tensor<45xf32>
    %f = linalg.fill ins(%z : f32) outs(%i : tensor<45xf32>) -> tensor<45xf32>
    %r = linalg.reduce { arith.addf } ins(%m : tensor<1500x45xf32>) outs(%f : tensor<45xf32>) dimensions = [0]
    return %r : tensor<45xf32>
  }

  // Of the reduced dimensions one has several tiles; the last two are one.
  // CHECK-LABEL: func.func @channels
  // CHECK: #fusion.schedule<reduction, axes = [#fusion.axis<full, tile = {{.*}}>, #fusion.axis<grid, tile = 1>, #fusion.axis<full, tile = {{[0-9]+}}, vector = 4{{.*}}>]
  func.func @channels(%x: tensor<11x2x60x130xf32>, %w: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<11x2x60x130xf32> {
    %y, %m, %v = fusion.batch_norm_training %x scale(%w) bias(%b) channel_axis(1) eps(1.0e-05) : (tensor<11x2x60x130xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<11x2x60x130xf32>, tensor<2xf32>, tensor<2xf32>)
    return %y : tensor<11x2x60x130xf32>
  }

  // Rows and columns are walked as one where all that has one has both: not
  // where a vector of columns is added to each row.
  // CHECK-LABEL: func.func @broadcast
  // CHECK: #fusion.schedule<reduction, axes = [#fusion.axis<loop, tile = {{[0-9]+}}, {{.*}}>, #fusion.axis<loop, tile = {{.*}}>]
  func.func @broadcast(%x: tensor<700x1000xf32>, %b: tensor<1000xf32>) -> tensor<f32> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x, %b : tensor<700x1000xf32>, tensor<1000xf32>) outs(%f : tensor<f32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %u = arith.addf %a, %c : f32
      %v = arith.addf %o, %u : f32
      linalg.yield %v : f32
    } -> tensor<f32>
    return %s : tensor<f32>
  }

  // No number of blocks has all of it: each walks its part, twice.
  // CHECK-LABEL: func.func @longer
  // CHECK: #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = {{4096|16384}}, {{.*}}split = {{[0-9]+}}{{.*}}>]
  func.func @longer(%x: tensor<2x9000000xf32>) -> tensor<2x9000000xf32> {
    %e = tensor.empty() : tensor<2x9000000xf32>
    %r = linalg.softmax dimension(1) ins(%x : tensor<2x9000000xf32>) outs(%e : tensor<2x9000000xf32>) -> tensor<2x9000000xf32>
    return %r : tensor<2x9000000xf32>
  }

  // Sums of f64 do not fit in a word of an exchange, and how many groups there
  // are of a dynamic number is not known: one block each.
  // CHECK-LABEL: func.func @alone
  // CHECK-NOT: split =
  func.func @alone(%x: tensor<2x900000xf64>, %y: tensor<?x900000xf32>) -> (tensor<2xf64>, tensor<?xf32>) {
    %z = arith.constant 0.0 : f64
    %e = tensor.empty() : tensor<2xf64>
    %f = linalg.fill ins(%z : f64) outs(%e : tensor<2xf64>) -> tensor<2xf64>
    %s = linalg.reduce { arith.addf } ins(%x : tensor<2x900000xf64>) outs(%f : tensor<2xf64>) dimensions = [1]
    %c = arith.constant 0 : index
    %n = tensor.dim %y, %c : tensor<?x900000xf32>
    %o = arith.constant 0.0 : f32
    %g = tensor.empty(%n) : tensor<?xf32>
    %h = linalg.fill ins(%o : f32) outs(%g : tensor<?xf32>) -> tensor<?xf32>
    %t = linalg.reduce { arith.addf } ins(%y : tensor<?x900000xf32>) outs(%h : tensor<?xf32>) dimensions = [1]
    return %s, %t : tensor<2xf64>, tensor<?xf32>
  }
}
