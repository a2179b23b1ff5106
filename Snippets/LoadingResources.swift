// Policies, events, handlers, prefetching, processors and errors: the samples of the loader's documentation.

import CacheLoader
import CacheStore
import Foundation

struct Feed: Decodable, Sendable {
    let titles: [String]
}

func makeLoader(_ store: ResponseStore) throws -> ResourceLoader {
    var configuration = ResourceLoader.Configuration()
    configuration.policy.defaultLifetime = .seconds(3600)
    configuration.urlPolicies = [
        try URLPolicy("*.example.com/images/*", .immutable),
        try URLPolicy("api.example.com", .init(staleIfError: .zero)),
        try URLPolicy("/drafts/*", .revalidateAlways),
    ]
    configuration.contentTypes = ["application/json", "image/*", "text/*"]
    configuration.memoryLimit = 64 << 20
    configuration.memoryPressure = .system()
    return ResourceLoader(store: store, configuration: configuration)
}

func limit(_ loader: ResourceLoader) {
    loader.configuration.lanes = LaneWidths(urgent: 4, background: 2)
    loader.configuration.negativeCaching = NegativeCaching(lifetime: .seconds(60), maxAttempts: 3)
    loader.configuration.policy.staleIfError = .zero
    loader.configuration.policy.staleWhenDisconnected = .zero
}

func waitForBetterNetwork(_ loader: ResourceLoader, _ requests: [ResourceRequest]) -> Prefetch {
    loader.configuration.heldBack = [.background: [.constrained, .lowPower]]
    return loader.prefetch(requests, heldBackBy: .expensive)
}

func reload(_ loader: ResourceLoader) async throws {
    let reload = ResourceRequest("https://example.com/feed.json", policy: .remoteOnly)
    let feed = try await loader.load(reload)
    print(feed.source)

    let strict = ResourceRequest("https://example.com/prices.json", policy: .init(staleIfError: .zero))
    let logo = ResourceRequest("https://example.com/logo.3f7a.png", policy: .immutable)
    for request in [strict, logo] { print(try await loader.load(request).isStale) }
}

func follow(_ loader: ResourceLoader) async {
    for await event in loader.events(for: ResourceRequest("https://example.com/notes.txt"), as: .text) {
        switch event {
        case .cached(let old): print("for now:", old.value)
        case .requesting(let hadCached): print(hadCached ? "checking for changes" : "loading")
        case .progress(let received, let total): print(received, "of", total ?? -1)
        case .retrying(let error, let failedAttempts, _): print(failedAttempts, error)
        case .storeFailed(let error): print("continues without the store:", error)
        case .completed(let new): print(new.source, new.value)
        case .failed(let error): print(error)
        case .cancelled: print("cancelled")
        }
    }
}

func save(_ loader: ResourceLoader) async {
    let place = URL(filePath: "/tmp/film.mp4")
    for await event in loader.events(for: ResourceRequest("https://example.com/film.mp4"), to: place) {
        switch event {
        case .progress(let received, let total): print(received, "of", total ?? -1)
        case .completed(let film): print(film.source, film.value)
        default: break
        }
    }
}

func handle(_ loader: ResourceLoader) {
    let load = loader.start(ResourceRequest("https://example.com/logo.png")) { event in
        if case .completed(let logo) = event { print(logo.data.count) }
    }
    load.cancel()
}

func prefetch(_ loader: ResourceLoader) async {
    let images = (0..<1_000).map { ResourceRequest("https://example.com/images/\($0).jpg") }
    let prefetch = loader.prefetch(images)
    for await progress in prefetch.updates { print(progress.completed, "of", images.count) }
    print(prefetch.progress.failed, prefetch.progress.latestFailure?.description ?? "")
}

func process(_ loader: ResourceLoader) async throws {
    let feed = try await loader.load("https://example.com/feed.json", as: .json(Feed.self))
    print(feed.source, feed.value)

    let lines = TextProcessor().then(
        ClosureProcessor(ProcessorID("lines")) { (text: String, _) in text.split(separator: "\n").count })
    let count = try await loader.load("https://example.com/notes.txt", as: lines).value
    let stored = try await loader.load("https://example.com/notes.txt", as: lines.stored(as: .json)).value
    print(count, stored)
}

func look(_ loader: ResourceLoader) throws {
    let feed = try loader.cachedValue(for: "https://example.com/feed.json", as: .json(Feed.self))
    print(feed?.value ?? Feed(titles: []))
}

func keep() {
    let titles = MemoryCache<String, String>(costLimit: 1 << 20, pressure: .system())
    titles.insert("Feeds", for: "title", cost: 5)
    print(titles.value(for: "title") ?? "")
}

func tell(_ loader: ResourceLoader) async {
    do throws(LoadError) {
        let feed = try await loader.load("https://example.com/feed.json")
        if let failure = feed.failure { print("as of \(feed.age) s ago:", failure) }
    } catch {
        switch error {
        case .cancelled: break
        case .notCached: print("not on this device")
        case .httpStatus(let error): print("status", error.status, String(decoding: error.body, as: UTF8.self))
        default: print(error, error.isFatal ? "for good" : "for now")
        }
    }
}

let store = try ResponseStore(directory: FileManager.default.temporaryDirectory.appending(path: "feeds"))
let loader = try makeLoader(store)
try await reload(loader)
await follow(loader)
await save(loader)
handle(loader)
await prefetch(loader)
try await process(loader)
try look(loader)
keep()
limit(loader)
await tell(loader)
