// Reductions of a product's results. Where tiles divide the dimension, they
// reduce granules of it and a second kernel finishes; where a tile has whole
// rows, one kernel does everything.

// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=row_amax | FileCheck %s --check-prefix=TWO
// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=1 --verify --entry=row_amax | FileCheck %s --check-prefix=TWO
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=column_sums | FileCheck %s --check-prefix=TWO
// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=1 --verify --entry=column_sums | FileCheck %s --check-prefix=TWO
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=log_sum_exp | FileCheck %s --check-prefix=TWO
// TWO: launches: 2,
// TWO: verified

// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=softmax_64 --asynchrony=late | FileCheck %s --check-prefix=ONE
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=softmax_256 --asynchrony=early | FileCheck %s --check-prefix=ONE
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=softmax_100 | FileCheck %s --check-prefix=ONE
// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=1 --verify --entry=softmax_64 | FileCheck %s --check-prefix=ONE
// ONE: launches: 1,
// ONE: verified

#id = affine_map<(i, j) -> (i, j)>

func.func @row_amax(%a: tensor<520x64xbf16>, %b: tensor<64x1032xbf16>) -> (tensor<520x1032xbf16>, tensor<520xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<520x1032xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<520x1032xf32>) -> tensor<520x1032xf32>
  %m = linalg.matmul ins(%a, %b : tensor<520x64xbf16>, tensor<64x1032xbf16>) outs(%f : tensor<520x1032xf32>) -> tensor<520x1032xf32>
  %ev = tensor.empty() : tensor<520xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%ev : tensor<520xf32>) -> tensor<520xf32>
  %fl = linalg.fill ins(%least : f32) outs(%ev : tensor<520xf32>) -> tensor<520xf32>
  %abs = math.absf %m : tensor<520x1032xf32>
  %r = linalg.reduce { arith.maximumf } ins(%abs : tensor<520x1032xf32>) outs(%fz : tensor<520xf32>) dimensions = [1]
  %o = arith.truncf %m : tensor<520x1032xf32> to tensor<520x1032xbf16>
  return %o, %r : tensor<520x1032xbf16>, tensor<520xf32>
}

func.func @column_sums(%a: tensor<520x64xbf16>, %b: tensor<64x1032xbf16>) -> (tensor<520x1032xbf16>, tensor<1032xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<520x1032xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<520x1032xf32>) -> tensor<520x1032xf32>
  %m = linalg.matmul ins(%a, %b : tensor<520x64xbf16>, tensor<64x1032xbf16>) outs(%f : tensor<520x1032xf32>) -> tensor<520x1032xf32>
  %ec = tensor.empty() : tensor<1032xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<1032xf32>) -> tensor<1032xf32>
  %r = linalg.reduce { arith.addf } ins(%m : tensor<520x1032xf32>) outs(%fc : tensor<1032xf32>) dimensions = [0]
  %o = arith.truncf %m : tensor<520x1032xf32> to tensor<520x1032xbf16>
  return %o, %r : tensor<520x1032xbf16>, tensor<1032xf32>
}

func.func @log_sum_exp(%a: tensor<520x64xbf16>, %b: tensor<64x1032xbf16>) -> tensor<520xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<520x1032xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<520x1032xf32>) -> tensor<520x1032xf32>
  %m = linalg.matmul ins(%a, %b : tensor<520x64xbf16>, tensor<64x1032xbf16>) outs(%f : tensor<520x1032xf32>) -> tensor<520x1032xf32>
  %ev = tensor.empty() : tensor<520xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%ev : tensor<520xf32>) -> tensor<520xf32>
  %fl = linalg.fill ins(%least : f32) outs(%ev : tensor<520xf32>) -> tensor<520xf32>
  // The first columns do not count: whole granules of minus infinity.
  %masked = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<520x1032xf32>) outs(%e : tensor<520x1032xf32>) {
  ^bb0(%p: f32, %q: f32):
    %j = linalg.index 1 : index
    %first = arith.constant 200 : index
    %in = arith.cmpi uge, %j, %first : index
    %y = arith.select %in, %p, %least : f32
    linalg.yield %y : f32
  } -> tensor<520x1032xf32>
  %max = linalg.reduce { arith.maximumf } ins(%masked : tensor<520x1032xf32>) outs(%fl : tensor<520xf32>) dimensions = [1]
  %shift = linalg.broadcast ins(%max : tensor<520xf32>) outs(%e : tensor<520x1032xf32>) dimensions = [1]
  %d = arith.subf %masked, %shift : tensor<520x1032xf32>
  %x = math.exp %d : tensor<520x1032xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<520x1032xf32>) outs(%fz : tensor<520xf32>) dimensions = [1]
  %l = math.log %s : tensor<520xf32>
  %r = arith.addf %l, %max : tensor<520xf32>
  return %r : tensor<520xf32>
}

