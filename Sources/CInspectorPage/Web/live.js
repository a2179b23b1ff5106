// Live: the requests that processes answer from the store, and the entries that leave it. Memory use does not grow with
// the stream.

import * as api from "./api.js";
import {Chart, drawing, patterns} from "./charts.js";
import {copyButton, facts, failed, field, h, linkButton, middle, put} from "./dom.js";
import {OUTCOMES, SHAPES, bytes, clock, count, curl, milliseconds, now, percent, plural} from "./format.js";
import {specification} from "./freshness.js";
import {VirtualTable} from "./table.js";

/// The records in memory, and the rows of the table.
const KEPT = 5000;
const SECONDS = 60;

const COLUMNS = [
  {name: "time", title: "Time"}, {name: "outcome", title: "Outcome"}, {name: "status", title: "Status", number: true},
  {name: "method", title: "Method"}, {name: "url", title: "URL", link: true}, {name: "disk", title: "Disk", number: true},
  {name: "network", title: "Network", number: true}, {name: "duration", title: "Duration", number: true},
  {name: "process", title: "Process", number: true},
];

const REMOVALS = {key: "removal", shape: "✕", meaning: "an entry left the store"};
const CAUSES = {
  evicted: "evicted: to make room, or by a rule of the program", removed: "removed: by a person, the program or a reply that forbids storing",
  invalidated: "invalidated: after an unsafe request, such as a POST, to its URL or group",
};
const REASONS = {
  bypass: "the request uses no stored response", method: "the method requires it", "uri-miss": "no response is stored for the URL",
  "vary-miss": "the stored responses belong to requests with other fields", miss: "the stored response has lost its body",
  request: "the request does not accept the fresh stored response", stale: "the stored response is stale, or needs validation",
  partial: "only a part is stored",
};
const ACTIONS = {
  stored: "Stored", relayed: "Not stored", freshened: "Freshened the stored response", replaced: "A stored response answered in its place",
};

function emptySecond() {
  return {requests: 0, network: 0, ...Object.fromEntries(OUTCOMES.map(({key}) => [key, 0]))};
}

export class Live {
  #context;
  #source = null;
  #queue = [];
  #records = [];
  #shown = [];
  #outcomes = new Set([...OUTCOMES, REMOVALS].map(({key}) => key));
  #state = null;
  #isPaused = false;
  #isScheduled = false;
  /// The position after the last received event.
  #position = null;
  #missed = 0;
  #lost = 0;
  #seconds = [];
  #clock = 0;
  #retry = 0;

