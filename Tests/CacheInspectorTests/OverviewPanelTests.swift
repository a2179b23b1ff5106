import CacheInspector
import CacheReports
import TestSupport

@Suite("Overview, eviction and failures")
struct OverviewPanelTests {
    private func record(
        _ panel: Panel, _ url: String, _ outcome: RequestOutcome, disk: Int64 = 0, network: Int64 = 0,
        latency: Duration = .microseconds(3), secondsAgo: Double = 0, isBackground: Bool = false
    ) throws {
        let start = panel.store.configuration.clock().addingTimeInterval(-secondsAgo)
        var record = RequestRecord(startedAt: start, method: "GET", target: try CacheKey(url: url), outcome: outcome)
        record.diskByteCount = disk
        record.networkByteCount = network
        record.contentByteCount = disk + network
        record.latency = latency
        record.status = 200
        record.isBackground = isBackground
        panel.store.requests.add(record, since: try #require(panel.store.requests.beginning))
    }

    @Test("groups recorded requests by time, outcome, latency and host")
    func sums() async throws {
        let panel = try Panel(clock: ManualClock())
        try panel.store.startRecordingRequests()
        try record(panel, "https://a.example/", .hit, disk: 10)
        try record(panel, "https://a.example/", .hit, disk: 10, secondsAgo: 90)
        try record(panel, "https://b.example/", .miss, network: 7, latency: .milliseconds(1))
        try record(panel, "https://b.example/", .miss, network: 7, secondsAgo: 600)
        // The hit before it has already saved the body.
        try record(panel, "https://a.example/", .revalidated, disk: 10, isBackground: true)
        try await panel.store.flush()
        let all = try await panel.get("api/overview", "minutes=2&buckets=2")
        #expect(all.integer("requests") == 3)
        #expect(all.integer("bucket_milliseconds") == 60_000)
        #expect(all.integer("series.0.hit") == 1)
        #expect(all.integer("series.1.hit") == 1)
        #expect(all.integer("series.1.miss") == 1)
        #expect(all.integer("series.1.saved_bytes") == 10)
        #expect(all.integer("series.1.network_bytes") == 7)
        // 3 µs is below 4, the third bound.
        #expect(all.integer("latency.bounds_microseconds.2") == 4)
        #expect(all.integer("latency.counts.hit.2") == 2)
        #expect(all.integer("latency.counts.miss.10") == 1)
        #expect(all.string("hosts.0.host") == "a.example")
        let one = try await panel.get("api/overview", "minutes=2&host=B.example")
        #expect(one.integer("requests") == 1)
    }

    @Test("the overview, its totals and the saved query have one hit ratio; validations in the background do not count")
    func hitRatio() async throws {
        let panel = try Panel(clock: ManualClock())
        try panel.store.startRecordingRequests()
        let key = try CacheKey(url: "https://a.example/")
        let entry = try panel.insert(key.text)
        for (use, outcome) in [
            (EntryUse.hit, RequestOutcome.hit), (.hit, .hit), (.stale, .stale), (.revalidated, .revalidated),
        ] {
            panel.store.touch(entry, as: use)
            try record(panel, key.text, outcome)
        }
        for outcome in [RequestOutcome.miss, .coalesced] {
            panel.store.count(RequestCounts(misses: 1), for: key)
            try record(panel, key.text, outcome)
        }
        panel.store.count(RequestCounts(tier: 1), for: key)
        try record(panel, key.text, .tier)
        panel.store.count(RequestCounts(errors: 1), for: key)
        try record(panel, key.text, .error)
        try record(panel, key.text, .miss, network: 5, isBackground: true)
        try await panel.store.flush()
        let overview = try await panel.get("api/overview", "minutes=2&buckets=1")
        #expect(overview.integer("requests") == 8)
        #expect(overview.integer("series.0.network_bytes") == 5)
        let totals = try await panel.get("api/statistics")
        #expect(totals.integer("answers.requests") == 8)
        #expect(totals.integer("answers.misses") == 2)
        let ratio = 0.5
        #expect(overview.number("series.0.hit_ratio") == ratio)
        #expect(overview.number("hosts.0.hit_ratio") == ratio)
        #expect(totals.number("answers.hit_ratio") == ratio)
        let rows = try panel.store.query(RequestCounts.queryByHost).rows
        #expect(rows.map { $0.last } == [.real(50.0)])
    }

    @Test("at most sixteen pages show live requests concurrently")
    func liveLimit() async throws {
        let panel = try Panel()
        var answers: [PanelAnswer] = []
        for _ in 0..<16 { answers.append(try await panel.get("api/live")) }
        #expect(answers.allSatisfy { $0.status == 200 })
        #expect(try await panel.get("api/live").status == 503)
        answers.removeLast()
        #expect(try await panel.get("api/live").status == 200)
        for query in ["recent=-1", "recent=1001", "after=x", "after=1-", "after=-1"] {
            #expect(try await panel.get("api/live", query).status == 400)
        }
    }

    @Test("without a record, the overview is empty")
    func noRecord() async throws {
        let answer = try await Panel().get("api/overview")
        #expect(answer.status == 200)
        #expect(answer.integer("requests") == 0)
        #expect(answer.count("series") == 60)
        #expect(answer.bool("recording.exists") == false)
    }

    @Test("the JSON of a record has the members of the command-line tool")
    func recordJSON() throws {
        let record = RequestRecord(
            startedAt: Date(timeIntervalSince1970: 1), method: "GET", target: try CacheKey(url: "https://a.example/<"),
            outcome: .hit)
        #expect(
            String(decoding: record.json.bytes(.page), as: UTF8.self)
                == #"{"content_bytes":null,"disk_bytes":0,"forward":null,"head_milliseconds":0.0,"host":"a.example","#
                + #""is_background":false,"is_truncated":false,"method":"GET","milliseconds":0.0,"network_bytes":0,"outcome":"hit","partition":"","#
                + #""process":0,"reply":null,"status":null,"time":"1970-01-01T00:00:01.000Z","url":"https://a.example/%3C"}"#
        )
    }

