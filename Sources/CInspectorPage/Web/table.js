// A table of any length that draws only its visible rows.

import {h, newID} from "./dom.js";

const OVERSCAN = 6;

/// A grid with one tab stop. Arrow keys, Page Up, Page Down, Home and End move the active row, Enter opens it.
export class VirtualTable {
  #options;
  #pool = [];
  #count = 0;
  #active = -1;
  #height = 28;
  #isScheduled = false;

  /// - `name`: the class of the grid. The style sheet sets the column widths by this class.
  /// - `columns`: `{title, sort, number, link}`; `sort` makes the title a button, `link` the cell a link.
  /// - `fill(index, cells, row)`: writes the row, and returns the address of its link, if any.
  /// - `open(index)`, `toggle(index)`, `sort(key)`, `range(first, last)`: called for the user's actions.
  constructor(options) {
    this.#options = options;
    this.id = newID("row");
    this.header = h("div.row.header", {role: "row"}, options.columns.map((column) => this.#title(column)));
    this.body = h("div.rows", {role: "rowgroup"});
    this.element = h(`div.grid.${options.name}`, {
      role: "grid", tabindex: 0, "aria-label": options.label, "aria-rowcount": -1,
      "aria-multiselectable": options.toggle ? "true" : null,
      onkeydown: (event) => this.#key(event), onscroll: () => this.#schedule(),
      onclick: (event) => this.#click(event),
    }, h("div", {role: "rowgroup"}, this.header), this.body);
    new ResizeObserver(() => this.#resize()).observe(this.element);
  }

  get active() { return this.#active; }

  /// The number of rows. `total` is the number for assistive technology, if different.
  setCount(count, total = count) {
    this.#count = count;
    this.#active = Math.min(this.#active, count - 1);
    this.body.style.height = `${count * this.#height}px`;
    this.element.setAttribute("aria-rowcount", total < 0 ? -1 : total + 1);
    this.#schedule();
  }

  /// Draws the visible rows again in the next frame.
  refresh() {
    for (const row of this.#pool) row.index = -1;
    this.#schedule();
  }

  scrollToTop() {
    this.element.scrollTop = 0;
    this.#active = -1;
    this.refresh();
  }

  get isAtTop() { return this.element.scrollTop < this.#height / 2; }

  /// Marks the sorted column.
  setSort(key, isAscending) {
    this.#options.columns.forEach((column, index) => {
      const cell = this.header.children[index];
      if (!column.sort) return;
      const isSorted = column.sort === key;
      cell.setAttribute("aria-sort", !isSorted ? "none" : isAscending ? "ascending" : "descending");
    });
  }

  #title(column) {
    const content = column.sort
      ? h("button", {tabindex: -1, onclick: () => this.#options.sort(column.sort)}, column.title)
      : column.title;
    return h(`span${column.number ? ".number" : ""}.${column.name}`, {
      role: "columnheader", "aria-sort": column.sort ? "none" : null,
    }, content);
  }

  #resize() {
    const height = parseFloat(getComputedStyle(this.header).getPropertyValue("--row-height"))
      * parseFloat(getComputedStyle(document.documentElement).fontSize) || 28;
    if (height !== this.#height) {
      this.#height = height;
      this.body.style.height = `${this.#count * height}px`;
    }
    this.refresh();
  }

  #schedule() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      this.#draw();
    });
  }

  #draw() {
    if (!this.element.isConnected) return;
    const visible = Math.ceil(this.element.clientHeight / this.#height);
    const top = Math.floor(this.element.scrollTop / this.#height);
    const first = Math.max(0, top - OVERSCAN);
    const last = Math.min(this.#count, top + visible + OVERSCAN);
    const size = visible + 2 * OVERSCAN + 1;
    while (this.#pool.length < size) this.#pool.push(this.#makeRow(this.#pool.length));
    // A visible row keeps its element: index modulo the size of the pool.
    for (const row of this.#pool) {
      if (row.index < first || row.index >= last) {
        row.index = -1;
        if (row.element.parentNode) row.element.remove();
      }
    }
    let activeID = null;
    for (let index = first; index < last; index += 1) {
      const row = this.#pool[index % this.#pool.length];
      if (row.index !== index) this.#fill(row, index);
      if (!row.element.parentNode) this.body.append(row.element);
      row.element.classList.toggle("active", index === this.#active);
      if (index === this.#active) activeID = row.element.id;
    }
    if (activeID) this.element.setAttribute("aria-activedescendant", activeID);
    else this.element.removeAttribute("aria-activedescendant");
    this.#options.range?.(first, last);
  }

  #makeRow(number) {
    const cells = this.#options.columns.map((column) => {
      const cell = h(`span${column.number ? ".number" : ""}.${column.name}`, {role: "gridcell"});
      if (column.link) cell.append(h("a", {tabindex: -1}));
      return cell;
    });
    const targets = cells.map((cell) => cell.firstChild ?? cell);
    return {index: -1, cells: targets, element: h("div.row", {role: "row", id: `${this.id}-${number}`}, cells)};
  }

  #fill(row, index) {
    row.index = index;
    row.element.className = "row";
    row.element.style.transform = `translateY(${index * this.#height}px)`;
    row.element.setAttribute("aria-rowindex", index + 2);
    row.element.dataset.index = index;
    this.#options.fill(index, row.cells, row.element);
  }

  #click(event) {
    const row = event.target.closest("[data-index]");
    if (!row || event.ctrlKey || event.metaKey) return;
    // Selecting text must not open the row.
    if (String(getSelection()) !== "" && !event.target.closest("a")) return;
    const index = Number(row.dataset.index);
    this.#active = index;
    event.preventDefault();
    if (this.#options.toggle && event.target.closest(".check")) this.#options.toggle(index);
    else this.#options.open?.(index);
    this.#schedule();
  }

  #key(event) {
    if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.#height) - 2);
    const moves = {
      ArrowDown: this.#active + 1, ArrowUp: this.#active - 1, PageDown: this.#active + page,
      PageUp: this.#active - page, Home: 0, End: this.#count - 1,
    };
    if (event.key in moves && this.#count > 0) {
      this.#activate(Math.max(0, Math.min(this.#count - 1, moves[event.key])));
    } else if (event.key === "Enter" && this.#active >= 0) {
      this.#options.open?.(this.#active);
    } else if (event.key === " " && this.#active >= 0 && this.#options.toggle) {
      this.#options.toggle(this.#active);
    } else {
      return;
    }
    event.preventDefault();
  }

  #activate(index) {
    this.#active = index;
    const top = index * this.#height;
    const room = this.element.clientHeight - this.header.offsetHeight;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top + this.#height > this.element.scrollTop + room) this.element.scrollTop = top + this.#height - room;
    this.#schedule();
  }
}
