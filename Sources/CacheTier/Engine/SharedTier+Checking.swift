internal import ByteText
internal import CacheFoundation
internal import CacheLoader
internal import Crypto
internal import HTTPTypes
internal import Synchronization

extension SharedTier {
    /// Writes, reads and deletes an object to test the address, the credentials and the permissions.
    ///
    /// For an engine that should have conditional writes, also tests them: see ``hasConditionalWrites``. An engine
    /// without them passes the check.
    ///
    /// - Throws: ``TierError/engine(_:)`` with the answer of the engine; ``TierError/readOnly`` for keys that cannot
    ///   write.
    public func check() async throws(TierError) {
        guard keys.canWrite else { throw .readOnly }
        let value = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
        let name = "\(TierLayout.version)/cas/\(SHA256.hash(data: value).hexadecimal)"
        try await put(value, as: name)
        let read = await withTimeLimit(configuration.writeDeadline, configuration.sleep) { [self] in
            await get(name, limit: 64)
        }
        guard case .found(let object) = read, object.bytes == value else {
            throw .engine("the object that was written could not be read: \(read?.summary ?? "no answer in time")")
        }
        if hasConditionalWrites { await checkCondition(by: value, as: name) }
        if let reason = await delete(name) { throw .engine(reason) }
    }

    /// Whether the engine supports conditional writes, as far as known: writes of an object only if it is absent.
    ///
    /// `false` for engines created without them, and once an engine has ignored or refused the condition.
    public var hasConditionalWrites: Bool {
        engine.hasConditionalWrites && state.withLock { !$0.lacksConditions }
    }

    /// Repeats the conditional write of an existing object. If it succeeds, the engine ignores the condition.
    func checkCondition(by object: Data, as name: String) async {
        do throws(WriteFailure) {
            let isIgnored = try await writeIfAbsent(object, as: name, within: configuration.writeDeadline)
            if isIgnored { state.withLock { $0.lacksConditions = true } }
        } catch {
            noteFailure(error)
        }
    }
}
