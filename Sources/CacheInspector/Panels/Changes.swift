import CacheLoader
import CacheReports
import CacheStore
import Foundation
import HTTPTypes
import Synchronization

/// A previewed change of entries.
struct EntryChange: Sendable {
    enum Action: String, CaseIterable, Decodable {
        case remove, pin, unpin, refresh
    }

    let action: Action
    /// The entries to remove, or `nil` for the entries of ``keys``.
    let selection: EntrySelection?
    let keys: [CacheKey]
    let expires: ContinuousClock.Instant
}

/// The changes that await their confirmation.
struct PendingChanges {
    private static let maxCount = 100
    static let lifetime = Duration.seconds(300)

    private var changes: [String: EntryChange] = [:]

    /// Keeps a change and returns its confirmation text.
    mutating func add(_ change: EntryChange) -> String {
        changes = changes.filter { $0.value.expires > .now }
        if changes.count >= Self.maxCount, let oldest = changes.min(by: { $0.value.expires < $1.value.expires }) {
            changes[oldest.key] = nil
        }
        let confirmation = Secret.random()
        changes[confirmation] = change
        return confirmation
    }

    /// Removes and returns a change, so that it can be confirmed only once.
    mutating func take(_ confirmation: String) -> EntryChange? {
        changes.removeValue(forKey: confirmation).flatMap { $0.expires > .now ? $0 : nil }
    }
}

/// A selection as sent by the page.
private struct SelectionArgument: Decodable {
    let ids: [Int64]?
    let partition: String?
    let prefix: String?
    let host: String?
    let tag: String?
    let type: String?
    let everything: Bool?
}

extension StoreInspector {
    private static let maxKeys = 100_000
    private static let maxIDs = 1_000
    private static let maxRefreshes = 100

    func requireChanges() throws(InspectorFailure) {
        guard allowsChanges else {
            throw InspectorFailure(
                .forbidden, "changes_not_allowed", "changes are off; start the inspector with --allow-changes")
        }
    }

    // MARK: Previewing

    /// Counts the entries of a change and returns its confirmation text.
    func previewChange(_ content: [UInt8]) async throws -> JSON {
        struct Wish: Decodable {
            let action: String
            let selection: SelectionArgument
        }
        let wish = try decode(Wish.self, content)
        try requireChanges()
        guard let action = EntryChange.Action(rawValue: wish.action) else {
            throw InspectorFailure.invalid("action must be one of remove, pin, unpin, refresh")
        }
        return try await scanning { try $0.preview(action, wish.selection) }
    }

    private func preview(_ action: EntryChange.Action, _ argument: SelectionArgument) throws -> JSON {
        let selection = try Self.selection(argument)
        let keys: [CacheKey]
        let report: RemovalReport
        if let selection {
            keys = try store.keys(in: selection, limit: Self.maxKeys + 1)
            report = try store.removeAll(selection, dryRun: true)
        } else {
            keys = try self.keys(ofIDs: argument.ids ?? [])
            report = try contents(of: keys)
        }
        if action == .refresh, keys.count > Self.maxRefreshes {
            throw InspectorFailure.invalid("a refresh takes at most \(Self.maxRefreshes) keys; these are \(keys.count)")
        }
        if action != .remove, keys.count > Self.maxKeys {
            throw InspectorFailure.invalid("a change takes at most \(Self.maxKeys) keys")
        }
        let change = EntryChange(
            action: action, selection: action == .remove ? selection : nil, keys: keys,
            expires: .now + PendingChanges.lifetime)
        let confirmation = state.pendingChanges.withLock { $0.add(change) }
        let end = store.configuration.clock().milliseconds + PendingChanges.lifetime.components.seconds * 1_000
        return [
            "entries": .integer(report.entries),
            "keys": .integer(keys.count),
            "failures": .integer(report.failures),
            "bytes": .integer(report.bytes),
            "sample": .array(keys.prefix(20).map { .text($0.text.cut(to: 2_048)) }),
            "confirmation": .text(confirmation),
            "expires_at": .integer(end),
        ]
    }

    /// - Returns: `nil` for a selection by ids.
    private static func selection(_ argument: SelectionArgument) throws(InspectorFailure) -> EntrySelection? {
        let selection = EntrySelection(
            partition: argument.partition, prefix: argument.prefix, host: argument.host, tag: argument.tag,
            contentType: argument.type)
        let hasProperty = selection != EntrySelection()
        switch (argument.ids, argument.everything ?? false, hasProperty) {
        case (let ids?, false, false):
            guard !ids.isEmpty, ids.count <= maxIDs else { throw .invalid("ids must be 1 to \(maxIDs) numbers") }
            return nil
        case (nil, true, false): return .everything
        case (nil, false, true): return selection
        case (nil, false, false): throw .invalid("the selection is empty")
        default: throw .invalid("the selection must be ids, properties or everything")
        }
    }