func.func @softmax_64(%a: tensor<100x128xbf16>, %b: tensor<128x64xbf16>) -> tensor<100x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<100x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<100x64xf32>) -> tensor<100x64xf32>
  %m = linalg.matmul ins(%a, %b : tensor<100x128xbf16>, tensor<128x64xbf16>) outs(%f : tensor<100x64xf32>) -> tensor<100x64xf32>
  %ev = tensor.empty() : tensor<100xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%ev : tensor<100xf32>) -> tensor<100xf32>
  %fl = linalg.fill ins(%least : f32) outs(%ev : tensor<100xf32>) -> tensor<100xf32>
  %max = linalg.reduce { arith.maximumf } ins(%m : tensor<100x64xf32>) outs(%fl : tensor<100xf32>) dimensions = [1]
  %shift = linalg.broadcast ins(%max : tensor<100xf32>) outs(%e : tensor<100x64xf32>) dimensions = [1]
  %d = arith.subf %m, %shift : tensor<100x64xf32>
  %x = math.exp %d : tensor<100x64xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<100x64xf32>) outs(%fz : tensor<100xf32>) dimensions = [1]
  %sum = linalg.broadcast ins(%s : tensor<100xf32>) outs(%e : tensor<100x64xf32>) dimensions = [1]
  %q = arith.divf %x, %sum : tensor<100x64xf32>
  %r = arith.truncf %q : tensor<100x64xf32> to tensor<100x64xbf16>
  return %r : tensor<100x64xbf16>
}

func.func @softmax_256(%a: tensor<130x64xbf16>, %b: tensor<64x256xbf16>) -> tensor<130x256xbf16> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<130x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<130x256xf32>) -> tensor<130x256xf32>
  %m = linalg.matmul ins(%a, %b : tensor<130x64xbf16>, tensor<64x256xbf16>) outs(%f : tensor<130x256xf32>) -> tensor<130x256xf32>
  %ev = tensor.empty() : tensor<130xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%ev : tensor<130xf32>) -> tensor<130xf32>
  %fl = linalg.fill ins(%least : f32) outs(%ev : tensor<130xf32>) -> tensor<130xf32>
  %max = linalg.reduce { arith.maximumf } ins(%m : tensor<130x256xf32>) outs(%fl : tensor<130xf32>) dimensions = [1]
  %shift = linalg.broadcast ins(%max : tensor<130xf32>) outs(%e : tensor<130x256xf32>) dimensions = [1]
  %d = arith.subf %m, %shift : tensor<130x256xf32>
  %x = math.exp %d : tensor<130x256xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<130x256xf32>) outs(%fz : tensor<130xf32>) dimensions = [1]
  %sum = linalg.broadcast ins(%s : tensor<130xf32>) outs(%e : tensor<130x256xf32>) dimensions = [1]
  %q = arith.divf %x, %sum : tensor<130x256xf32>
  %r = arith.truncf %q : tensor<130x256xf32> to tensor<130x256xbf16>
  return %r : tensor<130x256xbf16>
}

func.func @softmax_100(%a: tensor<70x64xbf16>, %b: tensor<64x100xbf16>) -> tensor<70x100xbf16> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<70x100xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<70x100xf32>) -> tensor<70x100xf32>
  %m = linalg.matmul ins(%a, %b : tensor<70x64xbf16>, tensor<64x100xbf16>) outs(%f : tensor<70x100xf32>) -> tensor<70x100xf32>
  %ev = tensor.empty() : tensor<70xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%ev : tensor<70xf32>) -> tensor<70xf32>
  %fl = linalg.fill ins(%least : f32) outs(%ev : tensor<70xf32>) -> tensor<70xf32>
  %max = linalg.reduce { arith.maximumf } ins(%m : tensor<70x100xf32>) outs(%fl : tensor<70xf32>) dimensions = [1]
  %shift = linalg.broadcast ins(%max : tensor<70xf32>) outs(%e : tensor<70x100xf32>) dimensions = [1]
  %d = arith.subf %m, %shift : tensor<70x100xf32>
  %x = math.exp %d : tensor<70x100xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<70x100xf32>) outs(%fz : tensor<70xf32>) dimensions = [1]
  %sum = linalg.broadcast ins(%s : tensor<70xf32>) outs(%e : tensor<70x100xf32>) dimensions = [1]
  %q = arith.divf %x, %sum : tensor<70x100xf32>
  %r = arith.truncf %q : tensor<70x100xf32> to tensor<70x100xbf16>
  return %r : tensor<70x100xbf16>
}
