package import CacheStore
package import Foundation

/// The responses for the benchmarks, the same in every run.
package enum Sample {
    /// The length of a body.
    package enum Size: Int, CaseIterable {
        case kib1 = 1024
        case kib16 = 16_384
        case kib256 = 262_144
        case mib4 = 4_194_304

        package var name: String {
            switch self {
            case .kib1: "1 KiB"
            case .kib16: "16 KiB"
            case .kib256: "256 KiB"
            case .mib4: "4 MiB"
            }
        }

        /// The number of different bodies to read: few enough for the page cache, and all of them verified.
        package var bodyCount: Int {
            switch self {
            case .kib1, .kib16: 1000
            case .kib256: 100
            case .mib4: 8
            }
        }

        /// The number of reads in a round.
        package var readCount: Int {
            switch self {
            case .kib1, .kib16: 10_000
            case .kib256: 2_000
            case .mib4: 200
            }
        }

        /// The number of writes in a round.
        package var writeCount: Int {
            switch self {
            case .kib1, .kib16: 1_000
            case .kib256: 200
            case .mib4: 20
            }
        }
    }

    package static func url(_ number: Int) -> String {
        "https://host\(number % 997).example.com/articles/2026/\(number)/image-large.jpg?v=\(number % 7)"
    }

    package static func url(_ number: Int, _ size: Size) -> String {
        size == .kib16 ? url(number) : url(number) + "&size=\(size.rawValue)"
    }

    private static let patterns = Dictionary(
        uniqueKeysWithValues: Size.allCases.map { size in
            (size, Data((0..<size.rawValue).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }))
        })

    /// Returns a body that differs for each number.
    package static func body(_ number: Int, _ size: Size) -> Data {
        var body = patterns[size] ?? Data()
        body.withUnsafeMutableBytes { $0.storeBytes(of: number, as: Int.self) }
        return body
    }

    /// Returns random bytes in place of a digest, for work that hashes nothing.
    package static func digest(_ number: Int) -> [UInt8] {
        var generator = SplitMix64(state: UInt64(truncatingIfNeeded: number))
        return (0..<4).flatMap { _ in withUnsafeBytes(of: generator.next(), Array.init) }
    }

    package static func metadata(_ number: Int, byteCount: Int, at now: Date = Date()) -> EntryMetadata {
        let head = """
            Date: \(date(now))
            Content-Type: image/jpeg
            Content-Length: \(byteCount)
            Cache-Control: public, max-age=31536000
            ETag: "5f3c-\(number)"
            Last-Modified: Tue, 15 Sep 2026 12:45:26 GMT
            Server: nginx
            X-Request-Id: 7b0f2f6e-2f3a-4b7e-9f0e-\(number)

            """
        return EntryMetadata(
            status: 200, etag: "\"5f3c-\(number)\"", lastModified: "Tue, 15 Sep 2026 12:45:26 GMT",
            contentType: "image/jpeg", requestedAt: now, receivedAt: now,
            expiresAt: now.addingTimeInterval(31_536_000), head: Array(head.utf8))
    }

    /// Formats a date by RFC 9110 §5.6.7.
    package static func date(_ date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let length = strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        return String(decoding: text.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
