// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page: what is chosen, which is in the fragment of its address, as
// #kernel=3, #op=12, #edge=2-5, with &view=before, &tab=memory, &function=1,
// &theme=dark.
"use strict";

const kTabs = { kernels: ["Kernels", showKernelTable], decisions: ["Decisions", showDecisions], roofline: ["Roofline", showRoofline],
  memory: ["Memory over time", showMemory], measured: ["Predicted and measured", showMeasured], code: ["IR and PTX", showTexts] };

class Page {
  constructor(data) {
    this.explanation = data.explanation;
    this.target = this.explanation.target;
    this.kinds = this.explanation.fusion_kinds || {};
    this.program = data.program;
    this.phases = [{ name: "program", description: "The text that was compiled.", parts: null }, ...data.phases];
    this.functions = this.explanation.functions;
    this.functions.forEach((fn) => indexFunction(fn, this.explanation));
    this.chosen = {};
    this.state = { function: 0, view: "after", tab: "kernels" };
    this.picture = new Picture(byId("graph"), byId("overview"), (target) => this.choose(target));
    // Lines of the program are shown as soon as they are unpacked.
    this.unpacking = unpack(data.program.text).then((text) => {
      this.lines = text.split("\n");
      this.refreshDetails();
      document.documentElement.dataset.complete = "";
      return text;
    });
  }

  get fn() { return this.functions[this.state.function]; }

  start() {
    this.addChoices();
    this.addKeys();
    window.addEventListener("hashchange", () => this.readHash());
    window.addEventListener("resize", () => this.picture.resize());
    this.readHash();
  }

  //===--------------------------------------------------------------------===//
  // What is chosen
  //===--------------------------------------------------------------------===//

  hashOf(target) {
    const words = [];
    if (target.kernel !== undefined) words.push(`kernel=${target.kernel}`);
    if (target.op !== undefined) words.push(`op=${target.op}`);
    if (target.edge) words.push(`edge=${target.edge.join("-")}`);
    if (this.state.function) words.push(`function=${this.state.function}`);
    if (this.state.view !== "after") words.push(`view=${this.state.view}`);
    if (this.state.tab !== "kernels") words.push(`tab=${this.state.tab}`);
    if (this.state.theme) words.push(`theme=${this.state.theme}`);
    return "#" + words.join("&");
  }

  choose(target) {
    this.chosen = target;
    history.replaceState(null, "", this.hashOf(target));
    this.picture.mark(target);
    this.refreshDetails();
    if (this.state.tab === "roofline") this.showTab();
  }

  set(change) {
    Object.assign(this.state, change);
    history.replaceState(null, "", this.hashOf(this.chosen));
    this.showAll();
  }

  readHash() {
    const words = new URLSearchParams(location.hash.slice(1)), number = (name, count) => {
      const value = words.has(name) ? Number(words.get(name)) : NaN;
      return Number.isInteger(value) && value >= 0 && value < count ? value : undefined;
    };
    const fn = number("function", this.functions.length) ?? 0;
    const { kernels, operations } = this.functions[fn];
    const edge = (words.get("edge") || "").split("-").map(Number);
    this.state = { function: fn, view: words.get("view") === "before" ? "before" : "after",
      tab: words.get("tab") in kTabs ? words.get("tab") : "kernels",
      theme: ["light", "dark"].includes(words.get("theme")) ? words.get("theme") : undefined };
    this.chosen = { kernel: number("kernel", kernels.length), op: number("op", operations.length),
      edge: edge.length === 2 && edge.every((k) => kernels[k]) ? edge : undefined };
    this.showAll();
  }

  //===--------------------------------------------------------------------===//
  // What is shown
  //===--------------------------------------------------------------------===//

  showAll() {
    const isDark = this.state.theme ? this.state.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    this.showHead();
    this.picture.show(this.fn, this, this.state.view);
    this.picture.mark(this.chosen);
    for (const view of ["after", "before"]) byId(`view-${view}`).setAttribute("aria-pressed", this.state.view === view);
    this.refreshDetails();
    this.showTab();
  }

