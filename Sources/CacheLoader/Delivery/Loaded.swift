public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a load came to: a value, and where it came from.
public struct Loaded<Output: Sendable>: Sendable {
    /// What was made of the body.
    public let value: Output
    /// The URL that it is from, after redirects, normalised as its key is.
    public let url: String
    /// The status, a success; or 304, when that answers a condition of the caller's own.
    public let status: HTTPResponse.Status
    /// The fields of the response.
    public let headerFields: HTTPFields
    /// Where it came from.
    public internal(set) var source: ResponseSource
    /// How long ago the origin said so, in seconds.
    public internal(set) var age: Int64
    /// Whether it was delivered beyond its lifetime, as request, response or policy allow.
    public let isStale: Bool
    /// When it turns stale; `nil` if it is never fresh without asking.
    public let expiresAt: Date?
    /// Why the origin did not answer, when what is stored stands in for its answer.
    public let failure: LoadError?

    package init(
        value: Output, url: String, status: HTTPResponse.Status, headerFields: HTTPFields, source: ResponseSource,
        age: Int64, isStale: Bool, expiresAt: Date?, failure: LoadError?
    ) {
        self.value = value
        self.url = url
        self.status = status
        self.headerFields = headerFields
        self.source = source
        self.age = age
        self.isStale = isStale
        self.expiresAt = expiresAt
        self.failure = failure
    }
}

/// A body, and where it came from.
public typealias Resource = Loaded<Data>

extension Loaded<Data> {
    /// The bytes; a large stored body is mapped, not copied.
    public var data: Data { value }
}

extension Loaded {
    /// A value of the program's own, in place of one from a URL.
    package init(_ value: Output, of url: String) {
        self.init(
            value: value, url: url, status: .ok, headerFields: [:], source: .local, age: 0, isStale: false,
            expiresAt: nil, failure: nil)
    }

    /// The same with another value, and from another source if one is given.
    func with<Other>(_ value: Other, source: ResponseSource? = nil) -> Loaded<Other> {
        Loaded<Other>(
            value: value, url: url, status: status, headerFields: headerFields, source: source ?? self.source, age: age,
            isStale: isStale, expiresAt: expiresAt, failure: failure)
    }
}
