// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is below the picture: tables of kernels and decisions, the roofline,
// memory over time, predictions beside what was measured.
"use strict";

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/** Columns of kernels: head, value to sort by, text. */
function kernelColumns(page, fn) {
  const resources = (kernel) => !kernel.facts ? {} : kernel.facts.measured.registers >= 0 ? kernel.facts.measured : kernel.facts.predicted;
  const columns = [
    ["#", (kernel) => kernel.id, (kernel) => kernel.id],
    ["kernel", (kernel) => kernel.name, (kernel) => kernel.name],
    ["kind", (kernel) => kernel.kind, (kernel) => kernel.kind],
    ["limit", (kernel) => kernel.bound, (kernel) => [make("span", { class: `swatch b-${limitOf(kernel.bound)}` }), kLimits[limitOf(kernel.bound)]]],
    ["ops", (kernel) => kernel.operations.length, (kernel) => kernel.operations.length],
    ["time", (kernel) => kernel.time_ns, (kernel) => formatTime(kernel.time_ns)],
    ["alone", (kernel) => kernel.unfused_time_ns, (kernel) => formatTime(kernel.unfused_time_ns)],
    ["traffic", (kernel) => kernel.dram_bytes, (kernel) => formatBytes(kernel.dram_bytes)],
    ["alone", (kernel) => kernel.unfused_bytes, (kernel) => formatBytes(kernel.unfused_bytes)],
    ["roofline", (kernel) => shareOfRoof(kernel, page.target), (kernel) => formatShare(shareOfRoof(kernel, page.target))],
    ["registers", (kernel) => resources(kernel).registers ?? kernel.registers, (kernel) => resources(kernel).registers ?? kernel.registers],
    ["spills", (kernel) => resources(kernel).spill_bytes ?? -1, (kernel) => {
      const bytes = resources(kernel).spill_bytes;
      return bytes > 0 ? make("span", { class: "bad" }, formatBytes(bytes)) : bytes === 0 ? "none" : "?";
    }],
  ];
  return page.explanation.measured && page.explanation.measured.kernels ? columns.concat([["counted", (kernel) => measuredBytes(kernel) ?? -1,
    (kernel) => formatBytes(measuredBytes(kernel))]]) : columns;
}

const measuredBytes = (kernel) => kernel.measured && kernel.measured.traffic_bytes / Math.max(kernel.measured.launches, 1);

function showKernelTable(page, fn) {
  const columns = kernelColumns(page, fn), rows = fn.kernels.map((kernel, id) => Object.assign(kernel, { id }));
  const body = make("tbody");
  let order = { column: 0, sign: 1 };
  const isNumber = (i) => i === 0 || i >= 4;
  const refill = () => {
    const [, key] = columns[order.column];
    const sorted = [...rows].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a.id - b.id) * order.sign);
    body.replaceChildren(...sorted.map((kernel) => make("tr", { class: "pick", click: () => page.choose({ kernel: kernel.id }) },
      columns.map(([, , text], i) => make("td", { class: isNumber(i) ? "number" : "" }, text(kernel))))));
  };
  const head = make("tr", {}, columns.map(([name], i) => make("th", { class: isNumber(i) ? "number" : "" },
    make("button", { type: "button", title: "Sort", click: () => {
      order = { column: i, sign: order.column === i ? -order.sign : isNumber(i) && i ? -1 : 1 };
      refill();
    } }, name))));
  refill();
  return [make("p", { class: "faint" }, assuming(fn, "Predicted times and traffic; alone: the same operations, each a kernel.")),
    make("table", { id: "kernels" }, make("thead", {}, head), body)];
}

const kPageOfRows = 200;

