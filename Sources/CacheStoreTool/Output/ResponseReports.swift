import CacheLoader
import CacheReports
import CacheStore
import Foundation
import HTTPTypes
import Synchronization

/// Writes the response reports of a command: one line each as they arrive, or one array at the end.
final class ResponseReports: Sendable {
    let times = TransferTimes()
    private let format: ReportFormat
    /// Guards the reports of the array.
    private let reports = Mutex<[JSON]>([])

    init(_ format: ReportFormat) {
        self.format = format
    }

    /// Reports a response to `url` of the command line. Omits absent values. `file` is `nil` for an unwritten body.
    func add(_ url: String, _ resource: Loaded<Data>, file: String?, store: URL, total: Duration) throws {
        let digest = "\(ContentDigest(of: resource.data))"
        let expires = resource.expiresAt?.formatted(.iso8601)
        let cacheStatus = HTTPField.Name("Cache-Status").flatMap { resource.headerFields.text(of: $0) }
        let transfer = resource.source.isFromOrigin ? times[resource.url] : nil
        try add(
            .object(omittingNulls: [
                "url": .text(url),
                "error": .optional(resource.failure?.words),
                "response_url": .text(resource.url),
                "status": .integer(resource.status.code),
                "source": .text(resource.source.rawValue),
                "stale": .bool(resource.isStale),
                "age": .integer(resource.age),
                "expires": .optional(expires),
                "cache_status": .optional(cacheStatus),
                "fields": .array(resource.headerFields.map { .text("\($0.name): \($0.text)") }),
                "bytes": .integer(resource.data.count),
                "sha256": .text(digest),
                // The file that contains the body.
                "body_file": .optional(file ?? Self.file(of: digest, in: store)),
                "seconds": .object(omittingNulls: [
                    "total": .number(total.roundedSeconds),
                    "head": .optional(transfer?.head?.roundedSeconds),
                    "body": .optional(transfer?.body?.roundedSeconds),
                ]),
            ]))
    }

    /// Reports a failure.
    func add(_ url: String, _ failure: Failure) throws {
        try add(["url": .text(url), "error": .text(failure.message)])
    }

    private func add(_ report: JSON) throws {
        switch format {
        case .json: reports.withLock { $0.append(report) }
        case .jsonl: try format.write(report)
        }
    }

    func end() throws {
        if format == .json { try format.write(.array(reports.withLock { $0 })) }
    }

    /// Returns the file of a body in a store, or `nil` for a body that is not stored.
    private static func file(of digest: String, in store: URL) -> String? {
        let path = "blobs/\(digest.prefix(2))/\(digest.dropFirst(2))"
        let file = store.absoluteURL.appending(path: path).path(percentEncoded: false)
        return FileManager.default.fileExists(atPath: file) ? file : nil
    }
}

extension Duration {
    /// The seconds, rounded to a microsecond.
    fileprivate var roundedSeconds: Double { (self / .microseconds(1)).rounded() / 1e6 }
}
