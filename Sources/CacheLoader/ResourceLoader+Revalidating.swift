internal import CacheStore
internal import HTTPCaching
internal import HTTPTypes

extension ResourceLoader {
    /// Validates the stored response of a transaction in the background lane.
    ///
    /// - Parameter ended: Receives the result once, on any thread.
    func revalidate(
        _ transaction: CacheTransaction, ended: @escaping @Sendable (Revalidations.Outcome) -> Void
    ) {
        let request = ResourceRequest(
            transaction.url, headerFields: transaction.request.headerFields, lane: .background,
            abandonment: .finishAndStore, retry: .never, timeout: Revalidations.timeLimit)
        let target = LoadTarget(key: transaction.key, url: transaction.target)
        let load = backgroundLoad(of: request, target, transaction.policy)
        let (ticket, sleep) = (makeTicket(), load.configuration.sleep)
        // A load that waits in its lane ends with its last waiter. One that runs has the same limit of its own.
        let limit = Task { [weak self] in
            guard (try? await sleep(Revalidations.timeLimit)) != nil else { return }
            self?.leave(ticket)
        }
        let waiter = LoadWaiter(recipe: .nothing, memoryKey: nil) { event in
            guard case .ended(let result) = event else { return }
            limit.cancel()
            ended(Revalidations.Outcome(result, at: transaction.now))
        }
        attach(waiter, ticket, to: load, request)
    }
}

extension Revalidations.Outcome {
    fileprivate init(_ result: Result<Loaded<any Sendable>, LoadError>, at now: HTTPDate) {
        switch result {
        case .success(let loaded): self = loaded.failure == nil ? .succeeded : .failed(retryAfter: nil)
        case .failure(.cancelled): self = .cancelled
        case .failure(.httpStatus(let error)): self = .failed(retryAfter: error.headerFields.retryAfter(at: now))
        case .failure: self = .failed(retryAfter: nil)
        }
    }
}