function showDecisions(page, fn) {
  const list = make("ul", { class: "plain", id: "decisions" }), more = make("button", { type: "button" }, "Show more");
  const kind = make("select", { "aria-label": "Which" }, ["all", "fused", "refused"].map((name) => make("option", {}, name)));
  const words = make("input", { type: "search", placeholder: "kernel, reason or line", "aria-label": "Filter" });
  const count = make("span", { class: "faint" });
  let found = [], shown = 0;
  const extend = () => {
    list.append(...found.slice(shown, shown + kPageOfRows).map((entry) => make("li", {}, describeCandidate(fn, entry))));
    shown = Math.min(shown + kPageOfRows, found.length);
    more.hidden = shown === found.length;
  };
  const refill = () => {
    const wanted = words.value.toLowerCase();
    found = fn.candidates.filter((entry) => (kind.value === "all" || entry.accepted === (kind.value === "fused")) &&
      `${entry.producer} ${entry.consumer} ${entry.reason} ${entry.detail} :${entry.producer_line} :${entry.consumer_line}`.toLowerCase().includes(wanted));
    count.textContent = `${found.length} of ${fn.candidates.length}`;
    list.replaceChildren();
    shown = 0;
    extend();
  };
  kind.addEventListener("change", refill);
  words.addEventListener("input", refill);
  more.addEventListener("click", extend);
  refill();
  return [make("div", { class: "bar" }, kind, words, count), list, more];
}

//===----------------------------------------------------------------------===//
// The roofline
//===----------------------------------------------------------------------===//

const kChart = { width: 900, height: 380, left: 90, right: 30, top: 20, bottom: 50 };

/** A scale of decades from `low` to `high`. */
function decades(low, high, from, to) {
  const [a, b] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  return { at: (value) => from + (Math.log10(value) - a) / (b - a) * (to - from),
    ticks: Array.from({ length: b - a + 1 }, (_, i) => 10 ** (a + i)) };
}

function showRoofline(page, fn) {
  const target = page.target, { width, height, left, right, top, bottom } = kChart;
  const dots = fn.kernels.map((kernel, id) => ({ kernel, id, x: kernel.flops / kernel.dram_bytes, y: kernel.flops / kernel.time_ns * 1e9 }))
    .filter(({ x, y }) => x > 0 && y > 0 && Number.isFinite(x) && Number.isFinite(y));
  const ridge = target.tensor_flops_per_second / target.dram_bytes_per_second;
  const xs = decades(Math.min(...dots.map((dot) => dot.x), 0.1), Math.max(...dots.map((dot) => dot.x), 4 * ridge), left, width - right);
  const ys = decades(Math.min(...dots.map((dot) => dot.y), target.fp32_flops_per_second / 1e4), target.tensor_flops_per_second, height - bottom, top);
  const chart = draw("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, style: "max-width:940px;width:100%", role: "img",
    "aria-label": "Roofline: arithmetic against flops for each byte of traffic" });
  chart.append(...axes(xs, ys, "flops for each byte of DRAM traffic", "flops a second", (value) => withUnit(value, ["", "k", "M", "G", "T", "P"])));
  const floor = xs.ticks[0];
  for (const [name, rate] of [["tensor cores", target.tensor_flops_per_second], ["fp32", target.fp32_flops_per_second]]) {
    const knee = rate / target.dram_bytes_per_second;
    const start = Math.max(floor, ys.ticks[0] / target.dram_bytes_per_second);
    chart.append(draw("path", { class: "roof", d: `M${xs.at(start)},${ys.at(start * target.dram_bytes_per_second)}L${xs.at(knee)},${ys.at(rate)}H${width - right}` }),
      draw("text", { x: width - right, y: ys.at(rate) - 6, "text-anchor": "end" }, `${name} ${withUnit(rate, ["", "k", "M", "G", "Tflop/s"])}`));
  }
  const longest = Math.max(...fn.kernels.map((kernel) => kernel.time_ns || 0), 1);
  dots.sort((a, b) => b.kernel.time_ns - a.kernel.time_ns).forEach(({ kernel, id, x, y }) => chart.append(draw("circle", {
    class: `dot b-${limitOf(kernel.bound)}${page.chosen.kernel === id ? " chosen" : ""}`, cx: xs.at(x).toFixed(1), cy: ys.at(y).toFixed(1),
    r: (4 + 10 * Math.sqrt(kernel.time_ns / longest)).toFixed(1), "fill-opacity": 0.75, "data-kernel": id, tabindex: 0,
    click: () => page.choose({ kernel: id }), keydown: (event) => event.key === "Enter" && page.choose({ kernel: id }) },
  draw("title", {}, `${kernel.name}: ${withUnit(y, ["", "k", "M", "G", "T"])}flop/s, ${formatNumber(x)} flop/B, ${formatTime(kernel.time_ns)}`))));
  const silent = fn.kernels.length - dots.length;
  return [make("p", { class: "faint" }, assuming(fn, `${target.part || target.name}, DRAM ${withUnit(target.dram_bytes_per_second, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"])}. Predicted; the larger a dot, the longer its kernel.`),
    silent ? ` ${silent} ${silent === 1 ? "kernel does" : "kernels do"} no arithmetic.` : ""), chart];
}

