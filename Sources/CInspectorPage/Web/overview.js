// Overview: totals, outcomes over time, latencies, and the bytes of each host, which filters the rest.

import * as api from "./api.js";
import {Timeline, Chart, latencyHistograms, legend} from "./charts.js";
import {empty, failed, field, h, linkButton, put, section, select, table, tile} from "./dom.js";
import {OUTCOMES, bytes, count, percent, plural, seconds} from "./format.js";

const REFRESH = 5000;
const SPANS = [["", "the whole record"], ["5", "5 minutes"], ["15", "15 minutes"], ["60", "1 hour"], ["360", "6 hours"],
  ["1440", "1 day"], ["10080", "7 days"]];

export class Overview {
  #context;
  #timer = 0;
  #host = null;
  #groups = null;
  #latest = api.latest();

  constructor(context) {
    this.#context = context;
    this.span = select(SPANS, "", {"data-key": "/", onchange: () => this.#reload()});
    this.tiles = h("dl.tiles");
    this.chosen = h("div.chosen");
    this.timeline = new Timeline();
    this.timeline.element.hidden = true;
    this.latency = new Chart("latency");
    this.legend = h("div");
    this.hosts = h("div");
    this.answers = h("div");
    this.problem = h("div");
    this.shares = h("div");
    this.element = h("div.panel",
      h("div.heading", h("h1", "Overview"), h("div.field.inline", field("Requests of", this.span))),
      this.problem, this.tiles, this.chosen,
      h("div.columns",
        section("Answers over time", this.answers, this.legend, this.timeline.element),
        section("Bytes by host and content type", this.shares)),
      h("div.columns",
        section("Time to the head of the response, by outcome", this.latency.element),
        section("Hosts with the most requests", this.hosts)));
  }

  show({host, minutes}) {
    this.#host = host ?? null;
    this.span.value = minutes ?? "";
    this.#showChoice();
    this.#showBytes();
    this.#reload();
    this.#loadBytes();
    clearInterval(this.#timer);
    this.#timer = setInterval(() => { if (!document.hidden) this.#reload(); }, REFRESH);
  }

  hide() { clearInterval(this.#timer); }

  async #reload() {
    this.#context.keep("overview", {host: this.#host, minutes: this.span.value});
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
    put(this.tiles,
      tile("Entries", count(totals.entries), plural(totals.files, "body file", "body files")),
      tile("Bodies on disk", bytes(totals.physical_bytes), totals.logical_bytes > totals.physical_bytes
        ? `${bytes(totals.logical_bytes - totals.physical_bytes)} saved by sharing` : "none shared"),
      tile("Index", bytes(indexBytes), totals.eviction_policy),
      tile("Hit ratio, all time", answers.requests > 0 ? percent(answers.hit_ratio) : "–",
        plural(answers.requests, "request", "requests")),
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
          count(all), all > 0 ? percent(host.hit_ratio) : "–", count(host.miss), count(host.error),
          bytes(host.saved_bytes)];
      })));
  }

  async #loadBytes() {
    try {
      this.#groups = await api.get("bytes");
      this.#showBytes();
    } catch (error) {
      put(this.shares, failed(error));
    }
  }

  /// The hosts with the most bytes, or the content types of the chosen host.
  #showBytes() {
    if (!this.#groups) return;
    const {groups, other} = this.#groups;
    const isKnown = groups.some((group) => group.host === this.#host);
    const key = isKnown ? "content_type" : "host";
    const sums = new Map();
    for (const group of groups) {
      if (isKnown && group.host !== this.#host) continue;
      const sum = sums.get(group[key]) ?? {bytes: 0, entries: 0};
      sums.set(group[key], {bytes: sum.bytes + group.bytes, entries: sum.entries + group.entries});
    }
    const rows = [...sums].sort(([, one], [, two]) => two.bytes - one.bytes).slice(0, 12);
    const most = Math.max(1, rows[0]?.[1].bytes ?? 0);
    put(this.shares, rows.length === 0 ? empty("The store is empty. ", h("code", "cachestore get URL"), " loads a first response.")
      : table("Bytes", [isKnown ? "Content type" : "Host", "Share", "#Bytes", "#Entries"], rows.map(([name, sum]) => {
        const bar = h("span.bar");
        bar.style.width = `${(100 * sum.bytes) / most}%`;
        return [h("a", {href: isKnown ? api.link("entries", {host: this.#host, type: name}) : api.link("overview", {
          host: name, minutes: this.span.value})}, name || "none"), bar, bytes(sum.bytes), count(sum.entries)];
      }), {class: "shares"}),
    other.entries > 0 ? h("p.note", `Smaller groups: ${plural(other.entries, "entry", "entries")}, ${bytes(other.bytes)}.`) : null);
  }

  #showChoice() {
    put(this.chosen, this.#host === null ? null : [
      h("span", "Only ", h("strong", this.#host || "entries without a host")),
      linkButton("Entries", "entries", {host: this.#host}), linkButton("Live", "live", {host: this.#host}),
      linkButton("Clear the filter", "overview", {minutes: this.span.value})]);
    this.chosen.hidden = this.#host === null;
  }
}
