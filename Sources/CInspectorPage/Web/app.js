// The frame: session, theme, keys, and the panel that the address fragment names.

import * as api from "./api.js";
import {h, put} from "./dom.js";
import {Live} from "./live.js";
import {Overview} from "./overview.js";
import {Entries} from "./entries.js";
import {Entry} from "./entry.js";
import {Why} from "./why.js";
import {Eviction} from "./eviction.js";
import {SQL} from "./sql.js";
import {Failures} from "./failures.js";
import {Change} from "./change.js";
import {showKeys} from "./keys.js";

const PANELS = [
  {name: "live", title: "Live", Panel: Live},
  {name: "overview", title: "Overview", Panel: Overview},
  {name: "entries", title: "Entries", Panel: Entries},
  {name: "entry", title: "Entry", within: "entries", Panel: Entry},
  {name: "why", title: "Why?", Panel: Why},
  {name: "eviction", title: "Eviction", Panel: Eviction},
  {name: "sql", title: "SQL", Panel: SQL},
  {name: "failures", title: "Failures", Panel: Failures},
  {name: "change", title: "Change", Panel: Change, changes: true},
];

const main = document.getElementById("main");
const made = new Map();
let shown = null;
let available = [];

const context = {
  session: null,
  /// The ids of the selected entries.
  selection: new Set(),
  go(name, parameters) { location.hash = api.link(name, parameters); },
  /// Keeps the state of a panel in the address, without a history entry. Does nothing after the user has left the
  /// panel.
  keep(name, parameters) {
    if (route().panel.name === name) history.replaceState(null, "", api.link(name, parameters));
  },
  announce(text) { document.getElementById("announcements").textContent = text; },
};

/// Reads `#/entries?host=a`.
function route() {
  const [name, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const panel = available.find((candidate) => candidate.name === name) ?? available[0];
  return {panel, parameters: Object.fromEntries(new URLSearchParams(query))};
}

function show() {
  if (location.hash === "#main") return;
  const {panel, parameters} = route();
  const isOther = shown?.panel !== panel;
  if (isOther) shown?.content.hide?.();
  if (!made.has(panel)) made.set(panel, new panel.Panel(context));
  const content = made.get(panel);
  const wasEmpty = shown === null;
  shown = {panel, content};
  document.title = `${panel.title} – Cache inspector`;
  for (const link of document.querySelectorAll("#panels a")) {
    link.ariaCurrent = link.dataset.name === (panel.within ?? panel.name) ? "page" : null;
  }
  if (isOther) {
    main.dataset.panel = panel.name;
    put(main, content.element);
    main.scrollTop = 0;
  }
  content.show(parameters);
  if (isOther && !wasEmpty) main.focus({preventScroll: true});
}

function fillNavigation() {
  put(document.getElementById("panels"), available.filter((panel) => !panel.within).map((panel, index) =>
    h("a", {
      href: `#/${panel.name}`, "data-name": panel.name, "aria-keyshortcuts": String(index + 1),
    }, panel.title, h("kbd", {"aria-hidden": "true"}, String(index + 1)))));
  const {directory, version, allows_changes: allowsChanges} = context.session;
  put(document.getElementById("store"),
    h("span.name", {title: directory}, directory.split("/").filter(Boolean).at(-1) ?? directory),
    h("span.note", allowsChanges ? "Changes are allowed" : "Read only"),
    h("span.note", `Version ${version}`));
}

// MARK: Theme

const THEMES = ["system", "light", "dark"];

function theme() {
  return document.documentElement.dataset.theme ?? "system";
}

function setTheme(name) {
  if (name === "system") {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem("inspector-theme");
  } else {
    document.documentElement.dataset.theme = name;
    localStorage.setItem("inspector-theme", name);
  }
  document.getElementById("theme").textContent = `Theme: ${name}`;
}

function nextTheme() {
  setTheme(THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length]);
  context.announce(`Theme: ${theme()}`);
}

// MARK: Keys

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const isTyping = event.target.closest("input:not([type=checkbox], [type=radio], [type=range]), textarea, select");
  if (event.key === "Escape" && isTyping) {
    // A search field would lose its text.
    event.preventDefault();
    return event.target.blur();
  }
  if (isTyping) return;
  const links = document.querySelectorAll("#panels a");
  if (/^[1-9]$/.test(event.key) && links[event.key - 1]) links[event.key - 1].click();
  else if (event.key === "/") main.querySelector("[data-key='/']")?.focus();
  else if (event.key === "t") nextTheme();
  else if (event.key === "?") showKeys();
  else if (shown?.content.key?.(event.key) !== true) return;
  event.preventDefault();
}

function showEnded() {
  shown?.content.hide?.();
  window.removeEventListener("hashchange", show);
  document.getElementById("panels").replaceChildren();
  put(main, h("div.empty",
    h("h1", "This session has ended"),
    h("p", "Open the address that ", h("code", "cachestore serve"), " printed. Its token is valid for that run only.")));
}

async function start() {
  setTheme(theme());
  document.getElementById("theme").addEventListener("click", nextTheme);
  document.getElementById("keys").addEventListener("click", showKeys);
  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  document.addEventListener("keydown", pressed);
  api.onUnauthorized(showEnded);
  try {
    context.session = await api.session();
  } catch (error) {
    if (error.status !== 401) put(main, h("div.empty", h("h1", "The store cannot be opened"), h("p", error.message)));
    return;
  }
  available = PANELS.filter((panel) => !panel.changes || context.session.allows_changes);
  fillNavigation();
  window.addEventListener("hashchange", show);
  show();
}

start();