    @Test("bytes are grouped by host, type and age")
    func bytes() async throws {
        let panel = try Panel()
        try panel.insert("https://a.example/1", "123", type: "text/HTML; charset=utf-8")
        try panel.insert("https://a.example/2", "12345", type: "text/html")
        try panel.insert("https://b.example/", "1", type: nil)
        let answer = try await panel.get("api/bytes")
        #expect(answer.count("groups") == 2)
        #expect(answer.string("groups.0.content_type") == "text/html")
        #expect(answer.integer("groups.0.bytes") == 8)
        #expect(answer.integer("groups.0.entries") == 2)
        #expect(answer.string("groups.1.content_type") == "")
        #expect(answer.string("groups.1.age") == "hour")
    }

    @Test(
        "the preview of an eviction reports the dry run; the next entries have the columns of their reason",
        arguments: EvictionPolicy.allCases)
    func preview(_ policy: EvictionPolicy) async throws {
        var configuration = ResponseStore.Configuration()
        configuration.evictionPolicy = policy
        let panel = try Panel(configuration: configuration)
        for number in 0..<4 { try panel.insert("https://example.com/\(number)", "body \(number)") }
        let answer = try await panel.get("api/eviction/preview", "max_bytes=0")
        let dryRun = try panel.store.evict(maxBytes: 0, dryRun: true)
        #expect(answer.bool("is_complete") == true)
        #expect(answer.integer("entries") == dryRun.entries)
        #expect(answer.integer("bytes") == Int(dryRun.bytes))
        #expect(answer.integer("entries_left") == 0)
        let next = try await panel.get("api/eviction", "limit=3")
        #expect(next.count("entries") == 3)
        #expect(next.string("policy") == (policy == .valueAware ? "value-aware" : "least-recently-used"))
        #expect(next.integer("entries.0.hit_count") == 0)
        #expect(next.string("entries.0.accessed_at")?.hasSuffix("Z") == true)
    }

    @Test("a simulation replays the record with each policy, and fails without a record")
    func simulation() async throws {
        let panel = try Panel()
        #expect(try await panel.post("api/simulate", "{\"max_bytes\": 1000000}").code == "no_record")
        try panel.store.startRecordingRequests()
        for _ in 0..<3 { try record(panel, "https://a.example/", .hit, disk: 10) }
        try await panel.store.flush()
        let answer = try await panel.post("api/simulate", "{\"max_bytes\": 1000000}")
        #expect(answer.integer("requests") == 3)
        #expect(answer.count("policies") == 2)
        #expect(answer.integer("policies.0.hits") == 2)
        #expect(try await panel.post("api/simulate", "{\"max_bytes\": 0}").status == 400)
    }

    @Test("pages the failures, and reports the numbers of the index")
    func failures() async throws {
        let panel = try Panel()
        for number in 0..<5 {
            try await panel.store.recordFailure(for: CacheKey(url: "https://example.com/\(number)"), status: 503)
        }
        var keys: [String] = []
        var cursor: String?
        repeat {
            let after = cursor.map { "&after=\($0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" }
            let page = try await panel.get("api/failures", "limit=2\(after ?? "")")
            #expect(page.integer("total") == 5)
            keys += page.strings("failures", "key")
            cursor = page.string("next")
        } while cursor != nil
        #expect(keys == (0..<5).map { "https://example.com/\($0)" })
        let health = try await panel.get("api/health")
        #expect(health.integer("failing_keys") == 5)
        #expect(health.integer("writers") == 1)
        #expect((health.integer("index.byte_size") ?? 0) > 0)
        #expect(health.integer("keys_being_loaded") == 0)
        #if os(Linux)
        #expect((health.count("processes") ?? 0) >= 1)
        #endif
    }

    @Test("counts keys that another store is loading")
    func locks() async throws {
        let panel = try Panel()
        let other = try ResponseStore(directory: panel.store.directory)
        let locks = try (0..<7).compactMap { try other.tryLock(CacheKey(url: "https://example.com/\($0)")) }
        #expect(try await panel.get("api/health").integer("keys_being_loaded") == 7)
        for lock in locks { lock.release() }
        #expect(try await panel.get("api/health").integer("keys_being_loaded") == 0)
    }
}
