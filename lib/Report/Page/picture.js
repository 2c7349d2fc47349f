// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The picture of the graph: kernels, or operations, as boxes. It is moved by
// dragging, scaled by the wheel, and walked through with the arrow keys.
"use strict";

/** Kernels list their operations while there are so many boxes at most. */
const kDetailedBoxes = 60, kListedOps = 6;
/** Texts are left out where they would be smaller than this share. */
const kReadableScale = 0.42;
/** The longer side of the overview. */
const kOverview = 170;

class Picture {
  /** `choose` is called with {kernel}, {op} or {edge: [from, to]}. */
  constructor(svg, overview, choose) {
    Object.assign(this, { svg, overview, choose, x: 0, y: 0, scale: 1, cache: new Map() });
    this.group = draw("g");
    svg.append(makeArrow(), this.group);
    this.listen();
  }

  /** Shows `fn`, its kernels or its operations. */
  show(fn, page, view) {
    this.view = view;
    this.fn = fn;
    const key = fn.function + view;
    if (!this.cache.has(key)) this.cache.set(key, this.build(fn, page, view));
    this.scene = this.cache.get(key);
    // Asked for before there are boxes, so that the browser need not place them.
    this.size = this.svg.getBoundingClientRect();
    this.group.replaceChildren(this.scene.group);
    this.start();
  }

  resize() {
    this.size = this.svg.getBoundingClientRect();
    this.update();
  }

  build(fn, page, view) {
    const isAfter = view === "after";
    const count = isAfter ? fn.kernels.length : fn.operations.length;
    const isDetailed = isAfter && count <= kDetailedBoxes;
    const boxes = Array.from({ length: count }, (_, id) => isAfter ? kernelBox(fn, id, isDetailed) : opBox(fn, id));
    const edges = isAfter ? fn.kernelEdges : fn.opEdges;
    const layout = layOut(boxes, edges);
    const lines = edges.map((edge, i) => this.drawEdge(fn, edge, pathOf(layout.chains[i])));
    const nodes = boxes.map((box, id) => this.drawBox(box, layout.places[id], id));
    return { group: draw("g", {}, lines.flat(), nodes), nodes, edges, lines, layout, boxes };
  }

  drawEdge(fn, edge, path) {
    const width = Math.min(1 + Math.max(0, Math.log10(edge.bytes / 1000)) * 0.7, 6);
    const title = draw("title", {}, `${formatBytes(edge.bytes)}: ${edge.values.map((v) => fn.values[v].type).join(", ")}`);
    const click = () => this.choose({ edge: [edge.from, edge.to] });
    return [draw("path", { class: "edge", d: path, "stroke-width": width.toFixed(1), "marker-end": "url(#arrow)" }),
      draw("path", { class: "hit", d: path, click }, title)];
  }

  drawBox(box, place, id) {
    const [left, top] = [place.x - box.w / 2, place.y - box.h / 2];
    const node = draw("g", { class: "node", id: `${this.view === "after" ? "kernel" : "op"}-${id}`,
      transform: `translate(${left.toFixed(1)},${top.toFixed(1)})`,
      click: () => this.choose(this.view === "after" ? { kernel: id } : { op: id }) },
    draw("title", {}, box.title),
    draw("rect", { class: `box b-${box.limit}`, width: box.w, height: box.h, rx: 7 }));
    if (box.hue !== undefined)
      node.append(draw("rect", { width: 5, height: box.h - 8, x: 5, y: 4, rx: 2, fill: `hsl(${box.hue} 60% 50%)` }));
    box.texts.forEach(({ kind, text, y }) => node.append(draw("text", { class: kind, x: box.inset, y }, text)));
    if (box.rule) node.append(draw("line", { x1: 0, x2: box.w, y1: box.rule, y2: box.rule }));
    return node;
  }

