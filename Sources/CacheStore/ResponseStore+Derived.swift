#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Bodies derived from that of an entry: a thumbnail, a parsed form.
///
/// ```swift
/// if let entry = try store.lookup(key) {
///     if let thumbnail = try store.openDerived(name: "thumbnail", of: entry) { return try thumbnail.data() }
///     guard let image = try store.openBody(of: entry)?.data() else { return nil }
///     try await store.insertDerived(resized(image), name: "thumbnail", of: entry)
/// }
/// ```
///
/// A form stands and falls with its entry: it is gone, in the same transaction, when the entry is removed or evicted, when
/// its session ends, and when its body is replaced by another. An entry that is freshened, or stored once more with the same
/// bytes, keeps its forms. A form is no entry and has no recency of its own: whoever looked its entry up has used it. Its
/// bytes count in the limits and in the statistics as those of any body, and forms with the bytes of another body share its
/// file. A snapshot carries forms along.
extension ResponseStore {
    /// The longest name of a derived form in bytes.
    public static let maxDerivedNameByteCount = 1_024

    /// Stores a form of the body of `entry` under a name, in place of the form of that name. Of each entry the latest 64 are
    /// kept.
    ///
    /// - Parameters:
    ///   - data: The bytes of the form.
    ///   - name: What it is found by; compared byte by byte.
    ///   - entry: The entry whose body it was made from, as it was when that body was read.
    /// - Returns: Whether it is stored: not when the entry is gone or has another body by now, nor when the form is larger
    ///   than ``ResponseStore/Configuration/limits`` allow for a body, or leave room for.
    /// - Throws: ``StoreError/invalidName(_:reason:)`` for a name that is empty, has more than
    ///   ``maxDerivedNameByteCount`` bytes or contains a NUL; else as `commit` of ``BodyWriter``.
    @discardableResult
    public func insertDerived(
        _ data: some ContiguousBytes, name: String, of entry: StoredEntry
    ) throws(StoreError) -> Bool {
        guard let writer = try writer(of: data, named: name) else { return false }
        return try writer.commit(derived: name, of: entry)
    }

    /// As the synchronous form, without blocking the caller's thread for the commit.
    @discardableResult
    public func insertDerived(
        _ data: some ContiguousBytes & Sendable, name: String, of entry: StoredEntry
    ) async throws(StoreError) -> Bool {
        guard let writer = try writer(of: data, named: name) else { return false }
        return try await writer.commit(derived: name, of: entry)
    }

    /// Opens the form of that name; `nil` if there is none, or if `entry` is gone or has another body by now.
    ///
    /// Runs on the calling thread: a point lookup, and what ``openBody(of:)`` takes, which verifies it in the same way. A form
    /// whose file is missing or damaged is dropped, and its entry stays. No use of the entry by itself.
    ///
    /// - Throws: As ``openBody(of:)``.
    public func openDerived(name: String, of entry: StoredEntry) throws(StoreError) -> StoredBody? {
        try checkOpen()
        let found = try read { (connection) throws(SQLiteError) in try connection.derived(name, of: entry) }
        guard let found else { return nil }
        return try openBody(found.digest, byteCount: found.byteCount)
    }

    /// A writer that holds all of `data`; `nil` if that is more than the limits allow.
    private func writer(of data: some ContiguousBytes, named name: String) throws(StoreError) -> BodyWriter? {
        try Self.checkDerivedName(name)
        let writer = makeBodyWriter()
        do throws(StoreError) {
            try writer.write(data)
            return writer
        } catch .bodyTooLarge {
            return nil
        }
    }

    private static func checkDerivedName(_ name: String) throws(StoreError) {
        guard !name.isEmpty else { throw .invalidName(name, reason: "it is empty") }
        guard name.utf8.count <= maxDerivedNameByteCount else {
            throw .invalidName(name, reason: "it has more than \(maxDerivedNameByteCount) bytes")
        }
        guard !name.utf8.contains(0) else { throw .invalidName(name, reason: "it contains a NUL character") }
    }
}
