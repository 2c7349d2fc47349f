# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times GPU work: CUDA-graph replays between events, the L2 cache flushed."""

import gc
import statistics
import time

import torch


class Timer:
    """Times calls and measures what the machine itself can reach.

    `copy_rate` is the best rate of a streaming kernel in bytes per second,
    read and written bytes both counted; `matmul_rate` is cuBLAS's rate for a
    large bf16 product in flop per second. Both are taken when the timer is
    made, in the same process and by the same method as everything else.
    """

    def __init__(self, repeat=20):
        self.repeat = repeat
        # Reading eight times the L2's size evicts everything, dirty lines
        # included, and leaves clean lines behind: no write-back of the flush
        # itself is charged to the next kernel.
        cache = torch.cuda.get_device_properties(0).L2_cache_size
        self._sweep = torch.ones(8 * cache // 4, device="cuda")
        self._swept = torch.empty((), device="cuda")
        self.copy_rate = self._measure_copy_rate()
        self.matmul_rate = self._measure_matmul_rate()

    def graph_us(self, call):
        """Median GPU time of one call in microseconds, by graph replay."""
        graph = capture(call)
        return self._median(graph.replay)

    def compared_us(self, calls):
        """{name: times in microseconds, sorted} of {name: call}.

        The calls take turns, so that clocks and temperature, which a long row
        of large products changes, are the same for all of them.
        """
        graphs = {name: capture(call) for name, call in calls.items()}
        events = {name: [] for name in graphs}
        for _ in range(self.repeat + 2):
            for name, graph in graphs.items():
                torch.sum(self._sweep, dim=0, out=self._swept)
                start, end = (torch.cuda.Event(enable_timing=True)
                              for _ in range(2))
                start.record()
                graph.replay()
                end.record()
                events[name].append((start, end))
        torch.cuda.synchronize()
        return {name: sorted(start.elapsed_time(end) * 1e3
                             for start, end in pairs[2:])
                for name, pairs in events.items()}

    def medians_us(self, calls):
        """{name: median time in microseconds} of {name: call}, in turns."""
        return {name: times[len(times) // 2]
                for name, times in self.compared_us(calls).items()}

    def bounded_us(self, calls, seconds):
        """{name: median time in microseconds} of {name: call}, in turns and
        without graphs, for about `seconds` of GPU time in all; a call that
        takes its share and more runs once. What the host needs to enqueue a
        call is waited for before the clock starts."""
        host, counts, events = {}, {}, {}
        for name, call in calls.items():
            torch.cuda.synchronize()
            begin = time.perf_counter()
            first = self._between(call, 0.0)
            host[name] = time.perf_counter() - begin
            torch.cuda.synchronize()
            spent = first[0].elapsed_time(first[1]) / 1e3
            share = int(seconds / len(calls) / max(spent, 1e-6))
            counts[name] = min(share, self.repeat)
            # The first warms up, and counts only where it is the only one.
            events[name] = [] if counts[name] else [first]
        for turn in range(max(counts.values())):
            for name, call in calls.items():
                if turn < counts[name]:
                    events[name].append(self._between(call, host[name]))
        torch.cuda.synchronize()
        return {name: statistics.median(start.elapsed_time(end) * 1e3
                                        for start, end in pairs)
                for name, pairs in events.items()}

    def _between(self, call, host_seconds):
        """Events around a call; the GPU idles for `host_seconds` before."""
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.sum(self._sweep, dim=0, out=self._swept)
        if host_seconds:
            # Cycles of at most 2 GHz: at least the time that was asked for.
            torch.cuda._sleep(int(min(host_seconds, 0.05) * 2e9))
        start.record()
        call()
        end.record()
        return start, end

    def back_to_back_us(self, call, count=20):
        """Mean time of `count` calls in one graph, nothing between them: a
        second method, with whatever the calls leave in the L2 cache."""
        def several():
            for _ in range(count):
                call()
        return self._median(capture(several).replay) / count

    def _median(self, replay):
        events = [(torch.cuda.Event(enable_timing=True),
                   torch.cuda.Event(enable_timing=True))
                  for _ in range(self.repeat + 2)]
        torch.cuda.synchronize()
        for start, end in events:
            torch.sum(self._sweep, dim=0, out=self._swept)
            start.record()
            replay()
            end.record()
        torch.cuda.synchronize()
        times = [start.elapsed_time(end) * 1e3 for start, end in events]
        return statistics.median(times[2:])

    def _measure_copy_rate(self):
        count = 128 << 20
        x = torch.randn(count, device="cuda")
        y = torch.randn(count, device="cuda")
        out = torch.empty_like(x)
        copy = 8 * count / self.graph_us(lambda: out.copy_(x))
        add = 12 * count / self.graph_us(lambda: torch.add(x, y, out=out))
        return max(copy, add) * 1e6

    def _measure_matmul_rate(self):
        size = 8192
        a = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)
        b = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)
        out = torch.empty_like(a)
        time = self.graph_us(lambda: torch.matmul(a, b, out=out))
        return 2.0 * size ** 3 / time * 1e6


def capture(call):
    """Warms `call` up and captures it into a CUDA graph."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    # What the collector frees meanwhile, a module for example, would end the
    # capture.
    gc.collect()
    gc.disable()
    try:
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            call()
    finally:
        gc.enable()
    graph.replay()
    torch.cuda.synchronize()
    return graph
