internal import CacheStore
internal import Logging

/// The failures that the store counts for the request.
extension CacheTransaction {
    /// The name under which the store counts the failures of this request and of equal ones. Consists of the method,
    /// unless it is GET, and of fingerprints of the credentials, a line each. `nil` for methods other than GET and
    /// HEAD, and for a request with content, a range or conditions: such failures do not count.
    var failureRequest: String? {
        guard request.method == .get || request.method == .head, !hasForeignContent,
            !request.headerFields.contains(.range), Preconditions(request).isEmpty
        else { return nil }
        let credentials = VaryKey.credentials(of: request, fingerprint: fingerprint).text
        let method = request.method == .get ? "" : request.method.rawValue
        return [method, credentials].filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// The failures that a success of the request ends.
    var endedFailures: FailureSelection {
        failureRequest.map { .request($0) } ?? .none
    }

    /// The failures of equal requests since their last success, or `nil` without failures and for an unreadable store.
    func failure() -> LoadFailure? {
        // Most keys have no failures. The decision has read that already, so no statement is needed.
        if let snapshot, snapshot.key == key, snapshot.hasFailures == false, store.isCurrent(snapshot) { return nil }
        return failureRequest.flatMap { try? store.failure(for: key, request: $0) }
    }

    /// Counts a reply that is an error, for a cache. Any other reply ends the failures of equal requests. A failure to
    /// reach the origin does not count, as in a loader.
    func countFailure(
        _ status: HTTPResponse.Status, _ generation: StoreGeneration?, _ forwarding: Forwarding
    ) async {
        guard countsFailures else { return }
        if status.code >= 400 {
            await recordFailure(status.code, within: nil, unlessRemovedSince: generation)
        } else if forwarding.stored.snapshot?.hasFailures != false {
            await removeFailures()
        }
    }

    /// Counts an error of the origin. Keeps the stored content.
    func recordFailure(
        _ status: Int, within window: Duration?, unlessRemovedSince generation: StoreGeneration?
    ) async {
        guard let failureRequest else { return }
        await logging("could not count a failure") { () async throws(StoreError) in
            try await store.recordFailure(
                for: key, request: failureRequest, status: status, within: window, unlessRemovedSince: generation)
        }
    }

    /// Removes the failures of equal requests after a success that was not stored. A commit removes them by itself.
    func removeFailures() async {
        guard failure() != nil else { return }
        await logging("could not remove failures") { () async throws(StoreError) in
            try await store.removeFailures(of: key, endedFailures)
        }
    }
}
