// The store without a loader: the sample of its documentation.

import CacheStore
import Foundation

func keepAFeed(in caches: URL) throws {
    let store = try ResponseStore(directory: caches.appending(path: "feeds"))
    try store.evict(maxBytes: 200 << 20)

    let key = try CacheKey(url: "https://example.com/feed.json")
    let metadata = EntryMetadata(requestedAt: .now, receivedAt: .now)
    try store.insert(Data("{}".utf8), metadata: metadata, for: key)
    if let entry = try store.lookup(key), let body = try store.openBody(of: entry) {
        print(entry.byteCount, try body.data())
    }
}

try keepAFeed(in: FileManager.default.temporaryDirectory)
