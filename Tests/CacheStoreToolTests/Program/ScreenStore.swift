import TestSupport

/// The store of the documented screens: it has variants, redirects, error responses, a failure and long URLs.
enum ScreenStore {
    private struct Response {
        let url: String
        var variant = ""
        var kind = EntryMetadata.Kind.content
        var status = 200
        var type: String?
        let byteCount: Int
        /// Hours since the response was stored.
        let age: Double
        /// Hours that the response is fresh, if it has an expiry.
        var lifetime: Double?
        var hits = 0
    }

    private static let encodings = "accept-encoding: gzip, deflate, br, zstd"
    private static let report =
        "https://example.com/articles/2026/how-a-cache-keeps-its-promises/part-three/a-report-from-production.html"

    // Halves of hours: the duration of the test changes no number.
    private static let responses = [
        Response(url: "https://example.com/", status: 301, byteCount: 0, age: 6.5, lifetime: 48),
        Response(url: "https://www.example.com/", variant: encodings, type: "text/html", byteCount: 18_432, age: 5.5),
        Response(
            url: report, variant: "\(encodings)\naccept-language: de", type: "text/html; charset=utf-8",
            byteCount: 40_960, age: 4.5, lifetime: 7, hits: 2),
        Response(
            url: report, variant: "\(encodings)\naccept-language: fr", type: "text/html; charset=utf-8",
            byteCount: 41_480, age: 4.4, lifetime: 7),
        Response(
            url: "https://static.example.net/assets/bundles/2026-11/application.6f1c2d8b.css", variant: encodings,
            type: "text/css", byteCount: 96_000, age: 3.5, lifetime: 365.5 * 24, hits: 14),
        Response(
            url: "https://static.example.net/assets/bundles/2026-11/application.b07a55e1.js", variant: encodings,
            type: "text/javascript", byteCount: 412_160, age: 3.4, lifetime: 365.5 * 24, hits: 14),
        Response(
            url: "https://static.example.net/assets/logo.png", type: "image/png", byteCount: 5_120, age: 2.5,
            lifetime: 40.5 * 24, hits: 3),
        Response(
            url: "https://api.example.org/v2/items?page=1&sort=price&fields=id,name,price,stock",
            type: "application/json",
            byteCount: 2_048, age: 1.5, lifetime: 0.5),
        Response(
            url: "https://api.example.org/v2/items?page=99", kind: .error, status: 404, type: "application/json",
            byteCount: 37, age: 0.5),
    ]

    /// Creates the store in `directory`.
    static func fill(_ directory: URL) throws {
        let clock = ManualClock()
        var configuration = ResponseStore.Configuration()
        configuration.clock = clock.date
        let store = try ResponseStore(directory: directory, configuration: configuration)
        defer { store.close() }
        for (number, response) in responses.enumerated() {
            clock.set(Date() - response.age * 3_600)
            try store.insert(
                Data(repeating: UInt8(number), count: response.byteCount),
                metadata: EntryMetadata(
                    kind: response.kind, variant: response.variant, status: response.status, contentType: response.type,
                    requestedAt: clock.now, receivedAt: clock.now,
                    expiresAt: response.lifetime.map { clock.now + $0 * 3_600 }),
                for: CacheKey(url: response.url))
        }
        clock.set(Date() - 900)
        for response in responses {
            for _ in 0..<response.hits { _ = try store.lookup(CacheKey(url: response.url)) }
        }
        for response in responses { try store.count(RequestCounts(misses: 1), for: CacheKey(url: response.url)) }
        let unreachable = try CacheKey(url: "https://api.example.org/v2/stock")
        store.count(RequestCounts(errors: 1), for: unreachable)
        try store.recordFailure(for: unreachable, status: 503)
    }
}
