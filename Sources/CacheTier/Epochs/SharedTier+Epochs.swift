internal import CacheLoader
internal import Crypto
internal import HTTPCaching
internal import HTTPTypes
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Reads epochs, and writes those of removals until the engine has taken them.
extension SharedTier {
    /// The epochs of a request.
    struct PresentEpochs: Sendable {
        /// `nil` if one is unknown: nothing answers then, and nothing is written.
        let values: [String]?
        /// Whether the engine failed.
        let hasFailed: Bool
    }

    enum EpochReading: Sendable {
        case value(String)
        /// The epoch does not count, and the engine is sound.
        case unusable
        case failed
    }

    /// A read that further lookups join.
    struct EpochRead: Sendable {
        let start: Duration
        let task: Task<EpochReading, Never>
    }

    /// Returns the present epochs, read at most ``Configuration/epochLifetime`` ago.
    func presentEpochs(_ names: [String]) async -> PresentEpochs {
        await withTaskGroup(of: (Int, EpochReading).self) { group in
            for (index, name) in names.enumerated() {
                group.addTask { [self] in (index, await presentEpoch(name)) }
            }
            var values = [String?](repeating: nil, count: names.count)
            var hasFailed = false
            for await (index, reading) in group {
                switch reading {
                case .value(let value): values[index] = value
                case .unusable: break
                case .failed: hasFailed = true
                }
            }
            let known = values.compactMap { $0 }
            return PresentEpochs(values: known.count == names.count ? known : nil, hasFailed: hasFailed)
        }
    }

    private func presentEpoch(_ name: String) async -> EpochReading {
        let start = configuration.uptime()
        let (reading, task) = state.withLock { state -> (EpochReading?, Task<EpochReading, Never>?) in
            if state.epochs.isPending(name) { return (.unusable, nil) }
            if let value = state.epochs.current(name, at: start) { return (.value(value), nil) }
            if let read = state.epochReads[name], start - read.start < configuration.epochLifetime {
                return (nil, read.task)
            }
            let task = Task { [self] in await readEpoch(name, start) }
            state.epochReads[name] = EpochRead(start: start, task: task)
            return (nil, task)
        }
        return if let task { await task.value } else { reading ?? .failed }
    }

    /// Reads an epoch within the deadline. Lookups that come meanwhile join, so their cancellation does not count.
    private func readEpoch(_ name: String, _ start: Duration) async -> EpochReading {
        let answer = await withDeadline(configuration.deadline, configuration.sleep) { [self] in
            await get(name, limit: 1024, fields: [.cacheControl: "no-cache"])
        }
        let value: String?
        switch answer {
        case .absent: value = ""
        case .found(let object) where object.stamp.age > max(1, configuration.epochLifetime.components.seconds):
            // A cache in front of the engine withholds removals.
            count { $0.unusableEpochs += 1 }
            value = nil
        case .found(let object): value = opened(object, name).map { String(decoding: $0, as: UTF8.self) }
        case .failed, nil:
            endRead(name, start)
            return .failed
        }
        let reading = state.withLock { state in value.map { state.epochs.note($0, of: name, at: start) } }
        endRead(name, start)
        switch reading {
        case .value(let value): return .value(value)
        case nil, .unsettled: return .unusable
        case .superseded:
            count { $0.unusableEpochs += 1 }
            return .unusable
        case .lost:
            count { $0.unusableEpochs += 1 }
            if canWrite { removeLater(name) }
            return .unusable
        }
    }

    private func endRead(_ name: String, _ start: Duration) {
        state.withLock { state in
            if state.epochReads[name]?.start == start { state.epochReads[name] = nil }
        }
    }

    /// Returns the epochs as last read; `nil` if one was never read, or waits for the write of a removal.
    func knownEpochs(_ request: HTTPRequest) -> [String]? {
        let names = layout.epochs(of: request.url, authority: request.authority ?? "")
        let values = state.withLock { state in names.compactMap { state.epochs.known($0) } }
        return values.count == names.count ? values : nil
    }

    // MARK: Removals

    /// A new value for an epoch, with its object; `nil` if the keys cannot write.
    func newEpoch(_ name: String) -> (value: String, object: Data)? {
        let value = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0).hexadecimal }
        return SealedObject.sealing(Data(value.utf8), as: name, with: keys).map { (value, $0) }
    }

    /// Removes the responses that an unsafe request has made invalid (RFC 9111 §4.4), behind the delivery.
    ///
    /// This process stops using them at once.
    func invalidate(after request: HTTPRequest, _ reply: HTTPResponse) {
        let targets = Invalidation.targets(of: request, url: request.url, reply: reply)
        for name in Set(targets.map { layout.epoch(.url($0)) }) {
            if canWrite {
                removeLater(name)
            } else {
                let uptime = configuration.uptime()
                state.withLock { $0.ownRemovals[name] = uptime }
            }
        }
    }

    /// Removes the responses with this epoch, ahead of the fills. Until the engine has taken the write, this process
    /// neither answers with the responses nor writes new ones.
    private func removeLater(_ name: String) {
        guard state.withLock({ $0.epochs.beginRemoval(of: name) }) else { return }
        attemptRemoval(name, pause: .seconds(1))
    }

    /// - Parameter pause: The time until the next attempt if this one fails; doubles up to 30 seconds.
    private func attemptRemoval(_ name: String, pause: Duration) {
        writes.addUrgent { [self] in
            guard await !writeRemoval(name) else { return }
            count { $0.failedWrites += 1 }
            let sleep = configuration.sleep
            // Nothing waits for the pause, and it keeps no tier.
            Task { [weak self] in
                guard (try? await sleep(pause)) != nil else { return }
                self?.attemptRemoval(name, pause: min(pause * 2, .seconds(30)))
            }
        }
    }

    private func writeRemoval(_ name: String) async -> Bool {
        while let (value, object) = newEpoch(name) {
            let generation = state.withLock { $0.epochs.generation(of: name) }
            let start = configuration.uptime()
            guard (try? await put(object, as: name)) != nil else { return false }
            let end = configuration.uptime()
            let isDone = state.withLock {
                $0.epochs.endRemoval(of: name, generation: generation, value, from: start, to: end)
            }
            if isDone { return true }
        }
        return true
    }

    /// Whether this process has removed the record by an unsafe request that its keys could not tell the tier.
    ///
    /// Counts by the tier's time: a record may answer if its response arrived a minute after the request or later.
    func isRemovedHere(_ candidate: Candidate, _ names: [String]) -> Bool {
        let uptime = configuration.uptime()
        let removal = state.withLock { state in names.compactMap { state.ownRemovals[$0] }.max() }
        guard let removal else { return false }
        let written = HTTPDate(secondsSince1970: candidate.record.head.writtenAt)
        let age = candidate.stamp.now.seconds(since: written) + candidate.record.head.heldSeconds
        return age + 60 >= (uptime - removal).components.seconds
    }
}
