# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lists of cases that the benchmark runs, by name."""

from .cases import Case

# m, n, k, layout of B.
_SHAPES = [
    # Squares.
    (128, 128, 128, "kn"), (256, 256, 256, "nk"), (512, 512, 512, "kn"),
    (1024, 1024, 1024, "nk"), (1536, 1536, 1536, "kn"),
    (2048, 2048, 2048, "nk"), (3072, 3072, 3072, "nk"),
    (4096, 4096, 4096, "kn"), (4096, 4096, 4096, "nk"),
    (6144, 6144, 6144, "nk"), (8192, 8192, 8192, "kn"),
    (8192, 8192, 8192, "nk"), (16384, 16384, 16384, "nk"),
    # Layers of language and vision models: attention projections, both halves
    # of an MLP, logits.
    (4096, 4096, 14336, "kn"), (4096, 14336, 4096, "nk"),
    (4096, 6144, 4096, "nk"), (8192, 4096, 4096, "kn"),
    (2048, 28672, 8192, "nk"), (2048, 8192, 28672, "nk"),
    (4096, 11008, 4096, "nk"), (4096, 4096, 11008, "nk"),
    (8192, 2304, 768, "kn"), (8192, 3072, 768, "kn"), (8192, 768, 3072, "kn"),
    (12608, 3072, 768, "nk"), (12608, 768, 3072, "nk"),
    (16384, 4096, 4096, "nk"), (2048, 32000, 4096, "nk"),
    # Few rows.
    (128, 4096, 4096, "nk"), (128, 8192, 8192, "kn"),
    (256, 8192, 8192, "nk"), (256, 4096, 14336, "nk"),
    (512, 4096, 4096, "nk"), (512, 14336, 4096, "kn"),
    (1024, 8192, 8192, "nk"), (4096, 1024, 4096, "nk"),
    # Long sums.
    (512, 512, 16384, "nk"), (1024, 1024, 65536, "nk"),
    # Multiples of nothing.
    (1000, 1000, 1000, "kn"), (777, 1531, 2049, "kn"),
    (777, 1531, 2049, "nk"), (4097, 4095, 4099, "nk"),
    (1025, 1032, 1000, "nk"), (2000, 3000, 5000, "kn"),
]
_FEW = [(1024, 1024, 1024, "nk"), (2048, 2048, 2048, "nk"),
        (4096, 4096, 4096, "nk"), (8192, 8192, 8192, "nk"),
        (4096, 14336, 4096, "nk"), (4096, 4096, 14336, "nk"),
        (512, 4096, 4096, "nk"), (128, 8192, 8192, "nk"),
        (16384, 4096, 4096, "nk"), (1000, 1008, 1040, "nk")]

# Decoding: a few rows against a weight that is read once.
_SKINNY = [(1, 8192, 8192, "nk"), (1, 8192, 8192, "kn"),
           (16, 8192, 8192, "nk"), (16, 8192, 8192, "kn"),
           (64, 8192, 8192, "nk"), (16, 4096, 14336, "nk"),
           (16, 14336, 4096, "nk"), (8, 1024, 8192, "nk")]


def _gemms(shapes, dtype, epilogue):
    return [Case.make("gemm", m, n, k, dtype, b, epilogue)
            for m, n, k, b in shapes]


def _few_with_both(dtype, epilogue):
    return (_gemms(_FEW, dtype, epilogue)
            + _gemms([(m, n, k, "kn") for m, n, k, _ in _FEW[1:4]], dtype,
                     epilogue))


def _fused():
    make = Case.make
    return [
        make("dual_swiglu", 4096, 14336, 4096),
        make("dual_swiglu", 4096, 14336, 4096, b="nk"),
        make("dual_swiglu", 4096, 4096, 14336),
        make("dual_swiglu", 512, 14336, 4096, b="nk"),
        make("residual_layer_norm", 8192, 4096, 4096),
        make("residual_layer_norm", 8192, 1024, 4096, b="nk"),
        make("rms_norm_gemm", 4096, 6144, 4096, b="nk"),
        make("rms_norm_gemm", 4096, 14336, 4096),
        make("dequant_int8", 16, 8192, 8192),
        make("dequant_int8", 16, 8192, 8192, b="nk"),
        make("dequant_int8", 1, 8192, 8192, b="nk"),
        make("dequant_int4", 16, 8192, 8192),
        make("dequant_int4", 16, 8192, 8192, b="kn"),
        make("dequant_int4", 1, 8192, 8192),
        make("dequant_int8", 2048, 4096, 4096, b="nk"),
        make("dequant_int4", 2048, 4096, 4096),
        make("batched_gemm", 32, 1024, 1024, 1024),
        make("batched_gemm", 64, 512, 512, 128, b="nk"),
        make("batched_gemm", 512, 128, 128, 64, b="nk"),
        make("weight_gradient", 4096, 4096, 8192),
        make("weight_gradient", 768, 3072, 8192),
        make("bias_gradient", 8192, 4096, 4096),
        make("bias_gradient", 8192, 3072, 768, b="kn"),
        make("row_amax", 4096, 4096, 4096),
        make("row_softmax", 8192, 256, 1024),
        make("log_sum_exp", 4096, 4096, 4096),
        make("log_sum_exp", 2048, 32000, 4096),
        make("quantized_rows", 4096, 1024, 4096),
        make("quantized_rows", 4096, 4096, 4096),
        make("rope_projection", 4096, 4096, 4096),
        make("rope_projection", 4096, 4096, 4096, pairs="adjacent"),
        make("rope_projection", 2048, 6144, 4096),
    ]