  constructor(context) {
    this.#context = context;
    this.hostField = h("input", {type: "search", "data-key": "/", placeholder: "all hosts", autocomplete: "off",
      spellcheck: "false", oninput: () => this.#filter()});
    this.pauseButton = h("button", {"aria-pressed": "false", onclick: () => this.#pause(!this.#isPaused)}, "Pause");
    this.status = h("p.status");
    this.chart = new Chart("pulse");
    this.tiles = h("dl.tiles");
    this.notice = h("div");
    this.detail = h("section.detail", {hidden: true, "aria-label": "The chosen request"});
    this.table = new VirtualTable({
      name: "live-table", label: "Requests, latest first", columns: COLUMNS,
      fill: (index, cells, row) => this.#fill(index, cells, row), open: (index) => this.#open(this.#record(index)),
    });
    this.table.element.addEventListener("scroll", () => this.#schedule());
    this.buttons = h("div.toggles", {role: "group", "aria-label": "Outcomes"}, [...OUTCOMES, REMOVALS].map(({key, shape, meaning}) =>
      h("button", {"aria-pressed": "true", title: meaning, onclick: (event) => this.#toggle(key, event.currentTarget)},
        h(`span.shape.ink-${key}`, {"aria-hidden": "true"}, shape), key)));
    this.element = h("div.panel.fills", h("div.heading", h("h1", "Live"), this.status),
      h("div.pulse-row", this.tiles, this.chart.element),
      h("div.filters", field("Host", this.hostField),
        h("div.field", h("span.label", "Outcomes"), this.buttons), h("div.field.end.actions", h("button", {onclick: () => this.#export()}, "Save as HAR"), this.pauseButton)),
      this.notice, this.table.element, this.detail);
    // A browser opens six connections to a server, for all of its tabs together.
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#disconnect();
      else if (this.element.isConnected) this.#connect();
    });
  }

  show({host}) {
    if (host !== undefined) this.hostField.value = host;
    this.#filter();
    this.#connect();
    this.#clock ||= setInterval(() => this.#tick(), 1000);
    this.#tick();
  }

  hide() {
    this.#disconnect();
    clearInterval(this.#clock);
    this.#clock = 0;
  }

  key(key) {
    if (key !== "p") return false;
    this.#pause(!this.#isPaused);
    return true;
  }

  // MARK: The stream

  #disconnect() {
    this.#source?.close();
    this.#source = null;
    clearTimeout(this.#retry);
  }

  #connect() {
    if (this.#source || document.hidden) return;
    const source = this.#source = new EventSource(api.path("live", this.#position ? {after: this.#position} : {recent: 300}));
    source.addEventListener("state", (event) => {
      this.#state = JSON.parse(event.data);
      this.#showNotice();
    });
    source.addEventListener("records", (event) => {
      this.#position = event.lastEventId;
      this.#receive(JSON.parse(event.data));
    });
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
        if (this.element.isConnected) this.#connect();
      }, 3000);
    });
  }

  #receive({records, removals, lost}) {
    this.#lost += lost;
    const current = Math.floor(now() / 1000);
    for (const record of records) {
      const age = current - Math.floor(Date.parse(record.time) / 1000);
      if (age < SECONDS) this.#countSecond(current - Math.max(0, age), record);
    }
    // The sort keeps the order of equal times.
    this.#queue.push(...records, ...removals);
    if (removals.length > 0) this.#queue.sort((one, two) => (one.time < two.time ? -1 : one.time > two.time ? 1 : 0));
    // A hidden window draws no frames, but the queue stays bounded.
    if (this.#queue.length > KEPT) this.#queue.splice(0, this.#queue.length - KEPT);
    this.#schedule();
  }

  #countSecond(second, record) {
    let slot = this.#seconds[second % SECONDS];
    if (slot?.second !== second) this.#seconds[second % SECONDS] = slot = {second, ...emptySecond()};
    slot.network += record.network_bytes;
    // No program has asked for a validation in the background.
    if (record.is_background) return;
    slot.requests += 1;
    slot[record.outcome] = (slot[record.outcome] ?? 0) + 1;
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
    this.#records = this.#records.concat(taken).slice(-KEPT);
    this.#shown = this.#shown.concat(taken.filter((record) => this.#fits(record))).slice(-KEPT);
    this.table.setCount(this.#shown.length);
    this.table.refresh();
    if (this.notice.firstChild) this.#showNotice();
  }

  // MARK: What the user does

  #fits(record) {
    return this.#outcomes.has(record.outcome ?? "removal") && (this.host === "" || (record.host ?? "").includes(this.host));
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
    return record.url ? api.link("entry", {url: record.url, partition: record.partition, cut: record.is_truncated ? 1 : null}) : "#/entries";
  }

  #fill(index, cells, row) {
    const record = this.#record(index);
    if (!record) return;
    const [time, outcome, status, method, url, disk, network, duration, process] = cells;
    const [shape, ink] = record.cause ? [REMOVALS.shape, "error"] : [SHAPES[record.outcome] ?? "?", record.outcome];
    time.textContent = clock(record.time);
    put(outcome, h(`span.shape.ink-${ink}`, {"aria-hidden": "true"}, shape), record.outcome ?? record.cause,
      record.is_background ? h("span.note", " in background") : null);
    status.textContent = record.status ?? "–";
    method.textContent = record.method ?? "–";
    put(url, record.url ? middle(record.is_truncated ? `${record.url}…` : record.url) : plural(record.entries, "more entry", "more entries"));
    url.href = this.#address(record);
    url.title = record.url;
    disk.textContent = record.disk_bytes > 0 ? bytes(record.disk_bytes) : "–";
    network.textContent = record.network_bytes > 0 ? bytes(record.network_bytes) : "–";
    duration.textContent = milliseconds(record.milliseconds);
    process.textContent = record.process;
  }

  // MARK: One request

  #open(record) {
    if (!record) return;
    const {reply, forward, url} = record;
    const name = record.outcome ?? record.cause;
    this.detail.hidden = false;
    put(this.detail, h("h2", `${record.method ?? name} ${url || plural(record.entries, "entry", "entries")}`), facts([
      record.cause ? ["Removed", CAUSES[record.cause]]
        : ["Outcome", name, ": ", OUTCOMES.find(({key}) => key === name)?.meaning ?? ""],
      forward ? ["Forwarded", h("code", forward), `, ${REASONS[forward]} (`, specification("RFC 9211 §2.2"), ")"] : null,
      reply ? ["Reply", h("strong", ACTIONS[reply.action]), ", ", specification(reply.section), `: ${reply.phrase}`,
        reply.field ? [". Field: ", h("code", reply.field)] : null] : null,
      ["By", `process ${record.process}, ${clock(record.time)}`],
    ].filter(Boolean)), h("div.actions",
      url ? [h("a.button", {href: this.#address(record)}, "Entry"),
        linkButton("Why?", "why", {text: url, partition: record.partition}),
        record.cause ? null : copyButton(curl(record.method, url), "Copy as curl")] : null,
      h("button", {onclick: () => { this.detail.hidden = true; }}, "Close")));
  }

  /// Saves the shown requests, with the bodies that are still stored.
  #export() {
    const records = this.#shown.filter((record) => record.outcome);
    const times = records.map((record) => record.time).sort();
    const href = api.path("har", {from: times.at(0) ?? "~", to: times.at(-1), host: this.host, outcomes: [...this.#outcomes].join(",")});
    h("a", {href, download: "requests.har"}).click();
    this.#context.announce(plural(records.length, "request saved", "requests saved"));
  }

  // MARK: The last minute

  #tick() {
    const current = Math.floor(now() / 1000);
    const slots = Array.from({length: SECONDS}, (_, index) => {
      const slot = this.#seconds[(current - SECONDS + 1 + index) % SECONDS];
      return slot?.second === current - SECONDS + 1 + index ? slot : emptySecond();
    });
    const sum = (key, of = slots) => of.reduce((total, slot) => total + slot[key], 0);
    const requests = sum("requests");
    const recent = slots.slice(-6, -1);
    put(this.tiles, [
      ["Requests a second", count(Math.round(sum("requests", recent) / recent.length))],
      ["Hit ratio, last minute", requests > 0 ? percent((sum("hit") + sum("stale") + sum("tier")) / requests) : "–"],
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
