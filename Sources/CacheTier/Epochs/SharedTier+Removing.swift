internal import CacheFoundation
internal import CacheLoader
internal import Crypto
internal import HTTPCaching
internal import HTTPTypes
internal import Synchronization

/// Removes responses, and repeats the writes of removals until the engine has taken them.
extension SharedTier {
    /// Removes responses from the tier by writing a new epoch for the scope.
    ///
    /// Machines that read the epoch later no longer find the responses. The other machines follow within
    /// ``Configuration/epochLifetime``. A response that a machine requested before the removal never becomes visible
    /// after it. The stores of the machines keep their own responses. The engine's retention deletes the objects.
    ///
    /// - Parameter scope: The responses to remove.
    /// - Throws: ``TierError/readOnly``, or ``TierError/engine(_:)`` if the removal could not be recorded.
    public func removeAll(in scope: TierScope) async throws(TierError) {
        let name = layout.epoch(scope)
        guard keys.canWrite else { throw .readOnly }
        // The common epoch first: see SharedTier+Tags.
        for name in layout.isTag(name) ? [layout.commonTagEpoch, name] : [name] { try await replaceEpoch(name) }
    }

    private func replaceEpoch(_ name: String) async throws(TierError) {
        guard let (value, object) = newEpoch(name) else { throw .readOnly }
        let start = configuration.uptime()
        try await put(object, as: name)
        let end = configuration.uptime()
        state.withLock { $0.epochs.wrote(value, to: name, from: start, to: end) }
    }

    /// The most removals that this process keeps individually. Above it, a removal covers the whole partition.
    private static let removalLimit = 1000

    /// Removes the responses that an unsafe request has made invalid (RFC 9111 §4.4, RFC 9875 §3), after the delivery.
    ///
    /// This process stops using them immediately.
    func invalidate(after request: HTTPRequest, _ reply: HTTPResponse) {
        let targets = Invalidation.targets(of: request, url: request.url, reply: reply)
        guard !targets.isEmpty else { return }
        let tags = CacheGroups.invalidated(by: reply.headerFields, method: request.method)
        let names = targets.map { layout.epoch(.url($0)) } + tags.map { layout.epoch(.tag($0, origin: request.url)) }
        for name in Set(names) {
            if canWrite {
                let isFull = pendingRemovalCount >= Self.removalLimit
                removeLater(isFull ? layout.epoch(.partition) : name)
            } else {
                removeHere(name)
            }
        }
    }

    /// Records a removal that this process cannot write to the tier with its keys.
    private func removeHere(_ name: String) {
        let uptime = configuration.uptime()
        let partition = layout.epoch(.partition)
        state.withLock { state in
            if state.ownRemovals.count < Self.removalLimit {
                state.ownRemovals[name] = uptime
            } else {
                state.ownRemovals = [partition: uptime]
            }
        }
    }

    /// Queues the removal of the responses with this epoch ahead of the fills. Until the engine has accepted the write,
    /// this process neither answers with the responses nor writes newly requested ones.
    private func removeLater(_ name: String) {
        guard state.withLock({ $0.epochs.beginRemoval(of: name) }) else { return }
        attemptRemoval(name, pause: .seconds(1))
    }

    /// - Parameter pause: The pause before the next attempt if this one fails. Doubles up to 30 seconds.
    private func attemptRemoval(_ name: String, pause: Duration) {
        writes.addUrgent { [self] in
            guard await !writeRemoval(name) else { return }
            count { $0.failedWrites += 1 }
            let sleep = configuration.sleep
            // No caller waits during the pause, and the task does not retain the tier.
            Task { [weak self] in
                guard (try? await sleep(pause)) != nil else { return }
                self?.attemptRemoval(name, pause: min(pause * 2, .seconds(30)))
            }
        }
    }

    private func writeRemoval(_ name: String) async -> Bool {
        while let (value, object) = newEpoch(name) {
            let removalCount = state.withLock { $0.epochs.removalCount(of: name) }
            if layout.isTag(name) {
                guard (try? await replaceEpoch(layout.commonTagEpoch)) != nil else { return false }
            }
            let start = configuration.uptime()
            guard (try? await put(object, as: name)) != nil else { return false }
            let end = configuration.uptime()
            let isDone = state.withLock {
                $0.epochs.endRemoval(of: name, count: removalCount, value, from: start, to: end)
            }
            if isDone { return true }
        }
        return true
    }

    /// Whether an unsafe request in this process, whose keys cannot write to the tier, has invalidated the record.
    ///
    /// Counts by the tier's time: a record may answer if its response arrived at least a minute after that request.
    func isRemovedHere(_ candidate: Candidate, _ names: [String]) -> Bool {
        let uptime = configuration.uptime()
        let removal = state.withLock { state in names.compactMap { state.ownRemovals[$0] }.max() }
        guard let removal else { return false }
        let written = HTTPDate(secondsSince1970: candidate.record.head.writtenAt)
        let age = candidate.stamp.now.advanced(by: candidate.record.head.heldSeconds).seconds(since: written)
        return age >= (uptime - removal).components.seconds - 60
    }
}