def _grouped():
    """Experts of language models: few large ones, and many small ones of which
    a token takes several."""
    make = Case.make
    return [
        make("grouped_gemm", 8, 8192, 14336, 4096),
        make("grouped_gemm", 8, 8192, 14336, 4096, b="nk"),
        make("grouped_gemm", 8, 8192, 4096, 14336),
        make("grouped_gemm", 8, 8192, 14336, 4096, epilogue="bias_silu"),
        make("grouped_gemm", 64, 8192, 1408, 2048),
        make("grouped_gemm", 64, 8192, 1408, 2048, b="nk"),
        make("grouped_gemm", 64, 8192, 2048, 1408),
        make("grouped_gemm", 64, 1024, 1408, 2048),
        make("grouped_swiglu", 8, 8192, 14336, 4096),
        make("grouped_swiglu", 64, 8192, 1408, 2048),
    ]


def _resnet50(batch=32):
    """Every distinct convolution of ResNet-50, stride at the 3x3 ones."""
    cases = [("bn_relu", 224, 3, 64, 7, 2)]
    width, size = 64, 56
    previous = 64
    for stage in range(4):
        wide = 4 * width
        first = size if stage == 0 else 2 * size
        stride = 1 if stage == 0 else 2
        cases += [("bn_relu", first, previous, width, 1, 1),
                  ("bn_relu", first, width, width, 3, stride),
                  ("bn_add_relu", size, width, wide, 1, 1),
                  ("none", first, previous, wide, 1, stride),
                  ("bn_relu", size, wide, width, 1, 1),
                  ("bn_relu", size, width, width, 3, 1)]
        previous, width, size = wide, 2 * width, size // 2
    unique = list(dict.fromkeys(cases))
    return [Case.make("conv", batch, *sizes, epilogue=epilogue)
            for epilogue, *sizes in unique]


