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
      if (hasFilter) control.value = parameters[name === "url" ? "prefix" : name] ?? (name === "partition" ? "*" : "");
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
    // The rebuilt fields keep the keyboard focus.
    if (focused && this.sources.contains(focused)) focused.focus();
    this.#invalidate();
  }

  #invalidate() {
    put(this.result);
  }

  #selection() {
    if (this.#source === "everything") return {everything: true};
    if (this.#source === "selected") return {ids: [...this.#context.selection]};
    const {partition, url: prefix, ...rest} = Object.fromEntries(Object.entries(this.fields).map(([name, control]) => [name, control.value.trim()]));
    const selection = Object.fromEntries(Object.entries({prefix, ...rest}).filter(([, value]) => value !== ""));
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
          h("span.note", action.key === "remove" && this.#source !== "selected"
            ? "Valid for five minutes. Also removes entries that fit and are stored before the confirmation."
            : "Valid for five minutes, for all variants of these keys."))));
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
