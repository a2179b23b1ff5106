public import CacheFoundation

/// The result of a load: a value and its source.
public struct Loaded<Output: Sendable>: Sendable {
    /// The value made from the body.
    public let value: Output
    /// The URL of the response, after redirects and normalised like a key.
    public let url: String
    /// The status: a success, or 304 as the answer to a condition set by the caller.
    public let status: HTTPResponse.Status
    /// The fields of the response. `Age` of a value from memory is ``age`` (RFC 9111 §4).
    public var headerFields: HTTPFields {
        // Setting the field only here keeps the copy of the fields out of a hit in memory.
        guard source == .memory else { return storedFields }
        var fields = storedFields
        fields[.age] = String(age)
        return fields
    }
    private let storedFields: HTTPFields
    /// The source of the response.
    public internal(set) var source: ResponseSource
    /// The age in seconds: the time since the origin generated or validated the response.
    public internal(set) var age: Int64
    /// Whether the response was stale when it was delivered, as the request, the response or the policy allowed.
    public let isStale: Bool
    /// The date at which the response becomes stale. `nil` for a response that always needs validation.
    public let expiresAt: Date?
    /// The failure of the origin, if a stored response was served in place of its answer.
    public let failure: LoadError?

    package init(
        value: Output, url: String, status: HTTPResponse.Status, headerFields: HTTPFields, source: ResponseSource,
        age: Int64, isStale: Bool, expiresAt: Date?, failure: LoadError?
    ) {
        self.value = value
        self.url = url
        self.status = status
        storedFields = headerFields
        self.source = source
        self.age = age
        self.isStale = isStale
        self.expiresAt = expiresAt
        self.failure = failure
    }
}

extension Loaded<Data> {
    /// The bytes. A large stored body is memory-mapped, not copied.
    public var data: Data { value }
}

extension Loaded {
    /// Creates a result for a value of the program, instead of a value loaded from a URL.
    package init(_ value: Output, of url: String) {
        self.init(
            value: value, url: url, status: .ok, headerFields: [:], source: .local, age: 0, isStale: false,
            expiresAt: nil, failure: nil)
    }

    /// Returns the same result with another value, and with another source if one is given.
    func with<Other>(_ value: Other, source: ResponseSource? = nil) -> Loaded<Other> {
        Loaded<Other>(
            value: value, url: url, status: status, headerFields: source == nil ? storedFields : headerFields,
            source: source ?? self.source, age: age, isStale: isStale, expiresAt: expiresAt, failure: failure)
    }

    func with(headerFields: HTTPFields) -> Loaded {
        Loaded(
            value: value, url: url, status: status, headerFields: headerFields, source: source, age: age,
            isStale: isStale, expiresAt: expiresAt, failure: failure)
    }
}
