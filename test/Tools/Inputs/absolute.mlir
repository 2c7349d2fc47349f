func.func @absolute(%x: tensor<?xf32> {fusion.dims = ["n"]})
    -> tensor<?xf32> {
  %y = math.absf %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
