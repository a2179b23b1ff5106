// Failures: keys in back-off, damaged bodies, the processes on the store, the WAL.

import * as api from "./api.js";
import {empty, failed, h, put, section, table, tile} from "./dom.js";
import {bytes, count, fullTime, plural, relative} from "./format.js";

const REFRESH = 3000;

export class Failures {
  #context;
  #latest = api.latest();
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
      // Without the answer to an earlier click, which a second click asks for again.
      const answer = await this.#latest((signal) => api.get("failures", {limit: 100, after: this.#next}, signal));
      if (!answer) return;
      this.#rows = this.#rows.concat(answer.failures);
      this.#next = answer.next;
      this.more.hidden = !answer.next;
      this.status.textContent = plural(answer.total, "failing key", "failing keys");
      put(this.list, this.#rows.length === 0 ? empty("No key is failing: the latest reply for each URL was no error. A request that reached no origin leaves no key here.")
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
