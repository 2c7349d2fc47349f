# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The distribution of what was measured.

A program that does not compile, or whose result is wrong, has no time: it is
the worst of its family in every order, and in no mean.
"""

import math
from statistics import geometric_mean

LARGE = 16 << 20  # Bytes from which on the floor, not the launch, decides.


def quantile(numbers, share):
    """The number that `share` of the numbers are not above."""
    ordered = sorted(numbers)
    return ordered[min(max(math.ceil(share * len(ordered)) - 1, 0),
                       len(ordered) - 1)]


def distribution(rows, key, worst, absent):
    """{mean, tenth, worst} of row[key]: of the ten in a hundred that are worst,
    the best. `worst` is max or min; `absent` stands for failed programs."""
    found = [row[key] for row in rows if row.get(key)]
    whole = found + [absent] * sum(not row["right"] for row in rows)
    if not found:
        return None
    return {"mean": geometric_mean(found),
            "tenth": quantile(whole, 0.9 if worst is max else 0.1),
            "worst": worst(whole)}


def summarise(rows):
    """The figures of some rows, as written to JSON."""
    rows = [row for row in rows if not row.get("left_out")]
    errors = [abs(row["prediction"] - 1) for row in rows
              if row.get("prediction")]
    off = [max(row["prediction"], 1 / row["prediction"]) for row in rows
           if row.get("prediction")]
    return {"programs": len(rows), "right": sum(r["right"] for r in rows),
            "over_floor": distribution(rows, "over_floor", max, math.inf),
            "over_launch": distribution(rows, "over_launch", max, math.inf),
            "speed": distribution(rows, "speed", min, 0.0),
            "speed_over_compile": distribution(rows, "speed_over_compile",
                                               min, 0.0),
            "over_best": distribution(rows, "over_best", max, math.inf),
            "prediction": {"median_error": quantile(errors, 0.5),
                           "ninetieth": quantile(errors, 0.9),
                           "mean_factor": geometric_mean(off)}
            if errors else None}


def _cells(name, figures):
    def three(values):
        if values is None:
            return ["-"] * 3
        return [f"{values[key]:.2f}" for key in ("mean", "tenth", "worst")]
    prediction = figures["prediction"]
    return [name, f"{figures['right']}/{figures['programs']}",
            *three(figures["over_floor"]), *three(figures["over_launch"]),
            *three(figures["speed"]),
            *([f"{100 * prediction['median_error']:.0f}%",
               f"{100 * prediction['ninetieth']:.0f}%",
               f"{prediction['mean_factor']:.2f}"]
              if prediction else ["-"] * 3)]


def family(row):
    return row["name"].split("/")[-2]


def table(rows):
    """One line for each family, then all, then the large and the small."""
    groups = {}
    for row in rows:
        groups.setdefault(family(row), []).append(row)
    if len(groups) > 1:
        groups["all"] = rows
    large = [row for row in rows if row["bytes"] >= LARGE]
    if large and len(large) < len(rows):
        groups["from 16 MiB"] = large
        groups["below"] = [row for row in rows if row["bytes"] < LARGE]
    head = ["family", "right", "x floor", "10th", "worst", "x launched",
            "10th", "worst", "speed", "10th", "worst", "predicted", "90th",
            "factor"]
    lines = [head] + [_cells(name, summarise(part))
                      for name, part in groups.items()]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join(" ".join(
        cell.ljust(w) if i == 0 else cell.rjust(w)
        for i, (cell, w) in enumerate(zip(line, widths))) for line in lines)


def _schedules(row):
    spills = row.get("spills", {})
    return [f"      {one['kernel']}: {one['schedule']}" +
            (f"; spills {spills[one['kernel']]} bytes"
             if one["kernel"] in spills else "")
            for one in row.get("schedules", [])]


def describe(row):
    """One line about a program."""
    text = f"{row['name']}: {row['description']}"
    if not row["right"]:
        return f"{text}: {row['note']}"
    peers = ", ".join(f"{peer} {row[f'{peer}_us']:.1f}"
                      for peer in ("eager", "compile")
                      if row.get(f"{peer}_us"))
    return (f"{text}: {row['fusion_us']:.1f} us, floor {row['floor_us']:.1f}, "
            f"predicted {row['predicted_us']:.1f}, {peers or 'no peer'}")


def choices(rows, count):
    """How the choices compare with the best schedules of the sweeps."""
    swept = sorted((row for row in rows if row.get("over_best")),
                   key=lambda row: row["over_best"], reverse=True)
    if not swept:
        return []
    ratios = [row["over_best"] for row in swept]
    tried = sum(len(row["sweep"]) for row in swept)
    lines = [f"{len(swept)} choices against {tried} other schedules: "
             f"{geometric_mean(ratios):.3f} of the best's time, 90 % within "
             f"{quantile(ratios, 0.9):.2f}, worst {ratios[0]:.2f}"]
    for row in swept[:count]:
        best = min(row["sweep"], key=lambda one: one["us"])
        lines += [f"  {row['over_best']:.2f}  {describe(row)}",
                  *_schedules(row),
                  f"      best: {best['us']:.1f} us, predicted "
                  f"{best['predicted_us']:.1f}: {best['schedule']}"]
    return lines


def text(rows, count=5):
    """The whole report."""
    lines = [table(rows), *choices(rows, count), ""]
    failed = [row for row in rows if not row["right"]]
    lines += [f"  {describe(row)}" for row in failed]
    for key, words, order in (("over_floor", "over the floor", True),
                              ("speed", "against the better peer", False)):
        timed = sorted((row for row in rows if row.get(key)),
                       key=lambda row: row[key], reverse=order)[:count]
        lines.append(f"worst {words}:")
        for row in timed:
            lines += [f"  {row[key]:.2f}  {describe(row)}", *_schedules(row)]
    return "\n".join(lines)
