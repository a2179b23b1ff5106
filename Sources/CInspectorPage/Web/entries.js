// Entries: a virtual table of all stored responses.

import * as api from "./api.js";
import {debounced, failed, field, h, linkButton, middle, put, select} from "./dom.js";
import {bytes, count, parseBytes, plural, relative, tags} from "./format.js";
import {Pages} from "./paging.js";
import {VirtualTable} from "./table.js";

const PAGE = 200;

const COLUMNS = [
  {name: "check", title: h("span.unseen", "Selected")}, {name: "state", title: "State", sort: "expires"},
  {name: "url", title: "URL", link: true, sort: "key"},
  {name: "status", title: "Status", number: true, sort: "status"}, {name: "type", title: "Type", sort: "type"},
  {name: "size", title: "Size", number: true, sort: "size"}, {name: "stored", title: "Stored", number: true, sort: "stored"},
  {name: "used", title: "Used", number: true, sort: "used"}, {name: "hits", title: "Hits", number: true, sort: "hits"},
];
const SORTS = COLUMNS.filter(({sort}) => sort).flatMap(({sort, title}) => [
  [`${sort} ascending`, `${title} ↑`], [`${sort} descending`, `${title} ↓`]]);

/// "● fresh 59 min, pinned": the state, and the time until or since the end of the freshness lifetime.
export function describeState(row) {
  const time = row.expires_at ? ` ${relative(row.expires_at).replace(/^in | ago$/g, "")}` : "";
  const parts = [`${row.freshness === "fresh" ? "● fresh" : "◐ stale"}${time}`];
  if (row.is_pinned) parts.push("pinned");
  if (row.kind === "error") parts.push("error");
  if (row.part_start !== null && row.part_start !== undefined) parts.push("part");
  return parts.join(", ");
}

function shortType(type) {
  return (type ?? "").split(";")[0].trim().replace(/^(text|application)\//, "") || "–";
}

/// The fields that filter entries. Change uses those that a selection supports.
export function filterFields(context, changed, isForChange = false) {
  const input = (attributes) => h("input", {type: "search", autocomplete: "off", spellcheck: "false", ...attributes, oninput: changed});
  const fields = {
    url: input({placeholder: isForChange ? "https://example.com/…" : "any part of it", "data-key": "/"}),
    host: input({placeholder: "example.com"}), tag: input({placeholder: "any"}), type: input({placeholder: "image/*"}),
  };
  const labels = {url: isForChange ? "URL begins with" : "URL contains", host: "Host", tag: "Tag", type: "Content type"};
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
      h("div.filters", elements, h("div.order", field("Order", this.sortField))), this.actions, this.notice, this.table.element);
  }

  show(parameters) {
    for (const [name, control] of Object.entries(this.fields)) control.value = parameters[name] ?? (name === "partition" ? "*" : "");
    this.fields.url.value = parameters.prefix ?? parameters.search ?? "";
    if (this.fields.partition?.value === "") this.fields.partition.value = "*";
    this.#sort = parameters.sort ?? "key";
    this.#order = parameters.order ?? "ascending";
    this.#restart();
  }

  hide() { this.pages.stop(); }

  #values() {
    const {url, ...values} = Object.fromEntries(Object.entries(this.fields).map(([name, control]) => [name, control.value.trim()])
      .filter(([name, value]) => value !== "" && !(name === "partition" && value === "*")));
    // An index finds the beginning of a URL.
    if (url) values[/^(https?:\/\/|name=)/.test(url) ? "prefix" : "search"] = url;
    return values;
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
    // An empty partition is also a filter: entries without a partition.
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
    const isAscending = key === this.#sort ? this.#order === "descending" : ["key", "type", "expires"].includes(key);
    this.#order = isAscending ? "ascending" : "descending";
    this.#sort = key;
    this.#restart();
  }

  #fill(index, cells, row) {
    const entry = this.pages.rowAt(index);
    const [, state, url, status, type, size, stored, used, hits] = cells;
    if (!entry) {
      for (const cell of cells) cell.textContent = "";
      url.textContent = "…";
      return;
    }
    if (this.#context.session.allows_changes) row.setAttribute("aria-selected", String(this.#context.selection.has(entry.id)));
    state.textContent = describeState(entry);
    state.className = `state ${entry.freshness}`;
    // The values of "accept-language: de" distinguish variants; the title has the names.
    put(url, middle(entry.url), entry.variant
      ? h("span.variant", entry.variant.split("\n").map((line) => line.split(": ")[1] ?? "–").join(" · ")) : null);
    url.href = api.link("entry", {id: entry.id});
    url.title = [entry.url, entry.variant, tags(entry.tags).join(", ")].filter(Boolean).join("\n");
    status.textContent = entry.status;
    type.textContent = shortType(entry.content_type);
    size.textContent = bytes(entry.byte_size);
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
