// Makes elements. Data becomes text nodes and attribute values, never markup.

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

/// Returns an identifier that no other element has.
export function newID(prefix) {
  lastID += 1;
  return `${prefix}-${lastID}`;
}

/// Makes a labelled form control: the label above, the control below.
export function field(label, control, hint) {
  control.id ||= newID("field");
  const note = hint ? h("span.hint", {id: newID("hint")}, hint) : null;
  if (note) control.setAttribute("aria-describedby", note.id);
  return h("div.field", h("label", {for: control.id}, label), control, note);
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

/// Makes a table with a header row. A column is a title, or `{title, number: true}`.
export function table(caption, columns, rows, attributes) {
  const titles = columns.map((column) => (typeof column === "string" ? {title: column} : column));
  return h("div.scroll", {tabindex: 0, role: "region", "aria-label": caption}, h("table", attributes,
    h("caption.unseen", caption),
    h("thead", h("tr", titles.map((column) => h(column.number ? "th.number" : "th", {scope: "col"}, column.title)))),
    h("tbody", rows.map((row) => h("tr", row.map((cell, index) =>
      h(titles[index]?.number ? "td.number" : "td", {}, cell)))))));
}

/// A section with a heading of the second level.
export function section(title, ...children) {
  const id = newID("section");
  return h("section", {"aria-labelledby": id}, h("h2", {id}, title), children);
}

/// A value with its name below a heading: the tiles at the top of a panel.
export function tile(name, value, note, state) {
  return h(state ? `div.tile.${state}` : "div.tile", h("dt", name), h("dd", value), note ? h("dd.note", note) : null);
}

/// Calls `action` once `milliseconds` after the last of several calls.
export function debounced(milliseconds, action) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(action, milliseconds, ...values);
  };
}

/// A button that copies a text and says so.
export function copyButton(text, label = "Copy", name = label) {
  const button = h("button.small", {type: "button", "aria-label": name, onclick: async () => {
    await copy(typeof text === "function" ? text() : text);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1500);
  }}, label);
  return button;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without permission: by a selected text field.
    const area = h("textarea.unseen", {value: text});
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/// Saves a text as a file.
export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  h("a", {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