function axes(xs, ys, nameX, nameY, format) {
  const { width, height, left, right, top, bottom } = kChart, parts = [];
  for (const tick of xs.ticks)
    parts.push(draw("line", { class: "grid", x1: xs.at(tick), x2: xs.at(tick), y1: top, y2: height - bottom }),
      draw("text", { x: xs.at(tick), y: height - bottom + 18, "text-anchor": "middle" }, tick >= 1e4 ? tick.toExponential(0) : String(tick)));
  for (const tick of ys.ticks)
    parts.push(draw("line", { class: "grid", x1: left, x2: width - right, y1: ys.at(tick), y2: ys.at(tick) }),
      draw("text", { x: left - 8, y: ys.at(tick) + 4, "text-anchor": "end" }, format(tick)));
  parts.push(draw("text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, nameX),
    draw("text", { x: 16, y: (top + height - bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 16 ${(top + height - bottom) / 2})` }, nameY));
  return parts;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/** The kernel of the plan that a step launches, if there is one. */
function kernelOfStep(fn, step) {
  const names = (step.variants || []).map((variant) => variant.kernel);
  return fn.kernels.findIndex((kernel) => kernel.facts && names.includes(kernel.facts.entry));
}

function showMemory(page, fn) {
  const entry = fn.entry;
  if (!entry) return make("p", {}, "There is no package: the compiler stopped before it.");
  const temps = entry.buffers.filter((buffer) => buffer.offset !== undefined && buffer.first_step !== undefined);
  const sizes = entry.assumed_sizes.map(({ name, size }) => `${name} = ${size}`).join(", ");
  const total = (kind) => formatBytes(entry.buffers.filter((buffer) => buffer.kind === kind).reduce((sum, buffer) => sum + (buffer.bytes || 0), 0));
  return [make("p", {}, `${entry.steps.length} steps, ${formatBytes(entry.workspace_bytes)} of workspace between kernels`,
    sizes ? `, for ${sizes}` : "", `; inputs ${total("input")}, outputs ${total("output")}, constants ${total("constant")}.`),
  temps.length ? memoryMap(page, fn, entry, temps) : make("p", { class: "faint" }, "Nothing lies in memory between kernels."),
  make("details", { open: !temps.length }, make("summary", {}, `All ${entry.buffers.length} buffers`), bufferTable(entry))];
}

/** Where temporaries lie, and from which step to which. */
function memoryMap(page, fn, entry, temps) {
  const { width, height, left, right, top, bottom } = kChart;
  const steps = entry.steps.length, stepWidth = (width - left - right) / steps;
  const y = (bytes) => height - bottom - bytes / Math.max(entry.workspace_bytes, 1) * (height - top - bottom);
  const chart = draw("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, style: "max-width:940px;width:100%", role: "img",
    "aria-label": "Temporaries in the workspace from step to step" });
  for (let i = 0; i <= 4; ++i) {
    const bytes = entry.workspace_bytes * i / 4;
    chart.append(draw("line", { class: "grid", x1: left, x2: width - right, y1: y(bytes), y2: y(bytes) }),
      draw("text", { x: left - 8, y: y(bytes) + 4, "text-anchor": "end" }, formatBytes(Math.round(bytes))));
  }
  temps.forEach((buffer) => {
    const x = left + buffer.first_step * stepWidth, end = left + (buffer.last_step + 1) * stepWidth;
    const maker = kernelOfStep(fn, entry.steps[buffer.first_step]);
    const limit = maker < 0 ? "launch" : limitOf(fn.kernels[maker].bound), high = y(buffer.offset) - y(buffer.offset + buffer.bytes);
    chart.append(draw("rect", { class: `dot b-${limit}`, x, width: end - x - 1, y: y(buffer.offset + buffer.bytes), height: Math.max(high, 1), rx: 2,
      click: () => maker >= 0 && page.choose({ kernel: maker }) },
    draw("title", {}, `${formatBytes(buffer.bytes)}, steps ${buffer.first_step} to ${buffer.last_step}${maker < 0 ? "" : `, written by ${fn.kernels[maker].name}`}`)));
    if (high > 14 && end - x > 60) chart.append(draw("text", { class: "inside", x: x + 6, y: y(buffer.offset + buffer.bytes) + 14 }, formatBytes(buffer.bytes)));
  });
  const live = entry.steps.map((_, step) => temps.filter((buffer) => buffer.first_step <= step && step <= buffer.last_step)
    .reduce((sum, buffer) => sum + buffer.bytes, 0));
  chart.append(draw("path", { class: "live", d: live.map((bytes, step) =>
    `${step ? "L" : "M"}${(left + step * stepWidth).toFixed(1)},${y(bytes).toFixed(1)}H${(left + (step + 1) * stepWidth).toFixed(1)}`).join("") }));
  const every = Math.ceil(steps / 16);
  entry.steps.forEach((step, i) => i % every === 0 && chart.append(draw("text", { x: left + (i + 0.5) * stepWidth, y: height - bottom + 18, "text-anchor": "middle" }, i)));
  chart.append(draw("text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, "step; the line is what is in use"));
  return chart;
}

function bufferTable(entry) {
  return make("table", {}, make("thead", {}, make("tr", {}, ["buffer", "kind", "bytes", "steps", "offset"].map((name) => make("th", {}, name)))),
    make("tbody", {}, entry.buffers.map((buffer) => make("tr", {}, make("td", {}, buffer.name || "—"), make("td", {}, buffer.kind),
      make("td", { class: "number" }, formatBytes(buffer.bytes)),
      make("td", {}, buffer.first_step === undefined ? "unused" : `${buffer.first_step} to ${buffer.last_step}`),
      make("td", { class: "number" }, buffer.offset === undefined ? "—" : formatBytes(buffer.offset))))));
}

//===----------------------------------------------------------------------===//
// Predictions and measurements
//===----------------------------------------------------------------------===//

function showMeasured(page, fn) {
  const measured = page.explanation.measured;
  if (!measured || measured.entry !== fn.function)
    return [make("p", {}, "Nothing was measured: this page is of a compilation alone."),
      make("pre", {}, "fusion-run PROGRAM.mlir --random --report=F.html --profile   # traffic, counted by the emulator\n" +
        "fusion-run PROGRAM.mlir --random --report=F.html --bench     # time, on a GPU")];
  const rows = [];
  const compare = (name, predicted, value, format) => rows.push(make("tr", {}, make("td", {}, name),
    make("td", { class: "number" }, predicted === undefined ? "—" : format(predicted)), make("td", { class: "number" }, format(value)),
    make("td", { class: "number" }, predicted ? `${(value / predicted).toFixed(2)} ×` : "—")));
  if (measured.time_ns !== undefined) compare("time, all kernels", fn.time_after_ns, measured.time_ns, formatTime);
  const seen = new Set();
  for (const counted of measured.kernels || []) {
    const planned = fn.kernels.filter((kernel) => kernel.measured === counted);
    const predicted = fn.representative_size ? undefined : planned.reduce((sum, kernel) => sum + kernel.dram_bytes, 0);
    compare(`traffic, ${counted.name}${counted.launches > 1 ? `, ${counted.launches} launches` : ""}`, planned.length ? predicted : undefined, counted.traffic_bytes, formatBytes);
    seen.add(counted);
  }
  if (measured.traffic_bytes !== undefined) compare("traffic, all kernels", fn.representative_size ? undefined : fn.bytes_after, measured.traffic_bytes, formatBytes);
  return [make("p", {}, `Measured on: ${measured.device}.`, measured.time_ns === undefined ? " It has no time." : "",
    fn.representative_size ? ` Predictions are for dynamic sizes of ${fn.representative_size}, the run had its own: they are not compared.` : ""),
  make("table", { id: "measured" }, make("thead", {}, make("tr", {}, ["", "predicted", "measured", "ratio"].map((name, i) => make("th", { class: i ? "number" : "" }, name)))),
    make("tbody", {}, rows))];
}
