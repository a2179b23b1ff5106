internal import CacheFoundation
internal import CacheLoader
internal import CacheStore
internal import Synchronization

/// Removes responses, and repeats the writes of removals until the engine has taken them.
extension SharedTier {
    /// Removes responses from the tier.
    ///
    /// The other machines follow within ``Configuration/removalDelay``. A response that a machine requested before the
    /// removal is not visible after it. The stores of the machines keep their own responses. The engine's retention
    /// deletes the objects.
    ///
    /// - Parameter scope: The responses to remove.
    /// - Throws: ``TierError/readOnly``, or ``TierError/engine(_:)`` if the removal could not be recorded.
    public func removeAll(in scope: TierScope) async throws(TierError) {
        guard keys.canWrite else { throw .readOnly }
        do throws(TierEngineError) {
            try await remove(removal(of: scope), evenIfUnknown: true)
        } catch {
            throw .engine(error.description)
        }
    }

    /// Removes the responses that an unsafe request has made invalid (RFC 9111 §4.4, RFC 9875 §3), after the delivery.
    /// This process stops using them immediately. A URL of which the tier has nothing costs a read, and no write.
    func invalidate(after request: HTTPRequest, _ reply: HTTPResponse) {
        let urls = Invalidation.targets(of: request, url: request.url, reply: reply)
        let tags = CacheGroups.invalidated(by: reply.headerFields, method: request.method)
        let scopes = urls.map { TierScope.url($0) } + tags.map { TierScope.tag($0, origin: request.url) }
        for removal in Set(scopes.map { self.removal(of: $0) }) {
            // Note the removal first: this process then stops using the responses even if the engine never takes it.
            noteOwnRemoval(name(of: removal))
            guard canWrite else { continue }
            let next = state.withLock { state -> Removal? in
                let isFull = state.pendingRemovals.count >= Self.removalLimit
                let removal = isFull ? self.removal(of: .partition) : removal
                guard state.pendingRemovals.insert(removal).inserted else { return nil }
                return removal
            }
            if let next { attempt(next, pause: .seconds(1)) }
        }
    }

    /// A removal by a name of fixed length. The engine may be down for long, and the origin chooses URLs and tags.
    enum Removal: Hashable, Sendable {
        /// The key of a URL.
        case key(String)
        /// The name of a scope's object.
        case scope(String)
    }

    private func removal(of scope: TierScope) -> Removal {
        if case .url(let url) = scope.kind { .key(layout.key(of: url)) } else { .scope(layout.removal(scope)) }
    }

    private func name(of removal: Removal) -> String {
        switch removal {
        case .key(let key): layout.keyObject(key)
        case .scope(let name): name
        }
    }

    /// The most removals that this process keeps individually. Above it, a removal covers the whole partition.
    private static let removalLimit = 10_000

    /// `pause` is the pause before the next attempt if this one fails. Doubles up to 30 seconds.
    private func attempt(_ removal: Removal, pause: Duration) {
        writes.addUrgent { [self] in
            do throws(TierEngineError) {
                // Requests after this attempt begin another one.
                state.withLock { _ = $0.pendingRemovals.remove(removal) }
                try await remove(removal, evenIfUnknown: false)
            } catch {
                count { $0.failedWrites += 1 }
                guard state.withLock({ $0.pendingRemovals.insert(removal).inserted }) else { return }
                let sleep = configuration.sleep
                // No caller waits during the pause, and the task does not retain the tier.
                Task { [weak self] in
                    guard (try? await sleep(pause)) != nil else { return }
                    self?.attempt(removal, pause: min(pause * 2, .seconds(30)))
                }
            }
        }
    }

    /// Writes a removal. With `evenIfUnknown`, writes that of a URL even if the tier has nothing of the URL.
    private func remove(_ removal: Removal, evenIfUnknown: Bool) async throws(TierEngineError) {
        guard case .key(let key) = removal else { return try await writeRemoval(of: name(of: removal)) }
        var object = KeyObject()
        switch await readKeyObject(key) {
        case .found(let found): object = found
        case .absent where !evenIfUnknown: return
        case .absent: break
        case .failed(let error):
            noteFailure(error, since: configuration.uptime())
            throw error
        }
        guard let tierTime else { throw .unavailable("the engine has not stated its time") }
        // Another machine may have recorded a later removal, by a later answer of the engine.
        object.removedAt = max(object.removedAt ?? .min, tierTime.secondsSince1970)
        try await writeKey(object, key)
        count { $0.removals += 1 }
    }

    // MARK: This machine's own removals

    /// A removal by this process, which counts here even if the engine never learns of it.
    struct OwnRemoval: Sendable {
        let uptime: Duration
        /// The tier's time, if it was known.
        let time: HTTPDate?
    }

    private func noteOwnRemoval(_ name: String) {
        let removal = OwnRemoval(uptime: configuration.uptime(), time: tierTime)
        state.withLock { $0.ownRemovals[name] = removal }
    }

    /// Returns the time of this process's last removal of one of the objects, in seconds since 1970: its latest second.
    func ownRemoval(of names: [String]) -> Int64? {
        let uptime = configuration.uptime()
        guard let now = tierTime else { return nil }
        let removals = state.withLock { state in names.compactMap { state.ownRemovals[$0] } }
        return removals.map { removal in
            let time = removal.time ?? now.advanced(by: -(uptime - removal.uptime).components.seconds)
            return time.secondsSince1970 + 1
        }.max()
    }
}
