# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of compiled graphs as CUDA graphs, by PyTorch's own trees of them.

The trees record a graph in its second call, replay it from then on, keep one
pool of memory for forward and backward passes, and record again where sizes or
the addresses of parameters change.
"""

import logging
import sys

LOG = logging.getLogger("fusion.torch")


class Recorder:
    """Records the graphs that one call of the backend compiles, forward and
    backward. `num_inputs` is how many the graph of Dynamo has."""

    def __init__(self, num_inputs):
        self.num_inputs, self.recorded, self.device = num_inputs, set(), 0

    def record(self, run, module, inputs, kind):
        """A callable that does what `run` does, with boxed arguments, for a
        graph of AOTAutograd. What cannot be recorded runs as it is, with the
        reason in the log."""
        # PyTorch's modules of CUDA graphs take a second to import.
        from torch._dynamo.backends import cudagraphs
        from torch._inductor import cudagraph_trees, utils
        from torch._inductor.compile_fx import get_static_input_idxs
        if kind == "backward":
            fixed = range(utils.count_tangents(module))
        else:
            fixed = get_static_input_idxs(utils.num_fw_fixed_arguments(
                self.num_inputs, len(inputs)))
        reason = cudagraphs.check_for_skip(module, len(fixed))
        if reason:
            LOG.info("%s runs without a CUDA graph: %s", kind, reason)
            return self._between_recorded(run, kind)
        self.device = cudagraphs.get_device_index(module)
        self.recorded.add(kind)
        options = dict(
            device_index=self.device, is_backward=kind == "backward",
            is_inference=kind == "inference",
            stack_traces=cudagraphs.get_stack_traces(module),
            placeholders=cudagraphs.get_placeholder_info(module.graph),
            mutated_input_idxs=cudagraphs.find_input_mutations(module.graph))
        tree = None

        def replay(arguments):
            nonlocal tree
            if tree is None:  # Sizes are numbers only now.
                tree = cudagraph_trees.cudagraphify_impl(
                    run, arguments, fixed, **options)
            return tree(arguments)

        replay._boxed_call = True
        return replay

    def _between_recorded(self, run, kind):
        """A backward pass that is not recorded, of a forward pass that is:
        the tree has to know that it runs."""
        if kind != "backward" or "forward" not in self.recorded:
            return run
        from torch._inductor import cudagraph_trees

        def tell_and_run(arguments):
            cudagraph_trees.get_manager(
                self.device, create_if_none_exists=False
            ).set_to_running_backward()
            return run(arguments)

        tell_and_run._boxed_call = True
        return tell_and_run


def reset():
    """Forgets what was recorded, for `torch._dynamo.reset`."""
    trees = sys.modules.get("torch._inductor.cudagraph_trees")
    if trees is not None:
        trees.reset_cudagraph_trees()
