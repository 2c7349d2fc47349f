// What test/Pipelines/run/looked-up-rows.mlir computes of entries that name no page:
// zeros stand for it.

#table = affine_map<(b, h, m, r, d) -> (b, m)>
#all = affine_map<(b, h, m, r, d) -> (b, h, m, r, d)>

func.func @several(%q: tensor<2x8x1x64xbf16>, %keys: tensor<32x16x2x64xbf16>, %values: tensor<32x16x2x64xbf16>, %table: tensor<2x24xi32>) -> tensor<2x8x1x64xbf16> {
  %ke = tensor.empty() : tensor<2x2x24x16x64xbf16>
  %kg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<2x24xi32>) outs(%ke : tensor<2x2x24x16x64xbf16>) {
  ^bb0(%number: i32, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %c0 = arith.constant 0 : index
    %size = arith.constant 32 : index
    %zero = arith.constant 0.0 : bf16
    %inside = arith.cmpi ult, %b, %size : index
    %at = arith.select %inside, %b, %c0 : index
    %x = tensor.extract %keys[%at, %r, %h, %d] : tensor<32x16x2x64xbf16>
    %y = arith.select %inside, %x, %zero : bf16
    linalg.yield %y : bf16
  } -> tensor<2x2x24x16x64xbf16>
  %k = tensor.collapse_shape %kg [[0], [1], [2, 3], [4]] : tensor<2x2x24x16x64xbf16> into tensor<2x2x384x64xbf16>
  %ve = tensor.empty() : tensor<2x2x24x16x64xbf16>
  %vg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<2x24xi32>) outs(%ve : tensor<2x2x24x16x64xbf16>) {
  ^bb0(%number: i32, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %c0 = arith.constant 0 : index
    %size = arith.constant 32 : index
    %zero = arith.constant 0.0 : bf16
    %inside = arith.cmpi ult, %b, %size : index
    %at = arith.select %inside, %b, %c0 : index
    %x = tensor.extract %values[%at, %r, %h, %d] : tensor<32x16x2x64xbf16>
    %y = arith.select %inside, %x, %zero : bf16
    linalg.yield %y : bf16
  } -> tensor<2x2x24x16x64xbf16>
  %v = tensor.collapse_shape %vg [[0], [1], [2, 3], [4]] : tensor<2x2x24x16x64xbf16> into tensor<2x2x384x64xbf16>
  %o = fusion.attention %q, %k, %v : (tensor<2x8x1x64xbf16>, tensor<2x2x384x64xbf16>, tensor<2x2x384x64xbf16>) -> tensor<2x8x1x64xbf16>
  return %o : tensor<2x8x1x64xbf16>
}
func.func @tail(%q: tensor<1x4x100x128xbf16>, %keys: tensor<16x32x2x128xbf16>, %values: tensor<16x32x2x128xbf16>, %table: tensor<1x7xi32>) -> tensor<1x4x100x128xbf16> {
  %ke = tensor.empty() : tensor<1x2x7x32x128xbf16>
  %kg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<1x7xi32>) outs(%ke : tensor<1x2x7x32x128xbf16>) {
  ^bb0(%number: i32, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %c0 = arith.constant 0 : index
    %size = arith.constant 16 : index
    %zero = arith.constant 0.0 : bf16
    %inside = arith.cmpi ult, %b, %size : index
    %at = arith.select %inside, %b, %c0 : index
    %x = tensor.extract %keys[%at, %r, %h, %d] : tensor<16x32x2x128xbf16>
    %y = arith.select %inside, %x, %zero : bf16
    linalg.yield %y : bf16
  } -> tensor<1x2x7x32x128xbf16>
  %k = tensor.collapse_shape %kg [[0], [1], [2, 3], [4]] : tensor<1x2x7x32x128xbf16> into tensor<1x2x224x128xbf16>
  %ve = tensor.empty() : tensor<1x2x7x32x128xbf16>
  %vg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<1x7xi32>) outs(%ve : tensor<1x2x7x32x128xbf16>) {
  ^bb0(%number: i32, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %c0 = arith.constant 0 : index
    %size = arith.constant 16 : index
    %zero = arith.constant 0.0 : bf16
    %inside = arith.cmpi ult, %b, %size : index
    %at = arith.select %inside, %b, %c0 : index
    %x = tensor.extract %values[%at, %r, %h, %d] : tensor<16x32x2x128xbf16>
    %y = arith.select %inside, %x, %zero : bf16
    linalg.yield %y : bf16
  } -> tensor<1x2x7x32x128xbf16>
  %v = tensor.collapse_shape %vg [[0], [1], [2, 3], [4]] : tensor<1x2x7x32x128xbf16> into tensor<1x2x224x128xbf16>
  %o = fusion.attention %q, %k, %v : (tensor<1x4x100x128xbf16>, tensor<1x2x224x128xbf16>, tensor<1x2x224x128xbf16>) -> tensor<1x4x100x128xbf16>
  return %o : tensor<1x4x100x128xbf16>
}
func.func @wide(%q: tensor<1x4x1x64xbf16>, %keys: tensor<16x16x2x64xbf16>, %values: tensor<16x16x2x64xbf16>, %table: tensor<1x9xi64>) -> tensor<1x4x1x64xbf16> {
  %ke = tensor.empty() : tensor<1x2x9x16x64xbf16>
  %kg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<1x9xi64>) outs(%ke : tensor<1x2x9x16x64xbf16>) {
  ^bb0(%number: i64, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i64 to index
    %c0 = arith.constant 0 : index
    %size = arith.constant 16 : index
    %zero = arith.constant 0.0 : bf16
    %inside = arith.cmpi ult, %b, %size : index
    %at = arith.select %inside, %b, %c0 : index
    %x = tensor.extract %keys[%at, %r, %h, %d] : tensor<16x16x2x64xbf16>
    %y = arith.select %inside, %x, %zero : bf16
    linalg.yield %y : bf16
  } -> tensor<1x2x9x16x64xbf16>
  %k = tensor.collapse_shape %kg [[0], [1], [2, 3], [4]] : tensor<1x2x9x16x64xbf16> into tensor<1x2x144x64xbf16>
  %ve = tensor.empty() : tensor<1x2x9x16x64xbf16>
  %vg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<1x9xi64>) outs(%ve : tensor<1x2x9x16x64xbf16>) {
  ^bb0(%number: i64, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i64 to index
    %c0 = arith.constant 0 : index
    %size = arith.constant 16 : index
    %zero = arith.constant 0.0 : bf16
    %inside = arith.cmpi ult, %b, %size : index
    %at = arith.select %inside, %b, %c0 : index
    %x = tensor.extract %values[%at, %r, %h, %d] : tensor<16x16x2x64xbf16>
    %y = arith.select %inside, %x, %zero : bf16
    linalg.yield %y : bf16
  } -> tensor<1x2x9x16x64xbf16>
  %v = tensor.collapse_shape %vg [[0], [1], [2, 3], [4]] : tensor<1x2x9x16x64xbf16> into tensor<1x2x144x64xbf16>
  %o = fusion.attention %q, %k, %v : (tensor<1x4x1x64xbf16>, tensor<1x2x144x64xbf16>, tensor<1x2x144x64xbf16>) -> tensor<1x4x1x64xbf16>
  return %o : tensor<1x4x1x64xbf16>
}
