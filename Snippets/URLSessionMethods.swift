// A session with a cache, and the methods of URLSession on a cache: the sample of the module URLSessionCompatibility.

import CacheLoader
import CacheStore
import Foundation
import URLSessionCompatibility
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

func load(_ store: ResponseStore, _ request: URLRequest, _ url: URL) async throws {
    let cache = HTTPCache(store: store, transport: DefaultTransport())

    let session = URLSession(configuration: .default.cached(by: cache))
    print(try await session.data(for: request).0.count)
    _ = URLProtocol.registerClass(cache.urlProtocol)

    let (data, response) = try await cache.data(for: request)
    print(data.count, (response as? HTTPURLResponse)?.statusCode ?? 0)
    let (bytes, _) = try await cache.bytes(from: url)
    for try await line in bytes.lines { print(line) }
    let (file, _) = try await cache.download(from: url)
    print(file)
}

let store = try ResponseStore(directory: FileManager.default.temporaryDirectory.appending(path: "feeds"))
let url = URL(filePath: "/dev/null")
try await load(store, URLRequest(url: url), url)
