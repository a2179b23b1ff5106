// Eviction: the next evicted entries, the effect of a limit, and both policies replayed on the recorded requests.

import * as api from "./api.js";
import {debounced, failed, field, h, put, s, section, table} from "./dom.js";
import {Chart, drawing, text} from "./charts.js";
import {bytes, count, parseBytes, percent, plural, relative} from "./format.js";

const STEPS = 200;

/// The position of an entry in the order of eviction.
function reason(row, policy) {
  const uses = row.hit_count === 0 ? "never used" : row.hit_count === 1 ? "used once" : `used ${count(row.hit_count)} times`;
  const last = `${row.hit_count === 0 ? "stored" : "last used"} ${relative(row.accessed_at)}`;
  return policy === "value-aware" ? `${uses}, ${bytes(row.byte_size)}, ${last}` : `${last}, ${uses}`;
}

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
      this.limits = section("What a limit would remove",
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
      this.limits.hidden = data.limited_bytes === 0;
      this.status.textContent = `${data.policy} · ${bytes(data.limited_bytes)} count towards a limit`;
      if (this.value === undefined) this.#setLimit(Math.round(this.#limited * 0.9));
      this.slider.value = this.#limited > 0 ? Math.min(STEPS, Math.round((this.value / this.#limited) * STEPS)) : STEPS;
      this.#preview();
      put(this.next, data.entries.length === 0 ? h("p.empty.compact", "Nothing can be evicted: the store is empty, or every entry is pinned.")
        : table("What goes next", ["#No.", "URL", "Why", "#Size", "#Together", "#Hits"],
          data.entries.map((row, index) => [String(index + 1), h("a", {href: api.link("entry", {id: row.id})}, row.url),
            reason(row, data.policy), bytes(row.byte_size), bytes(row.cumulative_bytes), count(row.hit_count)]), {class: "next"}));
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
      put(this.simulation,
        h("p.note", `${plural(report.requests, "request", "requests")} for ${plural(report.keys, "key", "keys")} with `
          + `${bytes(report.unique_bytes)}; limit ${bytes(report.max_bytes)}, for a body ${bytes(report.max_entry_bytes)}.`),
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
}
