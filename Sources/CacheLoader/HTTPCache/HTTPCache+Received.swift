package import CacheFoundation
package import CacheStore

/// The whole response to a GET that another HTTP client has received.
package struct ReceivedResponse: Sendable {
    /// The URL that answered, after redirects.
    package var url: String
    package var requestFields: HTTPFields
    /// Status and fields. Without `Content-Encoding` if ``isBodyDecoded``.
    package var head: HTTPResponse
    /// Whether the client has removed a content coding.
    package var isBodyDecoded: Bool
    package var requestedAt: Date
    package var receivedAt: Date

    package init(
        url: String, requestFields: HTTPFields, head: HTTPResponse, isBodyDecoded: Bool, requestedAt: Date,
        receivedAt: Date
    ) {
        self.url = url
        self.requestFields = requestFields
        self.head = head
        self.isBodyDecoded = isBodyDecoded
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
    }
}

/// Stores responses that another client has received, by the same rules as responses from the transport.
extension HTTPCache {
    /// The entry that a response becomes.
    package struct Placement: Sendable {
        package let key: CacheKey
        package let metadata: EntryMetadata
        /// Whether the store has a response to the same request that was received at the same time or later.
        package let isOutdated: Bool
    }

    /// Returns the entry for a response, or `nil` when RFC 9111 or the policy forbids storing it. Throws
    /// ``LoadError/invalidURL(_:reason:)`` or ``LoadError/store(_:)``.
    package func placement(of received: ReceivedResponse) throws(LoadError) -> Placement? {
        let target = try CacheKey.loading(received.url, partition: configuration.partition)
        let request = HTTPRequest(key: target, fields: received.requestFields)
        guard MalformedReply.reason(received.head, to: request) == nil else { return nil }
        let transaction = try transaction(for: request, content: nil, policy: .init())
        let times = CacheTransaction.Times(requested: received.requestedAt, received: received.receivedAt)
        let metadata = transaction.metadata(of: received.head, isBodyDecoded: received.isBodyDecoded, times)
        guard let metadata else { return nil }
        let isOutdated = try LoadError.wrapping { () throws(StoreError) in
            try transaction.hasWhole(receivedSince: HTTPDate(received.receivedAt))
        }
        return Placement(key: transaction.key, metadata: metadata, isOutdated: isOutdated)
    }
}

extension CacheTransaction {
    /// Whether the store has a whole response to the request that was received at `time` or later.
    fileprivate func hasWhole(receivedSince time: HTTPDate) throws(StoreError) -> Bool {
        try find().responses.contains { response in
            response.part == nil && response.responseTime >= time
                && response.isSelected(by: request, policy: policy, fingerprint: fingerprint)
        }
    }
}
