import CacheReports
import CacheStore
import HTTPTypes
import Synchronization

/// Sends the recorded requests of a store to one client as server-sent events. Polls the record ten times a second
/// while requests arrive, as often as programs write it. Slows down to twice a second without requests. Runs only while
/// a client is connected.
package struct LiveFeed: Sendable {
    /// The most concurrent feeds of one inspector.
    static let maxCount = 16
    /// The most records per event.
    private static let batchLength = 1_024
    /// The interval at which programs write their records.
    private static let shortPause = Duration.milliseconds(100)
    private static let longPause = Duration.milliseconds(500)
    /// Sends a comment at this interval, because only a write detects a disconnected client.
    private static let heartbeat = Duration.seconds(15)

    let store: ResponseStore
    let ticket: LiveTicket
    /// The number of past records to send first.
    let recent: Int64
    /// The position after the last event that the client has received.
    let position: RequestCursor?

    /// Writes events until the task is cancelled, or until `write` throws because the client has disconnected.
    func run(write: ([UInt8]) async throws -> Void) async throws {
        var cursor = position
        var shown: (isOn: Bool, capacity: Int)?
        var isFirst = true
        var pause = Self.shortPause
        var lastWrite = ContinuousClock.now
        while !Task.isCancelled {
            let recording = try store.requestRecording()
            var event: [UInt8] = []
            if isFirst || shown?.isOn != recording?.isOn || shown?.capacity != recording?.capacity {
                event += Self.event("state", Self.json(recording))
                shown = recording.map { ($0.isOn, $0.capacity) }
            }
            if isFirst, cursor == nil { cursor = recording?.cursor(beforeLast: recent) }
            isFirst = false
            let page = try store.requestRecords(since: cursor, limit: Self.batchLength)
            let hasMore = page.count == Self.batchLength
            if let next = page.next {
                if page.count > 0 || page.lost > 0 {
                    event += Self.event(
                        "records",
                        [
                            "records": .array(page.records.map(\.json)),
                            "removals": .array(page.removals.map(\.json)), "lost": .integer(page.lost),
                        ], id: next)
                }
                cursor = next
            }
            if event.isEmpty, ContinuousClock.now - lastWrite >= Self.heartbeat {
                event = Array(": heartbeat\n\n".utf8)
            }
            if !event.isEmpty {
                try await write(event)
                lastWrite = .now
            }
            pause = page.count == 0 ? min(pause * 2, Self.longPause) : Self.shortPause
            if !hasMore { try await Task.sleep(for: pause) }
        }
    }

    static func json(_ recording: RequestRecording?) -> JSON {
        [
            "recording": .bool(recording?.isOn ?? false),
            "exists": .bool(recording != nil),
            "capacity": .integer(recording?.capacity ?? 0),
            "count": .integer(recording?.count ?? 0),
            "overwritten": .integer(recording?.lost ?? 0),
            "byte_size": .integer(recording?.byteCount ?? 0),
        ]
    }

    private static func event(_ name: String, _ data: JSON, id: RequestCursor? = nil) -> [UInt8] {
        var bytes = Array((id.map { "id: \($0)\n" } ?? "").utf8)
        bytes += "event: \(name)\ndata: ".utf8
        // JSON in one line: line feeds occur only escaped.
        data.append(to: &bytes, .page)
        bytes += "\n\n".utf8
        return bytes
    }
}

/// Counts a feed from its creation until the last reference is released, even if the feed never runs.
final class LiveTicket: Sendable {
    /// The number of feeds, including this one.
    let number: Int
    private let state: StoreInspector.State

    init(_ state: StoreInspector.State) {
        self.state = state
        number = state.liveCount.add(1, ordering: .relaxed).newValue
    }

    deinit {
        state.liveCount.subtract(1, ordering: .relaxed)
    }
}

extension StoreInspector {
    func live(_ request: InspectorRequest) throws(InspectorFailure) -> InspectorResponse {
        let recent = try request.query.integer("recent", in: 0...1_000) ?? 200
        let text = request.fields[named: "Last-Event-ID"] ?? request.query.text("after")
        let position = text.flatMap { RequestCursor($0) }
        if text != nil, position == nil { throw .invalid("the position in the record is malformed") }
        let ticket = LiveTicket(state)
        guard ticket.number <= LiveFeed.maxCount else {
            throw .busy("\(LiveFeed.maxCount) pages show live requests already")
        }
        let feed = LiveFeed(store: store, ticket: ticket, recent: recent, position: position)
        return InspectorResponse(type: "text/event-stream", .live(feed))
    }

    /// Turns the record of requests on or off.
    func setRecording(_ content: [UInt8]) async throws -> JSON {
        struct Choice: Decodable { let on: Bool }
        let choice = try decode(Choice.self, content)
        try requireChanges()
        return try await reading { inspector in
            if choice.on {
                try inspector.store.startRecordingRequests()
            } else {
                try inspector.store.stopRecordingRequests()
            }
            return ["recording": .bool(choice.on)]
        }
    }
}
