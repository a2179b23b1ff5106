// Entry: one stored response.

import * as api from "./api.js";
import {copyButton, facts, h, linkButton, put, section, table, tile} from "./dom.js";
import {bytes, count, curl, fullTime, plural, relative, tags} from "./format.js";
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

  /// Opens the entry of a URL from the live stream.
  async #find(url, partition, cut) {
    const answer = await this.#latest((signal) =>
      api.get(`entries?${new URLSearchParams({prefix: url, partition, limit: 1})}`, {}, signal));
    if (!answer) return;
    const [found] = answer.entries;
    if (found && (found.key === url || cut)) {
      this.#context.keep("entry", {id: found.id});
      return await this.show({id: found.id});
    }
    put(this.element, h("h1", "Entry"), h("div.empty", h("p", "No response is stored for this URL:"), h("p.url", url),
      h("p", h("a.button.primary", {href: api.link("why", {text: url, partition})}, "Why?"), " ",
        linkButton("Entries that begin with it", "entries", {prefix: url}))));
  }

  #draw(data) {
    const {entry, freshness} = data;
    // The request that this variant answers, without fingerprints of secrets.
    const nominated = data.variants.find((variant) => variant.is_this)?.fields ?? [];
    const request = curl("GET", entry.url, nominated.filter(({name, value}) => value && !/authorization|cookie/i.test(name)));
    const allowsChanges = this.#context.session.allows_changes;
    put(this.element,
      h("div.heading", h("h1", "Entry"), h("span.badge", describeState(entry)),
        data.is_being_loaded ? h("span.badge", "↻ being loaded by another process") : null),
      h("p.url", entry.url, " ", copyButton(entry.url, "Copy", "Copy the URL")),
      h("div.actions", linkButton("Why?", "why", {text: nominated.length > 0 ? request : entry.url, partition: entry.partition}),
        copyButton(request, "Copy as curl"),
        linkButton("Entries of the host", "entries", {host: entry.host}),
        allowsChanges ? h("a.button", {href: api.link("change", {selected: 1}),
          onclick: () => this.#context.selection.clear() || this.#context.selection.add(entry.id)}, "Change…") : null),
      h("dl.tiles",
        tile("Status", String(entry.status), entry.kind === "error" ? "error response" : "content"),
        tile("Body", bytes(entry.byte_size), entry.content_type ?? "no content type"),
        tile("Stored", relative(entry.created_at), fullTime(entry.created_at)),
        tile("Validated", relative(entry.validated_at), fullTime(entry.validated_at)),
        tile("Used", relative(entry.accessed_at), plural(entry.hit_count, "hit", "hits")),
        tile("Variants", count(data.variants.length), data.vary.length > 0 ? `Vary: ${data.vary.join(", ")}` : "no Vary")),
      h("div.columns", section("Fields of the response", this.#fields(data)), section("Body", preview(data))),
      section("Freshness", freshnessBar(freshness),
        h("p.note", [
          data.expires_at ? `Expires ${relative(data.expires_at)}, ${fullTime(data.expires_at)}. ` : "States no expiry. ",
          freshness.directives.length > 0 ? `Directives: ${freshness.directives.join(", ")}.` : "No directives for reuse."]),
        h("details", h("summary", "Age, term by term"), ageTerms(freshness))),
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
