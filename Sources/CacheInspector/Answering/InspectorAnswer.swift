import CacheReports
package import CacheStore
package import HTTPTypes

/// The answer of the inspector to a request.
package struct InspectorAnswer: Sendable {
    package enum Content: Sendable {
        case bytes([UInt8])
        /// The first bytes of a stored body.
        case body(StoredBody, count: Int64)
        case live(LiveFeed)
    }

    package var status: HTTPResponse.Status
    package var fields: HTTPFields
    package var content: Content

    package init(status: HTTPResponse.Status = .ok, type: String, _ content: Content) {
        self.status = status
        self.content = content
        fields = [.contentType: type]
    }

    static func json(_ value: JSON, status: HTTPResponse.Status = .ok) -> Self {
        Self(status: status, type: "application/json", .bytes(value.bytes))
    }

    package init(_ failure: InspectorFailure) {
        self = .json(
            ["error": ["code": .text(failure.code), "message": .text(failure.message)]], status: failure.status)
    }
}

/// The refusal of a request.
package struct InspectorFailure: Error, Hashable {
    package let status: HTTPResponse.Status
    package let code: String
    package let message: String

    init(_ status: HTTPResponse.Status, _ code: String, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    static func invalid(_ message: String) -> Self { Self(.badRequest, "invalid", message) }
    static func notFound(_ message: String) -> Self { Self(.notFound, "not_found", message) }
    static func forbidden(_ message: String) -> Self { Self(.forbidden, "forbidden", message) }
    static func busy(_ message: String) -> Self { Self(.serviceUnavailable, "busy", message) }

    /// Describes an error of the store.
    init(_ error: StoreError) {
        switch error {
        case .queryTimedOut: self.init(.requestTimeout, "timed_out", "\(error)")
        case .busy: self.init(.serviceUnavailable, "busy", "\(error)")
        case .readOnly: self.init(.forbidden, "changes_not_allowed", "\(error)")
        case .invalidKey: self.init(.badRequest, "invalid", "\(error)")
        default: self.init(.internalServerError, "store", "\(error)")
        }
    }
}
