// Makes elements. Data becomes text nodes and attribute values, never markup.

import {link} from "./api.js";

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

/// Makes an HTML element: `h("p.note", {id: "a"}, "text", otherElement)`.
export function h(spec, attributes, ...children) {
  const [tag, ...classes] = spec.split(".");
  const element = document.createElement(tag || "div");
  if (tag === "button") element.type = "button";
  if (classes.length > 0) element.className = classes.join(" ");
  const hasAttributes = attributes && attributes.constructor === Object;
  return fill(element, hasAttributes ? attributes : null, hasAttributes ? children : [attributes ?? [], children]);
}

/// Makes an SVG element.
export function s(spec, attributes, ...children) {
  const [tag, ...classes] = spec.split(".");
  const element = document.createElementNS(SVG, tag);
  if (classes.length > 0) element.setAttribute("class", classes.join(" "));
  return fill(element, attributes, children);
}

/// Replaces the content of an element.
export function put(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

let lastID = 0;

/// Returns a unique element id.
export function newID(prefix) {
  lastID += 1;
  return `${prefix}-${lastID}`;
}

/// Makes a labelled form control: the label above, the control below.
export function field(label, control) {
  control.id ||= newID("field");
  return h("div.field", h("label", {for: control.id}, label), control);
}

/// Makes a select element; an option is a text, or a pair of value and text.
export function select(options, value, attributes) {
  const element = h("select", attributes, options.map((option) => {
    const [key, text] = Array.isArray(option) ? option : [option, option];
    return h("option", {value: key}, text);
  }));
  element.value = value;
  return element;
}

/// Makes a table with a header row. A column is a text or an element. A name such as "#Size" marks a column of numbers.
export function table(caption, columns, rows, attributes) {
  const isNumber = columns.map((column) => column[0] === "#");
  const cell = (tag, index) => (isNumber[index] ? `${tag}.number` : tag);
  return h("div.scroll", {tabindex: 0, role: "group", "aria-label": caption}, h("table", attributes,
    h("caption.unseen", caption),
    h("thead", h("tr", columns.map((column, index) =>
      h(cell("th", index), {scope: "col"}, isNumber[index] ? column.slice(1) : column)))),
    h("tbody", rows.map((row) => h("tr", row.map((content, index) => h(cell("td", index), {}, content)))))));
}

/// A section with a second-level heading.
export function section(title, ...children) {
  const id = newID("section");
  return h("section", {"aria-labelledby": id}, h("h2", {id}, title), children);
}

/// A message instead of missing content, with the next step for the user.
export function empty(...children) {
  return h("p.empty.compact", children);
}

export function failed(error) {
  return h("p.error", {role: "alert"}, error.message);
}

/// A labelled value, below a heading: the tiles at the top of a panel.
export function tile(name, value, note, state) {
  return h(state ? `div.tile.${state}` : "div.tile", h("dt", name), h("dd", value), note ? h("dd.note", note) : null);
}

/// Names and values, one pair below the other.
export function facts(rows) {
  return h("dl.facts", rows.map(([name, ...value]) => h("div", h("dt", name), h("dd", value))));
}

/// A link to another panel that looks like a button.
export function linkButton(text, panel, parameters) {
  return h("a.button", {href: link(panel, parameters)}, text);
}

/// Calls `action` once, `milliseconds` after the last of several calls.
export function debounced(milliseconds, action) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(action, milliseconds, ...values);
  };
}

/// A button that copies a text and confirms it. Browsers allow copying on loopback and over HTTPS.
export function copyButton(text, label = "Copy", name = label) {
  const button = h("button.small", {"aria-label": name, onclick: async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "function" ? text() : text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";
    }
    setTimeout(() => { button.textContent = label; }, 1500);
  }}, label);
  return button;
}

/// A URL that a narrow box cuts in its middle, because URLs of one site differ at their end.
export function middle(text) {
  return text.length < 40 ? [text] : [h("span.start", text.slice(0, -24)), h("span.end", text.slice(-24))];
}

/// Saves a text as a file.
export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  h("a", {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
