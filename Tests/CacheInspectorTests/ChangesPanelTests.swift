import CacheInspector
import TestSupport

@Suite("Changes panel")
struct ChangesPanelTests {
    private func preview(_ panel: Panel, _ action: String, _ selection: String) async throws -> PanelAnswer {
        try await panel.post("api/changes/preview", "{\"action\": \"\(action)\", \"selection\": \(selection)}")
    }

    private func apply(_ panel: Panel, _ preview: PanelAnswer) async throws -> PanelAnswer {
        try await panel.post("api/changes/apply", "{\"confirmation\": \"\(preview.string("confirmation") ?? "")\"}")
    }

    @Test("refuses every change without permission, and in a read-only store")
    func off() async throws {
        let panel = try Panel()
        try panel.insert("https://example.com/")
        var configuration = ResponseStore.Configuration()
        configuration.isReadOnly = true
        let reader = try ResponseStore(directory: panel.store.directory, configuration: configuration)
        var settings = StoreInspector.Configuration()
        settings.allowsChanges = true
        let readOnly = Panel(store: reader, inspector: StoreInspector(store: reader, configuration: settings))
        for panel in [panel, readOnly] {
            #expect(try await panel.get("api/session").bool("allows_changes") == false)
            #expect(try await preview(panel, "remove", "{\"everything\": true}").code == "changes_not_allowed")
            let apply = try await panel.post("api/changes/apply", "{\"confirmation\": \"x\"}")
            #expect(apply.code == "changes_not_allowed")
            #expect(try await panel.post("api/recording", "{\"on\": true}").code == "changes_not_allowed")
        }
        #expect(try panel.store.statistics().entries == 1)
        #expect(try panel.store.requestRecording() == nil)
    }

    @Test(
        "a removal removes the entries that its preview counted",
        arguments: [
            ("{\"host\": \"a.example\"}", 2), ("{\"prefix\": \"https://a.example/1\"}", 1), ("{\"tag\": \"red\"}", 1),
            ("{\"everything\": true}", 3), ("{\"type\": \"text/*\", \"host\": \"b.example\"}", 1),
            ("{\"ids\": [1, 2]}", 2),
        ])
    func remove(_ selection: String, _ count: Int) async throws {
        let panel = try Panel(allowsChanges: true)
        try panel.insert("https://a.example/1", "one")
        try panel.insert("https://a.example/2", "two", options: EntryOptions(tags: ["red"]))
        try panel.insert("https://b.example/", "three")
        let preview = try await preview(panel, "remove", selection)
        #expect(preview.integer("entries") == count)
        #expect(preview.count("sample") == count)
        #expect(try panel.store.statistics().entries == 3)
        let applied = try await apply(panel, preview)
        #expect(applied.integer("entries") == count)
        #expect(applied.integer("bytes") == preview.integer("bytes"))
        #expect(try panel.store.statistics().entries == 3 - count)
    }

    @Test("a confirmation works once, and only with a token that the panel issued")
    func confirmation() async throws {
        let panel = try Panel(allowsChanges: true)
        try panel.insert("https://example.com/")
        #expect(try await panel.post("api/changes/apply", "{\"confirmation\": \"\"}").code == "unconfirmed")
        let preview = try await preview(panel, "remove", "{\"ids\": [1]}")
        #expect(try await apply(panel, preview).status == 200)
        #expect(try await apply(panel, preview).code == "unconfirmed")
    }

    @Test(
        "refuses a selection that is empty, contradictory or malformed",
        arguments: [
            "{}", "{\"ids\": []}", "{\"ids\": [1], \"everything\": true}", "{\"everything\": true, \"host\": \"x\"}",
            "{\"ids\": [1], \"host\": \"x\"}", "{\"host\": 1}", "{\"everything\": false}", "[]",
            "{\"ids\": [\"../1\"]}",
        ])
    func malformed(_ selection: String) async throws {
        let panel = try Panel(allowsChanges: true)
        try panel.insert("https://example.com/")
        #expect(try await preview(panel, "remove", selection).status == 400)
        #expect(try await preview(panel, "erase", "{\"everything\": true}").status == 400)
    }

    @Test("pin and unpin set the pin of all entries of a key")
    func pin() async throws {
        let panel = try Panel(allowsChanges: true)
        let entry = try panel.insert("https://example.com/")
        #expect(try await apply(panel, preview(panel, "pin", "{\"ids\": [\(entry.id)]}")).integer("keys") == 1)
        #expect(try panel.store.peek(entry.key)?.options.isPinned == true)
        #expect(try await apply(panel, preview(panel, "unpin", "{\"host\": \"example.com\"}")).integer("keys") == 1)
        #expect(try panel.store.peek(entry.key)?.options.isPinned == false)
    }

    @Test("a refresh revalidates each variant with the origin, without credentials")
    func refresh() async throws {
        let transport = ScriptedTransport([
            "https://example.com/same": [.reply(304)],
            "https://example.com/new": [.reply(200, [.cacheControl: "max-age=60"], "new")],
            "https://example.com/gone": [.failure(.cannotConnect)],
        ])
        let panel = try Panel(allowsChanges: true) { $0.transport = transport }
        for name in ["same", "new", "gone", "personal"] {
            try panel.insert(
                "https://example.com/\(name)", "old \(name)", head: "ETag: \"1\"\nVary: accept-language, cookie\n",
                variant: "accept-language: de\ncookie\(name == "personal" ? ": 5f2b" : "")")
        }
        let applied = try await apply(panel, preview(panel, "refresh", "{\"host\": \"example.com\"}"))
        #expect(applied.integer("keys") == 4)
        #expect(applied.integer("revalidated") == 1)
        #expect(applied.integer("updated") == 1)
        #expect(applied.integer("failed") == 2)
        #expect(transport.requests(to: "https://example.com/personal").isEmpty)
        #expect(transport.requests.contains { $0.headerFields[.acceptLanguage] == "de" })
        #expect(transport.requests.allSatisfy { $0.headerFields[.cookie] == nil })
    }

    @Test("starts and stops the recording of requests")
    func recording() async throws {
        let panel = try Panel(allowsChanges: true)
        #expect(try await panel.post("api/recording", "{\"on\": true}").bool("recording") == true)
        #expect(try panel.store.requestRecording()?.isOn == true)
        _ = try await panel.post("api/recording", "{\"on\": false}")
        #expect(try panel.store.requestRecording()?.isOn == false)
    }
}
