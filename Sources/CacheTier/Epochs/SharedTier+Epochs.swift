internal import CacheFoundation
internal import CacheLoader
internal import Crypto
internal import HTTPCaching
internal import HTTPTypes
internal import Synchronization

/// Reads epochs.
extension SharedTier {
    /// The epochs of a request.
    struct PresentEpochs: Sendable {
        /// The epochs that count, by their names.
        var values: [String: String] = [:]
        /// The epochs that the engine lacks.
        var missing: [MissingEpoch] = []
        /// Whether the engine failed.
        var hasFailed = false

        /// Returns the epochs in the order of `names`; `nil` if one is unknown: nothing answers then, and nothing is
        /// written.
        func values(of names: [String]) -> [String]? {
            let known = names.compactMap { values[$0] }
            return known.count == names.count ? known : nil
        }
    }

    /// An epoch that a machine has to write before it can write records: the engine lacks it, or has one without a proof
    /// or an older one.
    struct MissingEpoch: Hashable, Sendable {
        let name: String
        /// Whether the engine has no object of that name, and not one without a proof.
        let isAbsent: Bool
        /// Whether the engine was set back to an older epoch, so that the new one removes.
        var isSetBack = false
    }

    enum EpochReading: Sendable {
        case value(String)
        case missing(MissingEpoch)
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
        await withTaskGroup(of: (String, EpochReading).self) { group in
            for name in names {
                group.addTask { [self] in (name, await presentEpoch(name)) }
            }
            var epochs = PresentEpochs()
            for await (name, reading) in group {
                switch reading {
                case .value(let value): epochs.values[name] = value
                case .missing(let epoch): epochs.missing.append(epoch)
                case .unusable: break
                case .failed: epochs.hasFailed = true
                }
            }
            return epochs
        }
    }

    func presentEpoch(_ name: String) async -> EpochReading {
        let start = configuration.uptime()
        let (reading, task) = state.withLock { state -> (EpochReading?, Task<EpochReading, Never>?) in
            if state.epochs.isPending(name) { return (.unusable, nil) }
            if let value = state.epochs.current(name, at: start) { return (.value(value), nil) }
            if let read = state.epochReads[name], start - read.start < configuration.epochLifetime {
                return (nil, read.task)
            }
            let task = Task { [self] in await readEpoch(name, start, within: configuration.deadline) }
            state.epochReads[name] = EpochRead(start: start, task: task)
            return (nil, task)
        }
        return if let task { await task.value } else { reading ?? .failed }
    }

    /// Reads an epoch from the engine. Lookups that come meanwhile join, so their cancellation does not count.
    func readEpoch(_ name: String, _ start: Duration, within limit: Duration) async -> EpochReading {
        let answer = await withTimeLimit(limit, configuration.sleep) { [self] in
            await get(name, limit: 1024, fields: [.cacheControl: "no-cache"])
        }
        defer { endRead(name, start) }
        let end = configuration.uptime()
        let value: String?
        var stamp: Stamp?
        switch answer {
        case .absent:
            value = nil
        case .found(let object) where object.stamp.age > max(1, configuration.epochLifetime.components.seconds):
            // A cache in front of the engine withholds removals.
            count { $0.unusableEpochs += 1 }
            return .unusable
        case .found(let object):
            // Without a proof, the object says nothing. A new epoch in its place only invalidates, so a forgery costs
            // misses, as its deletion would, and blocks nothing for longer.
            value = opened(object, name).map { String(decoding: $0, as: UTF8.self) }
            stamp = object.stamp
        case .failed, nil:
            return .failed
        }
        // A cache in front of the engine has read the object earlier.
        let time = start - .seconds(stamp?.age ?? 0)
        switch state.withLock({ $0.epochs.note(value, of: name, at: time, .init(uptime: end, stamp: stamp)) }) {
        case .value(let value):
            return .value(value)
        case .absent:
            return .missing(MissingEpoch(name: name, isAbsent: stamp == nil))
        case .unsettled:
            return .unusable
        case .superseded(let isSetBack):
            count { $0.unusableEpochs += 1 }
            return isSetBack ? .missing(MissingEpoch(name: name, isAbsent: false, isSetBack: true)) : .unusable
        }
    }

    private func endRead(_ name: String, _ start: Duration) {
        state.withLock { state in
            if state.epochReads[name]?.start == start { state.epochReads[name] = nil }
        }
    }

    /// Returns the epochs as last read or written, in their order; `nil` if one does not count.
    func knownEpochs(_ names: [String]) -> [String]? {
        let values = state.withLock { state in names.compactMap { state.epochs.known($0) } }
        return values.count == names.count ? values : nil
    }

    /// Returns the epochs that the engine had at a time, in their order; `nil` if one is unknown.
    func knownEpochs(_ names: [String], at time: EpochTable.Time) -> [String]? {
        let values = state.withLock { state in names.compactMap { state.epochs.known($0, at: time) } }
        return values.count == names.count ? values : nil
    }

    /// The present time, for epochs that are read later.
    var time: EpochTable.Time { EpochTable.Time(uptime: configuration.uptime(), date: tierTime) }
}