  showHead() {
    const fn = this.fn;
    document.title = `${fn.function} — Fusion report`;
    byId("title").textContent = `@${fn.function}`;
    byId("functions").value = this.state.function;
    byId("target").textContent = `${this.target.name}, ${this.target.part}`;
    byId("assumed").hidden = !fn.representative_size;
    byId("assumed").textContent = `all figures take dynamic sizes for ${fn.representative_size}`;
    const spilling = fn.kernels.filter((kernel) => kernel.facts && kernel.facts.measured.spill_bytes > 0).length;
    const ratio = (was, is) => is > 0 ? `${(was / is).toFixed(1)} × less` : "";
    byId("tiles").replaceChildren(
      tile("Kernels", fn.kernels_before, fn.kernels_after, ratio(fn.kernels_before, fn.kernels_after)),
      tile(assuming(fn, "DRAM traffic"), formatBytes(fn.bytes_before), formatBytes(fn.bytes_after), ratio(fn.bytes_before, fn.bytes_after)),
      tile(assuming(fn, "Predicted time"), formatTime(fn.time_before_ns), formatTime(fn.time_after_ns), ratio(fn.time_before_ns, fn.time_after_ns)),
      tile("Between kernels", "", fn.entry ? formatBytes(fn.entry.workspace_bytes) : "unknown", "workspace at once"),
      tile("Spills", "", spilling ? make("span", { class: "bad" }, `${spilling} ${spilling === 1 ? "kernel" : "kernels"}`)
        : fn.kernels.some((kernel) => kernel.facts && kernel.facts.measured.registers >= 0) ? "none" : "unknown",
      fn.kernels.some((kernel) => kernel.facts && kernel.facts.measured.registers >= 0) ? "counted by ptxas" : "there was no ptxas"),
      ...this.measuredTiles(fn));
  }

  measuredTiles(fn) {
    const measured = this.explanation.measured;
    if (!measured || measured.entry !== fn.function) return [];
    return [measured.time_ns !== undefined && tile("Measured time", "", formatTime(measured.time_ns), measured.device),
      measured.traffic_bytes !== undefined && tile("Counted traffic", "", formatBytes(measured.traffic_bytes), measured.device)].filter(Boolean);
  }

  refreshDetails() {
    const { kernel, op, edge } = this.chosen, details = byId("details");
    const content = kernel !== undefined ? showKernel(this, this.fn, kernel) : op !== undefined ? showOperation(this, this.fn, op)
      : edge ? showEdge(this, this.fn, edge) : showFunction(this, this.fn);
    details.replaceChildren(...content.flat(Infinity).filter((child) => child !== ""));
    details.scrollTop = 0;
  }

  showTab() {
    for (const tab of byId("tabs").children) tab.setAttribute("aria-selected", tab.dataset.tab === this.state.tab);
    const panel = byId("panel"), content = [kTabs[this.state.tab][1](this, this.fn)].flat(Infinity);
    panel.dataset.tab = this.state.tab;
    panel.replaceChildren(...content);
  }

  //===--------------------------------------------------------------------===//
  // Code
  //===--------------------------------------------------------------------===//

  /** Name and text of the parts of `phase`. */
  async partsOf(phase) {
    if (phase.name === "program") return [[this.program.name, await this.unpacking]];
    phase.unpacked ??= await unpack(phase.parts);
    return phase.unpacked;
  }

  /** Phases that have a text of `kernel`: from the plan on. */
  phasesOf(kernel) {
    return this.phases.map((phase) => phase.name).filter((name) => !["program", "input"].includes(name) &&
      (kernel.facts || ["plan", "schedule"].includes(name)));
  }

  showCode(name, kernel) {
    this.code = { phase: this.phases.findIndex((phase) => phase.name === name), names: [kernel.name, kernel.facts && kernel.facts.entry] };
    this.set({ tab: "code" });
    byId("panel").scrollIntoView({ block: "start" });
  }

  //===--------------------------------------------------------------------===//
  // Controls
  //===--------------------------------------------------------------------===//

  addChoices() {
    const functions = byId("functions");
    functions.hidden = this.functions.length < 2;
    functions.append(...this.functions.map((fn, i) => make("option", { value: i }, `@${fn.function}`)));
    functions.addEventListener("change", () => {
      this.chosen = {};
      this.set({ function: Number(functions.value) });
    });
    for (const view of ["after", "before"]) byId(`view-${view}`).addEventListener("click", () => this.set({ view }));
    byId("zoom-in").addEventListener("click", () => this.picture.zoom(1.3));
    byId("zoom-out").addEventListener("click", () => this.picture.zoom(1 / 1.3));
    byId("zoom-fit").addEventListener("click", () => this.picture.fit());
    byId("theme").addEventListener("click", () => this.set({ theme: document.documentElement.dataset.theme === "dark" ? "light" : "dark" }));
    byId("legend").append("limited by", ...Object.entries(kLimits).map(([limit, name]) =>
      make("span", {}, make("span", { class: `swatch b-${limit}` }), name)));
    byId("tabs").append(...Object.entries(kTabs).map(([tab, [name]]) =>
      make("button", { type: "button", role: "tab", "data-tab": tab, click: () => this.set({ tab }) }, name)));
    byId("search").addEventListener("input", () => this.suggest());
    byId("search").addEventListener("change", () => this.search(byId("search").value));
  }

