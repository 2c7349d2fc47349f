# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.compile(backend="fusion") on whole networks, on the emulator."""

import copy
import unittest

from test_torch_compile import REASON, CompileTest

try:
    import torch
    import fusion_compiler.torch as fusion_torch
except ImportError:
    pass

# Launches of a forward pass and, in a training step, of the backward pass.
KERNELS = {"resnet50": (13, 38), "vit_l": (19, 61), "gpt2_medium": (14, 60),
           "llama3": (16, 42), "sd_unet": (107, 296)}


def _doubles(values):
    return [one.double() if one.is_floating_point() else one
            for one in values]


@unittest.skipIf(REASON, REASON)
class ModelsTest(CompileTest):

    def check_near(self, ours, exact, rtol):
        scale = exact.abs().max().item() + 1e-6
        torch.testing.assert_close(ours.double() / scale, exact / scale,
                                   rtol=0, atol=rtol)

    def check_forward(self, name):
        from architectures.models import MODELS
        module, inputs = MODELS[name].make("small")
        module.eval()
        with torch.no_grad():
            actual = self.compile(module)(*inputs)
            self.check_near(actual, module.double()(*_doubles(inputs)), 2e-6)
        graph, = fusion_torch.report()
        self.assertEqual(graph.fallbacks, (), str(graph))
        self.assertEqual(len(graph.parts), 1)
        self.assertLessEqual(graph.parts[0].kernels, KERNELS[name][0])

    def check_step(self, name):
        """Loss, gradients and the running means of norms."""
        from architectures.models import MODELS
        module, inputs = MODELS[name].make_step("small")
        reference = copy.deepcopy(module).double()
        loss = self.compile(module)(*inputs)
        loss.backward()
        exact = reference(*_doubles(inputs))
        exact.backward()
        self.check_near(loss.detach(), exact.detach(), 1e-6)
        for one, other in zip(module.buffers(), reference.buffers()):
            self.check_near(one, other.double(), 2e-6)
        for one, other in zip(module.parameters(), reference.parameters()):
            self.check_near(one.grad, other.grad, 2e-5)
        forward, backward = fusion_torch.report()
        self.assertEqual(forward.fallbacks, (), str(forward))
        self.assertEqual(self.fallbacks(), set(), str(backward))
        self.assertLessEqual(sum(part.kernels for part in backward.parts),
                             KERNELS[name][1])


def _add_tests(name):
    setattr(ModelsTest, f"test_{name}_forward",
            lambda self: self.check_forward(name))
    setattr(ModelsTest, f"test_{name}_step",
            lambda self: self.check_step(name))


for _name in KERNELS:
    _add_tests(_name)


if __name__ == "__main__":
    unittest.main()
