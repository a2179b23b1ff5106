// Calls the server. Paths are relative, because the inspector may be mounted at any path.

import {setClock} from "./format.js";

class APIError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

let csrf = "";
let whenUnauthorized = () => {};

/// Sets the action for an ended session.
export function onUnauthorized(action) {
  whenUnauthorized = action;
}

/// Returns the path with the non-empty parameters.
export function path(name, parameters = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") query.set(key, value);
  }
  const text = query.toString();
  return `./api/${name}${text ? `?${text}` : ""}`;
}

/// Returns the address of a panel with the non-empty parameters.
export function link(panel, parameters = {}) {
  return `#/${path(panel, parameters).slice("./api/".length)}`;
}

async function send(url, options) {
  let response;
  try {
    response = await fetch(url, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new APIError(0, "unreachable", "The server does not answer. Is cachestore serve still running?");
  }
  if (response.ok) return response;
  let [code, message] = ["failed", `The server answered with status ${response.status}.`];
  try {
    ({code, message} = (await response.json()).error);
  } catch { /* Keeps the status as the message. */ }
  if (response.status === 401) whenUnauthorized();
  throw new APIError(response.status, code, message);
}

export async function get(name, parameters, signal) {
  return (await send(path(name, parameters), {signal, cache: "no-store"})).json();
}

export async function post(name, body, signal) {
  return (await send(`./api/${name}`, {
    method: "POST", signal, cache: "no-store", body: JSON.stringify(body),
    headers: {"Content-Type": "application/json", "X-CSRF-Token": csrf},
  })).json();
}

/// Returns the first bytes of a body, and whether these are all.
export async function body(parameters) {
  const response = await send(path("body", parameters), {cache: "no-store"});
  const data = new Uint8Array(await response.arrayBuffer());
  return {data, isWhole: response.headers.get("X-Body-Length") === String(data.length)};
}

export async function session() {
  const start = performance.now();
  const answer = await get("session");
  csrf = answer.csrf;
  // The server read its clock about halfway between request and answer.
  setClock(answer.now + Math.round((performance.now() - start) / 2));
  return answer;
}

/// Runs only the latest of several calls. An earlier call is cancelled and returns `null`.
export function latest() {
  let controller = null;
  return async (call) => {
    controller?.abort();
    const own = controller = new AbortController();
    try {
      const result = await call(own.signal);
      return own === controller ? result : null;
    } catch (error) {
      if (error.name === "AbortError" || own !== controller) return null;
      throw error;
    }
  };
}
