// Requests as an HTTP Archive 1.2, which the network panels of browsers open.
// http://www.softwareishard.com/blog/har-12-spec/

/// The record has no fields. A `Cache-Status` (RFC 9211) tells how the cache answered.
function entry(record) {
  const {forward, reply, head_milliseconds: wait, milliseconds: time} = record;
  const status = `cachestore; ${forward ? `fwd=${forward}` : "hit"}${reply?.action === "stored" ? "; stored" : ""}`
    + (record.outcome === "coalesced" ? "; collapsed" : "");
  const message = {httpVersion: "HTTP/1.1", cookies: [], headersSize: -1};
  let query = [];
  try {
    query = [...new URL(record.url).searchParams].map(([name, value]) => ({name, value}));
  } catch { /* A cut URL may be none. */ }
  return {
    startedDateTime: record.time, time,
    request: {...message, method: record.method, url: record.url, headers: [], queryString: query, bodySize: -1},
    response: {
      ...message, status: record.status ?? 0, statusText: "", headers: [{name: "Cache-Status", value: status}], redirectURL: "",
      content: {size: record.content_bytes ?? record.disk_bytes + record.network_bytes, mimeType: "x-unknown"},
      bodySize: record.network_bytes,
    },
    cache: {}, timings: {blocked: -1, dns: -1, connect: -1, send: 0, wait, receive: Math.max(0, time - wait), ssl: -1},
    connection: String(record.process), comment: record.outcome, ...(forward ? {} : {_fromCache: "disk"}),
  };
}

export function har(records, version) {
  const log = {version: "1.2", creator: {name: "cachestore", version}, pages: [], entries: records.map(entry)};
  return JSON.stringify({log}, null, 1);
}
