// The start of a stored body. Text is never interpreted as markup; images are only decoded.

import * as api from "./api.js";
import {empty, failed, h, put} from "./dom.js";
import {bytes} from "./format.js";

const FIRST = 65_536;

export function preview({entry, preview: kind}) {
  const box = h("div.preview");
  const download = h("a.button", {href: api.path("body", {id: entry.id, download: 1}), download: ""}, `Save ${bytes(entry.byte_size)}`);
  if (kind === "empty") return empty("The body is empty.");
  if (kind === "image") {
    put(box, h("img", {src: api.path("body", {id: entry.id, max: 1_048_576}), alt: `Body of ${entry.url}`, onerror: () =>
      put(box, empty("The image cannot be decoded."))}));
  } else if (kind === "binary") {
    put(box, empty("The body is neither text nor an image that is shown here."));
  } else {
    showText(box, entry, kind);
  }
  return [box, h("div.actions", download)];
}

async function showText(box, entry, kind) {
  try {
    const {text, length} = await api.text("body", {id: entry.id, max: FIRST});
    const isWhole = length <= FIRST;
    let shown = text;
    if (kind === "json" && isWhole) {
      try {
        shown = JSON.stringify(JSON.parse(text), null, 2);
      } catch { /* Shows the text as it is. */ }
    }
    put(box, h("pre", {tabindex: 0, role: "group", "aria-label": "Body as text"}, shown),
      isWhole ? null : h("p.note", `The first ${bytes(FIRST)} of ${bytes(length)}.`));
  } catch (error) {
    put(box, failed(error));
  }
}
