internal import CacheStore
internal import Synchronization

extension ResourceLoader {
    /// Validates the stored response of a transaction in the background lane. Calls `ended` once, on any thread.
    func revalidate(
        _ transaction: CacheTransaction, ended: @escaping @Sendable (Revalidations.Outcome) -> Void
    ) {
        let request = ResourceRequest(
            transaction.url, method: transaction.method, content: transaction.content?.data,
            headerFields: transaction.request.headerFields, lane: .background, retry: .never)
        let target = LoadTarget(key: transaction.key, url: transaction.target)
        let load = backgroundLoad(of: request, target, transaction.policy)
        let (ticket, sleep) = (makeTicket(), load.configuration.sleep)
        let isLate = Atomic(false)
        let hasBegun = Atomic(false)
        // The time in the lane counts, too. The load ends with its only waiter.
        let limit = Task { [weak self] in
            guard (try? await sleep(Revalidations.timeLimit)) != nil else { return }
            isLate.store(true, ordering: .relaxed)
            self?.leave(ticket)
        }
        let waiter = LoadWaiter(plan: .nothing, memoryKey: nil) { event in
            if case .requesting = event { hasBegun.store(true, ordering: .relaxed) }
            guard case .ended(let result) = event else { return }
            limit.cancel()
            // If the transfer has not begun, the origin has not failed: the revalidation counts as cancelled.
            let isFailure = isLate.load(ordering: .relaxed) && hasBegun.load(ordering: .relaxed)
            ended(isFailure ? .failed(retryAfter: nil) : Revalidations.Outcome(result, at: transaction.now))
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
