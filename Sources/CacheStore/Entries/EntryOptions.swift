/// What the caller wants of an entry, beside what its response says.
///
/// What is `nil` stays as it is: for a body that takes the place of another, as that entry had it; for a new entry,
/// permanent, not pinned and without tags.
public struct EntryOptions: Hashable, Sendable {
    /// How long an entry may stay.
    @nonexhaustive
    public enum Lifetime: Hashable, Sendable {
        /// Until nobody has the store open any more: gone when it is opened the next time.
        case session
        /// Until it is evicted or removed. The default.
        case permanent
    }

    /// How long the entry may stay.
    public var lifetime: Lifetime?
    /// Whether the entry is never evicted. It can still be removed, replaced, and lost with its body.
    public var isPinned: Bool?
    /// Names by which entries are removed together.
    public var tags: Set<String>?

    /// The most tags of an entry.
    public static let maxTagCount = 64
    /// The longest tag in bytes.
    public static let maxTagByteCount = 256

    /// Creates options; what is not given stays as it is.
    public init(lifetime: Lifetime? = nil, isPinned: Bool? = nil, tags: Set<String>? = nil) {
        self.lifetime = lifetime
        self.isPinned = isPinned
        self.tags = tags
    }
}

extension EntryOptions {
    /// What they come to for an entry that takes the place of one with other options, `nil` for none.
    func completed(with others: EntryOptions?) -> EntryOptions {
        EntryOptions(
            lifetime: lifetime ?? others?.lifetime ?? .permanent,
            isPinned: isPinned ?? others?.isPinned ?? false,
            tags: tags ?? others?.tags ?? [])
    }

    /// - Throws: ``StoreError/invalidTag(_:reason:)``.
    func check() throws(StoreError) {
        guard let tags else { return }
        guard tags.count <= Self.maxTagCount else {
            throw .invalidTag(
                tags.min() ?? "", reason: "it is one of \(tags.count), an entry has at most \(Self.maxTagCount)")
        }
        for tag in tags {
            guard !tag.isEmpty else { throw .invalidTag(tag, reason: "it is empty") }
            guard tag.utf8.count <= Self.maxTagByteCount else {
                throw .invalidTag(tag, reason: "it has more than \(Self.maxTagByteCount) bytes")
            }
            guard !tag.utf8.contains(0) else { throw .invalidTag(tag, reason: "it contains a NUL character") }
        }
    }
}
