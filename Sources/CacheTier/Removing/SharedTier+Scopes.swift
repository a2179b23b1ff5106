internal import ByteText
internal import CacheFoundation
internal import CacheStore
internal import Crypto
internal import HTTPCaching
internal import Synchronization

/// Knows the last removals of hosts, tags and everything. Each removal writes the object of its scope, and then the
/// object `latest`. A machine polls `latest` alone. A change of that object makes the known scopes invalid: the machine
/// reads each one again when a request needs it. While there is no `latest`, nothing was ever removed, and no scope is
/// read.
extension SharedTier {
    /// The last removals of scopes.
    struct Removals: Sendable {
        /// The times in seconds since 1970, or `nil` for a scope without a removal. Lacks the scopes that could not be
        /// read.
        var times: [String: Int64?] = [:]
        var failure: TierEngineError?
    }

    /// The known scopes, valid for one content of `latest`.
    struct KnownScopes: Sendable {
        /// The content of `latest`: `nil` before the first read, and empty if the engine has none.
        var latest: Data?
        /// The uptime before the last read of `latest`.
        var readAt = Duration.zero
        /// The times of the last removals, or `nil` for none.
        var times = BoundedDictionary<String, Int64?>(capacity: 10_000)
        /// The running read of `latest`, which other requests join.
        var reading: Task<TierEngineError?, Never>?

        mutating func note(_ content: Data, readAt: Duration) {
            if content != latest { times.removeAll() }
            (latest, self.readAt) = (content, readAt)
        }
    }

    /// Returns the last removals of scopes, and reads those that are not known.
    func removals(of scopes: [String]) async -> Removals {
        if let failure = await poll() { return Removals(failure: failure) }
        var removals = Removals()
        var unknown: [String] = []
        let latest = state.withLock { state -> Data? in
            for scope in scopes {
                if state.scopes.latest?.isEmpty == true {
                    removals.times[scope] = .some(nil)
                } else if let time = state.scopes.times[scope] {
                    removals.times[scope] = .some(time)
                } else {
                    unknown.append(scope)
                }
            }
            return state.scopes.latest
        }
        guard !unknown.isEmpty else { return removals }
        await withTaskGroup(of: (String, Answer<Int64?>).self) { group in
            for scope in unknown { group.addTask { [self] in (scope, await removal(of: scope)) } }
            for await (scope, answer) in group {
                switch answer {
                case .found(let time): removals.times[scope] = .some(time)
                case .absent: removals.times[scope] = .some(nil)
                case .failed(let error): removals.failure = error
                }
            }
        }
        state.withLock { [removals] state in
            // A removal in between would be in `latest`, and not in these times.
            guard state.scopes.latest == latest else { return }
            for (scope, time) in removals.times { state.scopes.times[scope] = .some(time) }
        }
        return removals
    }

    /// Reads the last removal of a scope, in seconds since 1970.
    func removal(of scope: String) async -> Answer<Int64?> {
        switch await get(scope, limit: 1024) {
        case .absent: return .absent
        case .failed(let error): return .failed(error)
        case .found(let object):
            let written = object.stamp.lastModified.secondsSince1970
            // An object that this machine cannot open may be a removal: it counts from its writing.
            guard let payload = opened(object, scope), let stated = Int64(String(decoding: payload, as: UTF8.self))
            else { return .found(written) }
            return .found(max(stated, written))
        }
    }

    /// Reads `latest` if the last read is older than ``Configuration/removalDelay``. Returns the reason of a failure.
    private func poll() async -> TierEngineError? {
        let now = configuration.uptime()
        let task = state.withLock { state -> Task<TierEngineError?, Never>? in
            if state.scopes.latest != nil, now - state.scopes.readAt < configuration.removalDelay { return nil }
            if let reading = state.scopes.reading { return reading }
            let task = Task { [self] in await readLatest(at: now) }
            state.scopes.reading = task
            return task
        }
        return await task?.value
    }

    private func readLatest(at start: Duration) async -> TierEngineError? {
        let answer = await get(layout.latest, limit: 1024)
        return state.withLock { state in
            state.scopes.reading = nil
            switch answer {
            case .failed(let error): return error
            case .absent: state.scopes.note(Data(), readAt: start)
            // Its proof does not matter: any other content only makes machines read the scopes again.
            case .found(let object): state.scopes.note(object.bytes, readAt: start)
            }
            return nil
        }
    }

    /// Writes a removal of a scope: first the scope, then `latest`.
    func writeRemoval(of scope: String) async throws(TierEngineError) {
        // The clock of this machine may be wrong, so ask the engine for its time.
        if tierTime == nil, case .failed(let error) = await get(scope, limit: 1024) { throw error }
        guard let time = tierTime else { throw .unavailable("the engine has not stated its time") }
        let payload = Data("\(time.secondsSince1970)".utf8)
        let random = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) }
        try await putSealed(payload, as: scope)
        try await putSealed(random, as: layout.latest)
        // This machine reads the scope again, too.
        state.withLock { $0.scopes.latest = nil }
    }
}
