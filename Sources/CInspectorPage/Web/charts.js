// Shared parts of all charts, and the charts over time and of latencies. Charts are SVG at the width of their box.
// Colours come from the style sheet; patterns and positions carry the same information without colour.

import {h, newID, put, s} from "./dom.js";
import {OUTCOMES, axisTime, bytes, count, fullTime, milliseconds, percent} from "./format.js";

/// Draws a chart whenever the width of its box changes.
export class Chart {
  #draw = null;
  #width = 0;
  scale = 1;

  constructor(className) {
    this.element = h(`div.chart.${className}`);
    new ResizeObserver(([entry]) => {
      const width = Math.floor(entry.contentRect.width);
      if (width === this.#width) return;
      this.#width = width;
      this.redraw();
    }).observe(this.element);
  }

  /// - `draw(width)`: returns elements.
  show(draw) {
    this.#draw = draw;
    this.redraw();
  }

  redraw() {
    if (!this.#draw || this.#width === 0) return;
    // Scales the whole chart with the larger type of large screens.
    this.scale = Math.max(1, parseFloat(getComputedStyle(document.documentElement).fontSize) / 14);
    put(this.element, this.#draw(Math.floor(this.#width / this.scale)));
    for (const svg of this.element.querySelectorAll(":scope > svg")) {
      for (const name of ["width", "height"]) svg.setAttribute(name, svg.getAttribute(name) * this.scale);
    }
  }
}

export function drawing(width, height, label, ...children) {
  return s("svg", {
    width, height, viewBox: `0 0 ${width} ${height}`, role: label ? "img" : null, "aria-label": label,
    "aria-hidden": label ? null : "true",
  }, children);
}

export function text(x, y, content, className = "", anchor = "start") {
  return s(`text${className ? `.${className}` : ""}`, {x, y, "text-anchor": anchor}, content);
}

/// Returns 2 to 4 round values from 0 to the maximum.
function ticks(max, parts = 3) {
  if (max <= 0) return [0];
  const rough = max / parts;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  return Array.from({length: Math.floor(max / step + 1e-9) + 1}, (_, index) => index * step);
}

/// The fill patterns of the outcomes. Returns the pattern definitions, and the fill of each outcome.
export function patterns() {
  const id = newID("pattern");
  const shapes = {
    hit: null, coalesced: "M0 0h6M0 3h6", revalidated: "M1.5 0v6M4.5 0v6", stale: "M0 6L6 0M-1 1L1 -1M5 7L7 5",
    tier: "M1.5 0v6M0 1.5h6", miss: "M0 1.5h1.5M3 4.5h1.5", error: "M0 6L6 0M0 0L6 6",
  };
  const definitions = s("defs", null, Object.entries(shapes).filter(([, shape]) => shape).map(([key, shape]) =>
    s("pattern", {id: `${id}-${key}`, width: 6, height: 6, patternUnits: "userSpaceOnUse"},
      s(`rect.fill-${key}`, {width: 6, height: 6}), s("path.hatch", {d: shape}))));
  const bar = (key, attributes) => (shapes[key]
    ? s("rect", {...attributes, fill: `url(#${id}-${key})`})
    : s(`rect.fill-${key}`, attributes));
  return {definitions, bar};
}

/// The names, shapes and patterns of the outcomes.
export function legend(totals) {
  return h("ul.legend", OUTCOMES.map(({key, shape, meaning}) => {
    const {definitions, bar} = patterns();
    return h("li", {title: meaning},
      s("svg", {width: 14, height: 12, "aria-hidden": "true"}, definitions, bar(key, {width: 14, height: 12, rx: 2})),
      h(`span.shape.ink-${key}`, {"aria-hidden": "true"}, shape), key,
      totals ? h("span.number", count(totals[key] ?? 0)) : null);
  }));
}

// MARK: - Over time

const LEFT = 62;
const RIGHT = 12;
const BANDS = {requests: {top: 18, height: 110}, ratio: {top: 158, height: 64}, bytes: {top: 252, height: 80}};
const HEIGHT = 356;

function hitRatio(bucket) {
  return bucket.hit_ratio ?? NaN;
}

/// Requests by outcome, hit ratio and bytes, stacked on one axis with one cursor.
export class Timeline {
  #chart = new Chart("timeline");
  #data = null;
  #cursor = -1;
  #line = null;
  #geometry = null;

  constructor() {
    this.readout = h("p.readout", "Point at the chart, or focus it and press ← →, to read values.");
    this.slider = h("div.cursor", {
      role: "slider", tabindex: 0, "aria-label": "Time in the chart of requests", "aria-valuemin": 0,
      "aria-valuemax": 0, "aria-valuenow": 0, "aria-valuetext": "no time",
      onkeydown: (event) => this.#key(event),
      onpointermove: (event) => this.#point(event),
    }, this.#chart.element);
    this.element = h("div", this.slider, this.readout);
  }

  show(data) {
    this.#data = data;
    this.#cursor = Math.min(this.#cursor, data.series.length - 1);
    this.slider.setAttribute("aria-valuemax", Math.max(0, data.series.length - 1));
    this.#chart.show((width) => this.#draw(width));
  }

  #key(event) {
    const last = this.#data ? this.#data.series.length - 1 : -1;
    const moves = {ArrowLeft: this.#cursor < 0 ? last : this.#cursor - 1, ArrowRight: this.#cursor + 1, Home: 0, End: last};
    if (!(event.key in moves) || last < 0) return;
    event.preventDefault();
    this.#read(Math.max(0, Math.min(last, moves[event.key])));
  }

  #point(event) {
    if (!this.#geometry) return;
    const x = (event.clientX - this.#chart.element.getBoundingClientRect().left) / this.#chart.scale - LEFT;
    const index = Math.floor(x / this.#geometry.step);
    if (index >= 0 && index < this.#data.series.length) this.#read(index);
  }

  #read(index) {
    this.#cursor = index;
    const bucket = this.#data.series[index];
    const parts = OUTCOMES.filter(({key}) => bucket[key] > 0).map(({key, shape}) => `${shape} ${key} ${count(bucket[key])}`);
    const value = `${fullTime(bucket.time)} · ${parts.join(" · ") || "no requests"}`
      + (parts.length > 0 ? ` · hit ratio ${percent(hitRatio(bucket))}` : "")
      + ` · saved ${bytes(bucket.saved_bytes)} · from the network ${bytes(bucket.network_bytes)}`;
    this.readout.textContent = value;
    this.slider.setAttribute("aria-valuenow", index);
    this.slider.setAttribute("aria-valuetext", value);
    const x = LEFT + (index + 0.5) * this.#geometry.step;
    this.#line?.setAttribute("d", `M${x} ${BANDS.requests.top}V${HEIGHT - 24}`);
  }

  #draw(width) {
    const {series} = this.#data;
    const step = (width - LEFT - RIGHT) / Math.max(1, series.length);
    this.#geometry = {step};
    const {definitions, bar} = patterns();
    this.#line = s("path.pointer", {d: ""});
    return drawing(width, HEIGHT, null, definitions,
      this.#requests(width, step, bar), this.#ratio(width, step), this.#bytes(width, step),
      this.#axis(width, step), this.#line);
  }

  #band(width, {top, height}, title, max, label) {
    const values = ticks(max, height > 90 ? 4 : 2);
    return [text(LEFT, top - 7, title, "title"), values.map((value) => {
      const y = top + height - (max > 0 ? value / max : 0) * height;
      return [s("path.rule", {d: `M${LEFT} ${y}H${width - RIGHT}`}), text(LEFT - 6, y + 4, label(value), "tick", "end")];
    })];
  }

  #requests(width, step, bar) {
    const {top, height} = BANDS.requests;
    const max = Math.max(1, ...this.#data.series.map((bucket) => OUTCOMES.reduce((sum, {key}) => sum + bucket[key], 0)));
    const gap = step > 4 ? 1 : 0;
    return [this.#band(width, BANDS.requests, "Requests by outcome", max, count), this.#data.series.map((bucket, index) => {
      let y = top + height;
      return OUTCOMES.filter(({key}) => bucket[key] > 0).map(({key}) => {
        const size = (bucket[key] / max) * height;
        y -= size;
        return bar(key, {x: LEFT + index * step, y, width: Math.max(0.5, step - gap), height: size});
      });
    })];
  }

  #ratio(width, step) {
    const {top, height} = BANDS.ratio;
    let [path, isOpen] = ["", false];
    this.#data.series.forEach((bucket, index) => {
      const ratio = hitRatio(bucket);
      const x = LEFT + (index + 0.5) * step;
      // The round line ends draw an isolated point as a dot.
      if (!Number.isNaN(ratio)) path += `${isOpen ? "L" : "M"}${x.toFixed(1)} ${(top + height * (1 - ratio)).toFixed(1)}h0`;
      isOpen = !Number.isNaN(ratio);
    });
    return [this.#band(width, BANDS.ratio, "Hit ratio", 1, (value) => percent(value, 0)), s("path.line", {d: path})];
  }

  #bytes(width, step) {
    const {top, height} = BANDS.bytes;
    const max = Math.max(1, ...this.#data.series.map((bucket) => Math.max(bucket.saved_bytes, bucket.network_bytes)));
    const bar = step > 4 ? (step - 1) / 2 : step / 2;
    return [this.#band(width, BANDS.bytes, "Bytes: saved ■, from the network □", max, bytes),
      this.#data.series.map((bucket, index) => {
        const x = LEFT + index * step;
        const [saved, network] = [bucket.saved_bytes, bucket.network_bytes].map((value) => (value / max) * height);
        return [
          saved > 0 ? s("rect.fill-saved", {x, y: top + height - saved, width: bar, height: saved}) : null,
          network > 0 ? s("rect.outline-network", {
            x: x + bar + 0.25, y: top + height - network + 0.5, width: Math.max(0.5, bar - 0.5),
            height: Math.max(0.1, network - 0.5),
          }) : null,
        ];
      })];
  }

  #axis(width, step) {
    const {series, from, to} = this.#data;
    const every = Math.max(1, Math.ceil((to - from > 86_400_000 ? 110 : 70) / step));
    return series.filter((_, index) => index % every === 0).map((bucket, index) => {
      const x = LEFT + index * every * step;
      return x > width - 60 ? null : [
        s("path.rule", {d: `M${x} ${HEIGHT - 24}v5`}), text(x, HEIGHT - 7, axisTime(bucket.time, to - from), "tick")];
    });
  }
}

