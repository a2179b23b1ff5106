// Written by Scripts/embed-web from the files in Web. Do not edit. The copy is here because the compiler takes 46 s for
// the same bytes as a resource with .embedInCode.
// swift-format-ignore-file

extension WebFile {
    static let all: [WebFile] = [
WebFile("api.js", #"""
// Calls the server. Every path is relative, because the inspector may be mounted at any path.

export class APIError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

let csrf = "";
let whenUnauthorized = () => {};

/// Sets the action for an answer that the session has ended.
export function onUnauthorized(action) {
  whenUnauthorized = action;
}

/// Returns the path with those parameters that have a value.
export function path(name, parameters = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") query.set(key, value);
  }
  const text = query.toString();
  return `./api/${name}${text ? `?${text}` : ""}`;
}

/// Returns the address of a panel, with those parameters that have a value.
export function link(panel, parameters = {}) {
  return `#/${path(panel, parameters).slice("./api/".length)}`;
}

async function send(url, options) {
  let response;
  try {
    response = await fetch(url, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new APIError(0, "unreachable", "The server does not answer. Is cachestore serve still running?");
  }
  if (response.ok) return response;
  let [code, message] = ["failed", `The server answered with status ${response.status}.`];
  try {
    ({code, message} = (await response.json()).error);
  } catch { /* Keeps the status as the message. */ }
  if (response.status === 401) whenUnauthorized();
  throw new APIError(response.status, code, message);
}

export async function get(name, parameters, signal) {
  return (await send(path(name, parameters), {signal, cache: "no-store"})).json();
}

export async function post(name, body, signal) {
  return (await send(`./api/${name}`, {
    method: "POST", signal, cache: "no-store", body: JSON.stringify(body),
    headers: {"Content-Type": "application/json", "X-CSRF-Token": csrf},
  })).json();
}

/// Returns the text of a body, and its whole length.
export async function text(name, parameters, signal) {
  const response = await send(path(name, parameters), {signal, cache: "no-store"});
  return {text: await response.text(), length: Number(response.headers.get("X-Body-Length"))};
}

export async function session() {
  const answer = await get("session");
  csrf = answer.csrf;
  return answer;
}

/// Runs only the latest of several calls: an earlier one is cancelled and yields `null`.
export function latest() {
  let controller = null;
  return async (call) => {
    controller?.abort();
    const own = controller = new AbortController();
    try {
      const result = await call(own.signal);
      return own === controller ? result : null;
    } catch (error) {
      if (error.name === "AbortError" || own !== controller) return null;
      throw error;
    }
  };
}

"""#),
WebFile("app.js", #"""
// The frame: session, panels by the fragment of the address, theme, keys.

import * as api from "./api.js";
import {h, put} from "./dom.js";
import {Live} from "./live.js";
import {Overview} from "./overview.js";
import {Entries} from "./entries.js";
import {Entry} from "./entry.js";
import {Why} from "./why.js";
import {Eviction} from "./eviction.js";
import {SQL} from "./sql.js";
import {Failures} from "./failures.js";
import {Change} from "./change.js";
import {showKeys} from "./keys.js";

const PANELS = [
  {name: "live", title: "Live", icon: "◉", Panel: Live},
  {name: "overview", title: "Overview", icon: "▦", Panel: Overview},
  {name: "entries", title: "Entries", icon: "☰", Panel: Entries},
  {name: "entry", title: "Entry", within: "entries", Panel: Entry},
  {name: "why", title: "Why?", icon: "⁇", Panel: Why},
  {name: "eviction", title: "Eviction", icon: "⇥", Panel: Eviction},
  {name: "sql", title: "SQL", icon: "⌘", Panel: SQL},
  {name: "failures", title: "Failures", icon: "△", Panel: Failures},
  {name: "change", title: "Change", icon: "✎", Panel: Change, changes: true},
];

const main = document.getElementById("main");
const made = new Map();
let shown = null;
let available = [];

const context = {
  session: null,
  /// The identifiers that the user has selected among the entries.
  selection: new Set(),
  go(name, parameters) { location.hash = api.link(name, parameters); },
  /// Keeps the state of a panel in the address, without a step in the history.
  keep(name, parameters) { history.replaceState(null, "", api.link(name, parameters)); },
  announce(text) { document.getElementById("announcements").textContent = text; },
};

/// Reads `#/entries?host=a`.
function route() {
  const [name, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const panel = available.find((candidate) => candidate.name === name) ?? available[0];
  return {panel, parameters: Object.fromEntries(new URLSearchParams(query))};
}

function show() {
  if (location.hash === "#main") return;
  const {panel, parameters} = route();
  const isOther = shown?.panel !== panel;
  if (isOther) shown?.content.hide?.();
  if (!made.has(panel)) made.set(panel, new panel.Panel(context));
  const content = made.get(panel);
  const wasEmpty = shown === null;
  shown = {panel, content};
  document.title = `${panel.title} – Cache inspector`;
  for (const link of document.querySelectorAll("#panels a")) {
    const isCurrent = link.dataset.name === (panel.within ?? panel.name);
    if (isCurrent) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (isOther) {
    main.dataset.panel = panel.name;
    put(main, content.element);
    main.scrollTop = 0;
  }
  content.show(parameters);
  if (isOther && !wasEmpty) main.focus({preventScroll: true});
}

function fillNavigation() {
  put(document.getElementById("panels"), available.filter((panel) => !panel.within).map((panel, index) =>
    h("a", {
      href: `#/${panel.name}`, "data-name": panel.name, "aria-keyshortcuts": String(index + 1),
    }, h("span.icon", {"aria-hidden": "true"}, panel.icon), panel.title,
    h("kbd", {"aria-hidden": "true"}, String(index + 1)))));
  const {directory, version, allows_changes: allowsChanges} = context.session;
  put(document.getElementById("store"),
    h("span.name", {title: directory}, directory.split("/").filter(Boolean).at(-1) ?? directory),
    h("span.note", allowsChanges ? "Changes are allowed" : "Read only"),
    h("span.note", `Version ${version}`));
}

// MARK: Theme

const THEMES = ["system", "light", "dark"];

function theme() {
  return document.documentElement.dataset.theme ?? "system";
}

function setTheme(name) {
  if (name === "system") {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem("inspector-theme");
  } else {
    document.documentElement.dataset.theme = name;
    localStorage.setItem("inspector-theme", name);
  }
  document.getElementById("theme").textContent = `Theme: ${name}`;
}

function nextTheme() {
  setTheme(THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length]);
  context.announce(`Theme: ${theme()}`);
}

// MARK: Keys

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const isTyping = event.target.closest("input:not([type=checkbox], [type=radio], [type=range]), textarea, select");
  if (event.key === "Escape" && isTyping) {
    // A search field would lose its text.
    event.preventDefault();
    return event.target.blur();
  }
  if (isTyping) return;
  const links = document.querySelectorAll("#panels a");
  if (/^[1-9]$/.test(event.key) && links[event.key - 1]) links[event.key - 1].click();
  else if (event.key === "/") main.querySelector("[data-key='/']")?.focus();
  else if (event.key === "t") nextTheme();
  else if (event.key === "?") showKeys();
  else if (shown?.content.key?.(event.key) !== true) return;
  event.preventDefault();
}

function showEnded() {
  shown?.content.hide?.();
  window.removeEventListener("hashchange", show);
  document.getElementById("panels").replaceChildren();
  put(main, h("div.empty",
    h("h1", "This session has ended"),
    h("p", "Open the address that ", h("code", "cachestore serve"), " printed. It holds a token that is valid for this run only.")));
}

async function start() {
  setTheme(theme());
  document.getElementById("theme").addEventListener("click", nextTheme);
  document.getElementById("keys").addEventListener("click", showKeys);
  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  document.addEventListener("keydown", pressed);
  api.onUnauthorized(showEnded);
  try {
    context.session = await api.session();
  } catch (error) {
    if (error.status !== 401) put(main, h("div.empty", h("h1", "The store cannot be opened"), h("p", error.message)));
    return;
  }
  available = PANELS.filter((panel) => !panel.changes || context.session.allows_changes);
  fillNavigation();
  window.addEventListener("hashchange", show);
  show();
}

start();

"""#),
WebFile("change.js", #"""
// Change: a selection, then a dry run with count and bytes, then a confirmation.

import * as api from "./api.js";
import {failed, h, linkButton, put, section} from "./dom.js";
import {bytes, count, plural} from "./format.js";
import {filterFields} from "./entries.js";

const ACTIONS = [
  {key: "remove", title: "Remove", meaning: "Deletes the responses. The next request asks the origin.", verb: "would be removed", done: "removed"},
  {key: "pin", title: "Pin", meaning: "Keeps the responses from eviction.", verb: "would be pinned", done: "pinned"},
  {key: "unpin", title: "Unpin", meaning: "Lets eviction take the responses again.", verb: "would be unpinned", done: "unpinned"},
  {key: "refresh", title: "Refresh", meaning: "Asks the origin about each response, at most 100 keys.", verb: "would be validated with the origin", done: "refreshed"},
];

export class Change {
  #context;
  #action = ACTIONS[0];
  #source = "filter";

  constructor(context) {
    this.#context = context;
    const {fields, elements} = filterFields(context, () => this.#use("filter"), true);
    this.fields = fields;
    this.filters = h("div.filters", elements);
    this.sources = h("fieldset", h("legend", "1. Which entries"));
    this.actions = h("fieldset", h("legend", "2. What to do"), ACTIONS.map((action) => h("div.choice",
      h("input", {type: "radio", name: "action", id: `action-${action.key}`, checked: action === this.#action, onchange: () => {
        this.#action = action;
        this.#invalidate();
      }}),
      h("label", {for: `action-${action.key}`}, h("strong", action.title), " ", h("span.note", action.meaning)))));
    this.run = h("button.primary", {onclick: () => this.#preview()}, "Dry run");
    this.result = h("div", {role: "status"});
    this.element = h("div.panel.change", h("div.heading", h("h1", "Change")),
      h("p.note", "A dry run comes first and changes nothing. All variants of a URL change together."),
      this.sources, this.actions, section("3. Dry run", h("div.actions", this.run), this.result));
  }

  show({selected, ...parameters}) {
    const hasFilter = Object.keys(parameters).length > 0;
    for (const [name, control] of Object.entries(this.fields)) {
      if (hasFilter) control.value = parameters[name] ?? (name === "partition" ? "*" : "");
    }
    this.#use(selected || (!hasFilter && this.#context.selection.size > 0) ? "selected" : "filter");
  }

  #use(source) {
    this.#source = source;
    const choice = (key, label, ...rest) => h("div.choice",
      h("input", {type: "radio", name: "source", id: `source-${key}`, checked: key === source, onchange: () => this.#use(key),
        disabled: key === "selected" && this.#context.selection.size === 0}),
      h("label", {for: `source-${key}`}, label), rest);
    const focused = document.activeElement;
    put(this.sources, h("legend", "1. Which entries"),
      choice("selected", `${plural(this.#context.selection.size, "entry", "entries")} selected in the table `,
        h("a", {href: api.link("entries")}, "select")),
      choice("filter", "All that fit each of these fields"), this.filters,
      choice("everything", "Everything in the store"));
    // The fields are in the same place again, with the same focus.
    if (focused && this.sources.contains(focused)) focused.focus();
    this.#invalidate();
  }

  #invalidate() {
    put(this.result);
  }

  #selection() {
    if (this.#source === "everything") return {everything: true};
    if (this.#source === "selected") return {ids: [...this.#context.selection]};
    const {partition, ...rest} = Object.fromEntries(Object.entries(this.fields).map(([name, control]) => [name, control.value.trim()]));
    const selection = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== ""));
    if (partition && partition !== "*") selection.partition = partition === "-" ? "" : partition.slice(1);
    return selection;
  }

  async #preview() {
    const action = this.#action;
    this.run.disabled = true;
    try {
      const preview = await api.post("changes/preview", {action: action.key, selection: this.#selection()});
      const isNothing = preview.entries === 0 && !preview.failures;
      put(this.result, h(`div.verdict.${action.key}`,
        h("p.outcome", isNothing ? "No entry fits" : `${plural(preview.entries, "entry", "entries")} ${action.verb}`),
        isNothing ? null : h("p", `${plural(preview.keys, "key", "keys")} · `
          + `${bytes(preview.bytes)} ${action.key === "remove" ? "freed" : "of bodies"}`
          + (preview.failures ? ` · ${plural(preview.failures, "failure", "failures")} with it` : "")),
        preview.sample.length > 0 ? h("details", {open: preview.sample.length <= 5}, h("summary", `The first ${count(preview.sample.length)}`),
          h("ul.sample", preview.sample.map((key) => h("li.url", key)))) : null,
        isNothing ? null : h("div.actions",
          h(action.key === "remove" ? "button.danger" : "button.primary", {onclick: () => this.#apply(action, preview)},
            `${action.title} ${plural(preview.entries, "entry", "entries")}`),
          h("button", {onclick: () => this.#invalidate()}, "Cancel"),
          h("span.note", "Valid for five minutes, for exactly these entries."))));
    } catch (error) {
      put(this.result, failed(error));
    }
    this.run.disabled = false;
  }

  async #apply(action, {confirmation}) {
    put(this.result, h("p.note", "Changing…"));
    try {
      const done = await api.post("changes/apply", {confirmation});
      const parts = {
        remove: () => `${plural(done.entries, "entry", "entries")}, ${bytes(done.bytes)} removed`,
        refresh: () => `${plural(done.keys, "key", "keys")} refreshed: ${count(done.revalidated)} still valid, ${count(done.updated)} new, ${count(done.failed)} failed`,
      };
      const text = parts[action.key]?.() ?? `${plural(done.keys, "key", "keys")} ${action.done}`;
      this.#context.selection.clear();
      this.#use(this.#source === "selected" ? "filter" : this.#source);
      put(this.result, h("div.verdict", h("p.outcome", "✓ Done"), h("p", text),
        linkButton("Entries", "entries")));
    } catch (error) {
      put(this.result, h("p.error", {role: "alert"}, error.code === "unconfirmed"
        ? "The dry run is too old, or the entries have changed. Run it again." : error.message));
    }
  }
}

"""#),
WebFile("charts.js", #"""
// The parts that all charts share, the bars and the lines over time, the histograms. Charts are SVG at the width of
// their box: the style sheet gives the colours, patterns and positions tell the same without colour.

import {h, newID, put, s} from "./dom.js";
import {OUTCOMES, axisTime, bytes, count, fullTime, milliseconds, percent} from "./format.js";

/// Draws a chart whenever the width of its box changes.
export class Chart {
  #draw = null;
  #width = 0;
  scale = 1;

  constructor(className) {
    this.element = h(`div.chart.${className}`);
    new ResizeObserver(([entry]) => {
      const width = Math.floor(entry.contentRect.width);
      if (width === this.#width) return;
      this.#width = width;
      this.redraw();
    }).observe(this.element);
  }

  /// - `draw(width)`: returns elements.
  show(draw) {
    this.#draw = draw;
    this.redraw();
  }

  redraw() {
    if (!this.#draw || this.#width === 0) return;
    // On large screens, where the type is larger, the whole chart is.
    this.scale = Math.max(1, parseFloat(getComputedStyle(document.documentElement).fontSize) / 14);
    put(this.element, this.#draw(Math.floor(this.#width / this.scale)));
    for (const svg of this.element.querySelectorAll(":scope > svg")) {
      for (const name of ["width", "height"]) svg.setAttribute(name, svg.getAttribute(name) * this.scale);
    }
  }
}

export function drawing(width, height, label, ...children) {
  return s("svg", {
    width, height, viewBox: `0 0 ${width} ${height}`, role: label ? "img" : null, "aria-label": label,
    "aria-hidden": label ? null : "true",
  }, children);
}

export function text(x, y, content, className = "", anchor = "start") {
  return s(`text${className ? `.${className}` : ""}`, {x, y, "text-anchor": anchor}, content);
}

/// Returns 2 to 4 round values from 0 to the maximum.
export function ticks(max, parts = 3) {
  if (max <= 0) return [0];
  const rough = max / parts;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  return Array.from({length: Math.floor(max / step + 1e-9) + 1}, (_, index) => index * step);
}

/// The patterns of the outcomes. Returns their definitions, and the fill by outcome.
export function patterns() {
  const id = newID("pattern");
  const shapes = {
    hit: null, coalesced: "M0 0h6M0 3h6", revalidated: "M1.5 0v6M4.5 0v6", stale: "M0 6L6 0M-1 1L1 -1M5 7L7 5",
    miss: "M0 1.5h1.5M3 4.5h1.5", error: "M0 6L6 0M0 0L6 6",
  };
  const definitions = s("defs", null, Object.entries(shapes).filter(([, shape]) => shape).map(([key, shape]) =>
    s("pattern", {id: `${id}-${key}`, width: 6, height: 6, patternUnits: "userSpaceOnUse"},
      s(`rect.fill-${key}`, {width: 6, height: 6}), s("path.hatch", {d: shape}))));
  const bar = (key, attributes) => (shapes[key]
    ? s("rect", {...attributes, fill: `url(#${id}-${key})`})
    : s(`rect.fill-${key}`, attributes));
  return {definitions, bar};
}

/// The names, shapes and patterns of the outcomes.
export function legend(totals) {
  return h("ul.legend", OUTCOMES.map(({key, shape, meaning}) => {
    const {definitions, bar} = patterns();
    return h("li", {title: meaning},
      s("svg", {width: 14, height: 12, "aria-hidden": "true"}, definitions, bar(key, {width: 14, height: 12, rx: 2})),
      h(`span.shape.ink-${key}`, {"aria-hidden": "true"}, shape), key,
      totals ? h("span.number", count(totals[key] ?? 0)) : null);
  }));
}

// MARK: - Over time

const LEFT = 62;
const RIGHT = 12;
const BANDS = {requests: {top: 18, height: 110}, ratio: {top: 158, height: 64}, bytes: {top: 252, height: 80}};
const HEIGHT = 356;

export function hitRatio(bucket) {
  const all = OUTCOMES.reduce((sum, {key}) => sum + bucket[key], 0);
  return all === 0 ? NaN : (all - bucket.miss - bucket.error) / all;
}

/// Requests by outcome, hit ratio and bytes, one above the other on the same axis, with one cursor.
export class Timeline {
  #chart = new Chart("timeline");
  #data = null;
  #cursor = -1;
  #line = null;
  #geometry = null;

  constructor() {
    this.readout = h("p.readout", "Point at the chart, or focus it and press ← →, to read values.");
    this.slider = h("div.cursor", {
      role: "slider", tabindex: 0, "aria-label": "Time in the chart of requests", "aria-valuemin": 0,
      "aria-valuemax": 0, "aria-valuenow": 0, "aria-valuetext": "no time",
      onkeydown: (event) => this.#key(event),
      onpointermove: (event) => this.#point(event),
    }, this.#chart.element);
    this.element = h("div", this.slider, this.readout);
  }

  show(data) {
    this.#data = data;
    this.#cursor = Math.min(this.#cursor, data.series.length - 1);
    this.slider.setAttribute("aria-valuemax", Math.max(0, data.series.length - 1));
    this.#chart.show((width) => this.#draw(width));
  }

  #key(event) {
    const last = this.#data ? this.#data.series.length - 1 : -1;
    const moves = {ArrowLeft: this.#cursor < 0 ? last : this.#cursor - 1, ArrowRight: this.#cursor + 1, Home: 0, End: last};
    if (!(event.key in moves) || last < 0) return;
    event.preventDefault();
    this.#read(Math.max(0, Math.min(last, moves[event.key])));
  }

  #point(event) {
    if (!this.#geometry) return;
    const x = (event.clientX - this.#chart.element.getBoundingClientRect().left) / this.#chart.scale - LEFT;
    const index = Math.floor(x / this.#geometry.step);
    if (index >= 0 && index < this.#data.series.length) this.#read(index);
  }

  #read(index) {
    this.#cursor = index;
    const bucket = this.#data.series[index];
    const parts = OUTCOMES.filter(({key}) => bucket[key] > 0).map(({key, shape}) => `${shape} ${key} ${count(bucket[key])}`);
    const value = `${fullTime(bucket.time)} · ${parts.join(" · ") || "no requests"}`
      + (parts.length > 0 ? ` · hit ratio ${percent(hitRatio(bucket))}` : "")
      + ` · saved ${bytes(bucket.saved_bytes)} · from the network ${bytes(bucket.network_bytes)}`;
    this.readout.textContent = value;
    this.slider.setAttribute("aria-valuenow", index);
    this.slider.setAttribute("aria-valuetext", value);
    const x = LEFT + (index + 0.5) * this.#geometry.step;
    this.#line?.setAttribute("d", `M${x} ${BANDS.requests.top}V${HEIGHT - 24}`);
  }

  #draw(width) {
    const {series} = this.#data;
    const step = (width - LEFT - RIGHT) / Math.max(1, series.length);
    this.#geometry = {step};
    const {definitions, bar} = patterns();
    this.#line = s("path.pointer", {d: ""});
    return drawing(width, HEIGHT, null, definitions,
      this.#requests(width, step, bar), this.#ratio(width, step), this.#bytes(width, step),
      this.#axis(width, step), this.#line);
  }

  #band(width, {top, height}, title, max, label) {
    const values = ticks(max, height > 90 ? 4 : 2);
    return [text(LEFT, top - 7, title, "title"), values.map((value) => {
      const y = top + height - (max > 0 ? value / max : 0) * height;
      return [s("path.rule", {d: `M${LEFT} ${y}H${width - RIGHT}`}), text(LEFT - 6, y + 4, label(value), "tick", "end")];
    })];
  }

  #requests(width, step, bar) {
    const {top, height} = BANDS.requests;
    const max = Math.max(1, ...this.#data.series.map((bucket) => OUTCOMES.reduce((sum, {key}) => sum + bucket[key], 0)));
    const gap = step > 4 ? 1 : 0;
    return [this.#band(width, BANDS.requests, "Requests by outcome", max, count), this.#data.series.map((bucket, index) => {
      let y = top + height;
      return OUTCOMES.filter(({key}) => bucket[key] > 0).map(({key}) => {
        const size = (bucket[key] / max) * height;
        y -= size;
        return bar(key, {x: LEFT + index * step, y, width: Math.max(0.5, step - gap), height: size});
      });
    })];
  }

  #ratio(width, step) {
    const {top, height} = BANDS.ratio;
    let [path, isOpen] = ["", false];
    this.#data.series.forEach((bucket, index) => {
      const ratio = hitRatio(bucket);
      const x = LEFT + (index + 0.5) * step;
      // A point without neighbours is a dot, by the round ends of the line.
      if (!Number.isNaN(ratio)) path += `${isOpen ? "L" : "M"}${x.toFixed(1)} ${(top + height * (1 - ratio)).toFixed(1)}h0`;
      isOpen = !Number.isNaN(ratio);
    });
    return [this.#band(width, BANDS.ratio, "Hit ratio", 1, (value) => percent(value, 0)), s("path.line", {d: path})];
  }

  #bytes(width, step) {
    const {top, height} = BANDS.bytes;
    const max = Math.max(1, ...this.#data.series.map((bucket) => Math.max(bucket.saved_bytes, bucket.network_bytes)));
    const bar = step > 4 ? (step - 1) / 2 : step / 2;
    return [this.#band(width, BANDS.bytes, "Bytes: saved ■, from the network □", max, bytes),
      this.#data.series.map((bucket, index) => {
        const x = LEFT + index * step;
        const [saved, network] = [bucket.saved_bytes, bucket.network_bytes].map((value) => (value / max) * height);
        return [
          saved > 0 ? s("rect.fill-saved", {x, y: top + height - saved, width: bar, height: saved}) : null,
          network > 0 ? s("rect.outline-network", {
            x: x + bar + 0.25, y: top + height - network + 0.5, width: Math.max(0.5, bar - 0.5),
            height: Math.max(0.1, network - 0.5),
          }) : null,
        ];
      })];
  }

  #axis(width, step) {
    const {series, from, to} = this.#data;
    const every = Math.max(1, Math.ceil((to - from > 86_400_000 ? 110 : 70) / step));
    return series.filter((_, index) => index % every === 0).map((bucket, index) => {
      const x = LEFT + index * every * step;
      return x > width - 60 ? null : [
        s("path.rule", {d: `M${x} ${HEIGHT - 24}v5`}), text(x, HEIGHT - 7, axisTime(bucket.time, to - from), "tick")];
    });
  }
}

// MARK: - Latency

/// Returns the upper bound below which a share of the requests lies, in milliseconds.
export function quantile(counts, bounds, share) {
  const all = counts.reduce((sum, value) => sum + value, 0);
  let sum = 0;
  for (let index = 0; index < counts.length; index += 1) {
    sum += counts[index];
    if (all > 0 && sum >= share * all) return (bounds[index] ?? bounds.at(-1)) / 1000;
  }
  return null;
}

/// One histogram for each outcome, one below the other, on the same logarithmic axis.
export function latencyHistograms(width, {bounds_microseconds: bounds, counts}) {
  const shown = OUTCOMES.filter(({key}) => counts[key]?.some((value) => value > 0));
  const used = bounds.map((_, index) => shown.some(({key}) => counts[key][index] > 0));
  const first = Math.max(0, used.indexOf(true) - 1);
  const last = Math.min(bounds.length, Math.max(first + 6, used.lastIndexOf(true) + 2));
  const [left, right, rowHeight, barHeight] = [110, width < 480 ? 8 : 130, 46, 34];
  const step = (width - left - right) / (last - first);
  const height = shown.length * rowHeight + 24;
  const {definitions, bar} = patterns();
  const label = `Time to the head of the response. ${shown.map(({key}) =>
    `${key}: median below ${milliseconds(quantile(counts[key], bounds, 0.5))}`).join(", ")}`;
  const every = Math.max(1, Math.ceil(58 / step));
  return drawing(width, height, label, definitions, shown.map(({key, shape}, row) => {
    const base = row * rowHeight + barHeight + 6;
    const max = Math.max(...counts[key]);
    const [median, late] = [0.5, 0.99].map((share) => milliseconds(quantile(counts[key], bounds, share)));
    return [
      text(0, base - 14, shape, `shape ink-${key}`), text(16, base - 14, key, "title"),
      text(16, base, count(counts[key].reduce((sum, value) => sum + value, 0)), "tick"),
      s("path.rule", {d: `M${left} ${base + 0.5}H${width - right}`}),
      counts[key].slice(first, last).map((value, index) => (value > 0 ? bar(key, {
        x: left + index * step + 0.5, width: Math.max(1, step - 1),
        // One request among thousands stays visible.
        y: base - Math.max(2, (value / max) * barHeight), height: Math.max(2, (value / max) * barHeight),
      }) : null)),
      right > 100 ? [text(width - right + 12, base - 14, `half < ${median}`, "tick"),
        text(width - right + 12, base, `99 % < ${late}`, "tick")] : null,
    ];
  }), bounds.slice(first, last).map((bound, index) => (index % every === every - 1 || every === 1
    ? [s("path.rule", {d: `M${left + (index + 1) * step} ${height - 24}v5`}),
      text(left + (index + 1) * step, height - 6, milliseconds(bound / 1000), "tick", "middle")]
    : null)));
}

"""#),
WebFile("dom.js", #"""
// Makes elements. Data becomes text nodes and attribute values, never markup.

import {link} from "./api.js";

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

/// Makes an HTML element: `h("p.note", {id: "a"}, "text", otherElement)`.
export function h(spec, attributes, ...children) {
  const [tag, ...classes] = spec.split(".");
  const element = document.createElement(tag || "div");
  if (tag === "button") element.type = "button";
  if (classes.length > 0) element.className = classes.join(" ");
  const hasAttributes = attributes && attributes.constructor === Object;
  return fill(element, hasAttributes ? attributes : null, hasAttributes ? children : [attributes ?? [], children]);
}

/// Makes an SVG element.
export function s(spec, attributes, ...children) {
  const [tag, ...classes] = spec.split(".");
  const element = document.createElementNS(SVG, tag);
  if (classes.length > 0) element.setAttribute("class", classes.join(" "));
  return fill(element, attributes, children);
}

/// Replaces the content of an element.
export function put(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

let lastID = 0;

/// Returns an identifier that no other element has.
export function newID(prefix) {
  lastID += 1;
  return `${prefix}-${lastID}`;
}

/// Makes a labelled form control: the label above, the control below.
export function field(label, control) {
  control.id ||= newID("field");
  return h("div.field", h("label", {for: control.id}, label), control);
}

/// Makes a select element; an option is a text, or a pair of value and text.
export function select(options, value, attributes) {
  const element = h("select", attributes, options.map((option) => {
    const [key, text] = Array.isArray(option) ? option : [option, option];
    return h("option", {value: key}, text);
  }));
  element.value = value;
  return element;
}

/// Makes a table with a header row. A column is a text or an element; numbers are in a column such as "#Size".
export function table(caption, columns, rows, attributes) {
  const isNumber = columns.map((column) => column[0] === "#");
  const cell = (tag, index) => (isNumber[index] ? `${tag}.number` : tag);
  return h("div.scroll", {tabindex: 0, role: "group", "aria-label": caption}, h("table", attributes,
    h("caption.unseen", caption),
    h("thead", h("tr", columns.map((column, index) =>
      h(cell("th", index), {scope: "col"}, isNumber[index] ? column.slice(1) : column)))),
    h("tbody", rows.map((row) => h("tr", row.map((content, index) => h(cell("td", index), {}, content)))))));
}

/// A section with a heading of the second level.
export function section(title, ...children) {
  const id = newID("section");
  return h("section", {"aria-labelledby": id}, h("h2", {id}, title), children);
}

/// A message in the place of missing content, which says what to do.
export function empty(...children) {
  return h("p.empty.compact", children);
}

export function failed(error) {
  return h("p.error", {role: "alert"}, error.message);
}

/// A value with its name below a heading: the tiles at the top of a panel.
export function tile(name, value, note, state) {
  return h(state ? `div.tile.${state}` : "div.tile", h("dt", name), h("dd", value), note ? h("dd.note", note) : null);
}

/// Names and their values, below each other.
export function facts(rows) {
  return h("dl.facts", rows.map(([name, ...value]) => h("div", h("dt", name), h("dd", value))));
}

/// A link to another panel that looks like a button.
export function linkButton(text, panel, parameters) {
  return h("a.button", {href: link(panel, parameters)}, text);
}

/// Calls `action` once `milliseconds` after the last of several calls.
export function debounced(milliseconds, action) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(action, milliseconds, ...values);
  };
}

/// A button that copies a text and says so. The browser allows it on loopback and over HTTPS.
export function copyButton(text, label = "Copy", name = label) {
  const button = h("button.small", {"aria-label": name, onclick: async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "function" ? text() : text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";
    }
    setTimeout(() => { button.textContent = label; }, 1500);
  }}, label);
  return button;
}

/// Saves a text as a file.
export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  h("a", {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

"""#),
WebFile("entries.js", #"""
// Entries: a table over all stored responses, which scrolls without waiting.

import * as api from "./api.js";
import {debounced, failed, field, h, linkButton, put, select} from "./dom.js";
import {bytes, count, parseBytes, plural, relative, tags} from "./format.js";
import {Pages} from "./paging.js";
import {VirtualTable} from "./table.js";

const PAGE = 200;
const SORTS = [["key ascending", "URL"], ["key descending", "URL, last first"], ["stored descending", "Stored, latest first"],
  ["stored ascending", "Stored, oldest first"], ["eviction ascending", "Next to be evicted"]];

const COLUMNS = [
  {name: "check", title: h("span.unseen", "Selected")}, {name: "state", title: "State"}, {name: "url", title: "URL", link: true, sort: "key"},
  {name: "status", title: "Status", number: true}, {name: "type", title: "Type"}, {name: "size", title: "Size", number: true},
  {name: "expires", title: "Expires", number: true}, {name: "stored", title: "Stored", number: true, sort: "stored"},
  {name: "used", title: "Used", number: true, sort: "eviction"}, {name: "hits", title: "Hits", number: true},
];

export function describeState(row) {
  const parts = [row.freshness === "fresh" ? "● fresh" : "◐ stale"];
  if (row.is_pinned) parts.push("pinned");
  if (row.kind === "error") parts.push("error");
  if (row.part_start !== null && row.part_start !== undefined) parts.push("part");
  return parts.join(", ");
}

export function shortType(type) {
  return (type ?? "").split(";")[0].trim() || "–";
}

/// The fields that choose entries. Change uses those that a selection can have.
export function filterFields(context, changed, isForChange = false) {
  const input = (attributes) => h("input", {type: "search", autocomplete: "off", spellcheck: "false", ...attributes, oninput: changed});
  const fields = {
    prefix: input({placeholder: "https://example.com/…", "data-key": "/"}), host: input({placeholder: "example.com"}),
    tag: input({placeholder: "any"}), type: input({placeholder: "image/*"}),
  };
  const labels = {prefix: "URL begins with", host: "Host", tag: "Tag", type: "Content type"};
  if (!isForChange) {
    Object.assign(fields, {
      freshness: select([["", "any"], ["fresh", "● fresh"], ["stale", "◐ stale"]], "", {onchange: changed}),
      kind: select([["", "any"], ["content", "content"], ["error", "error response"]], "", {onchange: changed}),
      min_bytes: input({placeholder: "10 kB"}), max_bytes: input({placeholder: "5 MB"}),
    });
    Object.assign(labels, {freshness: "Freshness", kind: "Kind", min_bytes: "Size from", max_bytes: "Size to"});
  }
  const partitions = context.session.partitions.filter((name) => name !== "");
  if (partitions.length > 0) {
    fields.partition = select([["*", "all"], ["-", "no partition"], ...partitions.map((name) => [`=${name}`, name])], "*", {onchange: changed});
    labels.partition = "Partition";
  }
  return {fields, elements: Object.entries(fields).map(([name, control]) => {
    const element = field(labels[name], control);
    element.classList.add(`filter-${name}`);
    return element;
  })};
}

export class Entries {
  #context;
  #sort = "key";
  #order = "ascending";

  constructor(context) {
    this.#context = context;
    const {fields, elements} = filterFields(context, debounced(200, () => this.#restart()));
    this.fields = fields;
    this.sortField = select(SORTS, "key ascending", {onchange: () => {
      [this.#sort, this.#order] = this.sortField.value.split(" ");
      this.#restart();
    }});
    this.status = h("p.status", {role: "status"});
    this.notice = h("div");
    this.actions = h("div.actions");
    this.pages = new Pages((cursor, signal) => this.#load(cursor, signal), (error) => this.#update(error));
    const allowsChanges = context.session.allows_changes;
    this.table = new VirtualTable({
      name: allowsChanges ? "entries-table.selectable" : "entries-table", label: "Entries", columns: COLUMNS,
      fill: (index, cells, row) => this.#fill(index, cells, row), open: (index) => this.#open(index),
      toggle: allowsChanges ? (index) => this.#toggle(index) : null, sort: (key) => this.#sortBy(key),
      range: (first, last) => this.pages.prepare(last),
    });
    this.element = h("div.panel.fills", h("div.heading", h("h1", "Entries"), this.status),
      h("div.filters", elements, field("Order", this.sortField)), this.actions, this.notice, this.table.element);
  }

  show(parameters) {
    for (const [name, control] of Object.entries(this.fields)) control.value = parameters[name] ?? (name === "partition" ? "*" : "");
    if (this.fields.partition?.value === "") this.fields.partition.value = "*";
    this.#sort = parameters.sort ?? "key";
    this.#order = parameters.order ?? "ascending";
    this.#restart();
  }

  hide() { this.pages.stop(); }

  #values() {
    return Object.fromEntries(Object.entries(this.fields).map(([name, control]) => [name, control.value.trim()])
      .filter(([name, value]) => value !== "" && !(name === "partition" && value === "*")));
  }

  #restart() {
    this.sortField.value = `${this.#sort} ${this.#order}`;
    this.table.setSort(this.#sort, this.#order === "ascending");
    const isDefault = this.#sort === "key" && this.#order === "ascending";
    this.#context.keep("entries", {...this.#values(), ...(isDefault ? {} : {sort: this.#sort, order: this.#order})});
    this.table.scrollToTop();
    this.pages.reset();
    this.#showActions();
  }

  async #load(cursor, signal) {
    const {partition, min_bytes: least, max_bytes: most, ...rest} = this.#values();
    const parameters = {...rest, sort: this.#sort, order: this.#order, limit: PAGE, after: cursor};
    for (const [name, value] of [["min_bytes", least], ["max_bytes", most]]) {
      if (value === undefined) continue;
      parameters[name] = parseBytes(value);
      if (parameters[name] === null) throw new Error(`“${value}” is no size; write 500, 10 kB or 1.5 MB.`);
    }
    let name = api.path("entries", parameters).slice("./api/".length);
    // An empty partition is a filter, too: entries without a partition.
    if (partition) name += `&partition=${partition === "-" ? "" : encodeURIComponent(partition.slice(1))}`;
    const answer = await api.get(name, {}, signal);
    return {rows: answer.entries, next: answer.next, total: answer.total, isComplete: answer.is_complete};
  }

  #update(error) {
    const pages = this.pages;
    this.table.setCount(pages.count, pages.hasEnded ? pages.count : -1);
    this.table.refresh();
    const isFiltered = Object.keys(this.#values()).length > 0;
    this.status.textContent = [
      pages.hasEnded ? plural(pages.count, "entry", "entries") : `${count(pages.count)} read so far`,
      isFiltered || !pages.hasEnded ? `${count(pages.total ?? 0)} in the store` : null,
      pages.isSearching ? "searching…" : null,
    ].filter(Boolean).join(" · ");
    put(this.notice, error ? failed(error)
      : pages.hasEnded && pages.count === 0 ? h("p.empty.compact", isFiltered
        ? ["No entry fits the filter. ", h("a", {href: "#/entries", onclick: () => this.show({})}, "Clear the filter")]
        : ["The store is empty. ", h("code", `cachestore get URL --store ${this.#context.session.directory}`), " loads a first response."]) : null);
  }

  #sortBy(key) {
    const canTurn = key !== "eviction" && key === this.#sort;
    this.#order = canTurn && this.#order === "ascending" ? "descending" : "ascending";
    if (key === "stored" && this.#sort !== "stored") this.#order = "descending";
    this.#sort = key;
    this.#restart();
  }

  #fill(index, cells, row) {
    const entry = this.pages.rowAt(index);
    const [check, state, url, status, type, size, expires, stored, used, hits] = cells;
    if (!entry) {
      for (const cell of cells) cell.textContent = "";
      url.textContent = "…";
      return;
    }
    const isSelected = this.#context.selection.has(entry.id);
    if (this.#context.session.allows_changes) {
      row.setAttribute("aria-selected", String(isSelected));
      check.textContent = isSelected ? "☑" : "☐";
    }
    state.textContent = describeState(entry);
    state.className = `state ${entry.freshness}`;
    url.textContent = entry.url;
    url.href = api.link("entry", {id: entry.id});
    url.title = [entry.url, entry.variant, tags(entry.tags).join(", ")].filter(Boolean).join("\n");
    status.textContent = entry.status;
    type.textContent = shortType(entry.content_type);
    size.textContent = bytes(entry.byte_size);
    expires.textContent = relative(entry.expires_at);
    stored.textContent = relative(entry.created_at);
    used.textContent = relative(entry.accessed_at);
    hits.textContent = count(entry.hit_count);
  }

  #open(index) {
    const entry = this.pages.rowAt(index);
    if (entry) this.#context.go("entry", {id: entry.id});
  }

  #toggle(index) {
    const entry = this.pages.rowAt(index);
    if (!entry) return;
    const {selection} = this.#context;
    if (!selection.delete(entry.id)) selection.add(entry.id);
    this.table.refresh();
    this.#showActions();
    this.#context.announce(plural(selection.size, "entry selected", "entries selected"));
  }

  #showActions() {
    if (!this.#context.session.allows_changes) return;
    const {selection} = this.#context;
    const {partition, prefix, host, tag, type, ...rest} = this.#values();
    const others = Object.keys(rest).length > 0;
    const fits = {partition, prefix, host, tag, type};
    put(this.actions,
      selection.size > 0 ? h("a.button.primary", {href: api.link("change", {selected: 1})},
        `Change ${plural(selection.size, "selected entry", "selected entries")}…`) : h("span.note", "Select entries with the box or with Space. "),
      selection.size > 0 ? h("button", {onclick: () => {
        selection.clear();
        this.table.refresh();
        this.#showActions();
      }}, "Clear the selection") : null,
      Object.values(fits).some(Boolean) && !others
        ? linkButton("Change all that fit the filter…", "change", fits) : null);
  }
}

"""#),
WebFile("entry.js", #"""
// Entry: one stored response.

import * as api from "./api.js";
import {copyButton, facts, h, linkButton, put, section, table, tile} from "./dom.js";
import {bytes, count, fullTime, plural, relative, tags} from "./format.js";
import {describeState} from "./entries.js";
import {ageTerms, freshnessBar} from "./freshness.js";
import {preview} from "./preview.js";

export class Entry {
  #context;
  #latest = api.latest();

  constructor(context) {
    this.#context = context;
    this.element = h("div.panel.entry");
  }

  async show({id, url, partition, cut}) {
    put(this.element, h("h1", "Entry"), h("p.status", {role: "status"}, "Reading…"));
    try {
      if (id === undefined) return await this.#find(url ?? "", partition ?? "", cut);
      const data = await this.#latest((signal) => api.get("entry", {id}, signal));
      if (data) this.#draw(data);
    } catch (error) {
      put(this.element, h("h1", "Entry"), h("div.empty", h("p", error.status === 404
        ? "This entry is gone: removed, evicted or replaced." : error.message),
      linkButton("Entries", "entries")));
    }
  }

  /// Opens the entry of a URL, which a request of the live stream named.
  async #find(url, partition, cut) {
    const answer = await this.#latest((signal) =>
      api.get(`entries?${new URLSearchParams({prefix: url, partition, limit: 1})}`, {}, signal));
    if (!answer) return;
    const [found] = answer.entries;
    if (found && (found.key === url || cut)) {
      history.replaceState(null, "", api.link("entry", {id: found.id}));
      return await this.show({id: found.id});
    }
    put(this.element, h("h1", "Entry"), h("div.empty", h("p", "No response is stored for this URL:"), h("p.url", url),
      h("p", h("a.button.primary", {href: api.link("why", {text: url, partition})}, "Why?"), " ",
        linkButton("Entries that begin with it", "entries", {prefix: url}))));
  }

  #draw(data) {
    const {entry, freshness} = data;
    const allowsChanges = this.#context.session.allows_changes;
    put(this.element,
      h("div.heading", h("h1", "Entry"), h("span.badge", describeState(entry)),
        data.is_being_loaded ? h("span.badge", "↻ being loaded by another process") : null),
      h("p.url", entry.url, " ", copyButton(entry.url, "Copy", "Copy the URL")),
      h("div.actions", linkButton("Why?", "why", {text: entry.url, partition: entry.partition}),
        linkButton("Entries of the host", "entries", {host: entry.host}),
        allowsChanges ? h("a.button", {href: api.link("change", {selected: 1}),
          onclick: () => this.#context.selection.clear() || this.#context.selection.add(entry.id)}, "Change…") : null),
      h("dl.tiles",
        tile("Status", String(entry.status), entry.kind === "error" ? "error response" : "content"),
        tile("Body", bytes(entry.byte_size), entry.content_type ?? "no content type"),
        tile("Stored", relative(entry.created_at, data.now), fullTime(entry.created_at)),
        tile("Validated", relative(entry.validated_at, data.now), fullTime(entry.validated_at)),
        tile("Used", relative(entry.accessed_at, data.now), plural(entry.hit_count, "hit", "hits")),
        tile("Variants", count(data.variants.length), data.vary.length > 0 ? `Vary: ${data.vary.join(", ")}` : "no Vary")),
      section("Freshness", freshnessBar(freshness),
        h("p.note", [
          data.expires_at ? `Expires ${relative(data.expires_at, data.now)}, ${fullTime(data.expires_at)}. ` : "States no expiry. ",
          freshness.directives.length > 0 ? `Directives: ${freshness.directives.join(", ")}.` : "No directives for reuse."])),
      h("div.columns", section("Age, term by term", ageTerms(freshness)), section("Body", preview(data))),
      section("Fields of the response", this.#fields(data)),
      section("Variants", this.#variants(data)),
      h("div.columns",
        section("Key and file", this.#file(data)),
        section("Validators, derived representations, failures", this.#rest(data))));
  }

  #fields({entry, fields}) {
    if (fields.length === 0) return h("p.empty.compact", "No fields are stored.");
    return table("Fields of the response", ["Name", "Value"], fields.map((item) => {
      const value = h("span.value", item.value ?? "");
      const whole = async () => {
        try {
          value.textContent = (await api.get("field", {id: entry.id, index: item.index})).value;
        } catch (error) {
          value.textContent = error.message;
        }
        value.tabIndex = -1;
        value.focus();
      };
      const button = (label, name) => h("button.small", {"aria-label": name, onclick: async (event) => {
        event.currentTarget.remove();
        await whole();
      }}, label);
      if (item.is_secret && (item.value === null || item.value === undefined)) {
        value.textContent = `hidden, ${plural(item.length, "character", "characters")} `;
        value.classList.add("note");
        return [h("code", item.name), [value, " ", button("Show", `Show the value of ${item.name}`)]];
      }
      return [h("code", item.name), [value, item.is_cut ? [" … ", button(`All ${count(item.length)} characters`,
        `Show all of ${item.name}`)] : null]];
    }), {class: "fields"});
  }

  #variants({variants, vary, differing}) {
    const columns = ["Request field", ...variants.map((variant) => (variant.is_this ? "this entry" : h("a", {
      href: api.link("entry", {id: variant.id})}, `entry ${variant.id}`)))];
    const value = (variant, name) => variant.fields.find((item) => item.name === name)?.value;
    const rows = vary.map((name) => [
      [h("code", name), differing.includes(name) ? h("span.badge", "≠ differs") : null],
      ...variants.map((variant) => value(variant, name) ?? h("span.note", "absent"))]);
    const facts = [["status", (variant) => String(variant.status)], ["kind", (variant) => variant.kind],
      ["size", (variant) => bytes(variant.byte_size)], ["validated", (variant) => relative(variant.validated_at)]];
    return [vary.length === 0 ? h("p.note", "The response has no Vary: it answers any request for the URL.") : null,
      table("Variants side by side", columns, [...rows, ...facts.map(([name, of]) =>
        [h("span.note", name), ...variants.map(of)])])];
  }

  #file({entry, file}) {
    const rows = [["Key", entry.key, true], ["Partition", entry.partition || "none"], ["Variant", entry.variant || "none"],
      ["Tags", tags(entry.tags).join(", ") || "none"], ["Lifetime", entry.lifetime], ["Entry", String(entry.id)],
      ["SHA-256", entry.sha256 ?? "no body", Boolean(entry.sha256)],
      ["File", file ? file.path : "the body is in the index, or there is none", Boolean(file)]];
    if (file) rows.push(["On disk", file.exists ? bytes(file.byte_size) : "✕ the file is missing"]);
    if (entry.part_start !== null && entry.part_start !== undefined) {
      rows.push(["Part", `from byte ${count(entry.part_start)} of ${entry.part_total === null ? "an unknown length" : count(entry.part_total)}`]);
    }
    return facts(rows.map(([name, value, canCopy]) => [name, h("span.value", value), " ",
      canCopy ? copyButton(value, "Copy", `Copy ${name}`) : null]));
  }

  #rest({validators, derived, failures}) {
    return [
      validators.length === 0 ? h("p.note", "No validator: a stale response is loaded again in full.")
        : facts(validators.map((item) => [item.name, h("span.value", item.value), item.is_weak ? " weak" : ""])),
      derived.length === 0 ? h("p.note", "No derived representation.") : table("Derived representations",
        ["Name", "#Size", "#Made"],
        derived.map((item) => [item.name, bytes(item.byte_size), relative(item.created_at)])),
      failures.length === 0 ? h("p.note", "No failure since the last success.") : table("Failures of this key",
        ["Request", "Status", "#Errors", "#Last"],
        failures.map((item) => [item.request || "GET", item.status ?? "no answer", count(item.error_count), relative(item.failed_at)])),
    ];
  }
}

"""#),
WebFile("eviction.js", #"""
// Eviction: what goes next, what a limit would remove, and what both policies would have made of the recorded requests.

import * as api from "./api.js";
import {debounced, failed, field, h, put, s, section, table} from "./dom.js";
import {Chart, drawing, text} from "./charts.js";
import {bytes, count, parseBytes, percent, plural} from "./format.js";

const STEPS = 200;

export class Eviction {
  #context;
  #latest = api.latest();
  #limited = 0;

  constructor(context) {
    this.#context = context;
    const changed = debounced(120, () => this.#preview());
    this.slider = h("input", {type: "range", min: 0, max: STEPS, value: STEPS, oninput: () => {
      this.#setLimit(Math.round((this.#limited * Number(this.slider.value)) / STEPS));
      changed();
    }});
    this.limit = h("input", {type: "text", "data-key": "/", autocomplete: "off", onchange: () => {
      const value = parseBytes(this.limit.value);
      this.limit.setAttribute("aria-invalid", String(value === null));
      if (value === null) return;
      this.slider.value = this.#limited > 0 ? Math.min(STEPS, Math.round((value / this.#limited) * STEPS)) : STEPS;
      this.value = value;
      this.#preview();
    }});
    this.outcome = h("div", {role: "status"});
    this.bar = new Chart("limit");
    this.next = h("div");
    this.simulation = h("div", h("p.note", "Replays the recorded requests, with the limit above, through both policies."));
    this.simulateButton = h("button", {onclick: () => this.#simulate()}, "Simulate");
    this.status = h("p.status");
    this.problem = h("div");
    this.element = h("div.panel", h("div.heading", h("h1", "Eviction"), this.status), this.problem,
      section("What a limit would remove",
        h("div.limit", field("Limit", this.slider), field("in bytes", this.limit)), this.bar.element, this.outcome,
        h("p.note", "A dry run: it only reads, and blocks no writer.")),
      section("What the policies would make of it", h("div.actions", this.simulateButton), this.simulation),
      section("What goes next", this.next));
  }

  async show() {
    try {
      const data = await api.get("eviction", {limit: 100});
      put(this.problem);
      this.#limited = data.limited_bytes;
      this.status.textContent = `${data.policy} · ${bytes(data.limited_bytes)} count towards a limit`;
      if (this.value === undefined) this.#setLimit(Math.round(this.#limited * 0.9));
      this.slider.value = this.#limited > 0 ? Math.min(STEPS, Math.round((this.value / this.#limited) * STEPS)) : STEPS;
      this.#preview();
      put(this.next, data.entries.length === 0 ? h("p.empty.compact", "Nothing can be evicted: the store is empty, or every entry is pinned.")
        : table("What goes next", ["#No.", "URL", "Why", "#Size", "#Together", "#Hits"],
          data.entries.map((row, index) => [String(index + 1), h("a", {href: api.link("entry", {id: row.id})}, row.url),
            row.reason, bytes(row.byte_size), bytes(row.cumulative_bytes), count(row.hit_count)]), {class: "next"}));
    } catch (error) {
      put(this.problem, failed(error));
    }
  }

  #setLimit(value) {
    this.value = value;
    this.limit.value = bytes(value);
    this.slider.setAttribute("aria-valuetext", bytes(value));
  }

  async #preview() {
    try {
      const result = await this.#latest((signal) => api.get("eviction/preview", {max_bytes: this.value}, signal));
      if (!result) return;
      const estimate = result.is_estimate ? "about " : "";
      put(this.outcome, h("p", result.entries === 0 ? "Nothing would go: the store is within this limit."
        : [h("strong", `${estimate}${plural(result.entries, "entry", "entries")}, ${bytes(result.bytes)}`), " would go; ",
          `${plural(result.entries_left, "entry", "entries")}, ${bytes(result.bytes_left)} would stay.`,
          result.is_complete ? "" : " The count stopped after two seconds, so more would go.",
          result.last_key ? [" The last to go: ", h("span.url", result.last_key)] : null]));
      this.bar.show((width) => this.#drawBar(width, result));
    } catch (error) {
      put(this.outcome, h("p.error", error.message));
    }
  }

  #drawBar(width, result) {
    const all = Math.max(1, result.bytes + result.bytes_left);
    const stay = (result.bytes_left / all) * width;
    return drawing(width, 22, `${percent(result.bytes / all)} of the bytes would go`,
      s("rect.stay", {x: 0, y: 0, width: stay, height: 22, rx: 3}),
      s("rect.leave", {x: stay, y: 0, width: width - stay, height: 22, rx: 3}),
      stay > 90 ? text(8, 15, `stays ${percent(result.bytes_left / all)}`, "title") : null,
      width - stay > 80 ? text(stay + 8, 15, `goes ${percent(result.bytes / all)}`, "title") : null);
  }

  async #simulate() {
    this.simulateButton.disabled = true;
    put(this.simulation, h("p.note", {role: "status"}, "Replaying…"));
    try {
      const report = await api.post("simulate", {max_bytes: Math.max(1, this.value)});
      const {clairvoyant_bound: bound} = report;
      const chart = new Chart("policies");
      chart.show((width) => this.#drawPolicies(width, [...report.policies, {policy: "bound", ...bound}]));
      put(this.simulation,
        h("p.note", `${plural(report.requests, "request", "requests")} for ${plural(report.keys, "key", "keys")} with `
          + `${bytes(report.unique_bytes)}; limit ${bytes(report.max_bytes)}, for a body ${bytes(report.max_entry_bytes)}.`),
        chart.element,
        table("Results of the simulation", ["Policy", "#Hits", "#Hit ratio",
          "#Byte hit ratio", "#Evicted", "#Pages written"],
        [...report.policies.map((policy) => [policy.policy, count(policy.hits), percent(policy.hit_ratio, 2),
          percent(policy.byte_hit_ratio, 2), count(policy.evicted_entries), count(policy.pages_written)]),
        ["clairvoyant bound", "", percent(bound.hit_ratio, 2), percent(bound.byte_hit_ratio, 2), "", ""]]),
        h("p.note", "No cache of this size can exceed the bound, even one that knows the future."));
    } catch (error) {
      put(this.simulation, h("p.error", {role: "alert"}, error.code === "no_record"
        ? `Nothing is recorded: cachestore record on --store ${this.#context.session.directory} begins a record.` : error.message));
    }
    this.simulateButton.disabled = false;
  }

  #drawPolicies(width, policies) {
    const [left, row] = [Math.min(150, width * 0.36), 26];
    const room = width - left - 70;
    const names = {bound: "clairvoyant bound"};
    return drawing(width, policies.length * row, policies.map((policy) =>
      `${names[policy.policy] ?? policy.policy}: hit ratio ${percent(policy.hit_ratio)}`).join(", "),
    policies.map((policy, index) => {
      const size = Math.max(1, policy.hit_ratio * room);
      return [text(0, index * row + 15, names[policy.policy] ?? policy.policy, "title"),
        s(policy.policy === "bound" ? "rect.outline-network" : "rect.fill-saved", {x: left, y: index * row + 4, width: size, height: 15, rx: 2}),
        text(left + size + 8, index * row + 16, percent(policy.hit_ratio, 2), "tick")];
    }));
  }
}

"""#),
WebFile("failures.js", #"""
// Failures: keys in back-off, damaged bodies, the processes on the store, the WAL.

import * as api from "./api.js";
import {empty, failed, h, put, section, table, tile} from "./dom.js";
import {bytes, count, fullTime, plural, relative} from "./format.js";

const REFRESH = 3000;

export class Failures {
  #context;
  #timer = 0;
  #rows = [];
  #next = null;

  constructor(context) {
    this.#context = context;
    this.tiles = h("dl.tiles");
    this.processes = h("div");
    this.list = h("div");
    this.problem = h("div");
    this.more = h("button", {hidden: true, onclick: () => this.#load()}, "More");
    this.status = h("p.status");
    this.element = h("div.panel", h("div.heading", h("h1", "Failures"), this.status,
      h("button", {onclick: () => this.show()}, "Read again")), this.problem, this.tiles,
    section("Keys whose latest load failed", this.list, h("div.actions", this.more)),
    section("Processes on the store", this.processes));
  }

  show() {
    this.#rows = [];
    this.#next = null;
    this.#load();
    this.#health();
    clearInterval(this.#timer);
    this.#timer = setInterval(() => { if (!document.hidden) this.#health(); }, REFRESH);
  }

  hide() { clearInterval(this.#timer); }

  async #load() {
    try {
      const answer = await api.get("failures", {limit: 100, after: this.#next});
      this.#rows = this.#rows.concat(answer.failures);
      this.#next = answer.next;
      this.more.hidden = !answer.next;
      this.status.textContent = plural(answer.total, "failing key", "failing keys");
      put(this.list, this.#rows.length === 0 ? empty("No key is failing: the latest load of each URL succeeded.")
        : table("Keys whose latest load failed", ["URL", "Status", "#Errors", "#Last", "Request", "Partition", "Reason"],
          this.#rows.map((row) => [h("a", {href: api.link("entry", {url: row.key, partition: row.partition})}, row.key),
            row.status ? `▲ ${row.status}` : "▲ no answer", count(row.error_count),
            h("span", {title: fullTime(row.failed_at)}, relative(row.failed_at)), row.request || "GET", row.partition || "none",
            h("a", {href: api.link("why", {text: row.key, partition: row.partition}), "aria-label": `Why? ${row.key}`}, "Why?")]), {class: "wide"}));
    } catch (error) {
      put(this.problem, failed(error));
    }
  }

  async #health() {
    try {
      const health = await api.get("health");
      const {index} = health;
      put(this.problem);
      put(this.tiles,
        tile("Failing keys", count(health.failing_keys), "asked again after a pause", health.failing_keys > 0 ? "warns" : null),
        tile("Damaged bodies", count(health.damaged_bodies), health.damaged_bodies > 0 ? "cachestore check --repair" : "found while reading",
          health.damaged_bodies > 0 ? "warns" : null),
        tile("Quarantined", count(health.quarantined.length), health.quarantined.join(", ") || "no damaged index", health.quarantined.length > 0 ? "warns" : null),
        tile("Index", bytes(index.byte_size), `${bytes(index.used_bytes)} used`),
        tile("WAL", bytes(index.wal_bytes), "not yet in the index file"),
        tile("Writers", count(health.writers), plural(health.keys_being_loaded, "key being loaded", "keys being loaded")));
      put(this.processes, health.processes === null || health.processes === undefined
        ? empty("This system does not tell which processes have the store open.")
        : health.processes.length === 0 ? empty("No process has the store open.")
          : table("Processes on the store", ["Process", "Name", "Role"],
            health.processes.map((item) => [String(item.process), item.name ?? "–", item.is_this ? "this inspector" : ""])));
    } catch (error) {
      put(this.problem, failed(error));
    }
  }
}

"""#),
WebFile("format.js", #"""
// Numbers with units, and times.

const grouped = new Intl.NumberFormat("en");
const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];

export function count(value) {
  return grouped.format(value);
}

/// "1 entry", "1,234 entries".
export function plural(value, one, many) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/// Decimal units, as the tool prints them: "96.0 kB".
export function bytes(value) {
  if (value === null || value === undefined) return "–";
  let [number, unit] = [Math.abs(value), 0];
  while (number >= 999.95 && unit < UNITS.length - 1) {
    number /= 1000;
    unit += 1;
  }
  const sign = value < 0 ? "−" : "";
  return unit === 0 ? `${sign}${number} B` : `${sign}${number.toFixed(1)} ${UNITS[unit]}`;
}

/// Reads "10 MB", "1.5G", "500": a number of bytes, or `null`.
export function parseBytes(text) {
  const match = /^\s*([\d.,]+)\s*([kmgtp]?)(i?)b?\s*$/i.exec(text);
  const number = match ? Number(match[1].replaceAll(",", "")) : NaN;
  if (!Number.isFinite(number)) return null;
  const power = match[2] ? " kmgtp".indexOf(match[2].toLowerCase()) : 0;
  return Math.round(number * (match[3] ? 1024 : 1000) ** power);
}

export function percent(ratio, digits = 1) {
  return Number.isFinite(ratio) ? `${(100 * ratio).toFixed(digits)} %` : "–";
}

/// A short time: "0.034 ms", "12.3 ms", "1.24 s".
export function milliseconds(value) {
  if (value === null || value === undefined) return "–";
  if (value < 1) return `${Math.round(value * 1000)} µs`;
  if (value < 1000) return `${value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : Math.round(value)} ms`;
  return value < 60_000 ? `${(value / 1000).toFixed(2)} s` : seconds(value / 1000);
}

const SPANS = [["y", 31_536_000], ["d", 86_400], ["h", 3_600], ["min", 60], ["s", 1]];

/// A span in its two largest units: "3 h 20 min".
export function seconds(value) {
  if (value === null || value === undefined) return "–";
  const sign = value < 0 ? "−" : "";
  let rest = Math.round(Math.abs(value));
  if (rest < 60) return `${sign}${rest} s`;
  const parts = [];
  for (const [unit, size] of SPANS) {
    const number = Math.floor(rest / size);
    if (number === 0 && parts.length === 0) continue;
    if (number > 0) parts.push(`${grouped.format(number)} ${unit}`);
    rest -= number * size;
    if (parts.length === 2 || (number === 0 && parts.length === 1)) break;
  }
  return sign + parts.join(" ");
}

/// "in 2 h", "15 min ago", in one unit.
export function relative(time, now = Date.now()) {
  if (time === null || time === undefined) return "–";
  const span = (typeof time === "string" ? Date.parse(time) : time) - now;
  const size = Math.abs(span) / 1000;
  if (size < 1) return "now";
  const [unit, length] = SPANS.find(([, least]) => size >= least);
  const text = `${Math.floor(size / length)} ${unit}`;
  return span > 0 ? `in ${text}` : `${text} ago`;
}

const format = (options) => new Intl.DateTimeFormat("en-GB", options);
const clockFormat = format({timeStyle: "medium"});
const minuteFormat = format({timeStyle: "short"});
const dayFormat = format({day: "numeric", month: "short"});
const fullFormat = format({dateStyle: "medium", timeStyle: "medium"});

/// "14:03:09.123"
export function clock(time) {
  const date = new Date(time);
  return `${clockFormat.format(date)}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

/// "14:03", or "25 Nov 14:03" if `span` is more than a day.
export function axisTime(time, span) {
  const day = span > 86_400_000 ? `${dayFormat.format(time)} ` : "";
  return day + (span < 300_000 ? clockFormat : minuteFormat).format(time);
}

/// "25 Nov 2026, 14:03:09"
export function fullTime(time) {
  return time === null || time === undefined ? "–" : fullFormat.format(new Date(time));
}

/// The six outcomes of a request: a shape and a name, so that none is told by its colour only.
export const OUTCOMES = [
  {key: "hit", shape: "●", meaning: "a fresh stored response answered"},
  {key: "coalesced", shape: "◇", meaning: "shared the response of another request"},
  {key: "revalidated", shape: "↻", meaning: "a stored response answered after validation"},
  {key: "stale", shape: "◐", meaning: "a stale stored response answered"},
  {key: "miss", shape: "○", meaning: "the origin answered"},
  {key: "error", shape: "▲", meaning: "an error, or nothing answered"},
];
export const SHAPES = Object.fromEntries(OUTCOMES.map((outcome) => [outcome.key, outcome.shape]));

/// Reads the tags of an entry, which are JSON text.
export function tags(text) {
  try {
    return JSON.parse(text ?? "[]");
  } catch {
    return [];
  }
}

"""#),
WebFile("freshness.js", #"""
// The freshness of a stored response: a bar on an axis of its age, and the terms of the age.

import {h, s, table} from "./dom.js";
import {Chart, drawing, text} from "./charts.js";
import {seconds} from "./format.js";

const HEIGHT = 74;

/// A section of an RFC as a plain link.
export function specification(section) {
  const match = /^RFC (\d+) §([\d.]+)/.exec(section ?? "");
  if (!match) return h("span", section ?? "");
  return h("a", {
    href: `https://www.rfc-editor.org/rfc/rfc${match[1]}#section-${match[2]}`, rel: "noreferrer noopener",
    target: "_blank",
  }, section);
}

function windowOf(directives, name) {
  const found = directives.find((directive) => directive.startsWith(`${name}=`));
  return found ? Number(found.split("=")[1]) : 0;
}

/// Fresh until the end of the lifetime, then stale; windows in which a stale response may answer; the age as a mark.
export function freshnessBar(freshness) {
  const {lifetime, age} = freshness;
  const directives = freshness.directives ?? [];
  const windows = [["stale-while-revalidate", "may answer during validation"], ["stale-if-error", "may answer on errors"]]
    .map(([name, meaning]) => ({name, meaning, length: windowOf(directives, name)})).filter(({length}) => length > 0);
  const end = Math.max(lifetime + Math.max(0, ...windows.map(({length}) => length)), age, 1) * 1.12;
  const chart = new Chart("freshness");
  const label = `Age ${seconds(age)}, lifetime ${seconds(lifetime)}: ${freshness.fresh ? "fresh" : "stale"}`;
  chart.show((width) => {
    const at = (value) => (value / end) * (width - 2) + 1;
    const [top, height] = [26, 18];
    const stale = at(lifetime);
    const now = at(age);
    const onRight = now > width * 0.7;
    return drawing(width, HEIGHT, label,
      s("rect.fresh", {x: 1, y: top, width: Math.max(0, stale - 1), height}),
      s("rect.stale", {x: stale, y: top, width: Math.max(0, width - 1 - stale), height}),
      windows.map(({length}, index) => s("rect.window", {
        x: stale, y: top + height - 4 - index * 6, width: Math.max(1, at(lifetime + length) - stale), height: 4})),
      stale > 60 ? text(8, top + 13, "fresh", "title") : null,
      width - stale > 60 ? text(Math.max(stale, 1) + 7, top + 13, "stale", "title") : null,
      s("path.border", {d: `M1 ${top}H${width - 1}V${top + height}H1ZM${stale} ${top}v${height + 5}`}),
      text(stale, top + height + 17, `lifetime ${seconds(lifetime)}`, "tick",
        stale < 60 ? "start" : stale > width - 60 ? "end" : "middle"),
      stale > 130 ? text(1, top + height + 17, "0 s", "tick") : null,
      s("path.now", {d: `M${now} ${top - 6}V${top + height + 4}M${now - 5} ${top - 12}h10l-5 7z`}),
      text(now + (onRight ? -9 : 9), top - 6, `age ${seconds(age)}`, "title", onRight ? "end" : "start"));
  });
  const note = windows.length === 0 ? null : h("p.note", windows.map(({name, meaning, length}) =>
    `${name}: ${meaning} for ${seconds(length)} after that. `));
  return h("div", chart.element, note);
}

/// The age term by term (RFC 9111 §4.2.3), and the rest of the lifetime.
export function ageTerms(freshness) {
  const corrected = freshness.age_field + freshness.response_delay;
  const rest = freshness.lifetime - freshness.age;
  const rows = [
    ["apparent_age", "received − Date", freshness.apparent_age],
    ["corrected_age_value", `Age ${seconds(freshness.age_field)} + delay ${seconds(freshness.response_delay)}`, corrected],
    ["corrected_initial_age", "the larger of both", freshness.age_on_arrival],
    ["resident_time", "now − received", freshness.resident_time],
    ["current_age", "initial age + resident time", freshness.age],
    ["freshness_lifetime", `from ${freshness.lifetime_source}`, freshness.lifetime],
    [rest > 0 ? "fresh for" : "stale for", "lifetime − age", Math.abs(rest)],
  ];
  return h("div", table("Age, term by term", ["Term", "Made of", "#Value"], rows.map(([name, source, value]) => [
    /_/.test(name) ? h("code", name) : name, source, seconds(value)]), {class: "terms"}),
  h("p.note", "After ", specification("RFC 9111 §4.2.3"), "."));
}

"""#),
WebFile("icon.svg", #"""
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20">
<rect width="20" height="20" rx="4.5" fill="#2456b8"/>
<path d="M4.5 6.5h11M4.5 10h7.5M4.5 13.5h4" stroke="#fff" stroke-width="2" stroke-linecap="round"/>
<circle cx="14" cy="13" r="2.6" fill="none" stroke="#fff" stroke-width="1.6"/>
</svg>

"""#),
WebFile("index.html", #"""
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Cache inspector</title>
<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="style.css">
<link rel="stylesheet" href="panels.css">
<script src="theme.js"></script>
<script type="module" src="app.js"></script>
</head>
<body>
<a class="skip" href="#main" id="skip">Skip to the panel</a>
<header>
<p class="brand"><img src="icon.svg" alt="" width="20" height="20"> Cache inspector</p>
<nav id="panels" aria-label="Panels"></nav>
<div id="store" class="about"></div>
<div class="tools">
<button type="button" id="theme"></button>
<button type="button" id="keys" aria-haspopup="dialog">Keys <kbd>?</kbd></button>
</div>
</header>
<main id="main" tabindex="-1"><p class="empty">Opening the store…</p></main>
<div id="announcements" class="unseen" role="status" aria-live="polite"></div>
</body>
</html>

"""#),
WebFile("keys.js", #"""
// The dialog that lists the keys.

import {h} from "./dom.js";

const KEYS = [
  ["1 … 8", "open a panel"],
  ["/", "go to the filter of the panel"],
  ["↑ ↓ Page Up Page Down Home End", "move in a table"],
  ["Enter", "open the row"],
  ["Space", "select the row, if changes are allowed"],
  ["p", "pause or resume the live stream"],
  ["← →", "move the cursor of a chart, or in the treemap"],
  ["Ctrl+Enter", "run the query, or explain the request"],
  ["t", "change the theme"],
  ["Esc", "leave a text field, close a dialog"],
];

let dialog = null;

export function showKeys() {
  dialog ??= make();
  dialog.showModal();
}

function make() {
  const element = h("dialog", {"aria-labelledby": "keys-title"},
    h("h2", {id: "keys-title"}, "Keys"),
    h("dl.keys", KEYS.map(([key, meaning]) => h("div", h("dt", h("kbd", key)), h("dd", meaning)))),
    h("button.primary", {onclick: () => element.close()}, "Close"));
  document.body.append(element);
  return element;
}

"""#),
WebFile("live.js", #"""
// Live: the requests that processes on the store answer, as they answer them. Nothing here grows with the stream.

import * as api from "./api.js";
import {Chart, drawing, patterns} from "./charts.js";
import {failed, field, h, put} from "./dom.js";
import {OUTCOMES, SHAPES, bytes, clock, count, milliseconds, percent} from "./format.js";
import {VirtualTable} from "./table.js";

/// Records that stay in memory, and rows that the table shows.
const KEPT = 5000;
const SECONDS = 60;
const HOSTS = 200;

const COLUMNS = [
  {name: "time", title: "Time"}, {name: "outcome", title: "Outcome"}, {name: "status", title: "Status", number: true},
  {name: "method", title: "Method"}, {name: "url", title: "URL", link: true}, {name: "disk", title: "Disk", number: true},
  {name: "network", title: "Network", number: true}, {name: "duration", title: "Duration", number: true},
  {name: "process", title: "Process", number: true},
];

function emptySecond() {
  return {requests: 0, network: 0, ...Object.fromEntries(OUTCOMES.map(({key}) => [key, 0]))};
}

export class Live {
  #context;
  #source = null;
  #queue = [];
  #records = [];
  #shown = [];
  #hosts = new Set();
  #outcomes = new Set(OUTCOMES.map(({key}) => key));
  #state = null;
  #isPaused = false;
  #isScheduled = false;
  #missed = 0;
  #lost = 0;
  #seconds = [];
  #clock = 0;
  #retry = 0;

  constructor(context) {
    this.#context = context;
    this.hostField = h("input", {type: "search", list: "live-hosts", "data-key": "/", placeholder: "all hosts",
      autocomplete: "off", spellcheck: "false", oninput: () => this.#filter()});
    this.hostList = h("datalist", {id: "live-hosts"});
    this.pauseButton = h("button", {"aria-pressed": "false", onclick: () => this.#pause(!this.#isPaused)}, "Pause");
    this.status = h("p.status");
    this.chart = new Chart("pulse");
    this.tiles = h("dl.tiles");
    this.notice = h("div");
    this.table = new VirtualTable({
      name: "live-table", label: "Requests, latest first", columns: COLUMNS,
      fill: (index, cells, row) => this.#fill(index, cells, row), open: (index) => this.#open(index),
    });
    this.table.element.addEventListener("scroll", () => this.#schedule());
    this.buttons = h("div.toggles", {role: "group", "aria-label": "Outcomes"}, OUTCOMES.map(({key, shape, meaning}) =>
      h("button", {"aria-pressed": "true", title: meaning, onclick: (event) => this.#toggle(key, event.currentTarget)},
        h(`span.shape.ink-${key}`, {"aria-hidden": "true"}, shape), key)));
    this.element = h("div.panel.fills", h("div.heading", h("h1", "Live"), this.status),
      h("div.pulse-row", this.tiles, this.chart.element),
      h("div.filters", field("Host", this.hostField), this.hostList,
        h("div.field", h("span.label", "Outcomes"), this.buttons), h("div.field.end", this.pauseButton)),
      this.notice, this.table.element);
  }

  show({host}) {
    if (host !== undefined) this.hostField.value = host;
    this.#filter();
    if (!this.#source) this.#connect();
    this.#clock ||= setInterval(() => this.#tick(), 1000);
    this.#tick();
  }

  hide() {
    this.#source?.close();
    this.#source = null;
    clearTimeout(this.#retry);
    clearInterval(this.#clock);
    this.#clock = 0;
    this.#queue = [];
    this.#seconds = [];
  }

  key(key) {
    if (key !== "p") return false;
    this.#pause(!this.#isPaused);
    return true;
  }

  // MARK: The stream

  #connect() {
    // Of a stream that begins again, the past records replace those that are shown.
    this.#records = [];
    this.#shown = [];
    const source = this.#source = new EventSource(api.path("live", {recent: 300}));
    source.addEventListener("state", (event) => {
      this.#state = JSON.parse(event.data);
      this.#showNotice();
    });
    source.addEventListener("records", (event) => this.#receive(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      this.status.textContent = "The stream is interrupted; connecting again…";
      if (source.readyState !== EventSource.CLOSED || this.#source !== source) return;
      this.#source = null;
      this.#retry = setTimeout(async () => {
        // Tells an ended session from a busy server.
        try {
          await api.session();
        } catch (error) {
          if (error.status === 401) return;
        }
        if (this.element.isConnected && !this.#source) this.#connect();
      }, 3000);
    });
  }

  #receive({records, lost}) {
    this.#lost += lost;
    const now = Math.floor(Date.now() / 1000);
    for (const record of records) {
      const age = now - Math.floor(Date.parse(record.time) / 1000);
      if (age < SECONDS) this.#countSecond(now - Math.max(0, age), record);
      if (record.host && this.#hosts.size < HOSTS && !this.#hosts.has(record.host)) {
        this.#hosts.add(record.host);
        this.hostList.append(h("option", {value: record.host}));
      }
    }
    for (const record of records) this.#queue.push(record);
    // A hidden window draws no frames: the queue stays bounded all the same.
    if (this.#queue.length > KEPT) this.#queue.splice(0, this.#queue.length - KEPT);
    this.#schedule();
  }

  #countSecond(second, record) {
    let slot = this.#seconds[second % SECONDS];
    if (slot?.second !== second) this.#seconds[second % SECONDS] = slot = {second, ...emptySecond()};
    slot.requests += 1;
    slot[record.outcome] = (slot[record.outcome] ?? 0) + 1;
    slot.network += record.network_bytes;
  }

  #schedule() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      this.#take();
    });
  }

  /// Moves the queue into the table: once a frame, and not while the user reads.
  #take() {
    if (this.#queue.length === 0) return;
    if (this.#isPaused || !this.table.isAtTop || this.table.active > 0) {
      this.#missed = this.#queue.length;
      return;
    }
    const taken = this.#queue;
    this.#queue = [];
    this.#missed = 0;
    this.#records = this.#records.concat(taken).slice(-KEPT);
    this.#shown = this.#shown.concat(taken.filter((record) => this.#fits(record))).slice(-KEPT);
    this.table.setCount(this.#shown.length);
    this.table.refresh();
    if (this.notice.firstChild) this.#showNotice();
  }

  // MARK: What the user does

  #fits(record) {
    return this.#outcomes.has(record.outcome) && (this.host === "" || (record.host ?? "").includes(this.host));
  }

  #filter() {
    this.host = this.hostField.value.trim().toLowerCase();
    this.#shown = this.#records.filter((record) => this.#fits(record));
    this.table.setCount(this.#shown.length);
    this.table.scrollToTop();
    this.#showNotice();
  }

  #toggle(key, button) {
    const isOn = !this.#outcomes.has(key);
    if (isOn) this.#outcomes.add(key);
    else this.#outcomes.delete(key);
    button.setAttribute("aria-pressed", String(isOn));
    this.#filter();
  }

  #pause(isPaused) {
    this.#isPaused = isPaused;
    this.pauseButton.setAttribute("aria-pressed", String(isPaused));
    put(this.pauseButton, isPaused ? "Resume" : "Pause");
    this.#context.announce(isPaused ? "The stream is paused" : "The stream goes on");
    if (!isPaused) this.table.scrollToTop();
    this.#schedule();
    this.#tick();
  }

  #record(index) {
    return this.#shown[this.#shown.length - 1 - index];
  }

  #address(record) {
    return api.link("entry", {url: record.url, partition: record.partition, cut: record.is_truncated ? 1 : null});
  }

  #open(index) {
    const record = this.#record(index);
    if (record) location.hash = this.#address(record);
  }

  #fill(index, cells, row) {
    const record = this.#record(index);
    if (!record) return;
    const [time, outcome, status, method, url, disk, network, duration, process] = cells;
    row.classList.add(`outcome-${record.outcome}`);
    time.textContent = clock(record.time);
    put(outcome, h(`span.shape.ink-${record.outcome}`, {"aria-hidden": "true"}, SHAPES[record.outcome] ?? "?"), record.outcome,
      record.is_background ? h("span.note", " in background") : null);
    status.textContent = record.status ?? "–";
    method.textContent = record.method;
    url.textContent = record.is_truncated ? `${record.url}…` : record.url;
    url.href = this.#address(record);
    disk.textContent = record.disk_bytes > 0 ? bytes(record.disk_bytes) : "–";
    network.textContent = record.network_bytes > 0 ? bytes(record.network_bytes) : "–";
    duration.textContent = milliseconds(record.milliseconds);
    process.textContent = record.process;
  }

  // MARK: The last minute

  #tick() {
    const now = Math.floor(Date.now() / 1000);
    const slots = Array.from({length: SECONDS}, (_, index) => {
      const slot = this.#seconds[(now - SECONDS + 1 + index) % SECONDS];
      return slot?.second === now - SECONDS + 1 + index ? slot : emptySecond();
    });
    const sum = (key, of = slots) => of.reduce((total, slot) => total + slot[key], 0);
    const requests = sum("requests");
    const recent = slots.slice(-6, -1);
    put(this.tiles, [
      ["Requests a second", count(Math.round(sum("requests", recent) / recent.length))],
      ["Hit ratio, last minute", requests > 0 ? percent(1 - (sum("miss") + sum("error")) / requests) : "–"],
      ["From the network, last minute", bytes(sum("network"))],
    ].map(([name, value]) => h("div.tile", h("dt", name), h("dd", value))));
    this.chart.show((width) => this.#pulse(width, slots));
    const held = this.#missed > 0 && this.#queue.length > 0;
    this.status.textContent = [
      this.#isPaused ? "Paused" : held ? "Held while you read; scroll to the top to go on" : this.#source ? "Live" : "Not connected",
      held || this.#isPaused ? `${count(this.#queue.length)}${this.#queue.length >= KEPT ? " or more" : ""} new` : null,
      `${count(this.#shown.length)} shown, at most ${count(KEPT)}`,
      this.#lost > 0 ? `${count(this.#lost)} lost` : null,
    ].filter(Boolean).join(" · ");
  }

  #pulse(width, slots) {
    const height = 56;
    const max = Math.max(1, ...slots.map((slot) => slot.requests));
    const step = width / SECONDS;
    const {definitions, bar} = patterns();
    return drawing(width, height, `Requests in each of the last ${SECONDS} seconds, at most ${count(max)} a second`, definitions,
      slots.map((slot, index) => {
        let y = height;
        return OUTCOMES.filter(({key}) => slot[key] > 0).map(({key}) => {
          const size = (slot[key] / max) * height;
          y -= size;
          return bar(key, {x: index * step, y, width: Math.max(1, step - 1), height: size});
        });
      }));
  }

  #showNotice() {
    const state = this.#state;
    const isOff = state && !state.recording;
    put(this.notice, isOff ? h("div.empty.compact",
      h("p", h("strong", "The store records no requests. "), "Processes on it write to the record after ",
        h("code", `cachestore record on --store ${this.#context.session.directory}`), "."),
      this.#context.session.allows_changes
        ? h("button.primary", {onclick: () => this.#startRecording()}, "Record requests") : null)
      : state && this.#shown.length === 0 ? h("p.empty.compact", this.#records.length > 0
        ? "No recent request fits the filter." : "No request yet. Each request that a process answers from this store appears here.") : null);
  }

  async #startRecording() {
    try {
      await api.post("recording", {on: true});
    } catch (error) {
      put(this.notice, failed(error));
    }
  }
}

"""#),
WebFile("overview.js", #"""
// Overview: totals, the answers over time, latencies, and the treemap whose areas filter the rest.

import * as api from "./api.js";
import {Timeline, Chart, latencyHistograms, legend} from "./charts.js";
import {empty, failed, field, h, linkButton, put, section, select, table, tile} from "./dom.js";
import {OUTCOMES, bytes, count, percent, plural, seconds} from "./format.js";
import {Treemap} from "./treemap.js";

const REFRESH = 5000;
const SPANS = [["", "the whole record"], ["5", "5 minutes"], ["15", "15 minutes"], ["60", "1 hour"], ["360", "6 hours"],
  ["1440", "1 day"], ["10080", "7 days"]];

export class Overview {
  #context;
  #timer = 0;
  #host = null;
  #type = null;
  #groups = null;
  #latest = api.latest();

  constructor(context) {
    this.#context = context;
    this.span = select(SPANS, "", {"data-key": "/", onchange: () => this.#reload()});
    this.tiles = h("dl.tiles");
    this.chosen = h("div.chosen");
    this.timeline = new Timeline();
    this.latency = new Chart("latency");
    this.legend = h("div");
    this.hosts = h("div");
    this.answers = h("div");
    this.problem = h("div");
    this.treemap = new Treemap((choice) => this.#choose(choice));
    this.treemapNote = h("p.note");
    this.element = h("div.panel",
      h("div.heading", h("h1", "Overview"), h("div.field.inline", field("Requests of", this.span))),
      this.problem, this.tiles, this.chosen,
      h("div.columns",
        section("Answers over time", this.answers, this.legend, this.timeline.element),
        section("Bytes by host, content type and last use", this.treemap.element, this.treemapNote)),
      h("div.columns",
        section("Time to the head of the response, by outcome", this.latency.element),
        section("Hosts with the most requests", this.hosts)));
  }

  show({host, type, minutes}) {
    this.#host = host ?? null;
    this.#type = type ?? null;
    this.span.value = minutes ?? "";
    this.#showChoice();
    this.#drawTreemap();
    this.#reload();
    this.#loadBytes();
    clearInterval(this.#timer);
    this.#timer = setInterval(() => { if (!document.hidden) this.#reload(); }, REFRESH);
  }

  hide() { clearInterval(this.#timer); }

  async #reload() {
    this.#context.keep("overview", {host: this.#host, type: this.#type, minutes: this.span.value});
    const width = this.timeline.element.clientWidth || 600;
    try {
      const result = await this.#latest(async (signal) => Promise.all([
        api.get("statistics", {}, signal),
        api.get("overview", {
          minutes: this.span.value, buckets: width < 500 ? 30 : width > 1400 ? 120 : 60, host: this.#host}, signal),
      ]));
      if (result === null || !this.element.isConnected) return;
      put(this.problem);
      this.#showTotals(result[0]);
      this.#showRequests(result[1]);
    } catch (error) {
      put(this.problem, failed(error));
    }
  }

  #showTotals({totals, answers, index_bytes: indexBytes}) {
    const all = answers.hits + answers.stale + answers.revalidated + answers.misses + answers.errors;
    const saved = answers.hits + answers.stale + answers.revalidated;
    put(this.tiles,
      tile("Entries", count(totals.entries), plural(totals.files, "body file", "body files")),
      tile("Bodies on disk", bytes(totals.physical_bytes), totals.logical_bytes > totals.physical_bytes
        ? `${bytes(totals.logical_bytes - totals.physical_bytes)} saved by sharing` : "none shared"),
      tile("Index", bytes(indexBytes), totals.eviction_policy),
      tile("Hit ratio, all time", all > 0 ? percent(saved / all) : "–", plural(all, "request", "requests")),
      tile("Failing keys", count(totals.failing_keys), totals.failing_keys > 0
        ? h("a", {href: api.link("failures")}, "show failures") : "none", totals.failing_keys > 0 ? "warns" : null),
      tile("Damaged bodies", count(totals.damaged_bodies), totals.damaged_bodies > 0 ? "are loaded again" : "none",
        totals.damaged_bodies > 0 ? "warns" : null));
  }

  #showRequests(data) {
    if (data.requests === 0) {
      put(this.answers, empty(data.recording.exists
        ? "The record has no request of this time and host. Choose a longer time, or clear the filter."
        : ["Nothing is recorded. ", h("code", `cachestore record on --store ${this.#context.session.directory}`),
          " lets all processes on the store record their requests."]));
    } else {
      const saved = data.series.reduce((sum, bucket) => sum + bucket.saved_bytes, 0);
      put(this.answers, h("p.note", `${plural(data.requests, "request", "requests")} in `
        + `${seconds((data.to - data.from) / 1000)}, one bar for each ${seconds(data.bucket_milliseconds / 1000)}; `
        + `${bytes(saved)} saved${data.lost > 0 ? `; ${count(data.lost)} records lost` : ""}.`));
    }
    this.timeline.element.hidden = this.legend.hidden = data.requests === 0;
    const totals = Object.fromEntries(OUTCOMES.map(({key}) => [key, data.series.reduce((sum, bucket) => sum + bucket[key], 0)]));
    put(this.legend, legend(totals));
    this.timeline.show(data);
    this.latency.show((width) => (data.requests > 0 ? latencyHistograms(width, data.latency)
      : empty("No requests, hence no times.")));
    put(this.hosts, data.hosts.length === 0 ? empty("No requests.") : table(
      "Hosts with the most requests", ["Host", "#Requests", "#Hit ratio",
        "#Misses", "#Errors", "#Saved"],
      data.hosts.slice(0, 12).map((host) => {
        const all = OUTCOMES.reduce((sum, {key}) => sum + host[key], 0);
        return [h("a", {href: api.link("overview", {host: host.host, minutes: this.span.value})}, host.host || "no host"),
          count(all), percent(1 - (host.miss + host.error) / all), count(host.miss), count(host.error),
          bytes(host.saved_bytes)];
      })));
  }

  async #loadBytes() {
    try {
      const answer = await api.get("bytes");
      this.#groups = answer;
      this.#drawTreemap();
    } catch (error) {
      this.treemapNote.textContent = error.message;
    }
  }

  #drawTreemap() {
    if (!this.#groups) return;
    const {groups, other} = this.#groups;
    const isKnown = this.#host === null || groups.some((group) => group.host === this.#host);
    this.treemap.show(groups, isKnown ? this.#host : null);
    this.treemapNote.textContent = groups.length === 0 ? "The store is empty. Load something through it: cachestore get URL."
      : (this.#host === null ? "An area filters the charts by its host. " : "Content types of the host, by their last use. ")
      + (other.entries > 0 ? `Not drawn: ${plural(other.entries, "entry", "entries")} in smaller groups, ${bytes(other.bytes)}. ` : "");
  }

  #choose({host, content_type: type}) {
    if (this.#host === null) this.#context.go("overview", {host, type, minutes: this.span.value});
    else this.#context.go("entries", {host: this.#host, type});
  }

  #showChoice() {
    put(this.chosen, this.#host === null ? null : [
      h("span", "Only ", h("strong", this.#host || "entries without a host"), this.#type ? `, chosen by ${this.#type}` : ""),
      h("a.button", {href: api.link("entries", {host: this.#host, type: this.#type})},
        this.#type ? `Entries with ${this.#type}` : "Entries"),
      this.#type ? linkButton("All its entries", "entries", {host: this.#host}) : null,
      linkButton("Live", "live", {host: this.#host}),
      linkButton("Clear the filter", "overview", {minutes: this.span.value})]);
    this.chosen.hidden = this.#host === null;
  }
}

"""#),
WebFile("paging.js", #"""
// Pages of rows that follow one another by a cursor. Holds a bounded number of them, whatever the length of the table.

const KEPT = 40;

/// The rows of a table with a million of them. A dropped page is loaded again from its own cursor.
export class Pages {
  #load;
  #changed;
  #pages = [];
  #next = null;
  #hasEnded = false;
  #isLoading = false;
  #generation = 0;
  #uses = 0;
  total = null;
  isSearching = false;

  /// - `load(cursor, signal)`: answers `{rows, next, total, isComplete}`.
  /// - `changed(error)`: called after each page.
  constructor(load, changed) {
    this.#load = load;
    this.#changed = changed;
  }

  get count() {
    const last = this.#pages.at(-1);
    return last ? last.start + last.count : 0;
  }

  get hasEnded() { return this.#hasEnded; }
  get isLoading() { return this.#isLoading; }

  /// Starts again from the first row.
  reset() {
    this.#generation += 1;
    this.controller?.abort();
    this.controller = new AbortController();
    this.#pages = [];
    this.#next = null;
    this.#hasEnded = false;
    this.#isLoading = false;
    this.isSearching = false;
    this.#append();
  }

  /// Stops the search for rare rows.
  stop() {
    this.#generation += 1;
    this.controller?.abort();
    this.#isLoading = false;
  }

  /// Returns the row, or `null` while its page is loaded.
  rowAt(index) {
    const page = this.#pageOf(index);
    if (!page) return null;
    page.used = this.#uses += 1;
    if (page.rows) return page.rows[index - page.start] ?? null;
    this.#reload(page);
    return null;
  }

  /// Loads ahead of the visible rows, so that scrolling does not wait.
  prepare(last) {
    if (!this.#hasEnded && !this.#isLoading && last > this.count - 600) this.#append();
  }

  #pageOf(index) {
    let [low, high] = [0, this.#pages.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const page = this.#pages[middle];
      if (index < page.start) high = middle - 1;
      else if (index >= page.start + page.count) low = middle + 1;
      else return page;
    }
    return null;
  }

  async #append() {
    const generation = this.#generation;
    this.#isLoading = true;
    try {
      const answer = await this.#load(this.#next, this.controller.signal);
      if (generation !== this.#generation) return;
      if (answer.rows.length > 0) {
        this.#pages.push({
          start: this.count, count: answer.rows.length, after: this.#next, rows: answer.rows,
          used: this.#uses += 1,
        });
      }
      this.total = answer.total;
      this.#next = answer.next;
      this.#hasEnded = !answer.next;
      this.#isLoading = false;
      this.isSearching = !this.#hasEnded && !answer.isComplete;
      this.#dropUnused();
      this.#changed(null);
      if (this.isSearching) this.prepare(this.count);
    } catch (error) {
      if (generation !== this.#generation || error.name === "AbortError") return;
      this.#isLoading = false;
      this.#hasEnded = true;
      this.#changed(error);
    }
  }

  async #reload(page) {
    if (page.isLoading) return;
    const generation = this.#generation;
    page.isLoading = true;
    try {
      const answer = await this.#load(page.after, this.controller.signal);
      if (generation !== this.#generation) return;
      page.rows = answer.rows;
      this.#dropUnused();
      this.#changed(null);
    } catch (error) {
      if (generation === this.#generation && error.name !== "AbortError") this.#changed(error);
    } finally {
      page.isLoading = false;
    }
  }

  #dropUnused() {
    const loaded = this.#pages.filter((page) => page.rows);
    if (loaded.length <= KEPT) return;
    loaded.sort((one, two) => one.used - two.used);
    for (const page of loaded.slice(0, loaded.length - KEPT)) page.rows = null;
  }
}

"""#),
WebFile("panels.css", #"""
/* Panels: tiles, tables, charts. */

.panel { display: flex; flex-direction: column; gap: 1rem; }
.panel > div:empty { display: none; }
.panel.fills { height: 100%; gap: 0.75rem; }
.heading { display: flex; flex-wrap: wrap; align-items: center; gap: 0.3rem 1rem; }
.heading .status { margin-left: auto; color: var(--muted); }
.heading .field.inline { margin-left: auto; }
.heading.result h2 { margin: 0; }
.status:empty { display: none; }
section, fieldset {
  background: var(--surface); border: 1px solid var(--line); border-radius: 8px; padding: 0.85rem 1rem 1rem; min-width: 0; margin: 0;
}
section > * + *, .candidate > * + * { margin-top: 0.6rem; }
section > h2 + * { margin-top: 0; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr)); gap: 1rem; align-items: start; }
.columns > section { height: 100%; }

.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 0.6rem; }
.tile { background: var(--surface); border: 1px solid var(--line); border-radius: 8px; padding: 0.55rem 0.8rem; min-width: 0; }
.tile dt { font-size: 0.85em; color: var(--muted); }
.tile dd { font-size: 1.3rem; font-weight: 600; letter-spacing: -0.01em; overflow-wrap: anywhere; line-height: 1.3; }
.tile dd.note { font-size: 0.85em; font-weight: 400; letter-spacing: 0; color: var(--muted); }
.tile.warns { background: var(--warning-soft); border-color: var(--stale); }
.tile.warns dt::before { content: "▲ "; color: var(--stale); }

/* Tables */

.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 0.28rem 0.75rem 0.28rem 0; vertical-align: top; border-bottom: 1px solid var(--line); }
th.number, td.number { text-align: right; white-space: nowrap; }
th:last-child, td:last-child { padding-right: 0.15rem; }
thead th { font-weight: 500; font-size: 0.87em; color: var(--muted); white-space: nowrap; }
tbody th { font-weight: 400; }
tbody tr:last-child > * { border-bottom: 0; }
td a { overflow-wrap: anywhere; }
.fields td:first-child { width: 14rem; }
.terms tr:is(:nth-child(5), :nth-child(7)) > * { font-weight: 650; border-top: 1px solid var(--strong-line); }
.wide td:first-child, .next td:nth-child(2) { min-width: 14rem; }
.next td:nth-child(3) { min-width: 9rem; color: var(--muted); }

.grid {
  --row-height: 1.85; --columns: 1fr; position: relative; flex: 1 1 auto; min-height: 12rem; overflow: auto; border: 1px solid var(--line);
  border-radius: 8px; background: var(--surface); contain: strict; overflow-anchor: none;
}
.grid:focus-visible { outline-offset: -2px; border-radius: 8px; }
.grid .row {
  display: grid; grid-template-columns: var(--columns); column-gap: 0.9rem; align-items: center; padding: 0 0.8rem;
  height: calc(var(--row-height) * 1rem); white-space: nowrap;
}
.grid .rows { position: relative; }
.grid .rows .row { position: absolute; inset: 0 0 auto 0; cursor: pointer; border-bottom: 1px solid color-mix(in srgb, var(--line) 55%, transparent); contain: strict; }
.grid .row > * { overflow: hidden; text-overflow: ellipsis; }
.grid .rows .row:hover { background: var(--raised); }
.grid .rows .row.active { background: var(--accent-soft); box-shadow: inset 3px 0 var(--accent); }
.grid .rows .row[aria-selected="true"] { background: var(--accent-soft); }
.grid .header { position: sticky; top: 0; z-index: 2; background: var(--raised); font-size: 0.87em; color: var(--muted); height: calc(var(--row-height) * 1rem); border-bottom: 1px solid var(--line); }
.grid .header button { all: unset; cursor: pointer; text-decoration: underline dotted; text-underline-offset: 3px; }
.grid .header button:focus-visible { outline: 2px solid var(--accent); }
.grid [aria-sort="ascending"]::after { content: " ↑"; }
.grid [aria-sort="descending"]::after { content: " ↓"; }
.grid a { color: inherit; text-decoration: none; font-family: var(--mono); font-size: 0.92em; }
.grid .header .url { font: inherit; }
.grid .time, .grid .process, .grid .method, .grid .type { color: var(--muted); }
.live-table { --columns: 6.9rem 8rem 3rem 3.6rem minmax(6rem, 1fr) 5rem 5rem 5.2rem 4.2rem; }
.entries-table { --columns: 8.8rem minmax(8rem, 1fr) 3.2rem 9rem 5.2rem 5.4rem 5.8rem 6rem 4.2rem; }
.entries-table .check { display: none; }
.entries-table.selectable { --columns: 1.3rem 8.8rem minmax(8rem, 1fr) 3.2rem 9rem 5.2rem 5.4rem 5.8rem 6rem 4.2rem; }
.entries-table.selectable .check { display: block; font-size: 1.1em; }
.entries-table .state.stale { color: var(--muted); }
.output { min-width: 0; }
.sql-table { height: calc(var(--rows) * 1.85rem + 1.2rem); min-height: 0; flex: none; font-family: var(--mono); font-size: 0.92em; }
.sql-table .row { width: max-content; min-width: 100%; }
.sql-table .rows { width: max-content; min-width: 100%; }
.sql-table .rows .row { cursor: default; contain: none; }
.sql-table .null { color: var(--muted); font-style: italic; }

@media (max-width: 68rem) {
  .live-table { --columns: 6.9rem 8rem 3rem minmax(6rem, 1fr) 5rem 5.2rem; }
  .live-table .method, .live-table .process, .live-table .disk { display: none; }
  .entries-table { --columns: 8.8rem minmax(8rem, 1fr) 3.2rem 5.2rem 5.4rem 6rem; }
  .entries-table.selectable { --columns: 1.3rem 8.8rem minmax(8rem, 1fr) 3.2rem 5.2rem 5.4rem 6rem; }
  .entries-table .type, .entries-table .stored, .entries-table .hits { display: none; }
}
@media (max-width: 40rem) {
  .panel > div:empty { display: none; }
.panel.fills { height: auto; min-height: 100%; }
  .grid { --row-height: 3.3; min-height: 24rem; flex: 1 0 24rem; }
  .sql-table { --row-height: 1.85; flex: none; min-height: 0; }
  .grid:not(.sql-table) .header { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  .grid:not(.sql-table) .row { column-gap: 0.6rem; align-content: center; grid-template-rows: auto auto; }
  .live-table { --columns: auto auto minmax(0, 1fr) auto; }
  .live-table .url { grid-row: 1; grid-column: 1 / -1; }
  .live-table .time, .live-table .status { display: none; }
  .live-table .network { grid-column: 3; }
  .entries-table { --columns: auto auto minmax(0, 1fr) auto; }
  .entries-table.selectable { --columns: 1.3rem auto auto minmax(0, 1fr) auto; }
  .entries-table.selectable .state { grid-column: 2; }
  .filters { display: grid; grid-template-columns: 1fr 1fr; }
  .filters > .filter-prefix, .filters > .field:has(.toggles) { grid-column: 1 / -1; }
  .entries-table .url { grid-row: 1; grid-column: 1 / -1; }
  .entries-table .used { display: none; }
  .entries-table.selectable .url { grid-column: 2 / -1; }
  .entries-table.selectable .check { grid-row: 1; grid-column: 1; }
}

/* Charts */

.chart { width: 100%; min-width: 0; overflow: hidden; }
.chart svg, .legend svg { display: block; }
svg text { fill: var(--ink); font-size: 12px; font-variant-numeric: tabular-nums; }
svg text.tick { fill: var(--muted); font-size: 11px; }
svg text.title { font-weight: 600; }
.fill-hit, .ink-hit { fill: var(--hit); color: var(--hit); }
.fill-coalesced, .ink-coalesced { fill: var(--coalesced); color: var(--coalesced); }
.fill-revalidated, .ink-revalidated { fill: var(--revalidated); color: var(--revalidated); }
.fill-stale, .ink-stale { fill: var(--stale); color: var(--stale); }
.fill-miss, .ink-miss { fill: var(--miss); color: var(--miss); }
.fill-error, .ink-error { fill: var(--error); color: var(--error); }
.fill-saved { fill: var(--hit); }
.outline-network { fill: none; stroke: var(--miss); stroke-width: 1.2; }
.hatch { stroke: var(--surface); stroke-width: 1.1; fill: none; opacity: 0.75; }
.rule { stroke: var(--line); fill: none; shape-rendering: crispEdges; }
.line { stroke: var(--hit); stroke-width: 1.8; fill: none; stroke-linejoin: round; stroke-linecap: round; }
.pointer { stroke: var(--ink); stroke-dasharray: 3 3; fill: none; }
.cursor { cursor: crosshair; }
.readout { font-size: 0.9em; color: var(--muted); min-height: 2.9em; }
.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; margin-bottom: 0.5rem; font-size: 0.9em; }
.legend li { display: flex; align-items: center; gap: 0.35rem; }
.pulse-row { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 4fr); gap: 0.75rem; align-items: stretch; }
.pulse { background: var(--surface); border: 1px solid var(--line); border-radius: 8px; padding: 0.5rem 0.7rem; display: flex; align-items: flex-end; }
@media (max-width: 52rem) {
  .pulse-row { grid-template-columns: minmax(0, 1fr); }
  .pulse-row .tiles { grid-template-columns: repeat(3, 1fr); }
  .pulse-row .tile { padding: 0.4rem 0.5rem; }
  .pulse-row .tile dd { font-size: 1.1rem; }
}

.treemap .group { fill: var(--raised); stroke: var(--strong-line); }
.area { cursor: pointer; outline: none; }
.area rect { stroke: var(--surface); fill: color-mix(in srgb, var(--shade, var(--revalidated)) 24%, var(--surface)); }
.shade-b ~ * { --shade: var(--hit); }
.shade-c ~ * { --shade: var(--stale); }
.shade-d ~ * { --shade: var(--miss); }
.shade-e ~ * { --shade: var(--coalesced); }
.shade-f ~ * { --shade: var(--error); }
.area:hover rect { stroke: var(--ink); }
.area:focus-visible rect { stroke: var(--accent); stroke-width: 3; }
svg .area text.tick { fill: var(--ink); }

.freshness .fresh, .limit .stay { fill: var(--fresh-soft); }
.freshness .stale, .limit .leave { fill: var(--stale-soft); }
.freshness .window { fill: var(--stale); }
.freshness .border { fill: none; stroke: var(--strong-line); }
.freshness .now { stroke: var(--ink); fill: var(--ink); stroke-width: 1.5; }
div.limit:not(.chart) { display: grid; grid-template-columns: 1fr minmax(7rem, 10rem); gap: 0.5rem 1rem; align-items: end; }

/* Single panels */

.chosen { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem; background: var(--accent-soft); padding: 0.5rem 0.8rem; border-radius: 8px; }
.facts { display: grid; gap: 0.25rem; }
.facts > div { display: grid; grid-template-columns: 7.5rem minmax(0, 1fr); gap: 0.75rem; align-items: baseline; }
.facts dt { color: var(--muted); font-size: 0.92em; }
.line:not(path) { display: block; overflow-wrap: anywhere; }
pre {
  margin: 0; max-height: 26rem; overflow: auto; background: var(--raised); border-radius: 6px; padding: 0.7rem 0.85rem;
  white-space: pre-wrap; overflow-wrap: anywhere;
}
.preview img {
  max-width: 100%; max-height: 26rem; display: block; border: 1px solid var(--line); border-radius: 6px;
  background: repeating-conic-gradient(var(--raised) 0 25%, var(--surface) 0 50%) 0 0 / 16px 16px;
}
.verdict { border: 1px solid var(--line); border-left: 5px solid var(--accent); border-radius: 8px; background: var(--surface); padding: 0.9rem 1.1rem; display: grid; gap: 0.5rem; margin-bottom: 1rem; }
.verdict.hit { border-left-color: var(--hit); }
.verdict.stale-hit, .verdict.stale-while-revalidating { border-left-color: var(--stale); }
.verdict.unsatisfiable, .verdict.remove { border-left-color: var(--danger); }
.verdict .outcome { font-size: 1.25rem; font-weight: 650; }
.candidate + .candidate { border-top: 1px solid var(--line); padding-top: 0.9rem; margin-top: 1rem; }
.later { background: var(--surface); border: 1px solid var(--line); border-radius: 8px; padding: 0.7rem 1rem; }
.later .readout { display: block; min-height: 0; margin-bottom: 0.4rem; color: var(--ink); }
.sql { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 1rem 1.5rem; }
.sql > div { display: grid; gap: 0.6rem; align-content: start; }
.save { display: grid; grid-template-columns: 1fr auto auto; gap: 0.5rem; align-items: end; }
.sample { padding-left: 1.2rem; max-height: 14rem; overflow: auto; }
fieldset { display: grid; gap: 0.6rem; }
legend { font-weight: 650; padding: 0 0.3rem; margin-left: -0.3rem; }
.choice { display: flex; align-items: center; gap: 0.55rem; }
.choice label { font-size: 1em; color: var(--ink); margin: 0; }
.change .filters { padding-left: 1.6rem; }
@media (max-width: 52rem) {
  .sql { grid-template-columns: minmax(0, 1fr); }
  .fields td:first-child { width: auto; }
  .facts > div { grid-template-columns: 6rem minmax(0, 1fr); }
}

"""#),
WebFile("preview.js", #"""
// The beginning of a stored body. Text stays text and is never interpreted; an image is only decoded.

import * as api from "./api.js";
import {empty, failed, h, put} from "./dom.js";
import {bytes} from "./format.js";

const FIRST = 65_536;

export function preview({entry, preview: kind}) {
  const box = h("div.preview");
  const download = h("a.button", {href: api.path("body", {id: entry.id, download: 1}), download: ""}, `Save ${bytes(entry.byte_size)}`);
  if (kind === "empty") return empty("The body is empty.");
  if (kind === "image") {
    put(box, h("img", {src: api.path("body", {id: entry.id, max: 1_048_576}), alt: `Body of ${entry.url}`, onerror: () =>
      put(box, empty("The image cannot be decoded."))}));
  } else if (kind === "binary") {
    put(box, empty("The body is neither text nor an image that is shown here."));
  } else {
    showText(box, entry, kind);
  }
  return [box, h("div.actions", download)];
}

async function showText(box, entry, kind) {
  try {
    const {text, length} = await api.text("body", {id: entry.id, max: FIRST});
    const isWhole = length <= FIRST;
    let shown = text;
    if (kind === "json" && isWhole) {
      try {
        shown = JSON.stringify(JSON.parse(text), null, 2);
      } catch { /* Shows the text as it is. */ }
    }
    put(box, h("pre", {tabindex: 0, role: "group", "aria-label": "Body as text"}, shown),
      isWhole ? null : h("p.note", `The first ${bytes(FIRST)} of ${bytes(length)}.`));
  } catch (error) {
    put(box, failed(error));
  }
}

"""#),
WebFile("sql.js", #"""
// SQL: an editor on the read-only views.

import * as api from "./api.js";
import {copyButton, download, empty, facts, failed, field, h, put} from "./dom.js";
import {count, milliseconds, plural} from "./format.js";
import {VirtualTable} from "./table.js";

const SAVED = "inspector-queries";
const FIRST = "SELECT host, entries, byte_size, hits\nFROM cache_hosts\nORDER BY byte_size DESC\nLIMIT 20";
const VIEWS = {
  cache_entries: "every stored response", cache_stats: "the store in one row", cache_hosts: "one row per host",
  cache_partitions: "one row per partition", cache_requests: "the answers to requests, per host",
  cache_errors: "requests whose latest load failed", cache_derived: "derived representations", cache_version: "the version of the views",
};

function display(value) {
  if (value === null) return "NULL";
  if (typeof value === "object") return `x'${value.hex}'`;
  return String(value);
}

/// Quotes a value for CSV (RFC 4180). A text that a spreadsheet would run as a formula gets a leading apostrophe.
function csvValue(value) {
  if (value === null) return "";
  let text = typeof value === "object" ? value.hex : String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text;
}

function csv({columns, rows}) {
  return [columns, ...rows].map((row) => row.map(csvValue).join(",")).join("\r\n");
}

function json({columns, rows}) {
  return JSON.stringify(rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index]]))), null, 2);
}

export class SQL {
  #context;
  #latest = api.latest();
  #result = null;
  #format = "table";

  constructor(context) {
    this.#context = context;
    this.editor = h("textarea.code", {rows: 7, spellcheck: "false", autocomplete: "off", "data-key": "/", value: FIRST,
      onkeydown: (event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        this.#run();
      }});
    this.queries = h("select", {onchange: () => this.#load()});
    this.name = h("input", {type: "text", placeholder: "name of the query", autocomplete: "off"});
    this.runButton = h("button.primary", {onclick: () => this.#run()}, "Run ", h("kbd", "Ctrl+Enter"));
    this.deleteButton = h("button", {disabled: true, onclick: () => this.#delete()}, "Delete");
    this.formats = h("div.toggles", {role: "group", "aria-label": "Format of the result"}, ["table", "CSV", "JSON"].map((name) =>
      h("button", {"aria-pressed": String(name === "table"), onclick: () => this.#show(name.toLowerCase())}, name)));
    this.status = h("p.status", {role: "status"});
    this.output = h("div.output", empty("Run the query to see its rows here."));
    this.note = h("div");
    this.saveNote = h("span.note", {role: "status"});
    this.element = h("div.panel", h("div.heading", h("h1", "SQL"), this.status), this.note,
      h("div.sql", h("div",
        field("Query, read only", this.editor),
        h("div.actions", this.runButton, copyButton(() => this.#link(), "Copy a link", "Copy a link to this query"), h("span.note",
          `at most ${plural(context.session.sql.max_rows, "row", "rows")} and ${plural(context.session.sql.timeout_seconds, "second", "seconds")}`))),
      h("div",
        field("Saved queries", this.queries),
        h("div.save", field("Save this query as", this.name), h("button", {onclick: () => this.#save()}, "Save"), this.deleteButton),
        this.saveNote, this.#views())),
      h("div.heading.result", h("h2", "Result"), this.formats,
        copyButton(() => this.#text(), "Copy", "Copy the result"),
        h("button.small", {onclick: () => this.#saveFile(), "aria-label": "Save the result as a file"}, "Save as file")),
      this.output);
    this.#listQueries();
  }

  show({sql}) {
    if (sql === undefined) return;
    // A link fills the editor; only the user runs a query.
    if (sql !== this.editor.value) {
      this.editor.value = sql;
      put(this.note, empty("This query came with the link. Read it, then run it."));
    }
  }

  #views() {
    return h("details", h("summary", "Views"), facts(Object.entries(VIEWS).map(([name, meaning]) => [
      h("button.small", {onclick: () => {
        this.editor.value = `SELECT *\nFROM ${name}\nLIMIT 100`;
        this.editor.focus();
      }}, name), meaning])));
  }

  #link() {
    return new URL(api.link("sql", {sql: this.editor.value}), location.href).href;
  }

  // MARK: Saved queries

  #own() {
    try {
      const list = JSON.parse(localStorage.getItem(SAVED) ?? "[]");
      return Array.isArray(list) ? list.filter(({title, sql}) => typeof title === "string" && typeof sql === "string") : [];
    } catch {
      return [];
    }
  }

  #listQueries(chosen = "") {
    const group = (label, prefix, list) => (list.length === 0 ? null : h("optgroup", {label},
      list.map(({title}, index) => h("option", {value: `${prefix}${index}`}, title))));
    put(this.queries, h("option", {value: ""}, "choose…"), group("Yours", "own:", this.#own()),
      group("Built in", "built-in:", this.#context.session.sql.queries));
    this.queries.value = chosen;
    this.deleteButton.disabled = !chosen.startsWith("own:");
  }

  #load() {
    const [kind, index] = this.queries.value.split(":");
    const query = (kind === "own" ? this.#own() : this.#context.session.sql.queries)[Number(index)];
    this.deleteButton.disabled = kind !== "own";
    if (!query || this.queries.value === "") return;
    this.editor.value = query.sql;
    if (kind === "own") this.name.value = query.title;
    this.#run();
  }

  #save() {
    const title = this.name.value.trim();
    if (title === "") {
      this.saveNote.textContent = "Give the query a name first.";
      return this.name.focus();
    }
    const list = this.#own().filter((query) => query.title !== title);
    list.push({title, sql: this.editor.value});
    localStorage.setItem(SAVED, JSON.stringify(list));
    this.#listQueries(`own:${list.length - 1}`);
    this.saveNote.textContent = `Saved “${title}” in this browser.`;
  }

  #delete() {
    const index = Number(this.queries.value.split(":")[1]);
    localStorage.setItem(SAVED, JSON.stringify(this.#own().filter((_, position) => position !== index)));
    this.#listQueries();
    this.saveNote.textContent = "Deleted.";
  }

  // MARK: Results

  async #run() {
    const sql = this.editor.value;
    put(this.note);
    this.#context.keep("sql", {sql});
    this.status.textContent = "Running…";
    try {
      const result = await this.#latest((signal) => api.post("sql", {sql, max_rows: this.#context.session.sql.max_rows}, signal));
      if (!result) return;
      this.#result = result;
      this.status.textContent = `${plural(result.rows.length, "row", "rows")} in ${milliseconds(result.milliseconds)}`
        + (result.is_truncated ? " · cut off: there are more rows" : "");
      this.#show(this.#format);
    } catch (error) {
      this.#result = null;
      this.status.textContent = "";
      put(this.output, failed(error));
    }
  }

  #show(format) {
    this.#format = format;
    for (const button of this.formats.children) {
      button.setAttribute("aria-pressed", String(button.textContent.toLowerCase() === format));
    }
    if (!this.#result) return;
    if (format === "table") this.#showTable();
    else put(this.output, h("pre", {tabindex: 0, role: "group", "aria-label": `Result as ${format.toUpperCase()}`}, this.#text()));
  }

  #showTable() {
    const {columns, rows} = this.#result;
    if (rows.length === 0) return put(this.output, empty("The query has no rows."));
    const isNumber = columns.map((_, index) => rows.slice(0, 50).some((row) => typeof row[index] === "number"));
    const widths = columns.map((name, index) => {
      const longest = rows.slice(0, 100).reduce((most, row) => Math.max(most, display(row[index]).length), name.length);
      return Math.min(60, Math.max(5, longest + 2));
    });
    const table = new VirtualTable({
      name: "sql-table", label: `Result, ${count(rows.length)} rows`,
      columns: columns.map((title, index) => ({name: "cell", title, number: isNumber[index]})),
      fill: (row, cells) => cells.forEach((cell, index) => {
        const value = rows[row][index];
        const text = display(value);
        cell.textContent = text.length > 300 ? `${text.slice(0, 300)}…` : text;
        cell.classList.toggle("null", value === null);
      }),
    });
    table.element.style.setProperty("--columns", widths.map((width) => `minmax(${width}ch, ${width}fr)`).join(" "));
    table.element.style.setProperty("--rows", Math.min(rows.length + 1, 24));
    put(this.output, table.element);
    table.setCount(rows.length);
  }

  #text() {
    if (!this.#result) return "";
    return this.#format === "json" ? json(this.#result) : csv(this.#result);
  }

  #saveFile() {
    if (!this.#result) return;
    if (this.#format === "json") download("result.json", "application/json", this.#text());
    else download("result.csv", "text/csv", this.#text());
  }
}

"""#),
WebFile("style.css", #"""
/* Colours, type, frame and controls. The panels are in panels.css. */

:root {
  color-scheme: light dark;
  --background: light-dark(#f7f7f5, #121417);
  --surface: light-dark(#ffffff, #1a1d22);
  --raised: light-dark(#f0f0ed, #22262c);
  --line: light-dark(#dededa, #30353c);
  --strong-line: light-dark(#84878c, #747b85);
  --ink: light-dark(#1b1d20, #e7e8ea);
  --muted: light-dark(#565b62, #a3a9b2);
  --accent: light-dark(#2456b8, #8fb5ff);
  --on-accent: light-dark(#ffffff, #10192b);
  --accent-soft: light-dark(#e6edfb, #1f2c47);
  --danger: light-dark(#b3261e, #ff9a8f);
  --warning-soft: light-dark(#fdf1dc, #352a14);
  --hit: light-dark(#0b7a5b, #4cc9a0);
  --coalesced: light-dark(#0e6f8a, #5cc8dc);
  --revalidated: light-dark(#2563c9, #7fb0ff);
  --stale: light-dark(#8f5f00, #e2b352);
  --miss: light-dark(#6b5ca5, #b8acf2);
  --error: light-dark(#b8302a, #ff8f84);
  --fresh-soft: light-dark(#cfeadf, #174334);
  --stale-soft: light-dark(#f6e4c3, #463615);
  font: 400 clamp(13.5px, 11.6px + 0.19vw, 20px) / 1.45 system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; }

* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { height: 100%; }
body {
  margin: 0; height: 100dvh; display: grid; grid-template-columns: 13.5rem minmax(0, 1fr);
  background: var(--background); color: var(--ink);
}
h1, h2, h3, p, dl, dd, ul, figure { margin: 0; }
h1 { font-size: 1.35rem; font-weight: 650; letter-spacing: -0.01em; }
h2 { font-size: 0.95rem; font-weight: 650; margin-bottom: 0.5rem; }
h3 { font-size: 0.95rem; font-weight: 600; }
a { color: var(--accent); text-underline-offset: 2px; }
code, pre, .code, .url { font-family: var(--mono); font-size: 0.92em; }
.url, .value { overflow-wrap: anywhere; }
.note { color: var(--muted); font-size: 0.9em; }
.number { text-align: right; }
.shape { display: inline-block; width: 1.25em; }
.unseen {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
kbd {
  font: 0.78em var(--mono); border: 1px solid currentColor; border-radius: 3px; padding: 0 0.3em; opacity: 0.85;
}
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
main:focus, main:focus-visible { outline: none; }
.skip { position: absolute; left: 0.5rem; top: -5rem; z-index: 10; background: var(--surface); padding: 0.5rem 1rem; }
.skip:focus { top: 0.5rem; }

/* The frame */

body > header {
  display: flex; flex-direction: column; gap: 1rem; padding: 1rem 0.75rem; border-right: 1px solid var(--line);
  background: var(--surface); overflow-y: auto;
}
.brand { white-space: nowrap; display: flex; align-items: center; gap: 0.55rem; font-weight: 650; padding: 0 0.5rem; }
#panels { display: flex; flex-direction: column; gap: 2px; }
#panels a {
  display: flex; align-items: center; gap: 0.55rem; padding: 0.36rem 0.5rem; border-radius: 5px; color: var(--ink); text-decoration: none;
}
#panels .icon { width: 1.2em; text-align: center; color: var(--muted); }
#panels kbd { margin-left: auto; color: var(--muted); border-color: var(--line); }
#panels a:hover { background: var(--raised); }
#panels a[aria-current] { background: var(--accent-soft); font-weight: 600; box-shadow: inset 3px 0 var(--accent); }
.about { margin-top: auto; padding: 0 0.5rem; display: flex; flex-direction: column; overflow-wrap: anywhere; }
.about .name { font-weight: 600; }
.tools { display: flex; flex-direction: column; gap: 0.4rem; }
main { overflow-y: auto; padding: 1.15rem 1.5rem 1.5rem; min-width: 0; }

/* Controls */

button, .button, input, select, textarea { font: inherit; color: inherit; }
button, .button {
  display: inline-flex; align-items: center; justify-content: center; gap: 0.4em; min-height: 2.1rem; padding: 0.25rem 0.75rem;
  border: 1px solid var(--strong-line); border-radius: 5px; background: var(--surface); text-decoration: none; cursor: pointer;
  white-space: nowrap;
}
button:not(.primary, .danger):hover, .button:not(.primary):hover { background: var(--raised); }
button:disabled { opacity: 0.55; cursor: default; }
button.primary, .button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600; }
button.danger { background: var(--danger); border-color: var(--danger); color: light-dark(#fff, #2b0a07); font-weight: 600; }
button.small { min-height: 1.7rem; padding: 0 0.5rem; font-size: 0.87em; }
input, select, textarea {
  min-height: 2.1rem; padding: 0.25rem 0.55rem; border: 1px solid var(--strong-line); border-radius: 5px;
  background: var(--surface); width: 100%; min-width: 0;
}
input::placeholder, textarea::placeholder { color: var(--muted); opacity: 1; }
input[type="radio"], input[type="checkbox"] { width: 1.05rem; height: 1.05rem; min-height: 0; flex: none; accent-color: var(--accent); margin: 0; }
input[type="range"] { padding: 0; border: 0; background: none; accent-color: var(--accent); }
input[aria-invalid="true"] { border: 2px solid var(--danger); }
textarea { resize: vertical; line-height: 1.5; display: block; }
label, .label { display: block; font-size: 0.85em; color: var(--muted); margin-bottom: 0.15rem; }
.field { min-width: 0; }
.field.inline .field { display: flex; align-items: center; gap: 0.5rem; }
.field.inline label { margin: 0; white-space: nowrap; }
.field.check { display: flex; align-items: center; gap: 0.45rem; align-self: end; min-height: 2.1rem; }
.field.check label { margin: 0; font-size: 1em; color: var(--ink); }
.field.end { align-self: end; margin-left: auto; }
.filters { display: flex; flex-wrap: wrap; gap: 0.6rem 0.75rem; align-items: end; }
.filters > .field { flex: 0 1 8rem; }
.filters > .field.end, .filters > .field.check, .filters > .field:has(.toggles) { flex: 0 1 auto; }
.filters > .filter-prefix { flex: 1 1 16rem; }
.actions { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; }
.actions:empty { display: none; }
.toggles { display: flex; flex-wrap: wrap; gap: 0.3rem; }
.toggles button[aria-pressed="true"] { background: var(--accent-soft); border-color: var(--accent); }
.toggles button[aria-pressed="false"] { color: var(--muted); text-decoration: line-through; }
.toggles[aria-label^="Format"] button { text-decoration: none; }
.badge {
  display: inline-block; padding: 0.05rem 0.5rem; border: 1px solid var(--line); border-radius: 1rem; font-size: 0.87em;
  font-weight: 500; background: var(--raised); margin-left: 0.4rem;
}
.empty {
  padding: 2rem 1.25rem; border: 1px dashed var(--strong-line); border-radius: 8px; display: flex; flex-direction: column; gap: 0.75rem;
  align-items: flex-start; max-width: 60rem; overflow-wrap: anywhere;
}
.empty.compact { display: block; padding: 0.7rem 0.9rem; color: var(--ink); border-style: solid; border-color: var(--line); background: var(--raised); }
.error {
  padding: 0.7rem 0.9rem; border-left: 4px solid var(--danger); background: var(--raised); border-radius: 4px; overflow-wrap: anywhere;
  white-space: pre-wrap;
}
.error::before { content: "▲ "; color: var(--danger); }

dialog {
  border: 1px solid var(--strong-line); border-radius: 10px; background: var(--surface); color: var(--ink); padding: 1.25rem 1.5rem;
  width: min(34rem, calc(100vw - 2rem));
}
dialog::backdrop { background: rgb(0 0 0 / 45%); }
.keys { display: grid; gap: 0.4rem; margin: 0.5rem 0 1.1rem; }
.keys div { display: grid; grid-template-columns: minmax(7rem, 13rem) 1fr; gap: 1rem; }

@media (max-width: 52rem) {
  body { grid-template-columns: minmax(0, 1fr); grid-template-rows: auto minmax(0, 1fr); }
  body > header {
    display: grid; grid-template-columns: 1fr auto; gap: 0.5rem; padding: 0.5rem 0.75rem; border-right: 0;
    border-bottom: 1px solid var(--line); overflow: visible;
  }
  .brand { padding: 0; }
  .tools { flex-direction: row; }
  .tools button { min-height: 1.9rem; padding: 0 0.5rem; font-size: 0.9em; }
  .about { display: none; }
  #panels { grid-row: 2; grid-column: 1 / -1; display: grid; grid-template-columns: repeat(4, 1fr); gap: 2px; }
  #panels a { padding: 0.3rem; gap: 0.35rem; justify-content: center; }
  #panels .icon, #panels kbd { display: none; }
  #panels a[aria-current] { box-shadow: inset 0 -3px var(--accent); }
  main { padding: 0.85rem 0.75rem 1rem; }
}

@media (prefers-reduced-motion: no-preference) {
  button, .button, #panels a { transition: background-color 90ms ease-out; }
}
@media (forced-colors: active) {
  #panels a[aria-current], .toggles button[aria-pressed="true"] { outline: 2px solid Highlight; }
}

"""#),
WebFile("table.js", #"""
// A table that draws only the visible rows, whatever their number.

import {h, newID} from "./dom.js";

const OVERSCAN = 6;

/// A grid with one tab stop. Arrow keys, Page Up, Page Down, Home and End move the active row, Enter opens it.
export class VirtualTable {
  #options;
  #pool = [];
  #count = 0;
  #active = -1;
  #height = 28;
  #isScheduled = false;

  /// - `name`: the class of the grid, by which the style sheet sets the widths of columns.
  /// - `columns`: `{title, sort, number, link}`; `sort` makes the title a button, `link` the cell a link.
  /// - `fill(index, cells, row)`: writes the row, and returns the address of its link, if it has one.
  /// - `open(index)`, `toggle(index)`, `sort(key)`, `range(first, last)`: called for what the user does.
  constructor(options) {
    this.#options = options;
    this.id = newID("row");
    this.header = h("div.row.header", {role: "row"}, options.columns.map((column) => this.#title(column)));
    this.body = h("div.rows", {role: "rowgroup"});
    this.element = h(`div.grid.${options.name}`, {
      role: "grid", tabindex: 0, "aria-label": options.label, "aria-rowcount": -1,
      "aria-multiselectable": options.toggle ? "true" : null,
      onkeydown: (event) => this.#key(event), onscroll: () => this.#schedule(),
      onclick: (event) => this.#click(event),
    }, h("div", {role: "rowgroup"}, this.header), this.body);
    new ResizeObserver(() => this.#resize()).observe(this.element);
  }

  get active() { return this.#active; }

  /// The number of rows; `total` is the number that assistive tools read, if it differs.
  setCount(count, total = count) {
    this.#count = count;
    this.#active = Math.min(this.#active, count - 1);
    this.body.style.height = `${count * this.#height}px`;
    this.element.setAttribute("aria-rowcount", total < 0 ? -1 : total + 1);
    this.#schedule();
  }

  /// Draws the visible rows again in the next frame.
  refresh() {
    for (const row of this.#pool) row.index = -1;
    this.#schedule();
  }

  scrollToTop() {
    this.element.scrollTop = 0;
    this.#active = -1;
    this.refresh();
  }

  get isAtTop() { return this.element.scrollTop < this.#height / 2; }

  /// Marks the sorted column.
  setSort(key, isAscending) {
    this.#options.columns.forEach((column, index) => {
      const cell = this.header.children[index];
      if (!column.sort) return;
      const isSorted = column.sort === key;
      cell.setAttribute("aria-sort", !isSorted ? "none" : isAscending ? "ascending" : "descending");
    });
  }

  #title(column) {
    const content = column.sort
      ? h("button", {tabindex: -1, onclick: () => this.#options.sort(column.sort)}, column.title)
      : column.title;
    return h(`span${column.number ? ".number" : ""}.${column.name}`, {
      role: "columnheader", "aria-sort": column.sort ? "none" : null,
    }, content);
  }

  #resize() {
    const height = parseFloat(getComputedStyle(this.header).getPropertyValue("--row-height"))
      * parseFloat(getComputedStyle(document.documentElement).fontSize) || 28;
    if (height !== this.#height) {
      this.#height = height;
      this.body.style.height = `${this.#count * height}px`;
    }
    this.refresh();
  }

  #schedule() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      this.#draw();
    });
  }

  #draw() {
    if (!this.element.isConnected) return;
    const visible = Math.ceil(this.element.clientHeight / this.#height);
    const top = Math.floor(this.element.scrollTop / this.#height);
    const first = Math.max(0, top - OVERSCAN);
    const last = Math.min(this.#count, top + visible + OVERSCAN);
    const size = visible + 2 * OVERSCAN + 1;
    while (this.#pool.length < size) this.#pool.push(this.#makeRow(this.#pool.length));
    // A row keeps its element while it stays visible: index modulo the size of the pool.
    for (const row of this.#pool) {
      if (row.index < first || row.index >= last) {
        row.index = -1;
        if (row.element.parentNode) row.element.remove();
      }
    }
    let activeID = null;
    for (let index = first; index < last; index += 1) {
      const row = this.#pool[index % this.#pool.length];
      if (row.index !== index) this.#fill(row, index);
      if (!row.element.parentNode) this.body.append(row.element);
      row.element.classList.toggle("active", index === this.#active);
      if (index === this.#active) activeID = row.element.id;
    }
    if (activeID) this.element.setAttribute("aria-activedescendant", activeID);
    else this.element.removeAttribute("aria-activedescendant");
    this.#options.range?.(first, last);
  }

  #makeRow(number) {
    const cells = this.#options.columns.map((column) => {
      const cell = h(`span${column.number ? ".number" : ""}.${column.name}`, {role: "gridcell"});
      if (column.link) cell.append(h("a", {tabindex: -1}));
      return cell;
    });
    const targets = cells.map((cell) => cell.firstChild ?? cell);
    return {index: -1, cells: targets, element: h("div.row", {role: "row", id: `${this.id}-${number}`}, cells)};
  }

  #fill(row, index) {
    row.index = index;
    row.element.className = "row";
    row.element.style.transform = `translateY(${index * this.#height}px)`;
    row.element.setAttribute("aria-rowindex", index + 2);
    row.element.dataset.index = index;
    this.#options.fill(index, row.cells, row.element);
  }

  #click(event) {
    const row = event.target.closest("[data-index]");
    if (!row || event.ctrlKey || event.metaKey) return;
    // Selecting text does not open the row.
    if (String(getSelection()) !== "" && !event.target.closest("a")) return;
    const index = Number(row.dataset.index);
    this.#active = index;
    event.preventDefault();
    if (this.#options.toggle && event.target.closest(".check")) this.#options.toggle(index);
    else this.#options.open?.(index);
    this.#schedule();
  }

  #key(event) {
    if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.#height) - 2);
    const moves = {
      ArrowDown: this.#active + 1, ArrowUp: this.#active - 1, PageDown: this.#active + page,
      PageUp: this.#active - page, Home: 0, End: this.#count - 1,
    };
    if (event.key in moves && this.#count > 0) {
      this.#activate(Math.max(0, Math.min(this.#count - 1, moves[event.key])));
    } else if (event.key === "Enter" && this.#active >= 0) {
      this.#options.open?.(this.#active);
    } else if (event.key === " " && this.#active >= 0 && this.#options.toggle) {
      this.#options.toggle(this.#active);
    } else {
      return;
    }
    event.preventDefault();
  }

  #activate(index) {
    this.#active = index;
    const top = index * this.#height;
    const room = this.element.clientHeight - this.header.offsetHeight;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top + this.#height > this.element.scrollTop + room) this.element.scrollTop = top + this.#height - room;
    this.#schedule();
  }
}

"""#),
WebFile("theme.js", #"""
// Applies the saved theme before the first paint; a module would run after it.
(() => {
  const saved = localStorage.getItem("inspector-theme");
  if (saved === "light" || saved === "dark") document.documentElement.dataset.theme = saved;
})();

"""#),
WebFile("treemap.js", #"""
// Rectangles whose areas are bytes: groups, and leaves within them.

import {s} from "./dom.js";
import {Chart, drawing, text} from "./charts.js";
import {bytes, percent, plural} from "./format.js";

/// Lays out values as rectangles that are nearly square (Bruls, Huizing and van Wijk, "Squarified treemaps").
export function squarified(items, x, y, width, height) {
  const total = items.reduce((sum, item) => sum + item.bytes, 0);
  const placed = [];
  if (total <= 0 || width <= 0 || height <= 0) return placed;
  const scale = (width * height) / total;
  let rest = items.filter((item) => item.bytes > 0);
  while (rest.length > 0) {
    const side = Math.min(width, height);
    let [length, area, best] = [0, 0, Infinity];
    const [largest] = rest;
    while (length < rest.length) {
      const next = area + rest[length].bytes * scale;
      const smallest = rest[length].bytes * scale;
      const worst = Math.max((side * side * largest.bytes * scale) / (next * next), (next * next) / (side * side * smallest));
      if (worst > best) break;
      [best, area] = [worst, next];
      length += 1;
    }
    const thickness = area / side;
    let offset = 0;
    for (const item of rest.slice(0, length)) {
      const extent = (item.bytes * scale) / thickness;
      placed.push(width >= height
        ? {item, x, y: y + offset, width: thickness, height: extent}
        : {item, x: x + offset, y, width: extent, height: thickness});
      offset += extent;
    }
    if (width >= height) [x, width] = [x + thickness, width - thickness];
    else [y, height] = [y + thickness, height - thickness];
    rest = rest.slice(length);
  }
  return placed;
}

function grouped(rows, key) {
  const groups = new Map();
  for (const row of rows) {
    const group = groups.get(row[key]) ?? {name: row[key], bytes: 0, entries: 0, rows: []};
    group.bytes += row.bytes;
    group.entries += row.entries;
    group.rows.push(row);
    groups.set(row[key], group);
  }
  return [...groups.values()].sort((one, two) => two.bytes - one.bytes);
}

const NAMES = {host: (name) => name || "no host", content_type: (name) => name || "no type", age: (name) => AGES[name] ?? name};
const AGES = {
  hour: "used in the last hour", day: "used in the last day", week: "used in the last week",
  month: "used in the last 30 days", older: "used earlier",
};

function cut(name, width, size = 6.9) {
  const room = Math.floor((width - 8) / size);
  return name.length <= room ? name : room < 4 ? "" : `${name.slice(0, room - 1)}…`;
}

/// Hosts and their content types; of one host its content types and the times of their last use.
export class Treemap {
  #chart = new Chart("treemap");
  #choose;
  #focused = 0;

  /// - `choose({host, content_type, age})`: called when the user picks an area.
  constructor(choose) {
    this.#choose = choose;
    this.element = this.#chart.element;
  }

  show(rows, host) {
    const shown = host === null ? rows : rows.filter((row) => row.host === host);
    const [outer, inner] = host === null ? ["host", "content_type"] : ["content_type", "age"];
    this.#focused = 0;
    this.#chart.show((width) => this.#draw(width, grouped(shown, outer), outer, inner, host));
  }

  #draw(width, groups, outer, inner, host) {
    const height = Math.round(Math.max(300, Math.min(460, width * 0.6)));
    const total = groups.reduce((sum, group) => sum + group.bytes, 0);
    const areas = [];
    const svg = drawing(width, height, null, squarified(groups, 0, 0, width, height).flatMap((place, index) => {
      const group = place.item;
      const [x, y, w, hgt] = [place.x + 1, place.y + 1, place.width - 2, place.height - 2];
      if (w < 3 || hgt < 3) return [];
      const title = NAMES[outer](group.name);
      const hasTitle = hgt > 34 && w > 50;
      const head = hasTitle ? 18 : 0;
      const leaves = squarified(grouped(group.rows, inner), x, y + head, w, hgt - head);
      return s("g", null,
        s(`rect.group.shade-${"abcdef"[index % 6]}`, {x, y, width: w, height: hgt, rx: 3}),
        hasTitle ? text(x + 5, y + 13, title.length + 11 < w / 8 ? `${title}  ${bytes(group.bytes)}` : cut(title, w, 8), "title") : null,
        leaves.filter((leaf) => leaf.width > 2 && leaf.height > 2).map((leaf) =>
          this.#area(leaf, title, total, outer, inner, group, host, areas)));
    }));
    svg.removeAttribute("aria-hidden");
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", "Bytes by host, content type and last use: arrow keys move, Enter filters");
    svg.addEventListener("keydown", (event) => this.#key(event, areas));
    areas[this.#focused]?.setAttribute("tabindex", "0");
    return svg;
  }

  #area(leaf, title, total, outer, inner, group, host, areas) {
    const name = NAMES[inner](leaf.item.name);
    const label = `${title}, ${name}: ${bytes(leaf.item.bytes)}, ${percent(leaf.item.bytes / total)}, `
      + plural(leaf.item.entries, "entry", "entries");
    const choice = {host, [outer]: group.name, [inner]: leaf.item.name};
    const [x, y, width, height] = [leaf.x + 1, leaf.y + 1, leaf.width - 2, leaf.height - 2];
    const area = s("g.area", {
      role: "button", tabindex: -1, "aria-label": label, onclick: () => this.#choose(choice),
    }, s("title", null, label), s("rect", {x, y, width: Math.max(1, width), height: Math.max(1, height), rx: 2}),
    width > 44 && height > 18 ? text(x + 4, y + 13, cut(name, width), "leaf") : null,
    width > 60 && height > 34 ? text(x + 4, y + 28, bytes(leaf.item.bytes), "tick") : null);
    area.choice = choice;
    areas.push(area);
    return area;
  }

  #key(event, areas) {
    const last = areas.length - 1;
    const moves = {
      ArrowRight: this.#focused + 1, ArrowDown: this.#focused + 1, ArrowLeft: this.#focused - 1,
      ArrowUp: this.#focused - 1, Home: 0, End: last,
    };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#choose(areas[this.#focused].choice);
    } else if (event.key in moves) {
      event.preventDefault();
      areas[this.#focused].setAttribute("tabindex", "-1");
      this.#focused = Math.max(0, Math.min(last, moves[event.key]));
      areas[this.#focused].setAttribute("tabindex", "0");
      areas[this.#focused].focus();
    }
  }
}

"""#),
WebFile("why.js", #"""
// Why?: what the cache would do with a request, by which rule, now or at a later time.

import * as api from "./api.js";
import {debounced, facts, failed, field, h, put, section, select, table} from "./dom.js";
import {bytes, count, fullTime, seconds} from "./format.js";
import {ageTerms, freshnessBar, specification} from "./freshness.js";

const POLICIES = ["http", "cache-first", "revalidate", "remote-only", "cache-only"];
const OUTCOMES = {
  hit: ["●", "Hit", "The stored response answers."],
  "stale-hit": ["◐", "Stale hit", "The stored response answers while it is stale."],
  "stale-while-revalidating": ["◐", "Stale while revalidating", "The stored response answers at once; the cache validates it meanwhile."],
  validate: ["↻", "Validate", "The cache asks the origin whether the stored response is still valid."],
  resume: ["⇢", "Resume", "The cache requests the rest of the stored part."],
  forward: ["○", "Forward", "The cache sends the request to the origin."],
  unsatisfiable: ["▲", "Unsatisfiable", "A 504: the cache must not contact the origin."],
};
const STEPS = 400;
const YEAR = 31_536_000;

/// The slider is logarithmic: seconds at its beginning, a year at its end.
function secondsAt(step) {
  return step <= 0 ? 0 : Math.round(YEAR ** (step / STEPS));
}

function stepAt(value) {
  return value <= 1 ? Math.min(1, value) : Math.min(STEPS, Math.round((STEPS * Math.log(value)) / Math.log(YEAR)));
}

export class Why {
  #context;
  #latest = api.latest();
  #offset = 0;

  constructor(context) {
    this.#context = context;
    const changed = debounced(60, () => this.#explain());
    this.text = h("textarea", {rows: 3, "data-key": "/", spellcheck: "false", autocomplete: "off",
      placeholder: "https://example.com/page   or   curl 'https://example.com/page' -H 'Accept-Language: de'",
      onkeydown: (event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        this.#ask();
      }});
    this.policy = select(POLICIES, "http", {onchange: changed});
    this.shared = h("input", {type: "checkbox", id: "why-shared", onchange: changed});
    this.slider = h("input", {type: "range", min: 0, max: STEPS, value: 0, step: 1, oninput: () => {
      this.#offset = secondsAt(Number(this.slider.value));
      this.#showTime();
      changed();
    }});
    this.time = h("output.readout");
    this.jumps = h("div.actions");
    const partitions = context.session.partitions;
    this.partition = select(partitions.length > 0 ? partitions.map((name) => [name, name || "none"]) : [["", "none"]], "", {onchange: changed});
    this.later = h("div.later", {hidden: true}, field("At a later time", this.slider), this.time, this.jumps);
    this.result = h("div", h("div.empty", h("p", "Paste a URL, or a curl command as a browser copies it."),
      h("p.note", "Nothing is sent to the origin, nothing is changed, and it does not count as an access.")));
    this.status = h("p.status", {role: "status"});
    this.element = h("div.panel", h("div.heading", h("h1", "Why?"), this.status),
      field("URL or curl command", this.text),
      h("div.filters", field("Policy", this.policy), field("Partition", this.partition),
        h("div.field.check", this.shared, h("label", {for: "why-shared"}, "Decide as a shared cache")),
        h("div.field.end", h("button.primary", {onclick: () => this.#ask()}, "Explain ", h("kbd", "Ctrl+Enter")))),
      this.later, this.result);
  }

  show({text, partition}) {
    if (text === undefined) return;
    this.text.value = text;
    if (partition !== undefined) this.partition.value = partition;
    this.#ask();
  }

  #ask() {
    this.#offset = 0;
    this.slider.value = 0;
    this.base = null;
    this.#context.keep("why", {text: this.text.value.trim(), partition: this.partition.value});
    this.#explain();
  }

  #showTime() {
    const at = (this.base ?? Date.now()) + this.#offset * 1000;
    const value = this.#offset === 0 ? "now" : `in ${seconds(this.#offset)}`;
    this.time.textContent = `${value} · ${fullTime(at)}`;
    this.slider.setAttribute("aria-valuetext", value);
  }

  async #explain() {
    const text = this.text.value.trim();
    if (text === "") return;
    try {
      const answer = await this.#latest((signal) => api.post("why", {
        text, at: this.base === null ? null : this.base + this.#offset * 1000, shared: this.shared.checked,
        partition: this.partition.value, policy: this.policy.value,
      }, signal));
      if (!answer) return;
      this.base ??= answer.at;
      this.later.hidden = false;
      this.#showTime();
      this.#draw(answer);
    } catch (error) {
      put(this.result, failed(error));
    }
  }

  #draw({request, ignored, explanation}) {
    const [shape, title, meaning] = OUTCOMES[explanation.outcome] ?? ["?", explanation.outcome, ""];
    this.status.textContent = `${title}: ${explanation.phrase}`;
    const chosen = explanation.candidates.find((candidate) => candidate.chosen);
    this.#showJumps(chosen);
    put(this.result,
      h(`div.verdict.${explanation.outcome}`,
        h("p.outcome", h("span.shape", {"aria-hidden": "true"}, shape), title),
        h("p", meaning, explanation.not_modified ? " With a 304: the request's own condition holds." : ""),
        facts([
          ["Rule", specification(explanation.section), ": ", explanation.phrase],
          explanation.reason ? ["Reason", h("code", explanation.reason), " ", specification("RFC 9211 §2.2")] : null,
          explanation.sends.length > 0 ? ["Sends", explanation.sends.map((line) => h("code.line", line))] : null].filter(Boolean))),
      section(explanation.candidates.length === 0 ? "No stored response" : `Stored responses: ${count(explanation.candidates.length)}`,
        explanation.candidates.length === 0 ? h("p.empty.compact", "Nothing is stored for this URL, so the request goes to the origin.")
          : explanation.candidates.map((candidate, index) => this.#candidate(candidate, index))),
      section("The request as it is read",
        h("p.url", h("code", request.method), " ", request.url),
        request.fields.length > 0 ? table("Fields of the request", ["Name", "Value"], request.fields.map((item) => [
          h("code", item.name), item.is_secret ? h("span.note", "hidden") : h("span.value", item.value)])) : h("p.note", "No fields."),
        ignored.length > 0 ? h("p.note", "Ignored: ", ignored.map((option) => h("code.line", option))) : null));
  }

  /// The times at which the decision changes.
  #showJumps(chosen) {
    if (!chosen || this.#offset !== 0) return;
    const jump = (label, offset) => h("button.small", {onclick: () => {
      this.#offset = offset;
      this.slider.value = stepAt(offset);
      this.#showTime();
      this.#explain();
    }}, label);
    const windows = (chosen.directives ?? []).map((directive) => /^(stale-[a-z-]+)=(\d+)$/.exec(directive)).filter(Boolean);
    const rest = chosen.lifetime - chosen.age;
    put(this.jumps, jump("Now", 0),
      rest > 1 ? [jump("Last fresh second", rest - 1), jump(`Stale, in ${seconds(rest)}`, rest)] : null,
      windows.filter(([, , length]) => rest + Number(length) > 0).map(([, name, length]) =>
        jump(`After ${name}`, Math.max(0, rest) + Number(length) + 1)));
  }

  #candidate(candidate, index) {
    const role = candidate.chosen ? "✓ chosen" : candidate.selected ? "not chosen" : "✕ not selected by Vary";
    const values = [["Stored as", candidate.url], ["Body", candidate.body ? bytes(candidate.byte_size) : "✕ the body is missing"],
      ["ETag", candidate.etag ? `${candidate.etag}${candidate.weak_etag ? ", weak" : ""}` : null], ["Last-Modified", candidate.last_modified],
      ["Variant", candidate.variant.join("; ") || null], ["Directives", candidate.directives.join(", ") || null],
      ["Part", candidate.part ? `bytes ${candidate.part.first}–${candidate.part.last} of ${candidate.part.complete_length ?? "an unknown length"}` : null]];
    return h("article.candidate",
      h("h3", `Response ${index + 1}, status ${candidate.status} `, h("span.badge", role),
        h("span.badge", candidate.fresh ? "● fresh" : "◐ stale")),
      candidate.differences.length === 0 ? null : table("Fields that differ", ["Field that Vary names", "Stored request", "This request"],
        candidate.differences.map((item) => [h("code", item.name), item.stored ?? h("span.note", "absent"),
          item.present ?? h("span.note", "absent")])),
      freshnessBar(candidate),
      h("div.columns", ageTerms(candidate), facts(values.filter(([, value]) => value)
        .map(([name, value]) => [name, h("span.value", value)]))));
  }
}

"""#),
    ]
}
