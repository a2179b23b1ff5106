internal import CacheFoundation
package import CacheStore

extension HTTPCache {
    /// The response at the end of all redirects.
    package struct FinalResponse: Sendable {
        package let response: CachedResponse
        package let url: CacheKey
        package let isRedirected: Bool
    }

    /// Answers a request and follows at most `maxRedirects` redirects, each of which is cached under its own URL. With
    /// `nil`, returns a redirect like any other response. Requests the codings that ``ContentCoding`` decodes, but
    /// decodes nothing. Sends a GET or HEAD once more if its connection is lost before the response head: a kept-alive
    /// connection can close at any time (RFC 9112 §9.3.1). `timeLimit` applies until the head of each response. After a
    /// timeout a stored response answers if it may, as for an unreachable origin. Throws
    /// ``LoadError/tooManyRedirects(url:limit:)``, and the failure for which
    /// ``response(for:content:policy:onInterimResponse:)`` would generate a response.
    package func finalResponse(
        to method: HTTPRequest.Method, _ url: String, _ headerFields: HTTPFields, content: RequestContent?,
        policy: CachePolicy.Override, maxRedirects: Int?, timeLimit: Duration?
    ) async throws(LoadError) -> FinalResponse {
        meters.requests.add()
        let configuration = configuration
        let first = LoadTarget(try CacheKey.loading(url, partition: configuration.partition))
        let request = RedirectRequest(first, method, headerFields, content: content)
        let final = try await request.follow(atMost: maxRedirects ?? 0) {
            (step, bypassesStore) async throws(LoadError) in
            let key = step.target.url
            let request = HTTPRequest(step.method, key: key, fields: step.headerFields)
            var transaction = try transaction(for: request, content: step.content, policy: policy)
            transaction.request.addLoaderFields(decodesContent: true)
            if bypassesStore, !transaction.forbidsNetwork { transaction.policy.mode = .remoteOnly }
            let response = try await answer(transaction, within: timeLimit, configuration.sleep)
            guard maxRedirects != nil, let next = try Redirect.target(of: response.head, from: key) else {
                return RedirectStep.content(
                    FinalResponse(response: response, url: key, isRedirected: step.number > 0))
            }
            if response.source.isTransferred { response.drainInBackground(sleep: configuration.sleep) }
            return .redirect(response.status, to: next, isStored: response.source == .disk)
        }
        guard let final else { throw .tooManyRedirects(url: first.url.text, limit: maxRedirects ?? 0) }
        return final
    }

    private func answer(
        _ transaction: CacheTransaction, within limit: Duration?,
        _ sleep: @escaping @Sendable (Duration) async throws -> Void
    ) async throws(LoadError) -> CachedResponse {
        do throws(LoadError) {
            // A hit needs no timer.
            if let response = try transaction.answerFromStore(.short) { return response }
            return try await ask(transaction, within: limit, sleep)
        } catch {
            // Counts the error.
            throw try transaction.generated(for: error).failure ?? error
        }
    }

    private func ask(
        _ transaction: CacheTransaction, within limit: Duration?,
        _ sleep: @escaping @Sendable (Duration) async throws -> Void
    ) async throws(LoadError) -> CachedResponse {
        guard let limit else { return try await Self.answerOnLiveConnection(transaction) }
        let result = await withTimeLimit(limit, sleep) { () -> Result<CachedResponse, LoadError> in
            do throws(LoadError) {
                return .success(try await Self.answerOnLiveConnection(transaction))
            } catch {
                return .failure(error)
            }
        }
        if let result { return try result.get() }
        guard !Task.isCancelled else { throw .cancelled }
        let error = TransportError(.timedOut, message: "no response within \(limit)")
        return try transaction.answer(insteadOf: .transport(error, url: transaction.url))
    }

    /// Sends a request again, once, if its connection was lost.
    private static func answerOnLiveConnection(
        _ transaction: CacheTransaction
    ) async throws(LoadError) -> CachedResponse {
        do throws(LoadError) {
            let response = try await transaction.answer()
            guard let failure = response.failure, isLostConnection(failure, transaction) else { return response }
        } catch {
            guard isLostConnection(error, transaction) else { throw error }
        }
        return try await transaction.answer()
    }

    private static func isLostConnection(_ failure: LoadError, _ transaction: CacheTransaction) -> Bool {
        guard case .transport(let error, _) = failure, error.code == .connectionLost else { return false }
        return [.get, .head].contains(transaction.request.method) && !transaction.hasForeignContent
    }
}