  /** Marks what is chosen and what shares its kernel, and brings it into view. */
  mark({ kernel, op, edge }, isMoved = true) {
    const { nodes, edges, lines, layout } = this.scene;
    nodes.forEach((node) => node.classList.remove("chosen", "near"));
    lines.forEach(([line]) => line.classList.remove("chosen"));
    const isAfter = this.view === "after";
    let ids = [];
    if (edge && isAfter) {
      ids = edge;
      edges.forEach((each, i) => lines[i][0].classList.toggle("chosen", each.from === edge[0] && each.to === edge[1]));
    } else if (isAfter) {
      ids = kernel !== undefined ? [kernel] : op !== undefined ? this.fn.kernelsOf[op] : [];
    } else {
      const kernels = kernel !== undefined ? [kernel] : op !== undefined ? this.fn.kernelsOf[op] : [];
      kernels.forEach((k) => this.fn.kernels[k].operations.forEach((id) => nodes[id].classList.add("near")));
      ids = op !== undefined ? [op] : kernel !== undefined ? this.fn.kernels[kernel].operations.slice(0, 1) : [];
    }
    if (!isAfter && kernel !== undefined && op === undefined) {
      if (isMoved && ids.length) this.reveal(layout.places[ids[0]]);
      return;
    }
    ids.forEach((id) => nodes[id].classList.add("chosen"));
    if (isMoved && ids.length) this.reveal(layout.places[ids[0]]);
  }

  /** Moves the picture if `place` is not in view. */
  reveal(place) {
    const { width, height } = this.size;
    const [x, y] = [place.x * this.scale + this.x, place.y * this.scale + this.y];
    if (x > 60 && x < width - 60 && y > 30 && y < height - 30 && this.scale >= kReadableScale) return;
    this.scale = Math.max(this.scale, 0.8);
    this.x = width / 2 - place.x * this.scale;
    this.y = height / 2 - place.y * this.scale;
    this.update();
  }

  /** All of it where that can be read, else its begin. */
  start() {
    this.fit();
    if (this.scale >= 0.55) return;
    const { width, height } = this.size, first = this.scene.layout.places[0];
    this.scale = Math.min(0.8, Math.max(0.55, (width - 40) / this.scene.layout.width));
    this.x = width / 2 - first.x * this.scale;
    this.y = Math.max(20, height * 0.04);
    this.update();
  }

  fit() {
    const { width, height } = this.size, { layout } = this.scene;
    this.scale = Math.min((width - 40) / layout.width, (height - 40) / layout.height, 1.25);
    this.x = (width - layout.width * this.scale) / 2;
    this.y = Math.max(20, (height - layout.height * this.scale) / 2);
    this.update();
  }

  zoom(factor, x, y) {
    const { width, height } = this.size;
    x ??= width / 2;
    y ??= height / 2;
    const scale = Math.min(Math.max(this.scale * factor, 0.02), 4);
    this.x = x - (x - this.x) * scale / this.scale;
    this.y = y - (y - this.y) * scale / this.scale;
    this.scale = scale;
    this.update();
  }

  update() {
    this.group.setAttribute("transform", `translate(${this.x.toFixed(2)},${this.y.toFixed(2)}) scale(${this.scale.toFixed(4)})`);
    this.group.classList.toggle("far", this.scale < kReadableScale);
    this.drawOverview();
  }

  /** All boxes in small, and what of them is in view; not where all is. */
  drawOverview() {
    const { layout, boxes } = this.scene, canvas = this.overview, context = canvas.getContext("2d");
    const { width, height } = this.size;
    const isAll = this.x >= 0 && this.y >= 0 && this.x + layout.width * this.scale <= width + 1 &&
      this.y + layout.height * this.scale <= height + 1;
    canvas.hidden = isAll;
    if (isAll) return;
    const ratio = this.overviewRatio = Math.min(kOverview / layout.width, kOverview / layout.height);
    canvas.width = Math.max(layout.width * ratio, 24);
    canvas.height = Math.max(layout.height * ratio, 24);
    const style = getComputedStyle(document.documentElement);
    context.clearRect(0, 0, canvas.width, canvas.height);
    layout.places.forEach((place, id) => {
      context.fillStyle = style.getPropertyValue("--" + boxes[id].limit);
      context.fillRect((place.x - place.w / 2) * ratio, (place.y - place.h / 2) * ratio,
        Math.max(place.w * ratio, 1.5), Math.max(place.h * ratio, 1));
    });
    context.strokeStyle = style.getPropertyValue("--mark");
    context.lineWidth = 2;
    context.strokeRect(-this.x / this.scale * ratio, -this.y / this.scale * ratio,
      width / this.scale * ratio, height / this.scale * ratio);
  }

