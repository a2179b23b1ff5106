internal import ByteText
internal import CacheFoundation
internal import CacheLoader
internal import Crypto
internal import HTTPCaching
internal import Synchronization

/// Writes epochs that the engine lacks, and replaces epochs that do not count.
///
/// A record contains only epochs that the engine had before the origin was asked. A new epoch is random, so it makes no
/// older record valid, in whichever order machines write epochs and removals.
extension SharedTier {
    /// The prefix of epochs that were written because the engine had none.
    static let firstEpochPrefix = "first-"

    /// Writes the epochs that the engine lacks, and adds them to the lookup. Call this before the origin is asked.
    ///
    /// - Parameter limit: The longest wait. The writes continue after it, for later requests.
    func completeEpochs(of lookup: Lookup, within limit: Duration) async -> Lookup {
        guard canWrite, !lookup.missingEpochs.isEmpty, limit > .zero else { return lookup }
        let names = lookup.epochNames
        _ = await withTimeLimit(limit, configuration.sleep) { [self] in await writeMissing(lookup.missingEpochs) }
        var lookup = lookup
        lookup.epochs = lookup.epochs ?? knownEpochs(names)
        lookup.commonTagEpoch = lookup.commonTagEpoch ?? knownEpochs([layout.commonTagEpoch])?.first
        return lookup
    }

    /// Writes the epochs that the engine lacks. Returns when they count or have failed.
    func writeMissing(_ epochs: [MissingEpoch]) async {
        await withTaskGroup(of: Void.self) { group in
            for epoch in epochs { group.addTask { [self] in await writeMissing(epoch) } }
        }
    }

    private func writeMissing(_ epoch: MissingEpoch) async {
        let task = state.withLock { state -> Task<Void, Never>? in
            // Another task has read or written the epoch.
            guard state.epochs.known(epoch.name) == nil, !state.epochs.isPending(epoch.name) else { return nil }
            if let task = state.epochWrites[epoch.name] { return task }
            let task = Task { [self] in
                await writeNewEpoch(epoch)
                self.state.withLock { $0.epochWrites[epoch.name] = nil }
            }
            state.epochWrites[epoch.name] = task
            return task
        }
        await task?.value
    }

    private func writeNewEpoch(_ epoch: MissingEpoch) async {
        guard let (value, object) = newEpoch(epoch.name, isFirst: !epoch.isSetBack) else { return }
        let start = configuration.uptime()
        let isConditional = epoch.isAbsent && hasConditionalWrites
        do throws(WriteFailure) {
            if isConditional {
                // If several machines write, the first one wins, and none invalidates the records of another machine.
                guard try await writeIfAbsent(object, as: epoch.name, within: configuration.writeDeadline) else {
                    return await readAgain(epoch.name)
                }
            } else {
                try await write(object, as: epoch.name)
            }
        } catch {
            noteFailure(error)
            // A random value only invalidates, so the write needs no condition.
            if isConditional, error.isRefusal {
                return await writeNewEpoch(MissingEpoch(name: epoch.name, isAbsent: false))
            }
            return count { $0.failedWrites += 1 }
        }
        let end = configuration.uptime()
        change { state in
            state.epochs.wrote(value, to: epoch.name, from: start, to: end)
            state.statistics.newEpochs += 1
        }
        // Machines that begin at the same time may replace each other's epochs. With this read, they usually agree.
        if !isConditional { await readAgain(epoch.name) }
    }

    /// Reads an epoch after a write. Does not join a read that may have begun before the write.
    private func readAgain(_ name: String) async {
        _ = await readEpoch(name, configuration.uptime(), within: configuration.writeDeadline)
    }

    /// A random value for an epoch, and its object. `nil` for keys that cannot write.
    ///
    /// - Parameter isFirst: Whether the epoch removes nothing. Adds a readable prefix to the value.
    func newEpoch(_ name: String, isFirst: Bool = false) -> (value: String, object: Data)? {
        let random = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0).hexadecimal }
        let value = isFirst ? Self.firstEpochPrefix + random : random
        return SealedObject.sealing(Data(value.utf8), as: name, with: keys).map { (value, $0) }
    }
}
