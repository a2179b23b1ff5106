internal import CacheFoundation
internal import CacheStore

/// Credentials that a loader sends to an origin.
///
/// The description reveals no user, password or token.
@nonexhaustive
public enum Credentials: Hashable, Sendable {
    /// A user and a password, in UTF-8 (RFC 7617). A colon in `user` ends the user name.
    case basic(user: String, password: String)
    /// A bearer token (RFC 6750).
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
    /// The kind of the credentials.
    public var description: String {
        switch self {
        case .basic: "basic credentials"
        case .bearer: "a bearer token"
        }
    }

    /// The kind of the credentials.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ResourceLoader.Configuration {
    /// Sets the credentials for requests to an origin that do not have their own `Authorization`.
    ///
    /// The loader sends them to no other origin, even after a redirect. A response to a request with credentials does
    /// not answer a request with different credentials or with none.
    ///
    /// - Parameters:
    ///   - credentials: The credentials to send, or `nil` for none.
    ///   - origin: Scheme, host and port, as in `https://example.com`. Other parts of a URL are ignored.
    /// - Throws: ``LoadError/invalidURL(_:reason:)``.
    public mutating func setCredentials(_ credentials: Credentials?, forOrigin origin: String) throws(LoadError) {
        let key = try CacheKey.loading(origin, partition: "")
        self.credentials[key.origin ?? key.text] = credentials
    }
}
