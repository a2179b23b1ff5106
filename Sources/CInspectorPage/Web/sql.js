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

/// Quotes a value for CSV (RFC 4180). Adds an apostrophe before a text that a spreadsheet would run as a formula.
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
    // A link fills the editor. Only the user runs a query.
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
