// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where boxes of a graph go: in layers, each below all that it reads; ordered so
// that neighbours lie below each other; edges over several layers keep a place
// in each. Nodes are numbered so that edges go from lower to higher numbers.
"use strict";

const kGapX = 26, kGapY = 46, kSweeps = 8;
/** The length of the arrow at the end of a path. */
const kArrow = 7;
/** Edges over more layers are drawn straight: their places would widen all. */
const kLongEdge = 24;

/** Places `sizes`, of {w, h}: the centre of each, the path of each edge. */
function layOut(sizes, edges) {
  const layers = assignLayers(sizes.length, edges);
  const nodes = sizes.map((size, id) => ({ w: size.w, h: size.h, layer: layers[id], up: [], down: [], weight: 1 }));
  const chains = edges.map((edge) => addChain(nodes, edge));
  const rows = [];
  nodes.forEach((node) => (rows[node.layer] ||= []).push(node));
  rows.forEach((row) => row.forEach((node, i) => { node.order = i; }));
  orderRows(rows);
  placeColumns(rows);
  const height = placeRows(rows);
  // Not with as many arguments as there are nodes, which may be too many.
  const left = nodes.reduce((least, node) => Math.min(least, node.x - node.w / 2), 0);
  const width = nodes.reduce((most, node) => Math.max(most, node.x + node.w / 2), 0) - left;
  nodes.forEach((node) => { node.x -= left; });
  return { width, height, places: nodes.slice(0, sizes.length), chains };
}

/** The longest way to each node; what reads nothing goes right above its reader. */
function assignLayers(count, edges) {
  const layers = new Array(count).fill(0), reads = new Array(count).fill(false);
  const sorted = [...edges].sort((a, b) => a.from - b.from);
  for (const { from, to } of sorted) {
    layers[to] = Math.max(layers[to], layers[from] + 1);
    reads[to] = true;
  }
  const first = new Array(count).fill(Infinity);
  for (const { from, to } of edges) first[from] = Math.min(first[from], layers[to]);
  return layers.map((layer, id) => !reads[id] && first[id] < Infinity ? first[id] - 1 : layer);
}

/** Joins the two ends of `edge`, by a place in each layer between. */
function addChain(nodes, edge) {
  const ends = [nodes[edge.from], nodes[edge.to]], chain = [ends[0]];
  if (ends[1].layer - ends[0].layer <= kLongEdge)
    for (let layer = ends[0].layer + 1; layer < ends[1].layer; ++layer) {
      const place = { w: 8, h: 0, layer, up: [], down: [], weight: 1 };
      nodes.push(place);
      chain.push(place);
    }
  chain.push(ends[1]);
  for (let i = 0; i + 1 < chain.length; ++i)
    if (chain[i + 1].layer === chain[i].layer + 1) {
      chain[i].down.push(chain[i + 1]);
      chain[i + 1].up.push(chain[i]);
    }
  return chain;
}

/** Sorts rows by the mean place of what they read, then of what reads them. */
function orderRows(rows) {
  for (let sweep = 0; sweep < kSweeps; ++sweep) {
    const isDown = sweep % 2 === 0;
    for (const row of isDown ? rows : [...rows].reverse()) {
      for (const node of row) {
        const near = isDown ? node.up : node.down;
        node.mean = near.length ? near.reduce((sum, other) => sum + other.order, 0) / near.length : node.order;
      }
      row.sort((a, b) => a.mean - b.mean || a.order - b.order);
      row.forEach((node, i) => { node.order = i; });
    }
  }
}

/** Moves nodes as near to the mean of their neighbours as their row allows. */
function placeColumns(rows) {
  for (const row of rows) {
    let x = 0;
    for (const node of row) {
      node.x = x + node.w / 2;
      x += node.w + kGapX;
    }
    const middle = x / 2;
    row.forEach((node) => { node.x -= middle; });
  }
  for (let sweep = 0; sweep < 2 * kSweeps; ++sweep) {
    const isDown = sweep % 2 === 0;
    for (const row of isDown ? rows : [...rows].reverse()) placeRow(row, isDown);
  }
}

/** The places in order, at the least distances, nearest to those wished for: of
 *  neighbours that would meet, the weighted mean. */
function placeRow(row, isDown) {
  const blocks = [];
  let offset = 0;
  row.forEach((node, i) => {
    if (i) offset += (row[i - 1].w + node.w) / 2 + kGapX;
    node.offset = offset;
    const near = isDown ? node.up : node.down;
    const wish = near.length ? near.reduce((sum, other) => sum + other.x, 0) / near.length : node.x;
    blocks.push({ at: wish - offset, weight: node.weight, nodes: [node] });
    while (blocks.length > 1 && blocks[blocks.length - 2].at > blocks[blocks.length - 1].at) {
      const last = blocks.pop(), before = blocks[blocks.length - 1];
      before.at = (before.at * before.weight + last.at * last.weight) / (before.weight + last.weight);
      before.weight += last.weight;
      before.nodes.push(...last.nodes);
    }
  });
  for (const block of blocks) for (const node of block.nodes) node.x = block.at + node.offset;
}

/** Stacks the rows; returns their height. */
function placeRows(rows) {
  let y = 0;
  for (const row of rows) {
    const height = Math.max(...row.map((node) => node.h));
    row.forEach((node) => {
      node.y = y + height / 2;
      // Lines pass a row beside its boxes, from its top to its bottom.
      node.top = node.h ? node.y - node.h / 2 : y;
      node.bottom = node.h ? node.y + node.h / 2 : y + height;
    });
    y += height + kGapY;
  }
  return Math.max(y - kGapY, 0);
}

/** The path along `chain`, from the bottom of its first to the top of its last. */
function pathOf(chain) {
  const at = (...numbers) => numbers.map((number) => number.toFixed(1)).join(",");
  let path = `M${at(chain[0].x, chain[0].bottom)}`;
  for (let i = 0; i + 1 < chain.length; ++i) {
    const [from, to] = [chain[i], chain[i + 1]], isLast = i + 2 === chain.length;
    const end = to.top - (isLast ? kArrow : 0), bend = (end - from.bottom) / 2;
    path += `C${at(from.x, from.bottom + bend, to.x, end - bend, to.x, end)}`;
    if (!isLast) path += `L${at(to.x, to.bottom)}`;
  }
  return path;
}
