// Loads pages of rows by cursor. Keeps a bounded number of pages in memory, for a table of any length.

const KEPT = 40;

/// The rows of a table with a million rows. Reloads a dropped page from its cursor.
export class Pages {
  #load;
  #changed;
  #pages = [];
  #next = null;
  #hasEnded = false;
  #isLoading = false;
  #generation = 0;
  #uses = 0;
  total = null;
  isSearching = false;

  /// - `load(cursor, signal)`: returns `{rows, next, total, isComplete}`.
  /// - `changed(error)`: called after each page.
  constructor(load, changed) {
    this.#load = load;
    this.#changed = changed;
  }

  get count() {
    const last = this.#pages.at(-1);
    return last ? last.start + last.count : 0;
  }

  get hasEnded() { return this.#hasEnded; }
  get isLoading() { return this.#isLoading; }

  /// Starts again from the first row.
  reset() {
    this.#generation += 1;
    this.controller?.abort();
    this.controller = new AbortController();
    this.#pages = [];
    this.#next = null;
    this.#hasEnded = false;
    this.#isLoading = false;
    this.isSearching = false;
    this.#append();
  }

  /// Stops the search for rare rows.
  stop() {
    this.#generation += 1;
    this.controller?.abort();
    this.#isLoading = false;
  }

  /// Returns the row, or `null` while its page loads.
  rowAt(index) {
    const page = this.#pageOf(index);
    if (!page) return null;
    page.used = this.#uses += 1;
    if (page.rows) return page.rows[index - page.start] ?? null;
    this.#reload(page);
    return null;
  }

  /// Prefetches rows near the visible ones, so that scrolling does not wait.
  prepare(last) {
    if (!this.#hasEnded && !this.#isLoading && last > this.count - 600) this.#append();
  }

  #pageOf(index) {
    let [low, high] = [0, this.#pages.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const page = this.#pages[middle];
      if (index < page.start) high = middle - 1;
      else if (index >= page.start + page.count) low = middle + 1;
      else return page;
    }
    return null;
  }

  async #append() {
    const generation = this.#generation;
    this.#isLoading = true;
    try {
      const answer = await this.#load(this.#next, this.controller.signal);
      if (generation !== this.#generation) return;
      if (answer.rows.length > 0) {
        this.#pages.push({
          start: this.count, count: answer.rows.length, after: this.#next, rows: answer.rows,
          used: this.#uses += 1,
        });
      }
      this.total = answer.total;
      this.#next = answer.next;
      this.#hasEnded = !answer.next;
      this.#isLoading = false;
      this.isSearching = !this.#hasEnded && !answer.isComplete;
      this.#dropUnused();
      this.#changed(null);
      if (this.isSearching) this.prepare(this.count);
    } catch (error) {
      if (generation !== this.#generation || error.name === "AbortError") return;
      this.#isLoading = false;
      this.#hasEnded = true;
      this.#changed(error);
    }
  }

  async #reload(page) {
    if (page.isLoading) return;
    const generation = this.#generation;
    page.isLoading = true;
    try {
      const answer = await this.#load(page.after, this.controller.signal);
      if (generation !== this.#generation) return;
      page.rows = answer.rows;
      this.#dropUnused();
      this.#changed(null);
    } catch (error) {
      if (generation === this.#generation && error.name !== "AbortError") this.#changed(error);
    } finally {
      page.isLoading = false;
    }
  }

  #dropUnused() {
    const loaded = this.#pages.filter((page) => page.rows);
    if (loaded.length <= KEPT) return;
    loaded.sort((one, two) => one.used - two.used);
    for (const page of loaded.slice(0, loaded.length - KEPT)) page.rows = null;
  }
}
