// The start of a stored body. Text is never interpreted as markup; images are only decoded.

import * as api from "./api.js";
import {empty, failed, h, put} from "./dom.js";
import {bytes} from "./format.js";

/// The bytes to load of each kind. Only a whole JSON text can be laid out.
const LIMITS = {text: 65_536, json: 1_048_576, binary: 4_096};

export function preview({entry, preview: kind, is_decoded: isDecoded}) {
  if (kind === "empty") return empty("The body is empty.");
  const box = h("div.preview");
  if (kind === "image") {
    put(box, h("img", {src: api.path("body", {id: entry.id, max: 1_048_576}), alt: `Body of ${entry.url}`, onerror: () =>
      put(box, empty("The image cannot be decoded."))}));
  } else {
    show(box, entry, kind);
  }
  return [box, h("div.actions",
    h("a.button", {href: api.path("body", {id: entry.id, download: 1}), download: ""}, `Save ${bytes(entry.byte_size)}`),
    isDecoded ? h("span.note", "Shown without its content coding, saved with it.") : null)];
}

async function show(box, entry, kind) {
  try {
    const {data, isWhole} = await api.body({id: entry.id, max: LIMITS[kind]});
    let text = kind === "binary" ? hex(data) : new TextDecoder().decode(data);
    if (kind === "json" && isWhole) {
      try {
        text = JSON.stringify(JSON.parse(text), null, 2);
      } catch { /* Shows the text as it is. */ }
    }
    put(box, h(kind === "binary" ? "pre.hex" : "pre", {tabindex: 0, role: "group", "aria-label": "Body as text"}, text),
      isWhole ? null : h("p.note", `The first ${bytes(data.length)}.`));
  } catch (error) {
    put(box, failed(error));
  }
}

/// Sixteen bytes in a line: position, digits, ASCII characters.
function hex(data) {
  const lines = [];
  for (let start = 0; start < data.length; start += 16) {
    const line = [...data.subarray(start, start + 16)];
    lines.push(start.toString(16).padStart(4, "0") + "  "
      + line.map((byte) => byte.toString(16).padStart(2, "0")).join(" ").padEnd(49)
      + line.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : "·")).join(""));
  }
  return lines.join("\n");
}
