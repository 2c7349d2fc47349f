// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The panel beside the picture: what is known of a kernel, of an operation, and
// of what lies between two kernels.
"use strict";

const kTerms = { memory: "memory", tensor: "tensor", fp32: "compute", fp64: "compute", sfu: "compute",
  shared: "shared", launch: "launch", "steps and waiting": "launch" };

function figureList(rows) {
  return make("dl", {}, rows.filter(Boolean).map(([name, ...value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

/** A link that chooses `target`; a plain mouse click or Enter. */
function link(page, target, text) {
  return make("a", { href: page.hashOf(target), click: (event) => {
    event.preventDefault();
    page.choose(target);
  } }, text);
}

function before(was, is) {
  return [was, " → ", make("b", {}, is)];
}

//===----------------------------------------------------------------------===//
// A kernel
//===----------------------------------------------------------------------===//

function showKernel(page, fn, id) {
  const kernel = fn.kernels[id];
  const kind = kernel.kind + (kernel.xla_kind && kernel.xla_kind !== kernel.kind ? ` (XLA: ${kernel.xla_kind})` : "");
  return [
    make("h2", {}, kernel.name),
    make("span", { class: "badge", title: page.kinds[kernel.kind] }, kind), " ",
    make("span", { class: "badge" }, make("span", { class: `swatch b-${limitOf(kernel.bound)}` }),
      `limited by ${kLimits[limitOf(kernel.bound)]}`),
    make("h3", {}, assuming(fn, "Predicted")),
    kernelFigures(page, fn, kernel),
    termMeter(kernel),
    make("h3", {}, `Operations (${kernel.operations.length})`),
    make("ul", { class: "plain" }, kernel.operations.map((op) => opItem(page, fn, op))),
    listTaken(page, fn, kernel),
    make("h3", {}, "Neighbours, and why they are kernels of their own"),
    listNeighbours(page, fn, id),
    make("h3", {}, "Code"),
    make("div", { class: "bar" }, page.phasesOf(kernel).map((name) =>
      make("button", { type: "button", click: () => page.showCode(name, kernel) }, name))),
  ];
}

function kernelFigures(page, fn, kernel) {
  const { facts, measured } = kernel, known = facts && facts.measured.registers >= 0;
  const spills = facts ? (known ? facts.measured : facts.predicted).spill_bytes : -1;
  return figureList([
    ["time", before(formatTime(kernel.unfused_time_ns), formatTime(kernel.time_ns))],
    ["traffic", before(formatBytes(kernel.unfused_bytes), formatBytes(kernel.dram_bytes))],
    measured && ["traffic, counted", formatBytes(measured.traffic_bytes / Math.max(measured.launches, 1)),
      measured.launches > 1 ? " a launch" : ""],
    ["arithmetic", formatFlops(kernel.flops), kernel.dram_bytes > 0
      ? `, ${formatNumber(kernel.flops / kernel.dram_bytes)} flop/B` : ""],
    ["of the roofline", formatShare(shareOfRoof(kernel, page.target))],
    ["launch", `${kernel.blocks} blocks of ${facts ? facts.threads : kernel.threads} threads`],
    ["registers", `${kernel.registers} predicted`, known ? `, ${facts.measured.registers} by ptxas` : ""],
    ["spills", spillText(spills, known)],
    ["shared memory", formatBytes(facts ? facts.dynamic_shared_bytes : kernel.shared_bytes)],
    kernel.products && ["products by", kernel.products,
      kernel.obstacle ? `, not by wgmma: ${kernel.obstacle}` : ""],
  ]);
}

function spillText(bytes, isKnown) {
  if (bytes > 0) return make("span", { class: "bad" }, `${formatBytes(bytes)} a thread`);
  return isKnown ? make("span", { class: "good" }, "none") : "unknown without ptxas";
}

/** What the time is made of, side by side; parts overlap in the prediction. */
function termMeter(kernel) {
  const terms = Object.entries(kernel.terms_ns).filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]);
  const rest = (kernel.time_ns || 0) - terms.reduce((total, [, ns]) => total + ns, 0);
  if (rest > 0) terms.push(["steps and waiting", rest]);
  const sum = terms.reduce((total, [, ns]) => total + ns, 0);
  return [make("div", { class: "meter" }, terms.map(([name, ns]) => make("div", {
    class: `fill b-${kTerms[name]}`, style: `width:${(100 * ns / sum).toFixed(2)}%`,
    title: `${name}: ${formatTime(ns)}` }))),
  make("div", { class: "faint" }, terms.map(([name, ns]) => `${name} ${formatTime(ns)}`).join(" · "))];
}

function opItem(page, fn, id) {
  const op = fn.operations[id];
  return make("li", {}, link(page, { op: id }, op.label), " ",
    make("span", { class: "faint" }, [`#${id}`, placeOf(op), ...(op.names || [])].filter(Boolean).join(" · ")),
    sourceText(page, op));
}

function sourceText(page, op) {
  const line = sourceLine(page, placeOf(op)).trim();
  return line ? make("code", { class: "source", title: line }, line) : "";
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

function describeCandidate(fn, entry) {
  const at = (line) => line ? ` :${line}` : "";
  const isPriced = entry.time_before_ns !== 0;
  return [
    make("span", { class: `verb ${entry.accepted ? "good" : "bad"}` }, entry.accepted ? "fused" : "refused"),
    `${entry.producer}${at(entry.producer_line)} → ${entry.consumer}${at(entry.consumer_line)}: `,
    make("b", {}, entry.reason), `, ${entry.explanation}`, entry.detail ? ` (${entry.detail})` : "",
    isPriced ? make("div", { class: "faint" }, assuming(fn,
      `${formatTime(entry.time_before_ns)} → ${formatTime(entry.time_after_ns)}, saves ${formatBytes(entry.saved_bytes)}`)) : "",
  ];
}

/** The fusions by which `kernel` came about, and rewrites of what it has. */
function listTaken(page, fn, kernel) {
  const own = new Set(kernel.operations);
  const taken = fn.candidates.filter((entry) => entry.accepted && own.has(entry.producer_op) && own.has(entry.consumer_op));
  if (!taken.length) return "";
  return make("details", { open: taken.length <= 4 }, make("summary", {}, `Why these share a kernel (${taken.length})`),
    make("ul", { class: "plain" }, taken.map((entry) => make("li", {}, describeCandidate(fn, entry)))));
}

/** What was refused between two kernels. */
function findRefused(fn, a, b) {
  const [left, right] = [new Set(fn.kernels[a].operations), new Set(fn.kernels[b].operations)];
  return fn.candidates.filter(({ accepted, producer_op: from, consumer_op: to }) => !accepted && from !== to &&
    (left.has(from) && right.has(to) || right.has(from) && left.has(to)));
}

function refusals(fn, a, b) {
  const entries = findRefused(fn, a, b);
  if (!entries.length) return make("div", { class: "faint" }, "No fusion of the two was tried.");
  return make("ul", { class: "plain" }, entries.map((entry) => make("li", {}, describeCandidate(fn, entry))));
}

function listNeighbours(page, fn, id) {
  const near = new Map();
  fn.kernelEdges.forEach(({ from, to, bytes }) => {
    if (to === id) near.set(from, `reads ${formatBytes(bytes)} of`);
    if (from === id) near.set(to, `writes ${formatBytes(bytes)} for`);
  });
  // Siblings read one tensor.
  fn.kernels.forEach((_, other) => {
    if (other !== id && !near.has(other) && findRefused(fn, id, other).length) near.set(other, "beside");
  });
  if (!near.size) return make("div", { class: "faint" }, "It has none.");
  return make("ul", { class: "plain" }, [...near].map(([other, how]) => make("li", {}, `${how} `,
    link(page, { kernel: other }, fn.kernels[other].name), refusals(fn, id, other))));
}

//===----------------------------------------------------------------------===//
// Operations and edges
//===----------------------------------------------------------------------===//

function showOperation(page, fn, id) {
  const op = fn.operations[id];
  const value = (v) => make("li", {}, make("code", {}, fn.values[v].type), ` ${formatBytes(fn.values[v].bytes)}`,
    fn.values[v].argument !== undefined ? ` argument ${fn.values[v].argument}` : "",
    fn.values[v].producer >= 0 ? [" of ", link(page, { op: fn.values[v].producer }, nameOfOp(fn, fn.values[v].producer))] : "",
    fn.values[v].result ? ", a result" : "");
  return [
    make("h2", {}, op.label), make("span", { class: "badge" }, op.kind), " ",
    (op.source || []).map((place) => make("span", { class: "badge" }, place)),
    sourceText(page, op),
    figureList([
      ["number", `#${id}`],
      op.names && ["called", op.names.join(", ")],
      ["loops", op.extents.join(" × ") || "none"],
      [assuming(fn, "alone"), formatTime(op.unfused.time_ns), `, ${formatBytes(op.unfused.dram_bytes)}, limited by `,
        kLimits[limitOf(op.unfused.bound)]],
      ["computed in", fn.kernelsOf[id].map((k, i) => [i ? ", " : "", link(page, { kernel: k }, fn.kernels[k].name)])],
    ]),
    make("h3", {}, "Reads"), make("ul", { class: "plain" }, op.reads.map(value)),
    make("h3", {}, "Writes"), make("ul", { class: "plain" }, op.writes.map(value)),
    make("h3", {}, "Decisions"),
    make("ul", { class: "plain" }, fn.candidates.filter((entry) => entry.producer_op === id || entry.consumer_op === id)
      .map((entry) => make("li", {}, describeCandidate(fn, entry)))),
  ];
}

function showEdge(page, fn, [from, to]) {
  const edge = fn.kernelEdges.find((each) => each.from === from && each.to === to);
  return [
    make("h2", {}, "Between two kernels"),
    make("p", {}, link(page, { kernel: from }, fn.kernels[from].name), " → ", link(page, { kernel: to }, fn.kernels[to].name)),
    make("h3", {}, assuming(fn, "In memory between them")),
    make("ul", { class: "plain" }, (edge ? edge.values : []).map((v) =>
      make("li", {}, make("code", {}, fn.values[v].type), ` ${formatBytes(fn.values[v].bytes)}`))),
    make("h3", {}, "Why they are not one kernel"), refusals(fn, from, to),
  ];
}

/** What is shown while nothing is chosen. */
function showFunction(page, fn) {
  const slow = fn.kernels.map((kernel, id) => ({ kernel, id })).sort((a, b) => (b.kernel.time_ns || 0) - (a.kernel.time_ns || 0)).slice(0, 8);
  return [
    make("h2", {}, `@${fn.function}`),
    make("p", {}, `${fn.kernels_before} operations became ${fn.kernels_after} ${fn.kernels_after === 1 ? "kernel" : "kernels"}. `,
      "Choose a box or a line of the picture to see why."),
    make("h3", {}, assuming(fn, "Where the time goes")),
    make("ul", { class: "plain" }, slow.map(({ kernel, id }) => make("li", {}, link(page, { kernel: id }, kernel.name),
      ` ${formatTime(kernel.time_ns)}`,
      make("div", { class: "meter" }, make("div", { class: `fill b-${limitOf(kernel.bound)}`,
        style: `width:${fn.time_after_ns ? (100 * (kernel.time_ns || 0) / fn.time_after_ns).toFixed(2) : 0}%` }))))),
    make("h3", {}, "Keys"),
    figureList([["arrows", "from box to box"], ["+ − 0", "larger, smaller, all"], ["/", "search"], ["Esc", "back to this"]]),
  ];
}
