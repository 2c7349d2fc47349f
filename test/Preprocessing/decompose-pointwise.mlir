// RUN: fusion-opt %s --fusion-input-decompose --canonicalize --cse | FileCheck %s

// One op, in f32, rounded once.
// CHECK-LABEL: func.func @relu
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xbf16>)
// CHECK: %[[D:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[E:.*]] = tensor.empty(%[[D]]) : tensor<?x8xbf16>
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK-SAME: ins(%[[X]] : tensor<?x8xbf16>) outs(%[[E]] : tensor<?x8xbf16>)
// CHECK: %[[W:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[M:.*]] = arith.maximumf %[[W]], %cst : f32
// CHECK: %[[N:.*]] = arith.truncf %[[M]] : f32 to bf16
// CHECK: linalg.yield %[[N]] : bf16
func.func @relu(%x: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  %0 = fusion.relu %x : tensor<?x8xbf16>
  return %0 : tensor<?x8xbf16>
}

// f64 is not narrowed.
// CHECK-LABEL: func.func @silu
// CHECK: ^bb0(%[[X:[a-z]+]]: f64
// CHECK: %[[N:.*]] = arith.negf %[[X]] : f64
// CHECK: %[[E:.*]] = math.exp %[[N]] : f64
// CHECK: %[[S:.*]] = arith.addf %[[E]], %cst : f64
// CHECK: arith.divf %[[X]], %[[S]] : f64
func.func @silu(%x: tensor<8xf64>) -> tensor<8xf64> {
  %0 = fusion.silu %x : tensor<8xf64>
  return %0 : tensor<8xf64>
}

