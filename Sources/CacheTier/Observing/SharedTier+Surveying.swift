internal import CacheFoundation
internal import CacheLoader
package import HTTPCaching
internal import HTTPTypes

/// The speed, the clock and the last removals of a tier, as a new machine can read them.
package struct TierSurvey: Sendable {
    /// The last removal of a scope.
    package enum Removal: Hashable, Sendable {
        case never
        /// The tier's time of the removal.
        case at(HTTPDate)
        /// The epoch was sealed with other keys, or altered.
        case unreadable
    }

    /// The durations of the requests, in order. The first one includes connecting.
    package let times: [Duration]
    /// The engine's time at the end.
    package let engineTime: HTTPDate
    /// The seconds by which the engine's clock is ahead of the clock of this machine, to about a second.
    package let secondsAhead: Int64
    /// The last removals, in the order of the scopes.
    package let removals: [Removal]
}

extension SharedTier {
    /// Reads small objects of the engine one by one: the epochs of the scopes in turn.
    ///
    /// - Parameters:
    ///   - scopes: At least one scope.
    ///   - requestCount: The number of requests, at least the number of scopes.
    /// - Throws: ``TierError/engine(_:)`` if a response fails, states no time, or takes longer than the deadline.
    package func survey(_ scopes: [TierScope], requestCount: Int = 10) async throws(TierError) -> TierSurvey {
        var times: [Duration] = []
        var removals: [TierSurvey.Removal] = []
        for number in 0..<max(requestCount, scopes.count) {
            let name = layout.epoch(scopes[number % scopes.count])
            let start = configuration.uptime()
            let answer = await withTimeLimit(configuration.deadline, configuration.sleep) { [self] in
                await get(name, limit: 1024, fields: [.cacheControl: "no-cache"])
            }
            times.append(configuration.uptime() - start)
            let removal: TierSurvey.Removal
            switch answer {
            case nil: throw .engine("no answer within the deadline")
            case .failed(let reason): throw .engine(reason)
            case .absent: removal = .never
            case .found(let object):
                removal = lastRemoval(by: object, name)
            }
            if number < scopes.count { removals.append(removal) }
        }
        guard let engineTime = tierTime else { throw .engine("GET without Date") }
        return TierSurvey(
            times: times, engineTime: engineTime,
            secondsAhead: engineTime.seconds(since: HTTPDate(configuration.clock())), removals: removals)
    }

    private func lastRemoval(by object: Object, _ name: String) -> TierSurvey.Removal {
        guard let payload = opened(object, name) else { return .unreadable }
        return payload.starts(with: Self.firstEpochPrefix.utf8) ? .never : .at(object.stamp.lastModified)
    }
}
