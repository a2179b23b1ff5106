// Queries with arguments, and the removal of what a query finds.

import CacheStore
import Foundation

func ask(_ store: ResponseStore) throws {
    let sql = "SELECT url, byte_size FROM cache_entries WHERE host = ? ORDER BY byte_size DESC LIMIT 10"
    for row in try store.query(sql, [.text("example.com")]) {
        print(row["url"]?.text ?? "", row["byte_size"]?.integer ?? 0)
    }
}

func removeUnused(_ store: ResponseStore) throws {
    let unused = EntrySelection.matching("byte_size > 1000000 AND hit_count = 0")
    print(try store.removeAll(unused, dryRun: true).bytes)
    try store.removeAll(unused)
}

let store = try ResponseStore(directory: FileManager.default.temporaryDirectory.appending(path: "feeds"))
try ask(store)
try removeUnused(store)
