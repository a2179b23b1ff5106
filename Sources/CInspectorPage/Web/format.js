// Numbers with units, and times.

const grouped = new Intl.NumberFormat("en");
const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];

export function count(value) {
  return grouped.format(value);
}

/// "1 entry", "1,234 entries".
export function plural(value, one, many) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/// Decimal units, as the tool prints them: "96.0 kB".
export function bytes(value) {
  if (value === null || value === undefined) return "–";
  let [number, unit] = [Math.abs(value), 0];
  while (number >= 999.95 && unit < UNITS.length - 1) {
    number /= 1000;
    unit += 1;
  }
  const sign = value < 0 ? "−" : "";
  return unit === 0 ? `${sign}${number} B` : `${sign}${number.toFixed(1)} ${UNITS[unit]}`;
}

/// Parses a number of bytes such as "10 MB", "1.5G" or "500", or returns `null`.
export function parseBytes(text) {
  const match = /^\s*([\d.,]+)\s*([kmgtp]?)(i?)b?\s*$/i.exec(text);
  const number = match ? Number(match[1].replaceAll(",", "")) : NaN;
  if (!Number.isFinite(number)) return null;
  const power = match[2] ? " kmgtp".indexOf(match[2].toLowerCase()) : 0;
  return Math.round(number * (match[3] ? 1024 : 1000) ** power);
}

export function percent(ratio, digits = 1) {
  return Number.isFinite(ratio) ? `${(100 * ratio).toFixed(digits)} %` : "–";
}

/// A short duration: "0.034 ms", "12.3 ms", "1.24 s".
export function milliseconds(value) {
  if (value === null || value === undefined) return "–";
  if (value < 1) return `${Math.round(value * 1000)} µs`;
  if (value < 1000) return `${value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : Math.round(value)} ms`;
  return value < 60_000 ? `${(value / 1000).toFixed(2)} s` : seconds(value / 1000);
}

const SPANS = [["y", 31_536_000], ["d", 86_400], ["h", 3_600], ["min", 60], ["s", 1]];

/// A duration in its two largest units: "3 h 20 min".
export function seconds(value) {
  if (value === null || value === undefined) return "–";
  const sign = value < 0 ? "−" : "";
  let rest = Math.round(Math.abs(value));
  if (rest < 60) return `${sign}${rest} s`;
  const parts = [];
  for (const [unit, size] of SPANS) {
    const number = Math.floor(rest / size);
    if (number === 0 && parts.length === 0) continue;
    if (number > 0) parts.push(`${grouped.format(number)} ${unit}`);
    rest -= number * size;
    if (parts.length === 2 || (number === 0 && parts.length === 1)) break;
  }
  return sign + parts.join(" ");
}

let clockOffset = 0;

/// Sets the store's time. The browser may run on another machine, with another clock.
export function setClock(milliseconds) {
  clockOffset = milliseconds - Date.now();
}

/// The store's time in milliseconds.
export function now() {
  return Date.now() + clockOffset;
}

/// A relative time in one unit: "in 2 h", "15 min ago".
export function relative(time) {
  if (time === null || time === undefined) return "–";
  const span = (typeof time === "string" ? Date.parse(time) : time) - now();
  const size = Math.abs(span) / 1000;
  if (size < 1) return "now";
  const [unit, length] = SPANS.find(([, least]) => size >= least);
  const text = `${Math.floor(size / length)} ${unit}`;
  return span > 0 ? `in ${text}` : `${text} ago`;
}

const format = (options) => new Intl.DateTimeFormat("en-GB", options);
const clockFormat = format({timeStyle: "medium"});
const minuteFormat = format({timeStyle: "short"});
const dayFormat = format({day: "numeric", month: "short"});
const fullFormat = format({dateStyle: "medium", timeStyle: "medium"});

/// "14:03:09.123"
export function clock(time) {
  const date = new Date(time);
  return `${clockFormat.format(date)}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

/// "14:03", or "25 Nov 14:03" for a `span` of more than a day.
export function axisTime(time, span) {
  const day = span > 86_400_000 ? `${dayFormat.format(time)} ` : "";
  return day + (span < 300_000 ? clockFormat : minuteFormat).format(time);
}

/// "25 Nov 2026, 14:03:09"
export function fullTime(time) {
  return time === null || time === undefined ? "–" : fullFormat.format(new Date(time));
}

/// The outcomes of a request. Each has a shape and a name, so that colour is never the only mark.
export const OUTCOMES = [
  {key: "hit", shape: "●", meaning: "a fresh stored response answered"},
  {key: "coalesced", shape: "◇", meaning: "shared the response of another request"},
  {key: "revalidated", shape: "↻", meaning: "a stored response answered after validation"},
  {key: "stale", shape: "◐", meaning: "a stale stored response answered"},
  {key: "tier", shape: "□", meaning: "a shared tier answered"},
  {key: "miss", shape: "○", meaning: "the origin answered"},
  {key: "error", shape: "▲", meaning: "an error, or nothing answered"},
];
export const SHAPES = Object.fromEntries(OUTCOMES.map((outcome) => [outcome.key, outcome.shape]));

/// A request as a curl command for a shell.
export function curl(method, url, fields = []) {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  return [`curl ${quoted(url)}`, method === "HEAD" ? "-I" : method !== "GET" ? `-X ${quoted(method)}` : null,
    ...fields.map(({name, value}) => `-H ${quoted(`${name}: ${value}`)}`)].filter(Boolean).join(" ");
}

/// Parses the tags of an entry, which are JSON.
export function tags(text) {
  try {
    return JSON.parse(text ?? "[]");
  } catch {
    return [];
  }
}
