/// The format of values in a JSON document, where the JSON specification leaves a choice.
public struct JSONStyle: Hashable, Sendable {
    /// The format of dates.
    @nonexhaustive
    public enum Dates: String, Sendable, CaseIterable {
        /// The default of `Date`: a number of seconds since 2001.
        case secondsSince2001
        /// A number of seconds since 1970.
        case secondsSince1970
        /// A number of milliseconds since 1970.
        case millisecondsSince1970
        /// A text such as `2024-02-29T12:00:00Z`.
        case iso8601
    }

    /// The format of the keys of objects.
    @nonexhaustive
    public enum Keys: String, Sendable, CaseIterable {
        /// The names of the properties.
        case asProperties
        /// Words separated by `_`: `first_name` for `firstName`.
        case snakeCase
    }

    /// The format of dates; by default that of `Date`, ``Dates/secondsSince2001``.
    public var dates: Dates
    /// The format of the keys of objects; by default the names of the properties.
    public var keys: Keys

    /// Creates a style.
    public init(dates: Dates = .secondsSince2001, keys: Keys = .asProperties) {
        self.dates = dates
        self.keys = keys
    }
}
