/// Selects entries by properties that they share. An entry must match every property that is not `nil`.
///
/// ```swift
/// try store.removeAll(.host("example.com"))
/// try store.removeAll(EntrySelection(partition: "user-17", tag: "avatars"), dryRun: true)
/// ```
public struct EntrySelection: Hashable, Sendable {
    /// The partition, or an empty text for entries without one.
    public var partition: String?
    /// The beginning of the key: a normalised URL, or `name=` and the beginning of a name. Compared byte by byte: case
    /// matters, and `%` and `*` have no special meaning.
    public var prefix: String?
    /// The host of the URL, in any case, or an empty text for entries without one.
    public var host: String?
    /// A tag of the entry.
    public var tag: String?
    /// The media type, in any case and without its parameters: `text/html`, or `image/*` for a whole family.
    public var contentType: String?
    /// An SQL expression over the columns of the view `cache_entries`, such as `byte_size > 1000000 AND hit_count = 0`.
    /// Never build the expression from untrusted input.
    public var predicate: String?

    /// Whether every entry is selected although all properties are `nil`.
    private let isEverything: Bool

    /// Creates a selection. Without a property, it selects nothing: a value that is `nil` by accident must not select
    /// every entry.
    public init(
        partition: String? = nil, prefix: String? = nil, host: String? = nil, tag: String? = nil,
        contentType: String? = nil, predicate: String? = nil
    ) {
        self.partition = partition
        self.prefix = prefix
        self.host = host
        self.tag = tag
        self.contentType = contentType
        self.predicate = predicate
        isEverything = false
    }

    private init(isEverything: Bool) {
        self.isEverything = isEverything
    }

    /// Every entry.
    public static let everything = EntrySelection(isEverything: true)

    /// The entries of a partition.
    public static func partition(_ partition: String) -> Self { Self(partition: partition) }

    /// The entries whose key begins with `prefix`, in every partition.
    public static func prefix(_ prefix: String) -> Self { Self(prefix: prefix) }

    /// The entries of a host.
    public static func host(_ host: String) -> Self { Self(host: host) }

    /// The entries that have a tag.
    public static func tag(_ tag: String) -> Self { Self(tag: tag) }

    /// The entries of a media type, or of a family of types such as `image/*`.
    public static func contentType(_ contentType: String) -> Self { Self(contentType: contentType) }

    /// The entries for which an SQL expression over the columns of `cache_entries` is true.
    public static func matching(_ predicate: String) -> Self { Self(predicate: predicate) }

    /// Whether all properties are `nil`, and the selection is not ``everything``.
    var isEmpty: Bool {
        !isEverything && [partition, prefix, host, tag, contentType, predicate].allSatisfy { $0 == nil }
    }

    /// Whether the selection contains every entry, or every entry of a partition.
    var isWhole: Bool { self == .everything || self == partition.map(Self.partition) }

    /// Whether the key alone decides. Then the selection also applies to failures, even of keys without an entry.
    var isAboutKeys: Bool { tag == nil && contentType == nil && predicate == nil }
}
