// Rectangles with areas proportional to bytes: groups, and leaves within them.

import {s} from "./dom.js";
import {Chart, drawing, text} from "./charts.js";
import {bytes, percent, plural} from "./format.js";

/// Lays out values as rectangles that are nearly square (Bruls, Huizing and van Wijk, "Squarified treemaps").
export function squarified(items, x, y, width, height) {
  const total = items.reduce((sum, item) => sum + item.bytes, 0);
  const placed = [];
  if (total <= 0 || width <= 0 || height <= 0) return placed;
  const scale = (width * height) / total;
  let rest = items.filter((item) => item.bytes > 0);
  while (rest.length > 0) {
    const side = Math.min(width, height);
    let [length, area, best] = [0, 0, Infinity];
    const [largest] = rest;
    while (length < rest.length) {
      const next = area + rest[length].bytes * scale;
      const smallest = rest[length].bytes * scale;
      const worst = Math.max((side * side * largest.bytes * scale) / (next * next), (next * next) / (side * side * smallest));
      if (worst > best) break;
      [best, area] = [worst, next];
      length += 1;
    }
    const thickness = area / side;
    let offset = 0;
    for (const item of rest.slice(0, length)) {
      const extent = (item.bytes * scale) / thickness;
      placed.push(width >= height
        ? {item, x, y: y + offset, width: thickness, height: extent}
        : {item, x: x + offset, y, width: extent, height: thickness});
      offset += extent;
    }
    if (width >= height) [x, width] = [x + thickness, width - thickness];
    else [y, height] = [y + thickness, height - thickness];
    rest = rest.slice(length);
  }
  return placed;
}

function grouped(rows, key) {
  const groups = new Map();
  for (const row of rows) {
    const group = groups.get(row[key]) ?? {name: row[key], bytes: 0, entries: 0, rows: []};
    group.bytes += row.bytes;
    group.entries += row.entries;
    group.rows.push(row);
    groups.set(row[key], group);
  }
  return [...groups.values()].sort((one, two) => two.bytes - one.bytes);
}

const NAMES = {host: (name) => name || "no host", content_type: (name) => name || "no type", age: (name) => AGES[name] ?? name};
const AGES = {
  hour: "used in the last hour", day: "used in the last day", week: "used in the last week",
  month: "used in the last 30 days", older: "used earlier",
};

function cut(name, width, size = 6.9) {
  const room = Math.floor((width - 8) / size);
  return name.length <= room ? name : room < 4 ? "" : `${name.slice(0, room - 1)}…`;
}

/// Hosts and their content types. For a single host, its content types and times of last use.
export class Treemap {
  #chart = new Chart("treemap");
  #choose;
  #focused = 0;

  /// - `choose({host, content_type, age})`: called when the user picks an area.
  constructor(choose) {
    this.#choose = choose;
    this.element = this.#chart.element;
  }

  show(rows, host) {
    const shown = host === null ? rows : rows.filter((row) => row.host === host);
    const [outer, inner] = host === null ? ["host", "content_type"] : ["content_type", "age"];
    this.#focused = 0;
    this.#chart.show((width) => this.#draw(width, grouped(shown, outer), outer, inner, host));
  }

  #draw(width, groups, outer, inner, host) {
    const height = Math.round(Math.max(300, Math.min(460, width * 0.6)));
    const total = groups.reduce((sum, group) => sum + group.bytes, 0);
    const areas = [];
    const svg = drawing(width, height, null, squarified(groups, 0, 0, width, height).flatMap((place, index) => {
      const group = place.item;
      const [x, y, w, hgt] = [place.x + 1, place.y + 1, place.width - 2, place.height - 2];
      if (w < 3 || hgt < 3) return [];
      const title = NAMES[outer](group.name);
      const hasTitle = hgt > 34 && w > 50;
      const head = hasTitle ? 18 : 0;
      const leaves = squarified(grouped(group.rows, inner), x, y + head, w, hgt - head);
      return s("g", null,
        s(`rect.group.shade-${"abcdef"[index % 6]}`, {x, y, width: w, height: hgt, rx: 3}),
        hasTitle ? text(x + 5, y + 13, title.length + 11 < w / 8 ? `${title}  ${bytes(group.bytes)}` : cut(title, w, 8), "title") : null,
        leaves.filter((leaf) => leaf.width > 2 && leaf.height > 2).map((leaf) =>
          this.#area(leaf, title, total, outer, inner, group, host, areas)));
    }));
    svg.removeAttribute("aria-hidden");
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", "Bytes by host, content type and last use: arrow keys move, Enter filters");
    svg.addEventListener("keydown", (event) => this.#key(event, areas));
    areas[this.#focused]?.setAttribute("tabindex", "0");
    return svg;
  }

  #area(leaf, title, total, outer, inner, group, host, areas) {
    const name = NAMES[inner](leaf.item.name);
    const label = `${title}, ${name}: ${bytes(leaf.item.bytes)}, ${percent(leaf.item.bytes / total)}, `
      + plural(leaf.item.entries, "entry", "entries");
    const choice = {host, [outer]: group.name, [inner]: leaf.item.name};
    const [x, y, width, height] = [leaf.x + 1, leaf.y + 1, leaf.width - 2, leaf.height - 2];
    const area = s("g.area", {
      role: "button", tabindex: -1, "aria-label": label, onclick: () => this.#choose(choice),
    }, s("title", null, label), s("rect", {x, y, width: Math.max(1, width), height: Math.max(1, height), rx: 2}),
    width > 44 && height > 18 ? text(x + 4, y + 13, cut(name, width), "leaf") : null,
    width > 60 && height > 34 ? text(x + 4, y + 28, bytes(leaf.item.bytes), "tick") : null);
    area.choice = choice;
    areas.push(area);
    return area;
  }

  #key(event, areas) {
    const last = areas.length - 1;
    const moves = {
      ArrowRight: this.#focused + 1, ArrowDown: this.#focused + 1, ArrowLeft: this.#focused - 1,
      ArrowUp: this.#focused - 1, Home: 0, End: last,
    };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#choose(areas[this.#focused].choice);
    } else if (event.key in moves) {
      event.preventDefault();
      areas[this.#focused].setAttribute("tabindex", "-1");
      this.#focused = Math.max(0, Math.min(last, moves[event.key]));
      areas[this.#focused].setAttribute("tabindex", "0");
      areas[this.#focused].focus();
    }
  }
}
