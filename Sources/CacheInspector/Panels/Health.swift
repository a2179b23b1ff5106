import CacheReports
import CacheStore
import Foundation

extension StoreInspector {
    /// Returns a page of the requests whose latest load failed.
    func failures(_ query: QueryParameters) throws -> JSON {
        let limit = Int(try query.integer("limit", in: 1...500) ?? 100)
        var arguments: [SQLValue] = [.text(""), .text(""), .text("")]
        if let cursor = query.text("after") {
            let parts = try? JSONDecoder().decode([String].self, from: Data(cursor.utf8))
            guard let parts, parts.count == 3 else {
                throw InspectorFailure.invalid("after is not a cursor of an earlier page")
            }
            arguments = parts.map { .text($0) }
        }
        let rows = try store.query(
            """
            SELECT partition, key, status, error_count, failed_at, request FROM cache_errors
            WHERE (partition, key, request) > (?1, ?2, ?3) ORDER BY partition, key, request LIMIT \(limit)
            """, arguments)
        let last = rows.count == limit ? rows.last : nil
        let next = last.map { last in
            let parts = ["partition", "key", "request"].map { JSON.text(last[$0]?.text ?? "") }
            return JSON.text(String(decoding: JSON.array(parts).bytes(.page), as: UTF8.self))
        }
        let total = try store.query("SELECT count(*) AS total FROM cache_errors")
        return [
            "failures": .array(rows.map { JSON($0) }),
            "next": next ?? nil,
            "total": .integer(total.first?["total"]?.integer ?? 0),
        ]
    }

    /// Returns the state of the index, its locks and its processes.
    func health() throws -> JSON {
        let statistics = try store.statistics()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return [
            "damaged_bodies": .integer(statistics.damagedBodies),
            "failing_keys": .integer(statistics.failingKeys),
            "quarantined": .array(
                names.filter { $0.hasPrefix("index.sqlite.") }.sorted().prefix(100).map { .text($0) }),
            "index": [
                "byte_size": .integer(byteCount("index.sqlite")),
                "used_bytes": .integer(statistics.indexBytes),
                "wal_bytes": .integer(byteCount("index.sqlite-wal")),
            ],
            "writers": .integer(try store.writerCount()),
            "keys_being_loaded": .integer(store.keyLocks.countHeldElsewhere(limit: 1_000)),
            "processes": processes(),
        ]
    }

    private var path: String { store.directory.path(percentEncoded: false) }

    private func byteCount(_ name: String) -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }

    /// Returns this user's processes that have the index open, or null on a system without /proc.
    private func processes() -> JSON {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc") else { return nil }
        let index = "\(path)/index.sqlite"
        return .array(
            names.compactMap { Int32($0) }.sorted().compactMap { number in
                // Unreadable for other users' processes.
                let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(number)/fd")) ?? []
                let hasIndex = files.contains { file in
                    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(number)/fd/\(file)")) == index
                }
                guard hasIndex else { return nil }
                let name = (try? String(contentsOfFile: "/proc/\(number)/comm", encoding: .utf8)) ?? ""
                return [
                    "process": .integer(number),
                    "name": .text(name.trimmingCharacters(in: .newlines)),
                    "is_this": .bool(number == ProcessInfo.processInfo.processIdentifier),
                ]
            })
    }
}
