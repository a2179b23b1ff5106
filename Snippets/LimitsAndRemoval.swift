// Limits, options, removal and generations: the samples of the store's documentation.

import CacheStore
import Foundation

func keepBelowALimit(in caches: URL) throws -> ResponseStore {
    var configuration = ResponseStore.Configuration()
    configuration.limits = Limits(maxBytes: 200 << 20)
    let store = try ResponseStore(directory: caches.appending(path: "feeds"), configuration: configuration)
    return store
}

func sayHowLong(_ store: ResponseStore, _ logo: Data, _ metadata: EntryMetadata, _ key: CacheKey) throws {
    try store.insert(
        logo, metadata: metadata, for: key, options: EntryOptions(isPinned: true, tags: ["branding", "images"]))
    try store.setOptions(EntryOptions(lifetime: .session), for: key)
}

func remove(_ store: ResponseStore, _ key: CacheKey) throws {
    try store.remove(key)
    try store.removeAll(.partition("user-17"))
    let avatars = EntrySelection(host: "example.com", tag: "avatars")
    print(try store.removeAll(avatars, dryRun: true).entries)
    try store.removeAll(avatars)
}

func load(_ store: ResponseStore, _ metadata: EntryMetadata, _ key: CacheKey) throws {
    let generation = try store.generation()
    let body = store.makeBodyWriter()
    // Load the resource, and write the received bytes to the body.
    try body.commit(metadata, for: key, unlessRemovedSince: generation)
}

let store = try keepBelowALimit(in: FileManager.default.temporaryDirectory)
let key = try CacheKey(url: "https://example.com/logo.png")
let metadata = EntryMetadata(requestedAt: .now, receivedAt: .now)
try sayHowLong(store, Data("logo".utf8), metadata, key)
try load(store, metadata, key)
try remove(store, key)
