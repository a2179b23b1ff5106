internal import CacheStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What a loader tells an origin about who asks.
///
/// Its description does not give it away.
@nonexhaustive
public enum Credentials: Hashable, Sendable {
    /// A user and a password, in UTF-8 (RFC 7617). A colon in the user ends it.
    case basic(user: String, password: String)
    /// A token (RFC 6750).
    case bearer(token: String)

    /// The value of `Authorization`.
    var fieldValue: String {
        switch self {
        case .basic(let user, let password): "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
        case .bearer(let token): "Bearer \(token)"
        }
    }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind alone.
    public var description: String {
        switch self {
        case .basic: "basic credentials"
        case .bearer: "a bearer token"
        }
    }

    /// The kind alone.
    public var debugDescription: String { description }

    /// The kind alone.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ResourceLoader.Configuration {
    /// Has `credentials` sent to an origin with every request that has no `Authorization` of its own; `nil` for none.
    ///
    /// To no other origin, wherever redirects lead. What was fetched with them answers no request with others, nor one
    /// without.
    ///
    /// - Parameters:
    ///   - credentials: What is sent; `nil` for nothing.
    ///   - origin: Scheme, host and port, as in `https://example.com`; what else a URL has is left out of account.
    /// - Throws: ``LoadError/invalidURL(_:reason:)``.
    public mutating func setCredentials(_ credentials: Credentials?, forOrigin origin: String) throws(LoadError) {
        let key = try CacheKey.loading(origin, partition: "")
        self.credentials[key.origin ?? key.text] = credentials
    }
}