// CHECK-LABEL: func.func @gelu
// CHECK: math.erf
// CHECK-NOT: math.tanh
// CHECK: math.tanh
func.func @gelu(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = fusion.gelu %x : tensor<8xf32>
  %1 = fusion.gelu tanh %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// The softplus inside does not overflow: log1p(exp(-|x|)) + max(x, 0).
// CHECK-LABEL: func.func @mish
// CHECK: %[[M:.*]] = arith.minimumf
// CHECK: %[[E:.*]] = math.exp %[[M]]
// CHECK: %[[S:.*]] = arith.addf %[[E]], %[[TWO:.*]] : f32
// CHECK: %[[N:.*]] = arith.mulf %[[E]], %[[S]]
// CHECK: %[[D:.*]] = arith.addf %[[N]], %[[TWO]]
// CHECK: arith.divf %[[N]], %[[D]]
// CHECK-NOT: math.tanh
// CHECK-LABEL: func.func @hard_swish
// CHECK-NOT: arith.divf
func.func @mish(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = fusion.mish %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func @hard_swish(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = fusion.hard_swish %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// One op: the partner and the angle are loaded by index. Where halves are a
// power of two the partner differs in one bit.
// CHECK-LABEL: func.func @rope(
// CHECK-SAME: %[[X:.*]]: tensor<2x?x8xf16>, %[[C:.*]]: tensor<?x4xf32>, %[[S:.*]]: tensor<?x4xf32>)
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[X]] : tensor<2x?x8xf16>)
// CHECK-DAG: %[[B:.*]] = linalg.index 0
// CHECK-DAG: %[[P:.*]] = linalg.index 1
// CHECK-DAG: %[[J:.*]] = linalg.index 2
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %[[J]], %[[C4]]
// CHECK: %[[ANGLE:.*]] = arith.remui %[[J]], %[[C4]]
// CHECK: %[[PARTNER:.*]] = arith.xori %[[J]], %[[C4]]
// CHECK: tensor.extract %[[X]][%[[B]], %[[P]], %[[PARTNER]]]
// CHECK: tensor.extract %[[C]][%[[P]], %[[ANGLE]]]
// CHECK: tensor.extract %[[S]][%[[P]], %[[ANGLE]]]
// CHECK-NOT: linalg.generic
func.func @rope(%x: tensor<2x?x8xf16>, %c: tensor<?x4xf32>,
                %s: tensor<?x4xf32>) -> tensor<2x?x8xf16> {
  %0 = fusion.rope %x, %c, %s seq_axis(1)
      : tensor<2x?x8xf16>, tensor<?x4xf32>, tensor<?x4xf32>
  return %0 : tensor<2x?x8xf16>
}

// CHECK-LABEL: func.func @rope_of_twelve
// CHECK-DAG: %[[C6:.*]] = arith.constant 6 : index
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %[[J]], %[[C6]]
// CHECK: %[[DOWN:.*]] = arith.subi %[[J]], %[[C6]]
// CHECK: %[[ANGLE:.*]] = arith.select %[[FIRST]], %[[J]], %[[DOWN]]
// CHECK: %[[UP:.*]] = arith.addi %[[J]], %[[C6]]
// CHECK: %[[PARTNER:.*]] = arith.select %[[FIRST]], %[[UP]], %[[DOWN]]
func.func @rope_of_twelve(%x: tensor<2x12xf32>, %c: tensor<2x6xf32>, %s: tensor<2x6xf32>) -> tensor<2x12xf32> {
  %0 = fusion.rope %x, %c, %s seq_axis(0)
      : tensor<2x12xf32>, tensor<2x6xf32>, tensor<2x6xf32>
  return %0 : tensor<2x12xf32>
}

// CHECK-LABEL: func.func @adjacent
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: arith.xori %[[J]], %[[C1]]
func.func @adjacent(%x: tensor<2x12xf32>, %c: tensor<2x6xf32>, %s: tensor<2x6xf32>) -> tensor<2x12xf32> {
  %0 = fusion.rope interleaved %x, %c, %s seq_axis(0)
      : tensor<2x12xf32>, tensor<2x6xf32>, tensor<2x6xf32>
  return %0 : tensor<2x12xf32>
}

// Seven rounds, two products each, of which that of the constant op id folds; the
// threshold is ceil(p 2^24). The index is row-major, of 64 bits where elements
// may be many; eight share a draw.
// CHECK-LABEL: func.func @dropout
// CHECK-SAME: %[[SEED:.*]]: i64
// CHECK-DAG: %[[T:.*]] = arith.constant 4194304 : i32
// CHECK-DAG: %[[C7:.*]] = arith.constant 7 : index
// CHECK-DAG: arith.constant 1.33333337 : f32
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %[[C7]]
// CHECK: %[[N:.*]] = arith.addi %[[ROW]], %[[J]]
// CHECK: %[[DRAW:.*]] = arith.divui %[[N]], %c8
// CHECK: arith.index_cast %[[DRAW]] : index to i64
// CHECK: %[[LOW:.*]] = arith.index_cast %[[N]] : index to i32
// CHECK: arith.andi %[[LOW]], %c7_i32
// CHECK-COUNT-13: arith.muli
// CHECK-NOT: arith.muli
// CHECK: %[[W:.*]] = arith.shrui %{{.*}}, %c8_i32
// CHECK: %[[KEEP:.*]] = arith.cmpi sge, %[[W]], %[[T]]
// CHECK: arith.select %[[KEEP]]
func.func @dropout(%x: tensor<?x7xf32>, %seed: i64) -> tensor<?x7xf32> {
  %0 = fusion.dropout %x, %seed probability(0.25) op_id(9) : tensor<?x7xf32>
  return %0 : tensor<?x7xf32>
}

// The upper half of the index of few elements is nothing.
// CHECK-LABEL: func.func @small_dropout
// CHECK: linalg.index
// CHECK-NOT: index_cast %{{.*}} : index to i64
// CHECK: arith.select
func.func @small_dropout(%x: tensor<65535x65536xf32>, %seed: i64) -> tensor<65535x65536xf32> {
  %0 = fusion.dropout %x, %seed probability(0.25) op_id(9) : tensor<65535x65536xf32>
  return %0 : tensor<65535x65536xf32>
}

// CHECK-LABEL: func.func @large_dropout
// CHECK: linalg.index
// CHECK: arith.index_cast %{{.*}} : index to i64
func.func @large_dropout(%x: tensor<65536x65536xf32>, %seed: i64) -> tensor<65536x65536xf32> {
  %0 = fusion.dropout %x, %seed probability(0.25) op_id(9) : tensor<65536x65536xf32>
  return %0 : tensor<65536x65536xf32>
}

// Contracts go with the op.
// CHECK-LABEL: func.func @contract
// CHECK: linalg.generic {{{.*}}fusion.must{{.*}}}
func.func @contract(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = fusion.relu %x {fusion.must} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
