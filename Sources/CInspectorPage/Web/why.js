// Why?: the decision of the cache on a request, its rule, now or at a later time.

import * as api from "./api.js";
import {debounced, facts, failed, field, h, put, section, select, table} from "./dom.js";
import {bytes, count, fullTime, now, seconds} from "./format.js";
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

/// The slider is logarithmic, from seconds to a year.
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
    this.result = h("div.panel", h("div.empty", h("p", "Paste a URL, or a curl command as a browser copies it."),
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
    const at = (this.base ?? now()) + this.#offset * 1000;
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
      this.later.hidden = answer.explanation.candidates.length === 0;
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
