import CacheLoader
import CacheReports
import CacheStore
import Foundation
import HTTPTypes

/// A loaded response as JSON. Omits absent values.
struct ResponseReport {
    let json: JSON

    /// - Parameters:
    ///   - url: The URL of the command line.
    ///   - file: The file to which the body was written; `nil` if it is in the store only.
    ///   - total: The time of the load.
    init(
        _ url: String, _ resource: Loaded<Data>, file: String?, store: URL, total: Duration,
        transfer: TransferTimes.Times?
    ) {
        let digest = "\(ContentDigest(of: resource.data))"
        let expires = resource.expiresAt?.formatted(.iso8601)
        let cacheStatus = HTTPField.Name("Cache-Status").flatMap { resource.headerFields.text(of: $0) }
        json = .object(omittingNulls: [
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
            // The file that has the body.
            "body_file": .optional(file ?? Self.file(of: digest, in: store)),
            "seconds": .object(omittingNulls: [
                "total": .number(total.roundedSeconds),
                "head": .optional(transfer?.head?.roundedSeconds),
                "body": .optional(transfer?.body?.roundedSeconds),
            ]),
        ])
    }

    /// Creates the report of a failure.
    init(_ url: String, failure: Failure) {
        json = ["url": .text(url), "error": .text(failure.message)]
    }

    /// Returns the file of a body in a store; `nil` if the body is not stored.
    private static func file(of digest: String, in store: URL) -> String? {
        let path = "blobs/\(digest.prefix(2))/\(digest.dropFirst(2))"
        let file = store.absoluteURL.appending(path: path).path(percentEncoded: false)
        return FileManager.default.fileExists(atPath: file) ? file : nil
    }
}

extension Duration {
    /// The seconds to a millionth.
    fileprivate var roundedSeconds: Double { (self / .microseconds(1)).rounded() / 1e6 }
}