def _unet(batch=32):
    """The convolutions of a diffusion UNet on 64x64 latents. The two largest
    images take fewer of them, so that no kernel needs more than about 2 ms."""
    shapes = [
        (batch // 2, 64, 4, 320, 3, 1), (batch // 2, 64, 320, 320, 3, 1),
        (batch // 2, 64, 640, 320, 3, 1), (batch // 2, 64, 320, 320, 3, 2),
        (batch, 32, 320, 640, 3, 1), (batch, 32, 640, 640, 3, 1),
        (batch // 2, 32, 1280, 640, 3, 1), (batch, 32, 640, 640, 3, 2),
        (batch, 16, 640, 1280, 3, 1), (batch, 16, 1280, 1280, 3, 1),
        (batch // 2, 16, 2560, 1280, 3, 1), (batch, 8, 1280, 1280, 3, 1),
        (batch, 8, 2560, 1280, 3, 1), (batch // 2, 64, 640, 320, 1, 1),
        (batch, 32, 960, 640, 1, 1), (batch // 2, 64, 320, 4, 3, 1),
    ]
    return [Case.make("conv", *shape, epilogue="bias_silu")
            for shape in shapes]


def _mobile(batch=32):
    shapes = [(112, 32, 3, 1), (112, 96, 3, 2), (56, 144, 3, 1),
              (28, 192, 3, 1), (14, 384, 3, 1), (14, 576, 3, 2),
              (7, 960, 3, 1), (56, 128, 5, 1), (56, 96, 7, 1)]
    return [Case.make("depthwise", batch, *shape) for shape in shapes]


# Every kind of shape, few enough for a sweep.
_SWEEP = [(512, 512, 512, "nk"), (1024, 1024, 1024, "nk"),
          (2048, 2048, 2048, "nk"), (3072, 3072, 3072, "nk"),
          (4096, 4096, 4096, "kn"), (8192, 8192, 8192, "nk"),
          (4096, 4096, 14336, "kn"), (4096, 14336, 4096, "nk"),
          (8192, 768, 3072, "kn"), (8192, 3072, 768, "kn"),
          (128, 4096, 4096, "nk"), (256, 8192, 8192, "nk"),
          (512, 4096, 4096, "nk"), (4096, 1024, 4096, "nk"),
          (512, 512, 16384, "nk"), (2000, 3000, 5000, "kn")]

SUITES = {
    "gemm": _gemms(_SHAPES, "bf16", "bias_gelu"),
    "gemm-sweep": _gemms(_SWEEP, "bf16", "bias_gelu"),
    "gemm-residual": _gemms(_SHAPES, "bf16", "bias_gelu_res"),
    "gemm-f16": _gemms(_SHAPES, "f16", "bias_gelu"),
    "gemm-bare": _gemms(_FEW, "bf16", "none") + _gemms(_FEW, "bf16", "bias"),
    "gemm-skinny": _gemms(_SKINNY, "bf16", "none"),
    # Weights of 8 and 4 bits, as many rows as a decoding batch has.
    "dequant-skinny": [Case.make(family, rows, 8192, 8192, b=b)
                       for family in ("dequant_int8", "dequant_int4")
                       for rows in (1, 16, 32, 64) for b in ("nk", "kn")],
    "gemm-fp8": _gemms(_FEW, "fp8", "none") + _gemms(_FEW, "fp8", "scale"),
    "gemm-int8": _gemms(_FEW, "int8", "none") + _gemms(_FEW, "int8", "scale"),
    "gemm-tf32": _few_with_both("tf32", "bias_relu"),
    "gemm-f32": _gemms(_FEW[:3], "f32", "bias_relu"),
    "fused": _fused(),
    "grouped": _grouped(),
    "resnet50": _resnet50(),
    "unet": _unet(),
    "depthwise": _mobile(),
    # One small case of every family and type: right or not, within seconds,
    # on the emulator too.
    "smoke": [
        *(Case.make("gemm", 72, 88, 96, "bf16", b, epilogue)
          for b in ("kn", "nk")
          for epilogue in ("none", "bias", "bias_gelu", "bias_gelu_res")),
        Case.make("gemm", 65, 43, 77, "bf16", "nk", "bias_relu"),
        Case.make("gemm", 130, 136, 264, "f16", "nk", "bias_gelu"),
        Case.make("gemm", 72, 80, 96, "fp8", "nk", "none"),
        Case.make("gemm", 72, 80, 96, "fp8", "nk", "scale"),
        Case.make("gemm", 72, 80, 96, "int8", "nk", "none"),
        Case.make("gemm", 72, 80, 96, "int8", "nk", "scale"),
        Case.make("gemm", 72, 80, 96, "f32", "kn", "bias_relu"),
        Case.make("gemm", 72, 80, 96, "tf32", "nk", "bias_relu"),
        Case.make("batched_gemm", 3, 40, 48, 64),
        Case.make("weight_gradient", 72, 80, 96),
        Case.make("bias_gradient", 72, 80, 96),
        Case.make("row_amax", 72, 80, 96),
        Case.make("row_softmax", 72, 80, 96),
        Case.make("log_sum_exp", 72, 80, 96),
        Case.make("quantized_rows", 72, 80, 96),
        Case.make("dual_swiglu", 72, 80, 96),
        Case.make("residual_layer_norm", 40, 128, 96),
        Case.make("rms_norm_gemm", 40, 64, 128, b="nk"),
        Case.make("rope_projection", 72, 128, 96, 32),
        Case.make("rope_projection", 72, 128, 96, 32, "f16", "kn",
                  "adjacent"),
        Case.make("rope_projection", 72, 256, 96, outer="heads"),
        Case.make("dequant_int8", 16, 80, 128),
        Case.make("dequant_int4", 16, 80, 256),
        Case.make("dequant_int4", 16, 80, 256, b="kn"),
        Case.make("conv", 2, 9, 16, 24, 3, 1),
        Case.make("conv", 2, 9, 16, 24, 3, 2, weights="hwcf",
                  epilogue="bn_add_relu"),
        Case.make("conv", 2, 8, 32, 24, 1, 1, epilogue="bias_silu"),
        Case.make("conv", 1, 14, 3, 16, 7, 2, epilogue="none"),
        Case.make("depthwise", 2, 9, 32, 3, 1),
        Case.make("depthwise", 2, 9, 32, 5, 2),
        Case.make("conv_general", 2, 8, 16, 24, 3, dilation=2),
        Case.make("conv_general", 2, 8, 16, 24, 3, layout="nchw"),
        Case.make("conv_general", 2, 8, 32, 16, 3, stride=2, groups=4),
        Case.make("conv_general", 2, 8, 32, 16, 1, groups=2, layout="nchw"),
    ],
    # Large tiles of products by single warps, for chips without warpgroups.
    "mma-sync": [
        *(Case.make("gemm", 4096, 4096, 4096, dtype, b, epilogue)
          for dtype, b, epilogue in (
              ("bf16", "nk", "bias_gelu"), ("f16", "kn", "bias_gelu_res"),
              ("int8", "nk", "scale"), ("fp8", "nk", "scale"),
              ("tf32", "kn", "bias_relu"), ("f32", "nk", "bias_relu"))),
        # Rows that cp.async cannot copy.
        *(Case.make("gemm", *sizes, "bf16", b, "bias_gelu_res")
          for sizes in ((777, 1531, 2049), (4097, 4095, 4099))
          for b in ("kn", "nk")),
        Case.make("dual_swiglu", 4096, 14336, 4096),
        Case.make("dequant_int8", 2048, 4096, 4096, b="nk"),
        Case.make("dequant_int4", 2048, 4096, 4096),
        Case.make("dequant_int4", 16, 8192, 8192),
        Case.make("conv", 32, 56, 64, 64, 3, 1),
        Case.make("conv", 32, 224, 3, 64, 7, 2),
        Case.make("conv", 32, 56, 64, 256, 1, 1, epilogue="bn_add_relu"),
    ],
    # Several tiles and chunks, with rests of each; also for the emulator.
    "tiles": [
        *(Case.make("gemm", *sizes, dtype, b, "bias_gelu_res")
          for sizes in ((256, 256, 128), (200, 264, 328), (321, 130, 72))
          for dtype in ("bf16", "f16") for b in ("kn", "nk")),
        # Strides that the tensor copy engine refuses.
        Case.make("gemm", 129, 257, 131, "bf16", "kn", "bias_gelu"),
        Case.make("gemm", 129, 257, 131, "bf16", "nk", "bias_gelu"),
        Case.make("gemm", 16, 512, 1024, "bf16", "nk", "bias_gelu"),
        Case.make("gemm", 64, 64, 4096, "bf16", "nk", "bias"),
        # Sums shared by blocks, some of which have no column to finish.
        Case.make("gemm", 64, 264, 4096, "bf16", "nk", "bias"),
        Case.make("gemm", 128, 328, 3000, "bf16", "nk", "bias_gelu_res"),
        Case.make("gemm", 200, 272, 336, "fp8", "nk", "scale"),
        Case.make("gemm", 200, 272, 336, "int8", "nk", "scale"),
        Case.make("gemm", 200, 264, 328, "f32", "nk", "bias_relu"),
        Case.make("gemm", 200, 264, 328, "tf32", "nk", "bias_relu"),
        Case.make("batched_gemm", 5, 136, 144, 72, b="nk"),
        Case.make("weight_gradient", 200, 264, 328),
        Case.make("bias_gradient", 200, 264, 328),
        Case.make("row_amax", 200, 264, 328),
        Case.make("row_softmax", 200, 248, 328),
        Case.make("log_sum_exp", 2000, 2056, 72),
        Case.make("bias_gradient", 1000, 2056, 72),
        Case.make("row_amax", 2000, 2056, 72),
        Case.make("quantized_rows", 200, 264, 328),
        Case.make("dual_swiglu", 200, 264, 328),
        Case.make("dual_swiglu", 200, 264, 328, b="nk"),
        Case.make("residual_layer_norm", 200, 256, 328),
        Case.make("rms_norm_gemm", 200, 264, 320),
        Case.make("dequant_int8", 200, 264, 328, b="nk"),
        Case.make("dequant_int4", 200, 264, 384),
        *(Case.make("rope_projection", *sizes, dtype, b, pairs)
          for sizes, dtype, b in (((200, 512, 328, 128), "bf16", "nk"),
                                  ((321, 384, 72, 64), "f16", "kn"))
          for pairs in ("halves", "adjacent")),
        Case.make("conv", 3, 14, 64, 136, 3, 1),
        Case.make("conv", 3, 14, 64, 136, 3, 2, epilogue="bn_add_relu"),
        Case.make("conv", 3, 13, 72, 64, 1, 2, weights="hwcf"),
    ],
}

# The suites whose kernels are held to limits; the others repeat their shapes
# or are for other chips. Groups need offsets that do not decrease, as random
# arguments do: their tests are test/Pipelines/grouped.test and
# test/Benchmark/kernel-resources-grouped.test.
CORPUS = [name for name in SUITES
          if name not in ("gemm-sweep", "tiles", "mma-sync", "grouped")]


def select(names):
    """The cases of some suites, each once."""
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        raise ValueError(f"no suite {', '.join(unknown)}; there are "
                         f"{', '.join(SUITES)}")
    return list(dict.fromkeys(case for name in names
                              for case in SUITES[name]))
