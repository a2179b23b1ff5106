/// How the values of a JSON document are written, where that is left to its author.
public struct JSONStyle: Hashable, Sendable {
    /// How dates are written.
    @nonexhaustive
    public enum Dates: String, Sendable, CaseIterable {
        /// As `Date` encodes itself: a number of seconds since 2001.
        case secondsSince2001
        /// A number of seconds since 1970.
        case secondsSince1970
        /// A number of milliseconds since 1970.
        case millisecondsSince1970
        /// A text such as `2024-02-29T12:00:00Z`.
        case iso8601
    }

    /// How the keys of objects are written.
    @nonexhaustive
    public enum Keys: String, Sendable, CaseIterable {
        /// As the properties are called.
        case asProperties
        /// In words with `_` between them: `first_name` for `firstName`.
        case snakeCase
    }

    /// How dates are written; as `Date` encodes itself by default.
    public var dates: Dates
    /// How the keys of objects are written; as the properties are called by default.
    public var keys: Keys

    /// Creates a style.
    public init(dates: Dates = .secondsSince2001, keys: Keys = .asProperties) {
        self.dates = dates
        self.keys = keys
    }
}