  addKeys() {
    byId("graph").addEventListener("keydown", (event) => {
      if (!event.key.startsWith("Arrow")) return;
      event.preventDefault();
      const isAfter = this.state.view === "after", { kernel, op } = this.chosen;
      const at = isAfter ? kernel : op, next = at === undefined ? 0 : this.picture.next(at, event.key);
      if (next !== undefined) this.choose(isAfter ? { kernel: next } : { op: next });
    });
    window.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.choose({});
      if (["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName) || event.ctrlKey || event.metaKey) return;
      const actions = { "/": () => byId("search").focus(), "+": () => this.picture.zoom(1.3), "=": () => this.picture.zoom(1.3),
        "-": () => this.picture.zoom(1 / 1.3), "0": () => this.picture.fit() };
      if (!(event.key in actions)) return;
      event.preventDefault();
      actions[event.key]();
    });
  }

  /** What can be found: kernels by name, operations by label, line and name. */
  *candidates() {
    const fn = this.fn;
    for (const [id, kernel] of fn.kernels.entries()) yield [`kernel ${kernel.name}`, { kernel: id }];
    for (const [id, op] of fn.operations.entries())
      yield [[op.label, placeOf(op), ...(op.names || []), `#${id}`].filter(Boolean).join(" "), { op: id }];
  }

  suggest() {
    const wanted = byId("search").value.toLowerCase(), found = [];
    for (const [text] of this.candidates()) {
      if (wanted && text.toLowerCase().includes(wanted)) found.push(make("option", { value: text }));
      if (found.length === 30) break;
    }
    byId("found").replaceChildren(...found);
  }

  search(wanted) {
    for (const [text, target] of this.candidates())
      if (wanted && text.toLowerCase().includes(wanted.toLowerCase())) return this.choose(target);
    return undefined;
  }
}

function tile(name, was, is, note) {
  return make("div", { class: "tile" }, make("div", { class: "name" }, name),
    make("div", { class: "figure" }, was !== "" ? make("span", { class: "was" }, was, " → ") : "", is),
    make("div", { class: "note" }, note));
}

/** Phases as text, unpacked when they are looked at. */
function showTexts(page, fn) {
  const code = page.code ??= { phase: 0, names: [] };
  const parts = make("select", { "aria-label": "Part" }), text = make("pre", { id: "code", tabindex: 0 }), note = make("span", { class: "faint" });
  const phases = make("select", { "aria-label": "Phase" }, page.phases.map((phase, i) => make("option", { value: i }, phase.name)));
  phases.value = code.phase;
  const refill = async () => {
    const phase = page.phases[code.phase], known = await page.partsOf(phase);
    note.textContent = phase.description;
    parts.replaceChildren(...known.map(([name], i) => make("option", { value: i }, name)));
    const wanted = known.findIndex(([name]) => code.names.includes(name));
    parts.value = Math.max(wanted, 0);
    text.textContent = known.length ? known[Math.max(wanted, 0)][1] : "";
  };
  phases.addEventListener("change", () => {
    code.phase = Number(phases.value);
    refill();
  });
  parts.addEventListener("change", async () => {
    const known = await page.partsOf(page.phases[code.phase]);
    code.names = [known[parts.value][0]];
    text.textContent = known[parts.value][1];
  });
  refill();
  return [make("div", { class: "bar" }, phases, parts, note), text];
}

function start(data) {
  if (data.explanation.functions.length) {
    new Page(data).start();
    return;
  }
  document.body.replaceChildren(make("main", {}, make("p", {},
    "Nothing was planned: the program has no functions, or has kernels already.")));
  document.documentElement.dataset.complete = "";
}

start(JSON.parse(byId("data").textContent));
// Asking for a height, so that all boxes have their places by then.
document.documentElement.dataset.ready = document.body.offsetHeight && Math.round(performance.now());
