// The freshness of a stored response: a bar along its age, and the terms of the age.

import {h, s, table} from "./dom.js";
import {Chart, drawing, text} from "./charts.js";
import {seconds} from "./format.js";

const HEIGHT = 74;

/// A link to a section of an RFC.
export function specification(section) {
  const match = /^RFC (\d+) §([\d.]+)/.exec(section ?? "");
  if (!match) return h("span", section ?? "");
  return h("a", {
    href: `https://www.rfc-editor.org/rfc/rfc${match[1]}#section-${match[2]}`, rel: "noreferrer noopener",
    target: "_blank",
  }, section);
}

function windowOf(directives, name) {
  const found = directives.find((directive) => directive.startsWith(`${name}=`));
  return found ? Number(found.split("=")[1]) : 0;
}

/// Draws the fresh and the stale periods, the windows for serving stale, and a mark at the current age.
export function freshnessBar(freshness) {
  const {lifetime, age} = freshness;
  const directives = freshness.directives ?? [];
  const windows = [["stale-while-revalidate", "may answer during validation"], ["stale-if-error", "may answer on errors"]]
    .map(([name, meaning]) => ({name, meaning, length: windowOf(directives, name)})).filter(({length}) => length > 0);
  const end = Math.max(lifetime + Math.max(0, ...windows.map(({length}) => length)), age, 1) * 1.12;
  const chart = new Chart("freshness");
  const label = `Age ${seconds(age)}, lifetime ${seconds(lifetime)}: ${freshness.fresh ? "fresh" : "stale"}`;
  chart.show((width) => {
    // The margin leaves room for the mark at age 0.
    const at = (value) => (value / end) * (width - 12) + 6;
    const [top, height] = [26, 18];
    const stale = at(lifetime);
    const now = at(age);
    const onRight = now > width * 0.7;
    return drawing(width, HEIGHT, label,
      s("rect.fresh", {x: 6, y: top, width: stale - 6, height}),
      s("rect.stale", {x: stale, y: top, width: width - 6 - stale, height}),
      windows.map(({length}, index) => s("rect.window", {
        x: stale, y: top + height - 4 - index * 6, width: Math.max(1, at(lifetime + length) - stale), height: 4})),
      stale > 60 ? text(now < 60 ? now + 8 : 12, top + 13, "fresh", "title") : null,
      width - stale > 60 ? text(stale + 7, top + 13, "stale", "title") : null,
      s("path.border", {d: `M6 ${top}H${width - 6}V${top + height}H6ZM${stale} ${top}v${height + 5}`}),
      text(stale, top + height + 17, `lifetime ${seconds(lifetime)}`, "tick",
        stale < 60 ? "start" : stale > width - 60 ? "end" : "middle"),
      stale > 130 ? text(6, top + height + 17, "0 s", "tick") : null,
      s("path.now", {d: `M${now} ${top - 6}V${top + height + 4}M${now - 5} ${top - 12}h10l-5 7z`}),
      text(now + (onRight ? -9 : 9), top - 6, `age ${seconds(age)}`, "title", onRight ? "end" : "start"));
  });
  const note = windows.length === 0 ? null : h("p.note", windows.map(({name, meaning, length}) =>
    `${name}: ${meaning} for ${seconds(length)} after that. `));
  return h("div", chart.element, note);
}

/// The age term by term (RFC 9111 §4.2.3), and the remaining lifetime.
export function ageTerms(freshness) {
  const corrected = freshness.age_field + freshness.response_delay;
  const rest = freshness.lifetime - freshness.age;
  const rows = [
    ["apparent_age", "received − Date", freshness.apparent_age],
    ["corrected_age_value", `Age ${seconds(freshness.age_field)} + delay ${seconds(freshness.response_delay)}`, corrected],
    ["corrected_initial_age", "the larger of both", freshness.age_on_arrival],
    ["resident_time", "now − received", freshness.resident_time],
    ["current_age", "initial age + resident time", freshness.age],
    ["freshness_lifetime", `from ${freshness.lifetime_source}`, freshness.lifetime],
    [rest > 0 ? "fresh for" : "stale for", "lifetime − age", Math.abs(rest)],
  ];
  return h("div", table("Age, term by term", ["Term", "Made of", "#Value"], rows.map(([name, source, value]) => [
    /_/.test(name) ? h("code", name) : name, source, seconds(value)]), {class: "terms"}),
  h("p.note", "After ", specification("RFC 9111 §4.2.3"), "."));
}
