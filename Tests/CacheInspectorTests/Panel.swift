import CacheInspector
import TestSupport

/// An inspector of a temporary store, called without a server.
struct Panel: Sendable {
    let store: ResponseStore
    let inspector: StoreInspector

    init(
        clock: ManualClock? = nil, allowsChanges: Bool = false, configuration: ResponseStore.Configuration = .init(),
        _ adjust: (inout StoreInspector.Configuration) -> Void = { _ in }
    ) throws {
        store = try .temporary(clock: clock, configuration: configuration)
        var settings = StoreInspector.Configuration()
        settings.allowsChanges = allowsChanges
        adjust(&settings)
        inspector = StoreInspector(store: store, configuration: settings)
    }

    init(store: ResponseStore, inspector: StoreInspector) {
        self.store = store
        self.inspector = inspector
    }

    func get(_ path: String, _ query: String = "") async throws -> PanelAnswer {
        try await answer(.get, path, query, "")
    }

    func post(_ path: String, _ content: String) async throws -> PanelAnswer {
        try await answer(.post, path, "", content)
    }

    private func answer(
        _ method: HTTPRequest.Method, _ path: String, _ query: String, _ content: String
    ) async throws -> PanelAnswer {
        do {
            let request = try InspectorRequest(method, path, query: query, content: Array(content.utf8))
            return PanelAnswer(try await inspector.answer(request, csrfToken: "token"))
        } catch {
            return PanelAnswer(InspectorResponse(InspectorFailure(error)))
        }
    }

    /// Stores a response, and returns its entry.
    @discardableResult
    func insert(
        _ url: String, _ body: String = "body", type: String? = "text/plain", head: String = "", variant: String = "",
        status: Int = 200, maxAge: Double? = 60, partition: String = "", options: EntryOptions = EntryOptions()
    ) throws -> StoredEntry {
        let now = store.configuration.clock()
        let lines = (type.map { "content-type: \($0)\n" } ?? "") + head
        return try store.insert(
            Data(body.utf8),
            metadata: EntryMetadata(
                kind: status >= 400 ? .error : .content, variant: variant, status: status, contentType: type,
                requestedAt: now, receivedAt: now, expiresAt: maxAge.map { now.addingTimeInterval($0) },
                head: Array(lines.utf8)),
            for: try CacheKey(url: url, partition: partition), options: options)
    }
}

/// An answer. Reads its JSON by paths such as `entries.0.key`.
struct PanelAnswer: Sendable {
    let answer: InspectorResponse
    let bytes: [UInt8]

    init(_ answer: InspectorResponse) {
        self.answer = answer
        switch answer.content {
        case .bytes(let bytes): self.bytes = bytes
        case .body(let body, let count): bytes = (try? Array(body.bytes(at: 0, count: Int(count)))) ?? []
        case .live: bytes = []
        }
    }

    var status: Int { answer.status.code }
    var text: String { String(decoding: bytes, as: UTF8.self) }
    var code: String? { string("error.code") }

    func string(_ path: String) -> String? { value(path) as? String }
    func integer(_ path: String) -> Int? { (value(path) as? NSNumber)?.intValue }
    func number(_ path: String) -> Double? { (value(path) as? NSNumber)?.doubleValue }
    func bool(_ path: String) -> Bool? { (value(path) as? NSNumber)?.boolValue }
    func count(_ path: String) -> Int? { (value(path) as? [Any])?.count }
    func strings(_ path: String, _ member: String) -> [String] {
        ((value(path) as? [[String: Any]]) ?? []).compactMap { $0[member] as? String }
    }

    private func value(_ path: String) -> Any? {
        var value = try? JSONSerialization.jsonObject(with: Data(bytes))
        for name in path.split(separator: ".") {
            if let index = Int(name), let list = value as? [Any] {
                value = index < list.count ? list[index] : nil
            } else {
                value = (value as? [String: Any])?[String(name)]
            }
        }
        return value
    }
}
