# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a calibration found: rates that need no model, the file, a text."""

import collections
import math

# Of programs that stream: how many bytes make the launch no matter.
LARGE_BYTES = 256 << 20


def fastest(variants, seconds):
    """{program: (variant, its seconds)}, of each the fastest."""
    best = {}
    for variant, time in zip(variants, seconds):
        own = best.get(variant["program"])
        if own is None or time < own[1]:
            best[variant["program"]] = variant, time
    return best


def find_rates(variants, seconds, machine):
    """What the probes say by themselves, without the model."""
    best = fastest(variants, seconds)
    rates, chains = {}, collections.defaultdict(list)
    for variant, time in best.values():
        moved = variant["read_bytes"] + variant["write_bytes"]
        kind = variant["kind"]
        if kind == "launch":
            rates["launch_us"] = min(rates.get("launch_us", math.inf),
                                     time * 1e6)
        elif kind in ("read", "write", "mixed") and moved >= LARGE_BYTES:
            name = f"{kind}_tb_per_s"
            rates[name] = max(rates.get(name, 0), moved / time * 1e-12)
        elif kind.startswith("chain "):
            chains[kind.split()[1]].append((variant["operations"], time))
    clocks = machine["multiprocessors"] * machine["clock_mhz"] * 1e6
    for name, points in chains.items():
        (few, short), (many, long) = min(points), max(points)
        if long > short:
            rates[f"{name}_per_clock"] = (many - few) / (long - short) / clocks
    return rates


def spread(ratios):
    """Of predicted over measured times: what is 0 where all are right."""
    logs = sorted(abs(math.log(ratio)) for ratio in ratios)
    at = [math.exp(logs[min(int(share * len(logs)), len(logs) - 1)]) - 1
          for share in (0.5, 0.9)]
    mean = math.exp(sum(logs) / len(logs)) - 1
    return {"median": at[0], "ninetieth_percentile": at[1], "mean": mean}


def to_file(constants, variants, seconds, fit, machine, rates):
    """The file for --target-file: fitted constants, with what they are from."""
    old = constants["fitted"]
    fitted = collections.defaultdict(dict)
    for name, factor in sorted(fit.factors.items()):
        group, constant = name.split(".")
        fitted[group][constant] = old[group][constant] * factor
    return {
        "version": constants["version"], "chip": constants["chip"],
        "part": machine["device"], "fitted": fitted,
        "calibration": {
            "machine": machine, "rates": rates,
            "prediction_error_before": spread(fit.before),
            "prediction_error_after": spread(fit.after),
            "errors": fit.errors, "not_fitted": fit.open,
            "variants": [
                {"name": variant["name"], "kind": variant["kind"],
                 "schedule": variant["schedule"], "measured_us": time * 1e6,
                 "predicted_before_us": before * time * 1e6,
                 "predicted_us": after * time * 1e6}
                for variant, time, before, after in zip(
                    variants, seconds, fit.before, fit.after)]}}


def percent(figures):
    return ", ".join(f"{name.replace('_', ' ')} {100 * value:.1f} %"
                     for name, value in figures.items())


def text(file, constants):
    """For people."""
    about = file["calibration"]
    lines = ["", "constant                          before      fitted   error"]
    for group, own in file["fitted"].items():
        for name, value in own.items():
            error = about["errors"][f"{group}.{name}"]
            lines.append(f"{group + '.' + name:<30} "
                         f"{constants['fitted'][group][name]:>11.4g} "
                         f"{value:>11.4g} {100 * error:>6.1f} %")
    lines += ["", "as they were:"]
    lines += [f"  {name}: {reason}"
              for name, reason in sorted(about["not_fitted"].items())]
    lines += ["", "rates that need no model:"]
    lines += [f"  {name}: {value:.4g}"
              for name, value in sorted(about["rates"].items())]
    worst = sorted(about["variants"], key=lambda v: -abs(math.log(
        v["predicted_us"] / v["measured_us"])))[:10]
    lines += ["", "predicted over measured, the worst ten:"]
    lines += [f"  {v['predicted_us'] / v['measured_us']:6.2f}  {v['name']}"
              for v in worst]
    kinds = collections.defaultdict(list)
    for v in about["variants"]:
        kinds[v["kind"]].append(v["predicted_us"] / v["measured_us"])
    lines += ["", "error of the prediction by kind:"]
    lines += [f"  {kind:<18} {len(ratios):>4}  {percent(spread(ratios))}"
              for kind, ratios in sorted(kinds.items())]
    lines += ["", "error of the prediction before: " +
              percent(about["prediction_error_before"]),
              "error of the prediction after:  " +
              percent(about["prediction_error_after"])]
    return "\n".join(lines)
