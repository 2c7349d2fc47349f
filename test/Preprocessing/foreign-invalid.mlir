// REQUIRES: foreign-dialect
// RUN: fusion-opt %s %foreign --split-input-file --fusion-input --verify-diagnostics

func.func @offset(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{FUS-1016: 'foreign.odd': loop #0 does not count from 0 by 1;}}
  %0 = foreign.odd ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>)
      {kind = "offset"} -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @computed(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{FUS-1016: 'foreign.odd': the size of loop #0 is neither a constant nor that of an operand;}}
  %0 = foreign.odd ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>)
      {kind = "computed"} -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @part(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{FUS-1016: 'foreign.odd': it is not known to write all of result #0;}}
  %0 = foreign.odd ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>)
      {kind = "part"} -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @stuck(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{FUS-1016: 'foreign.odd': it has no scalar implementation ('foreign.odd' op has lost its meaning);}}
  %0 = foreign.odd ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>)
      {kind = "stuck"} -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @tensors(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{FUS-1016: 'foreign.odd': it does not take buffers in the place of tensors ('foreign.odd' op is for tensors);}}
  %0 = foreign.odd ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>)
      {kind = "tensors"} -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @nothing(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{FUS-1016: 'foreign.odd': it does not write to result #0;}}
  %0 = foreign.odd ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>)
      {kind = "nothing"} -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @neighbour(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{FUS-1016: 'foreign.odd': it reads result #0 at another place than it writes to;}}
  %0 = foreign.odd ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>)
      {kind = "neighbour"} -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @buffer(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{FUS-1016: 'foreign.odd': an iteration has the op 'memref.alloca', which is neither arithmetic nor one load or store;}}
  %0 = foreign.odd ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>)
      {kind = "buffer"} -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @conditional(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{FUS-1016: 'foreign.odd': an iteration has the op 'scf.if', which is neither arithmetic nor one load or store;}}
  %0 = foreign.odd ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>)
      {kind = "conditional"} -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @input(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{FUS-1016: 'foreign.odd': it writes to something other than a destination;}}
  %0 = foreign.odd ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>)
      {kind = "input"} -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @shifted(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{FUS-1016: 'foreign.odd': it writes to result #0 at other places than its loops';}}
  %0 = foreign.odd ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>)
      {kind = "shifted"} -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @outside(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{FUS-1016: 'foreign.odd': an iteration takes something from outside of it;}}
  %0 = foreign.odd ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>)
      {kind = "outside"} -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @twice(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{FUS-1016: 'foreign.odd': it writes to result #0 twice;}}
  %0 = foreign.odd ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>)
      {kind = "twice"} -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @again(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{FUS-1016: 'foreign.odd': it reads result #0 after it has written to it;}}
  %0 = foreign.odd ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>)
      {kind = "again"} -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @race(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{FUS-1016: 'foreign.odd': loop #1 is parallel, but does not choose the place of result #0;}}
  %0 = foreign.odd ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>)
      {kind = "race"} -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @last(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{FUS-1016: 'foreign.odd': one iteration after the other writes to a result without reading it;}}
  %0 = foreign.odd ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>)
      {kind = "last"} -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @bare(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{FUS-1016: 'foreign.bare': its results have no destinations among its operands;}}
  %0 = foreign.bare %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{FUS-1016: 'foreign.square': it does not decompose;}}
  %0 = foreign.square %x {stuck} : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @endless(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{FUS-1016: 'foreign.square': what it decomposes into has to be decomposed again, without end;}}
  %0 = foreign.square %x {endless} : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
