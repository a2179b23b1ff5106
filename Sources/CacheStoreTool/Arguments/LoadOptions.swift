public import ArgumentParser
public import CacheLoader
import CacheReports
import CacheStore
import CacheTier
import Foundation
import HTTPTypes

/// The options of a load.
struct LoadOptions: ParsableArguments {
    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp("A field to send along, as 'Name: value'; may be repeated.", valueName: "field"))
    var fields: [HTTPField] = []

    @Option(help: "When a stored response may answer.")
    var policy = PolicyName.http

    @Option(help: ArgumentHelp("Give up when nothing arrives for as many seconds.", valueName: "seconds"))
    var timeout = 60.0

    @Option(
        help: ArgumentHelp(
            "Transfers at a time. Without it 6 in the urgent lane, 1 in the background.", valueName: "number"))
    var width: Int?

    @OptionGroup var connections: ConnectionOptions

    @Flag(help: "Refuse content that differs from its digests (RFC 9530).")
    var verifyDigests = false

    @OptionGroup var tierOptions: TierOptions

    func validate() throws {
        if !(timeout > 0 && timeout <= 86_400) {
            throw ValidationError("--timeout needs a number of seconds between 0 and 86400")
        }
        if let width, !(1...256).contains(width) { throw ValidationError("--width needs a number from 1 to 256") }
    }

    func request(_ url: String, lane: Lane) -> ResourceRequest {
        ResourceRequest(url, headerFields: HTTPFields(fields), policy: policy.policy, lane: lane)
    }

    /// Returns the most concurrent transfers.
    func width(of lane: Lane) -> Int {
        width ?? LaneWidths()[lane]
    }

    /// Calls `body` with a loader for one lane, whose transfers `watched` observes. Then waits for arriving bodies and
    /// for writes to the shared tier. After an error of `body` or a signal, also stops the bodies of background
    /// revalidations. Their received parts are stored. Returns the counts of the shared tier if the options name one.
    func withLoader<Result>(
        _ store: ResponseStore, lane: Lane, retry: RetryCount, watched: (any HTTPTransport) -> any HTTPTransport,
        _ body: (ResourceLoader) async throws -> Result
    ) async throws -> (result: Result, tier: TierCounts?) {
        let tier = try tierOptions.tier(connections, idleTimeout: .seconds(timeout))
        let loader = try loader(store, lane: lane, retry: retry, tier: tier, watched: watched)
        let result: Result
        do {
            result = try await body(loader)
        } catch {
            loader.cancelAll()
            await loader.waitForBodiesAfterSignal()
            throw error
        }
        if Task.isCancelled { loader.cancelAll() }
        await loader.waitForBodiesAfterSignal()
        await tier?.waitForWrites()
        return (result, tier.map { TierCounts($0.statistics) })
    }

    private func loader(
        _ store: ResponseStore, lane: Lane, retry: RetryCount, tier: SharedTier?,
        watched: (any HTTPTransport) -> any HTTPTransport
    ) throws -> ResourceLoader {
        let width = width(of: lane)
        let perHost = max(LaneWidths().perHost, width)
        connections.warn()
        var configuration = ResourceLoader.Configuration()
        configuration.logger = StandardErrorLog.logger
        configuration.retry = retry.policy
        configuration.policy.verifiesDigests = verifyDigests
        configuration.cacheStatus = CacheStatusOptions(hasDetail: true)
        configuration.lanes.perHost = perHost
        // A large file may take hours. Ctrl-C ends the load.
        configuration.timeout = nil
        switch lane {
        case .urgent: configuration.lanes.urgent = width
        case .background: configuration.lanes.background = width
        }
        var transport = try connections.transport(perHost: perHost, idleTimeout: .seconds(timeout))
        if let tier { transport = TieredTransport(tier: tier, origin: transport) }
        return ResourceLoader(store: store, transport: watched(transport), configuration: configuration)
    }
}

extension PolicyName: ExpressibleByArgument {}

extension Lane: ExpressibleByArgument {}
