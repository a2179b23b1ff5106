// Queries with arguments, and the removal of the entries that a query finds.

import CacheStore
import Foundation

func printLargest(_ store: ResponseStore) throws {
    let sql = "SELECT url, byte_size FROM cache_entries WHERE host = ? ORDER BY byte_size DESC LIMIT ?"
    for row in try store.query(sql, ["example.com", 10]) {
        print(row["url"]?.text ?? "", row["byte_size"]?.integer ?? 0)
    }
    print(try store.query("SELECT host, entries, byte_size FROM cache_hosts"))
}

func removeUnused(_ store: ResponseStore) throws {
    let unused = EntrySelection.matching("byte_size > 1000000 AND hit_count = 0")
    print(try store.removeAll(unused, dryRun: true).bytes)
    try store.removeAll(unused)
}

let store = try ResponseStore(directory: FileManager.default.temporaryDirectory.appending(path: "feeds"))
try printLargest(store)
try removeUnused(store)
