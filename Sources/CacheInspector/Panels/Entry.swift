import CacheLoader
import CacheReports
import CacheStore
import Foundation
import HTTPTypes

extension StoreInspector {
    /// The fields whose values stay hidden until the user asks for them.
    private static let secretNames: Set<String> = [
        "authorization", "cookie", "set-cookie", "set-cookie2", "proxy-authorization", "authentication-info",
        "proxy-authentication-info", "www-authenticate", "proxy-authenticate",
    ]
    private static let maxFieldLength = 4_096

    static func isSecret(_ name: HTTPField.Name) -> Bool { secretNames.contains(name.canonicalName) }

    /// Returns the entry with the id in the query.
    func entry(named query: QueryParameters) throws -> StoredEntry {
        guard let id = try query.integer("id", in: 0 ... .max) else { throw InspectorFailure.invalid("id is missing") }
        guard let entry = try store.entry(id: id) else {
            throw InspectorFailure.notFound("the entry is gone, or has been replaced")
        }
        return entry
    }

    /// Describes an entry.
    func entry(_ query: QueryParameters) throws -> JSON {
        let entry = try entry(named: query)
        let now = store.configuration.clock()
        var policy = CachePolicy()
        policy.isShared = try query.bool("shared")
        let described = entry.described(policy: policy, at: now)
        let metadata = entry.metadata
        let responses = try store.responses(for: entry.key).sorted { $0.id < $1.id }
        let rows = try rows(responses.map(\.id))
        guard let row = rows.first(where: { $0["id"]?.integer == entry.id }) else {
            throw InspectorFailure.notFound("the entry is gone, or has been replaced")
        }
        let names = Set(responses.flatMap { $0.nominatedFields.map(\.name) }).sorted()
        let differing = names.filter { name in
            Set(responses.map { $0.nominatedFields.first { $0.name == name }?.value }).count > 1
        }
        return [
            "entry": JSON(row),
            "fields": .array(entry.responseFields.enumerated().map(Self.json)),
            "validators": .array(Self.validators(described)),
            "freshness": described.json,
            "received_at": .integer(metadata.receivedAt.milliseconds),
            "requested_at": .integer(metadata.requestedAt.milliseconds),
            "expires_at": .optional(metadata.expiresAt?.milliseconds),
            "variants": .array(responses.map { json($0, isThis: $0.id == entry.id, in: rows) }),
            "vary": .array(names.map { .text($0) }),
            "differing": .array(differing.map { .text($0) }),
            "derived": try list(
                "SELECT name, byte_size, sha256, file_path, created_at FROM cache_derived WHERE entry_id = ? ORDER BY name",
                [.integer(entry.id)]),
            "failures": try list(
                """
                SELECT request, status, error_count, failed_at FROM cache_errors
                WHERE partition = ? AND key = ? ORDER BY request
                """, [.text(entry.key.partition), .text(entry.key.text)]),
            "is_being_loaded": .bool(store.keyLocks.isHeldElsewhere(entry.key)),
            "preview": .text(try preview(of: entry).rawValue),
            "is_decoded": .bool(hasRemovableCoding(entry)),
            "file": file(of: row),
        ]
    }

    /// Returns the whole value of a field, even of a secret one.
    func field(_ query: QueryParameters) throws -> JSON {
        let fields = try entry(named: query).responseFields
        guard let index = try query.integer("index", in: 0...65_536) else {
            throw InspectorFailure.invalid("index is missing")
        }
        guard index < fields.count else { throw InspectorFailure.notFound("the entry has no such field") }
        let field = fields[fields.index(fields.startIndex, offsetBy: Int(index))]
        return ["name": .text(field.name.rawName), "value": .text(field.value)]
    }

    private static func json(_ index: Int, _ field: HTTPField) -> JSON {
        let isSecret = isSecret(field.name)
        let value = field.value
        let cut = value.cut(to: maxFieldLength)
        return [
            "index": .integer(index), "name": .text(field.name.rawName), "value": isSecret ? nil : .text(cut),
            "is_secret": .bool(isSecret), "length": .integer(value.utf8.count),
            "is_cut": .bool(!isSecret && cut != value),
        ]
    }

    private static func validators(_ candidate: Explanation.Candidate) -> [JSON] {
        var validators: [JSON] = []
        if let tag = candidate.entityTag {
            validators.append(["name": "etag", "value": .text(tag), "is_weak": .bool(candidate.isEntityTagWeak)])
        }
        if let date = candidate.lastModified {
            // RFC 9110 §8.8.2: a date is weak unless more is known.
            validators.append(["name": "last-modified", "value": .text(date), "is_weak": true])
        }
        return validators
    }

    private func json(_ entry: StoredEntry, isThis: Bool, in rows: SQLRows) -> JSON {
        let row = rows.first { $0["id"]?.integer == entry.id }
        return [
            "id": .integer(entry.id),
            "kind": .text(entry.metadata.kind == .content ? "content" : "error"),
            "status": .integer(entry.metadata.status),
            "byte_size": .integer(entry.byteCount),
            "validated_at": .optional(row?["validated_at"]?.text),
            "is_this": .bool(isThis),
            "part_start": .optional(entry.metadata.part?.start),
            "fields": .array(entry.nominatedFields.map { ["name": .text($0.name), "value": .optional($0.value)] }),
        ]
    }

    private func list(_ sql: String, _ arguments: [SQLValue]) throws -> JSON {
        .array(try store.query(sql, arguments, maxRows: 1_000).map { JSON($0) })
    }

    private func file(of row: SQLRows.Row) -> JSON {
        guard let name = row["file_path"]?.text else { return nil }
        let path = store.directory.appending(path: name).path(percentEncoded: false)
        let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? NSNumber
        return [
            "path": .text(path), "exists": .bool(size != nil), "byte_size": .integer(size?.int64Value ?? 0),
        ]
    }
}
