public import CacheFoundation
internal import CacheLoader
internal import ByteText
internal import Crypto

/// The results of ``SharedTier/check()``.
public struct TierCheck: Hashable, Sendable {
    /// The durations of the reads, in order. The first one includes connecting.
    public let reads: [Duration]
    /// The longest wait for the head of a response, as configured.
    public let deadline: Duration
    /// Whether the engine honours the condition of a write. Without it, a removal may be lost that comes within some
    /// milliseconds of the first response of its URL.
    public let hasConditionalWrites: Bool
    /// Whether the keys of this machine write. If not, the check has only read.
    public let canWrite: Bool
    /// The engine's time.
    public let engineTime: Date
    /// The seconds by which the engine's clock is ahead of the clock of this machine, to about a second.
    public let secondsAhead: Int

    /// The median of the reads after the first one.
    public var medianRead: Duration { reads.dropFirst().sorted()[(reads.count - 1) / 2] }

    /// Whether a hit, which takes three reads, ends within the deadline.
    public var isDeadlineSufficient: Bool { medianRead * 3 < deadline }
}

extension SharedTier {
    /// Writes, reads and deletes an object to test the address, the credentials, the permissions and the speed. With
    /// keys that cannot write, only reads.
    ///
    /// - Throws: ``TierError/engine(_:)`` with the answer of the engine.
    public func check() async throws(TierError) -> TierCheck {
        let value = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
        let name = "\(TierLayout.version)/cas/\(SHA256.hash(data: value).hexadecimal)"
        do throws(TierEngineError) {
            if canWrite { try await put(value, as: name) }
            var reads: [Duration] = []
            for _ in 0..<6 {
                let start = configuration.uptime()
                let answer = await get(name, limit: 64)
                reads.append(configuration.uptime() - start)
                if case .failed(let error) = answer { throw error }
                guard canWrite else { continue }
                guard case .found(let object) = answer, object.bytes == value else {
                    throw .refused("the object that was written could not be read")
                }
            }
            var hasConditions = engine.hasConditionalWrites
            if canWrite {
                if hasConditions { hasConditions = try await !put(value, as: name, onlyIfAbsent: true) }
                try await delete(name)
            }
            let now = tierTime ?? HTTPDate(configuration.clock())
            return TierCheck(
                reads: reads, deadline: deadline, hasConditionalWrites: hasConditions, canWrite: canWrite,
                engineTime: Date(now), secondsAhead: Int(now.seconds(since: HTTPDate(configuration.clock()))))
        } catch {
            throw .engine(error.description)
        }
    }
}
