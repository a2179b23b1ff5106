/// The options that the caller chooses for an entry. The metadata comes from its response.
///
/// An option that is `nil` leaves the option of an existing entry unchanged, also when its body is replaced. In a new
/// entry, `nil` means permanent, not pinned and without tags.
public struct EntryOptions: Hashable, Sendable {
    /// How long an entry may stay.
    @nonexhaustive
    public enum Lifetime: Hashable, Sendable {
        /// Until the last process closes the store. After the next opening, lookups do not find the entry.
        case session
        /// Until the entry is evicted or removed. The default.
        case permanent
    }

    /// How long the entry may stay.
    public var lifetime: Lifetime?
    /// Whether the entry is never evicted. A pinned entry can still be removed or replaced, and is lost if its body is.
    public var isPinned: Bool?
    /// Names that select entries for removal.
    public var tags: Set<String>?

    /// The most tags of an entry.
    public static let maxTagCount = 64
    /// The longest tag in bytes.
    public static let maxTagByteCount = 256

    /// Creates options. `nil` leaves an option of the entry unchanged.
    public init(lifetime: Lifetime? = nil, isPinned: Bool? = nil, tags: Set<String>? = nil) {
        self.lifetime = lifetime
        self.isPinned = isPinned
        self.tags = tags
    }
}

extension EntryOptions {
    /// Returns these options, completed with the options of the replaced entry, if any.
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
