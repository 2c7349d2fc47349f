// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements, figures as text, and the explanation as the page reads it.
"use strict";

/** An element `tag` with `attributes` and `children`; functions are listeners. */
function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

const byId = (id) => document.getElementById(id);

/** Three digits, or all of a whole number. */
const formatNumber = (value) => Number.isInteger(value) || Math.abs(value) >= 999.5 ? String(Math.round(value)) : value.toPrecision(3);

function withUnit(value, units) {
  let unit = 0;
  // What rounds to 1000 of a unit is 1 of the next.
  while (Math.abs(value) >= 999.5 && unit + 1 < units.length) {
    value /= 1000;
    ++unit;
  }
  return (unit ? value.toPrecision(3) : formatNumber(value)) + " " + units[unit];
}
const formatBytes = (bytes) => bytes === null || bytes === undefined ? "unknown"
  : withUnit(bytes, ["B", "kB", "MB", "GB", "TB"]);
const formatTime = (ns) => ns === null || ns === undefined ? "unknown"
  : ns < 1e6 ? (ns / 1000).toFixed(2) + " µs" : withUnit(ns / 1000, ["µs", "ms", "s"]);
const formatFlops = (flops) => withUnit(flops, ["flop", "kflop", "Mflop", "Gflop", "Tflop"]);
const formatShare = (share) => (100 * share).toFixed(share < 0.0995 ? 1 : 0) + " %";

/** The word of the legend for what limits a kernel. */
const kLimits = { memory: "memory", tensor: "tensor cores", compute: "compute", shared: "shared memory",
  launch: "launch" };
const limitOf = (bound) => bound in kLimits ? bound : "compute";

/** `text` with the sizes that figures of `fn` are for, where these are assumed. */
function assuming(fn, text) {
  return fn.representative_size ? `${text} (dynamic sizes of ${fn.representative_size})` : text;
}

/** Texts that are packed: what `packed` held, when it is there. */
async function unpack(packed) {
  if ("plain" in packed) return packed.plain;
  const bytes = Uint8Array.from(atob(packed.zlib), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** The kernels that each operation is computed in, and what feeds what. */
function indexFunction(fn, explanation) {
  fn.kernelsOf = fn.operations.map(() => []);
  fn.kernels.forEach((kernel, k) => {
    kernel.operations.forEach((op) => fn.kernelsOf[op].push(k));
  });
  fn.kernelEdges = findEdges(fn, fn.kernels.map((k) => k.reads), fn.kernels.map((k) => k.stores));
  fn.opEdges = findEdges(fn, fn.operations.map((op) => op.reads), fn.operations.map((op) => op.writes));
  const facts = new Map((explanation.kernels || []).map((fact) => [fact.name, fact]));
  fn.kernels.forEach((kernel) => {
    kernel.facts = facts.get(kernel.name);
    kernel.measured = findMeasured(kernel.facts, explanation);
  });
  fn.entry = (explanation.entries || []).find((entry) => entry.name === fn.function);
}

/** One edge for each pair of boxes, with the values that one hands the other. */
function findEdges(fn, reads, writes) {
  const makers = new Map();
  writes.forEach((values, from) => values.forEach((value) => makers.set(value, (makers.get(value) || []).concat(from))));
  const edges = new Map();
  reads.forEach((values, to) => values.forEach((value) => {
    for (const from of makers.get(value) || []) {
      if (from === to) continue;
      const key = from + "-" + to;
      if (!edges.has(key)) edges.set(key, { from, to, values: [], bytes: 0 });
      const edge = edges.get(key);
      edge.values.push(value);
      edge.bytes += fn.values[value].bytes;
    }
  }));
  return [...edges.values()];
}

/** What was counted of the kernel of the package; several of the plan share one. */
function findMeasured(facts, explanation) {
  if (!facts || !explanation.measured) return undefined;
  return (explanation.measured.kernels || []).find((kernel) => kernel.name === facts.entry);
}

/** The share of the time that the chip's rates ask for at least. */
function shareOfRoof(kernel, target) {
  if (!kernel.time_ns) return 0;
  const rate = kernel.tensor_flops > 0 ? target.tensor_flops_per_second : target.fp32_flops_per_second;
  const least = Math.max(kernel.dram_bytes / target.dram_bytes_per_second, kernel.flops / rate);
  return least * 1e9 / kernel.time_ns;
}

const placeOf = (op) => (op.source || [])[0] || "";
const nameOfOp = (fn, id) => fn.operations[id].label;

/** The line of the program that `place`, "file:17", names; empty if unknown. */
function sourceLine(page, place) {
  const [file, line] = [place.slice(0, place.lastIndexOf(":")), Number(place.slice(place.lastIndexOf(":") + 1))];
  return page.lines && file === page.program.name && page.lines[line - 1] || "";
}
