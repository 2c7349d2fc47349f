# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The short table of a run: one line a case, then the means."""

from statistics import geometric_mean


def best(rows):
    """The fastest right row with a time, or None."""
    return min((r for r in rows if r["right"] and "us" in r),
               key=lambda r: r["us"], default=None)


def own_choice(rows):
    """The row of the compiler's own schedule (the only one without a sweep)."""
    return next((r for r in rows if r.get("default")), rows[0])


class Table:
    """Prints rows as they come and remembers the ratios."""

    def __init__(self, options, machine):
        self._peers = [] if options.check_only else options.peers
        self._machine = machine
        self._rows, self._ratios, self._losses = [], {}, []
        self._floors, self._timed = [], []

    def head(self):
        machine = dict(self._machine)
        print(", ".join([machine.pop("device")] + [
            f"{key} {value:.4g}" if isinstance(value, float)
            else f"{key} {value}" for key, value in machine.items()]))
        self._print(["case", "us", "TFLOP/s", "x floor",
                     *(f"x {p}" for p in self._peers), "default", "check"])

    def add(self, case, rows):
        self._rows += rows
        wrong = [row for row in rows if not row["right"]]
        row = best(rows)
        if row is None:
            row = own_choice(rows)
            note = row["note"] if row["right"] else f"WRONG {row['note']}"
            self._print([case.name, *["-"] * (len(self._peers) + 4),
                         self._several(rows, wrong) + note])
            return
        cells = [case.name, f"{row['us']:.1f}",
                 f"{row['flops'] / row['us'] / 1e6:.0f}",
                 f"{row['us'] / row['floor_us']:.2f}"]
        self._floors.append(row["us"] / row["floor_us"])
        self._timed.append((case, row))
        for peer in self._peers:
            theirs = row["peers_us"].get(peer)
            if theirs:
                self._ratios.setdefault(peer, []).append(row["us"] / theirs)
            cells.append(f"{row['us'] / theirs:.2f}" if theirs else "-")
        note = row["note"]
        if len(rows) > 1:
            note = self._several(rows, wrong) + row["package"].split("@")[-1]
        own = own_choice(rows)
        loss = own["us"] / row["us"] if "us" in own else None
        if loss and len(rows) > 1:
            self._losses.append((loss, case.name))
        self._print([*cells, f"{loss:.2f}" if loss else "-", note])

    def summarize(self):
        right = sum(row["right"] for row in self._rows)
        print(f"\n{right} of {len(self._rows)} results right")
        if self._floors:
            print(f"time / floor: geometric mean "
                  f"{geometric_mean(self._floors):.3f}")
        for peer, ratios in self._ratios.items():
            print(f"time / {peer}: geometric mean "
                  f"{geometric_mean(ratios):.3f} over {len(ratios)} cases, "
                  f"{sum(r > 1 for r in ratios)} above 1.00, worst "
                  f"{max(ratios):.2f}")
        if self._losses:
            losses = [loss for loss, _ in self._losses]
            print(f"default / best schedule: geometric mean "
                  f"{geometric_mean(losses):.3f}, "
                  f"{sum(loss > 1.1 for loss in losses)} of {len(losses)} "
                  f"above 1.10, worst {max(losses):.2f} "
                  f"({max(self._losses)[1]})")

    def markdown(self):
        """The rows with times as a table of Markdown."""
        heads = ["case", "us", "TFLOP/s", "x floor",
                 *(f"{p} us" for p in self._peers),
                 *(f"x {p}" for p in self._peers)]
        lines = [heads, ["---"] * len(heads)]
        for case, row in self._timed:
            theirs = [row["peers_us"].get(p) for p in self._peers]
            lines.append([
                case.name, f"{row['us']:.1f}",
                f"{row['flops'] / row['us'] / 1e6:.0f}",
                f"{row['us'] / row['floor_us']:.2f}",
                *(f"{t:.1f}" if t else "-" for t in theirs),
                *(f"{row['us'] / t:.2f}" if t else "-" for t in theirs)])
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    @staticmethod
    def _several(rows, wrong):
        if len(rows) == 1:
            return ""
        return f"{len(rows) - len(wrong)} of {len(rows)} right; "

    def _print(self, cells):
        widths = [52, 9, 8, 8, *[8] * len(self._peers), 8]
        print(" ".join(f"{c:<{w}}" if i == 0 else f"{c:>{w}}"
                       for i, (c, w) in enumerate(zip(cells, widths)))
              + "  " + cells[-1], flush=True)
