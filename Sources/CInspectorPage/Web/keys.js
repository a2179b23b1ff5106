// The dialog that lists the keys.

import {h} from "./dom.js";

const KEYS = [
  ["1 … 8", "open a panel"],
  ["/", "go to the filter of the panel"],
  ["↑ ↓ Page Up Page Down Home End", "move in a table"],
  ["Enter", "open the row"],
  ["Space", "select the row, if changes are allowed"],
  ["p", "pause or resume the live stream"],
  ["← →", "move the cursor of a chart, or in the treemap"],
  ["Ctrl+Enter", "run the query, or explain the request"],
  ["t", "change the theme"],
  ["Esc", "leave a text field, close a dialog"],
];

let dialog = null;

export function showKeys() {
  dialog ??= make();
  dialog.showModal();
}

function make() {
  const element = h("dialog", {"aria-labelledby": "keys-title"},
    h("h2", {id: "keys-title"}, "Keys"),
    h("dl.keys", KEYS.map(([key, meaning]) => h("div", h("dt", h("kbd", key)), h("dd", meaning)))),
    h("button.primary", {onclick: () => element.close()}, "Close"));
  document.body.append(element);
  return element;
}