// MARK: - Latency

/// Returns the latency in milliseconds below which a share of the requests lies, as the upper bound of a bucket.
function quantile(counts, bounds, share) {
  const all = counts.reduce((sum, value) => sum + value, 0);
  let sum = 0;
  for (let index = 0; index < counts.length; index += 1) {
    sum += counts[index];
    if (all > 0 && sum >= share * all) return (bounds[index] ?? bounds.at(-1)) / 1000;
  }
  return null;
}

/// One histogram for each outcome, stacked on one logarithmic axis.
export function latencyHistograms(width, {bounds_microseconds: bounds, counts}) {
  const shown = OUTCOMES.filter(({key}) => counts[key]?.some((value) => value > 0));
  const used = bounds.map((_, index) => shown.some(({key}) => counts[key][index] > 0));
  const first = Math.max(0, used.indexOf(true) - 1);
  const last = Math.min(bounds.length, Math.max(first + 6, used.lastIndexOf(true) + 2));
  const [left, right, rowHeight, barHeight] = [110, width < 480 ? 8 : 130, 46, 34];
  const step = (width - left - right) / (last - first);
  const height = shown.length * rowHeight + 24;
  const {definitions, bar} = patterns();
  const label = `Time to the head of the response. ${shown.map(({key}) =>
    `${key}: median below ${milliseconds(quantile(counts[key], bounds, 0.5))}`).join(", ")}`;
  const every = Math.max(1, Math.ceil(58 / step));
  return drawing(width, height, label, definitions, shown.map(({key, shape}, row) => {
    const base = row * rowHeight + barHeight + 6;
    const max = Math.max(...counts[key]);
    const [median, late] = [0.5, 0.99].map((share) => milliseconds(quantile(counts[key], bounds, share)));
    return [
      text(0, base - 14, shape, `shape ink-${key}`), text(16, base - 14, key, "title"),
      text(16, base, count(counts[key].reduce((sum, value) => sum + value, 0)), "tick"),
      s("path.rule", {d: `M${left} ${base + 0.5}H${width - right}`}),
      counts[key].slice(first, last).map((value, index) => (value > 0 ? bar(key, {
        x: left + index * step + 0.5, width: Math.max(1, step - 1),
        // Keeps one request among thousands visible.
        y: base - Math.max(2, (value / max) * barHeight), height: Math.max(2, (value / max) * barHeight),
      }) : null)),
      right > 100 ? [text(width - right + 12, base - 14, `half < ${median}`, "tick"),
        text(width - right + 12, base, `99 % < ${late}`, "tick")] : null,
    ];
  }), bounds.slice(first, last).map((bound, index) => (index % every === every - 1 || every === 1
    ? [s("path.rule", {d: `M${left + (index + 1) * step} ${height - 24}v5`}),
      text(left + (index + 1) * step, height - 6, milliseconds(bound / 1000), "tick", "middle")]
    : null)));
}
