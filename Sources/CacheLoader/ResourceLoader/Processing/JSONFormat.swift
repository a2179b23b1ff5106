/// The format of dates in a JSON document, which the JSON specification leaves open.
@nonexhaustive
public enum JSONDateFormat: String, Sendable, CaseIterable {
    /// The default of `Date`: a number of seconds since 2001.
    case secondsSince2001
    /// A number of seconds since 1970.
    case secondsSince1970
    /// A number of milliseconds since 1970.
    case millisecondsSince1970
    /// A text such as `2024-02-29T12:00:00Z`.
    case iso8601
}

/// The format of the keys of objects in a JSON document.
@nonexhaustive
public enum JSONKeyFormat: String, Sendable, CaseIterable {
    /// The names of the properties.
    case asProperties
    /// Words separated by `_`: `first_name` for `firstName`.
    case snakeCase
}
