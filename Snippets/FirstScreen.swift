// The first screen of the README.

import CacheLoader
import CacheStore
import Foundation

let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
let store = try ResponseStore(directory: caches.appending(path: "feeds"))
try store.evict(maxBytes: 200 << 20)

let loader = ResourceLoader(store: store)
let feed = try await loader.load("https://example.com/feed.json")
print(feed.source, feed.data.count)  // network; disk while fresh; notModified after a 304

let anyAge = ResourceRequest("https://example.com/feed.json", policy: .cacheFirst)
let offline = try await loader.load(anyAge)
print(offline.isStale)

for row in try store.query("SELECT host, entries, byte_size FROM cache_hosts") {
    print(row["host"]?.text ?? "", row["entries"]?.integer ?? 0, row["byte_size"]?.integer ?? 0)
}