    private func keys(ofIDs ids: [Int64]) throws -> [CacheKey] {
        var keys: [CacheKey] = []
        var seen: Set<CacheKey> = []
        for id in ids {
            guard let key = try store.entry(id: id)?.key, seen.insert(key).inserted else { continue }
            keys.append(key)
        }
        guard !keys.isEmpty else { throw InspectorFailure.notFound("the entries are gone, or have been replaced") }
        return keys
    }

    /// Counts the responses, their bytes and the failures of keys.
    private func contents(of keys: [CacheKey]) throws -> RemovalReport {
        var report = RemovalReport()
        for key in keys {
            let entries = try store.responses(for: key)
            report.entries += entries.count
            report.bytes += entries.reduce(0) { $0 + $1.byteCount }
            if try store.failure(for: key) != nil { report.failures += 1 }
        }
        return report
    }

    // MARK: Applying

    /// Applies a previewed change.
    func applyChange(_ content: [UInt8]) async throws -> JSON {
        struct Consent: Decodable { let confirmation: String }
        let consent = try decode(Consent.self, content)
        try requireChanges()
        guard let change = state.pendingChanges.withLock({ $0.take(consent.confirmation) }) else {
            throw InspectorFailure(
                .conflict, "unconfirmed", "the preview is unknown, used or older than five minutes; ask for another")
        }
        var members: [(String, JSON)] = [("action", .text(change.action.rawValue))]
        switch change.action {
        case .remove: members += try await remove(change)
        case .pin, .unpin:
            var count = 0
            for key in change.keys {
                let options = EntryOptions(isPinned: change.action == .pin)
                if try await store.setOptions(options, for: key) { count += 1 }
            }
            members.append(("keys", .integer(count)))
        case .refresh: members += await refresh(change.keys)
        }
        return .object(members)
    }

    private func remove(_ change: EntryChange) async throws -> [(String, JSON)] {
        var report: RemovalReport
        if let selection = change.selection {
            report = selection == .everything ? try await store.clear() : try await store.removeAll(selection)
        } else {
            report = try contents(of: change.keys)
            let byteCount = try store.statistics().physicalBytes
            for key in change.keys { try await store.remove(key) }
            report.bytes = max(0, byteCount - (try store.statistics().physicalBytes))
        }
        return [
            ("entries", .integer(report.entries)), ("failures", .integer(report.failures)),
            ("bytes", .integer(report.bytes)),
        ]
    }

    /// Validates the stored responses of the keys with their origins, one key after the other.
    private func refresh(_ keys: [CacheKey]) async -> [(String, JSON)] {
        let transport = configuration.transport ?? DefaultTransport()
        var counts = (revalidated: 0, updated: 0, failed: 0)
        for key in keys {
            guard let url = try? CacheKey.loading(key.text, partition: key.partition) else {
                counts.failed += 1
                continue
            }
            var loading = ResourceLoader.Configuration()
            loading.partition = key.partition
            let loader = ResourceLoader(store: store, transport: transport, configuration: loading)
            // The requests of the variants. The store keeps no credentials, so it cannot repeat requests that need
            // them.
            let requests = Set(((try? store.responses(for: key)) ?? []).compactMap { Self.fields(of: $0) })
            var sources: [ResponseSource?] = []
            for fields in requests {
                let request = ResourceRequest(
                    url.text, headerFields: fields, policy: .revalidateAlways, lane: .background, usesMemory: false)
                let loaded = try? await loader.load(request)
                // A stale response on error counts as a failed refresh.
                sources.append(loaded?.failure == nil ? loaded?.source : nil)
            }
            await loader.waitForBodies()
            if sources.isEmpty || sources.contains(nil) {
                counts.failed += 1
            } else if sources.allSatisfy({ $0 == .notModified }) {
                counts.revalidated += 1
            } else {
                counts.updated += 1
            }
        }
        return [
            ("keys", .integer(keys.count)), ("revalidated", .integer(counts.revalidated)),
            ("updated", .integer(counts.updated)), ("failed", .integer(counts.failed)),
        ]
    }

    /// Returns the fields that select an entry, or `nil` for fields with credentials.
    private static func fields(of entry: StoredEntry) -> HTTPFields? {
        var fields = HTTPFields()
        for (name, value) in entry.nominatedFields {
            guard let value else { continue }
            guard let name = HTTPField.Name(name), !isSecret(name), HTTPField.isValidValue(value) else { return nil }
            fields[name] = value
        }
        return fields
    }
}
