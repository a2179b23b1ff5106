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
        /// The valid epochs by name.
        var values: [String: String] = [:]
        /// The epochs that the engine lacks.
        var missing: [MissingEpoch] = []
        /// Whether the engine failed.
        var hasFailed = false

        /// Returns the epochs in the order of `names`. Returns `nil` with an unknown one: then no record answers, and
        /// nothing is written.
        func values(of names: [String]) -> [String]? {
            let known = names.compactMap { values[$0] }
            return known.count == names.count ? known : nil
        }
    }

    /// An epoch that a machine must write before it can write records: the engine has no object, one without a proof,
    /// or an older one.
    struct MissingEpoch: Hashable, Sendable {
        let name: String
        /// Whether the engine has no object of that name, rather than one without a proof.
        let isAbsent: Bool
        /// Whether the engine was set back to an older epoch, so that the new epoch invalidates records.
        var isSetBack = false
    }

    enum EpochReading: Sendable {
        case value(String)
        case missing(MissingEpoch)
        /// The epoch does not count, although the engine works.
        case unusable
        case failed
    }

    /// A read that later lookups join.
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

    /// Reads an epoch from the engine. Other lookups join this read, so a cancellation of its caller does not end it.
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
            // A cache in front of the engine hides removals.
            count { $0.unusableEpochs += 1 }
            return .unusable
        case .found(let object):
            // An object without a proof says nothing. A new epoch in its place only invalidates. So a forgery costs
            // misses, like a deletion, and blocks nothing permanently.
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

    /// Returns the epochs as last read or written, in order. Returns `nil` unless all of them count.
    func knownEpochs(_ names: [String]) -> [String]? {
        let values = state.withLock { state in names.compactMap { state.epochs.known($0) } }
        return values.count == names.count ? values : nil
    }

    /// Returns the epochs that the engine had at a time, in order. Returns `nil` unless all of them are known.
    func knownEpochs(_ names: [String], at time: EpochTable.Time) -> [String]? {
        let values = state.withLock { state in names.compactMap { state.epochs.known($0, at: time) } }
        return values.count == names.count ? values : nil
    }

    /// The present time, to be compared with later reads of epochs.
    var time: EpochTable.Time { EpochTable.Time(uptime: configuration.uptime(), date: tierTime) }
}
