# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits constants to measured times.

What is known of a schedule are the terms of its predicted time and, for each
term, the slopes: the relative change of the term for that of a constant. Where
a slope is positive the constant is a cost, and its share of the term grows with
it; where it is negative it is a rate, and all of the term falls with it. The
unknowns are the logarithms of the constants over their old values, so that
constants stay positive; they are found by least squares over the logarithms of
the times (Gauss and Newton), in which programs that the model has wrong count
less (Huber), and which hold a constant at its old value as far as no time says
otherwise. A constant that the times do not determine keeps its value.
"""

import dataclasses

import numpy as np

# Memory and the units of a multiprocessor hide a part of each other
# (docs/CostModel.md).
UNITS = ("fp32", "fp64", "sfu", "shared")
TERMS = ("launch", "memory", *UNITS, "hidden", "overlap")
# A constant is expected within this factor of its old value, and is not
# believed beyond the second one (logarithms).
EXPECTED, FARTHEST = np.log(2.0), np.log(10.0)
# It is determined when its own error is smaller than this (a logarithm), and
# when at least so many times follow it by as much.
DETERMINED, LEAST_VARIANTS, LEAST_EFFECT = 0.2, 2, 0.05
# The error of a time, a share of it, below which the model is not believed.
LEAST_ERROR = 0.02
# Errors beyond so many times the usual one count less.
HUBER = 1.5


@dataclasses.dataclass
class Fit:
    """`factors`: fitted constants over their old values; `errors`: of their
    logarithms; `open`: {constant: why it keeps its value}; `before` and
    `after`: predicted over measured time of each variant."""
    factors: dict
    errors: dict
    open: dict
    before: np.ndarray
    after: np.ndarray


class Model:
    """The times of all variants as a function of the constants' logarithms."""

    def __init__(self, variants):
        slopes = [{term: value["slopes"] for term, value in v["terms"].items()}
                  for v in variants]
        self.names = sorted({name for variant in slopes
                             for own in variant.values() for name in own})
        place = {name: i for i, name in enumerate(self.names)}
        shape = (len(variants), len(TERMS))
        self.values = np.zeros(shape)
        self.costs = np.zeros((*shape, len(self.names)))
        self.rates = np.zeros((*shape, len(self.names)))
        for i, variant in enumerate(variants):
            for j, term in enumerate(TERMS):
                if term not in variant["terms"]:
                    continue
                self.values[i, j] = variant["terms"][term]["value"]
                for name, slope in slopes[i][term].items():
                    side = self.costs if slope > 0 else self.rates
                    side[i, j, place[name]] = abs(slope)

    def log_times(self, logs):
        shares = 1 + self.costs @ np.expm1(logs)
        terms = (self.values * np.maximum(shares, 1e-3) *
                 np.exp(-(self.rates @ logs)))
        launch, memory, *units, hidden, overlap = terms.T
        compute = np.max(units, axis=0)
        rest = np.sum(units, axis=0) - compute
        return np.log(launch + np.maximum(memory, compute) +
                      (1 - np.clip(hidden, 0, 1)) * np.minimum(memory, compute) +
                      (1 - np.clip(overlap, 0, 1)) * rest)

    def slopes(self, logs, active, step=1e-4):
        """Of the logarithms of times, for those of the active constants."""
        columns = []
        for at in active:
            moved = np.zeros_like(logs)
            moved[at] = step
            columns.append((self.log_times(logs + moved) -
                            self.log_times(logs - moved)) / (2 * step))
        return np.stack(columns, axis=1)


def weigh(residuals):
    """How much each residual counts, and the usual one."""
    usual = max(1.4826 * np.median(np.abs(residuals)), LEAST_ERROR)
    return np.minimum(1, HUBER * usual /
                      np.maximum(np.abs(residuals), 1e-12)), usual


def solve(model, measured, active, turns=40):
    """(logarithms, their errors) with the constants `active` free."""
    logs = np.zeros(len(model.names))
    errors = np.zeros(len(active))
    for _ in range(turns):
        residuals = measured - model.log_times(logs)
        weights, usual = weigh(residuals)
        slopes = model.slopes(logs, active)
        normal = (slopes.T * weights) @ slopes / usual ** 2
        normal += np.eye(len(active)) / EXPECTED ** 2
        right = ((slopes.T * weights) @ residuals / usual ** 2 -
                 logs[active] / EXPECTED ** 2)
        move = np.linalg.solve(normal, right)
        # A step that leaves where the slopes hold is cut.
        move *= min(1.0, 0.5 / max(np.abs(move).max(), 1e-12))
        logs[active] = np.clip(logs[active] + move, -FARTHEST, FARTHEST)
        errors = np.sqrt(np.diag(np.linalg.inv(normal)))
        if np.abs(move).max() < 1e-6:
            break
    return logs, errors


def fit(variants, seconds, only=None):
    """The constants of `variants` that took `seconds`; those alone that begin
    with one of the texts `only`, if it is given."""
    model, measured = Model(variants), np.log(np.asarray(seconds, float))
    start = np.zeros(len(model.names))
    everything = list(range(len(model.names)))
    effects = np.abs(model.slopes(start, everything))
    open_, active = {}, []
    for at, name in enumerate(model.names):
        if only and not name.startswith(tuple(only)):
            open_[name] = "not asked for"
        elif (effects[:, at] > LEAST_EFFECT).sum() < LEAST_VARIANTS:
            open_[name] = "hardly any time follows it"
        else:
            active.append(at)
    logs, errors = start, np.zeros(0)
    while active:
        logs, errors = solve(model, measured, active)
        worst = int(np.argmax(errors))
        if errors[worst] <= DETERMINED:
            break
        open_[model.names[active[worst]]] = (
            "not told apart from the others: its logarithm is known to "
            f"{errors[worst]:.2f}")
        del active[worst]
        logs = start
    factors = {model.names[at]: float(np.exp(logs[at])) for at in active}
    return Fit(factors,
               {model.names[at]: float(error)
                for at, error in zip(active, errors)}, open_,
               np.exp(model.log_times(start) - measured),
               np.exp(model.log_times(logs) - measured))
