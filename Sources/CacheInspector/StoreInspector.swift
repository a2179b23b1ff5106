public import CacheLoader
public import CacheStore
import CacheReports
import HTTPTypes
import Synchronization

/// A web page that shows a store while programs use it: live requests, entries, reasons, evictions and SQL.
///
/// `cachestore serve` and ``InspectorServer`` show the page on loopback. ``respond(to:path:content:)`` mounts the page
/// at a path of your server, behind your authentication.
///
/// Between requests the inspector is idle, without timers and tasks. See <doc:TheInspector>.
public struct StoreInspector: Sendable {
    /// The behaviour of an inspector.
    public struct Configuration: Sendable {
        /// Whether the page may remove, pin and refresh entries, and turn the record of requests on or off. Off by
        /// default.
        ///
        /// Has no effect on a store that is open for reading only.
        public var allowsChanges = false
        /// Sends the requests of a refresh. By default `nil`: a `DefaultTransport`.
        public var transport: (any HTTPTransport)?
        /// The program's version that the page shows.
        public var version = ""

        /// Creates the default configuration.
        public init() {}
    }

    let store: ResponseStore
    let configuration: Configuration
    let state: State

    /// Creates an inspector of a store, which must stay open.
    public init(store: ResponseStore, configuration: Configuration = Configuration()) {
        self.store = store
        self.configuration = configuration
        state = State()
    }

    var allowsChanges: Bool { configuration.allowsChanges && !store.configuration.isReadOnly }

    /// The state that the requests of one inspector share.
    final class State: Sendable {
        /// Guards the latest byte shares.
        let byteShares = Mutex<(json: JSON, expires: ContinuousClock.Instant)?>(nil)
        /// Guards the changes that await their confirmation.
        let pendingChanges = Mutex(PendingChanges())
        let liveCount = Atomic(0)
        /// Separate from the lanes of the store: a read for the page must not delay the loads of the program.
        let readingLane = BlockingLane(label: "CacheInspector.reads")
        /// Separate from ``readingLane``, so that reading a whole table does not delay a few rows.
        let scanningLane = BlockingLane(label: "CacheInspector.scans")
        let isSimulating = Atomic(false)
        /// Checks the requests of a server that checks hosts and users itself.
        let access = AccessGuard(login: nil)
    }

    // MARK: Answering

    /// Answers a request that has passed the guard.
    package func answer(_ request: InspectorRequest, csrfToken: String) async throws -> InspectorResponse {
        let query = request.query
        switch (request.method, request.path) {
        case (.get, "api/session"): return .json(try await reading { try $0.session(csrfToken) })
        case (.get, "api/live"): return try live(request)
        case (.get, "api/har"): return try await scanning { try $0.archive(query) }
        case (.get, "api/overview"): return .json(try await scanning { try $0.overview(query) })
        case (.get, "api/statistics"): return .json(try await reading { try $0.statistics() })
        case (.get, "api/bytes"): return .json(try await scanning { try $0.bytes() })
        case (.get, "api/entries"):
            let order = try query.choice("sort", EntryListing.Order.self) ?? .key
            return .json(
                try await order.hasIndex
                    ? reading { try $0.entries(query) } : scanning { try $0.entries(query) })
        case (.get, "api/entry"): return .json(try await reading { try $0.entry(query) })
        case (.get, "api/field"): return .json(try await reading { try $0.field(query) })
        case (.get, "api/body"): return try await reading { try $0.body(query) }
        case (.get, "api/derived"): return try await reading { try $0.derived(query) }
        case (.get, "api/eviction"): return .json(try await reading { try $0.eviction(query) })
        case (.get, "api/eviction/preview"): return .json(try await scanning { try $0.evictionPreview(query) })
        case (.get, "api/failures"): return .json(try await reading { try $0.failures(query) })
        case (.get, "api/health"): return .json(try await reading { try $0.health() })
        case (.post, "api/why"): return .json(try await reading { try $0.why(request.content) })
        case (.post, "api/sql"): return .json(try await scanning { try $0.sql(request.content) })
        case (.post, "api/simulate"): return .json(try await simulate(request.content))
        case (.post, "api/recording"): return .json(try await setRecording(request.content))
        case (.post, "api/changes/preview"): return .json(try await previewChange(request.content))
        case (.post, "api/changes/apply"): return .json(try await applyChange(request.content))
        case (.get, let name): return try WebFile.answer(named: name, ifNoneMatch: request.fields[.ifNoneMatch])
        default: throw InspectorFailure.notFound("there is nothing at this path")
        }
    }

    /// Reads a few rows.
    func reading<Value: Sendable>(
        _ work: @escaping @Sendable (Self) throws -> Value
    ) async throws -> Value {
        try await state.readingLane.run { () throws(any Error) in try work(self) }
    }

    /// Reads many rows, after the queued reads.
    package func scanning<Value: Sendable>(
        _ work: @escaping @Sendable (Self) throws -> Value
    ) async throws -> Value {
        try await state.scanningLane.run { () throws(any Error) in try work(self) }
    }
}
