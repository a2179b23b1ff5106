// A read-only store, and a store that releases its locks in the background.

import CacheStore
import Foundation

func readOnly(_ directory: URL) throws -> Data? {
    var configuration = ResponseStore.Configuration()
    configuration.isReadOnly = true
    let store = try ResponseStore(directory: directory, configuration: configuration)
    let key = try CacheKey(url: "https://example.com/feed.json")
    let feed = try store.lookup(key).flatMap { try store.openBody(of: $0)?.data() }
    return feed
}

let directory = FileManager.default.temporaryDirectory.appending(path: "feeds")
let store = try ResponseStore(directory: directory)
print(try readOnly(directory)?.count ?? 0)
store.suspend()
try store.resume()

#if canImport(SwiftUI)
import SwiftUI

struct FeedScene: Scene {
    @Environment(\.scenePhase) private var scenePhase
    let store: ResponseStore

    var body: some Scene {
        WindowGroup { Text(store.directory.lastPathComponent) }
            .onChange(of: scenePhase) { _, phase in
                switch phase {
                case .background: store.suspend()
                case .active: try? store.resume()
                default: break
                }
            }
    }
}
#endif