  listen() {
    let last = null;
    this.svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      const { left, top } = this.svg.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY / 500), event.clientX - left, event.clientY - top);
    }, { passive: false });
    this.svg.addEventListener("pointerdown", (event) => { last = [event.clientX, event.clientY]; });
    window.addEventListener("pointermove", (event) => {
      if (!last) return;
      this.svg.classList.add("drag");
      this.x += event.clientX - last[0];
      this.y += event.clientY - last[1];
      last = [event.clientX, event.clientY];
      this.update();
    });
    window.addEventListener("pointerup", () => {
      last = null;
      this.svg.classList.remove("drag");
    });
    this.overview.addEventListener("click", (event) => {
      const { left, top } = this.overview.getBoundingClientRect(), box = this.size;
      this.x = box.width / 2 - (event.clientX - left) / this.overviewRatio * this.scale;
      this.y = box.height / 2 - (event.clientY - top) / this.overviewRatio * this.scale;
      this.update();
    });
  }

  /** The box that an arrow key leads to from box `id`. */
  next(id, key) {
    const { edges, layout: { places } } = this.scene;
    const near = key === "ArrowDown" ? edges.filter((edge) => edge.from === id).map((edge) => edge.to)
      : key === "ArrowUp" ? edges.filter((edge) => edge.to === id).map((edge) => edge.from)
        : places.map((_, other) => other).filter((other) => places[other].layer === places[id].layer &&
          (key === "ArrowRight" ? places[other].x > places[id].x : places[other].x < places[id].x));
    const distance = (other) => Math.abs(places[other].x - places[id].x) + Math.abs(places[other].y - places[id].y);
    return near.sort((a, b) => distance(a) - distance(b))[0];
  }
}

function makeArrow() {
  return draw("defs", {}, draw("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 1, refY: 4, markerWidth: 8,
    markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" }, draw("path", { class: "arrow", d: "M0,0L8,4L0,8z" })));
}

/** A box for kernel `id`: with its operations where there is room for them. */
function kernelBox(fn, id, isDetailed) {
  const kernel = fn.kernels[id], texts = [];
  const sub = `${formatTime(kernel.time_ns)} · ${formatBytes(kernel.dram_bytes)} · ${kernel.kind}`;
  texts.push({ kind: "title", text: shorten(kernel.name, 34), y: 18 }, { kind: "sub", text: sub, y: 34 });
  let height = 42, rule;
  if (isDetailed) {
    rule = 41;
    kernel.operations.slice(0, kListedOps).forEach((op) => {
      const line = placeOf(fn.operations[op]).split(":").pop();
      texts.push({ kind: "op", text: shorten(nameOfOp(fn, op), 28) + (line ? `  :${line}` : ""), y: height + 13 });
      height += 15;
    });
    const left = kernel.operations.length - kListedOps;
    if (left > 0) {
      texts.push({ kind: "sub", text: `and ${left} more`, y: height + 13 });
      height += 15;
    }
    height += 6;
  }
  const hasSpills = kernel.facts && kernel.facts.measured.spill_bytes > 0;
  if (hasSpills) texts[1].text += " · spills";
  return { w: widthOf(texts) + 24, h: height, texts, rule, inset: 12, limit: limitOf(kernel.bound),
    title: `${kernel.name}\n${sub}\nlimited by ${kLimits[limitOf(kernel.bound)]}` };
}

function opBox(fn, id) {
  const op = fn.operations[id], line = placeOf(op).split(":").pop();
  const sub = `${formatBytes(op.unfused.dram_bytes)}${line ? `  :${line}` : ""}`;
  const texts = [{ kind: "title", text: shorten(op.label, 26), y: 17 }, { kind: "sub", text: sub, y: 32 }];
  // Neighbouring kernels get hues far apart.
  const hue = fn.kernelsOf[id].length ? Math.round(fn.kernelsOf[id][0] * 137.5) % 360 : undefined;
  return { w: widthOf(texts) + 30, h: 40, texts, hue, inset: 16, limit: limitOf(op.unfused.bound),
    title: `${op.label} ${placeOf(op)}\nalone ${formatTime(op.unfused.time_ns)}, ${formatBytes(op.unfused.dram_bytes)}` };
}

const shorten = (text, most) => text.length <= most ? text : text.slice(0, most - 1) + "…";


const kMeasure = document.createElement("canvas").getContext("2d");
const kFamily = getComputedStyle(document.body).fontFamily;

/** The width of the widest of `texts`, in the fonts of the style. */
function widthOf(texts) {
  return Math.ceil(Math.max(60, ...texts.map(({ kind, text }) => {
    kMeasure.font = `${kind === "title" ? "600 12px" : "11px"} ${kFamily}`;
    return kMeasure.measureText(text).width;
  })));
}
