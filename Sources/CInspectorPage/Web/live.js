// Live: the requests that processes answer from the store. Memory use does not grow with the stream.

import * as api from "./api.js";
import {Chart, drawing, patterns} from "./charts.js";
import {failed, field, h, put} from "./dom.js";
import {OUTCOMES, SHAPES, bytes, clock, count, milliseconds, percent} from "./format.js";
import {VirtualTable} from "./table.js";

/// The records in memory, and the rows of the table.
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
  #isNew = false;
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
    this.#isNew = true;
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
        // Distinguishes an ended session from a busy server.
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
    // A hidden window draws no frames, but the queue stays bounded.
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

  /// Moves the queue into the table, once per frame, and not while the user reads.
  #take() {
    if (this.#queue.length === 0) return;
    if (this.#isPaused || !this.table.isAtTop || this.table.active > 0) {
      this.#missed = this.#queue.length;
      return;
    }
    const taken = this.#queue;
    this.#queue = [];
    this.#missed = 0;
    if (this.#isNew) {
      // Past records of a new stream replace the displayed records.
      this.#records = this.#shown = [];
      this.#isNew = false;
    }
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
