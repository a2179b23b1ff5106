import CacheLoader
import CacheStore
import Foundation
import HTTPTypes

/// A loaded response as JSON. Omits absent values.
struct ResponseReport: Encodable {
    struct Seconds: Encodable {
        /// From the call to the whole body.
        let total: Double
        /// From sending the request to the head of the response.
        let head: Double?
        /// From the head to the end of the body.
        let body: Double?
    }

    let url: String
    let error: String?
    private(set) var responseURL: String?
    private(set) var status: Int?
    private(set) var source: String?
    private(set) var stale: Bool?
    private(set) var age: Int64?
    private(set) var expires: String?
    private(set) var cacheStatus: String?
    private(set) var fields: [String]?
    private(set) var bytes: Int?
    private(set) var sha256: String?
    /// The file that has the body: the file of `-o`, or the file of the store.
    private(set) var bodyFile: String?
    private(set) var seconds: Seconds?

    enum CodingKeys: String, CodingKey {
        case url
        case error
        case responseURL = "responseUrl"
        case status
        case source
        case stale
        case age
        case expires
        case cacheStatus
        case fields
        case bytes
        case sha256
        case bodyFile
        case seconds
    }

    /// - Parameters:
    ///   - url: The URL of the command line.
    ///   - file: The file to which the body was written; `nil` if it is in the store only.
    ///   - total: The time of the load.
    init(
        _ url: String, _ resource: Loaded<Data>, file: String?, store: URL, total: Duration,
        transfer: TransferTimes.Times?
    ) {
        let digest = "\(ContentDigest(of: resource.data))"
        self.url = url
        error = resource.failure?.words
        responseURL = resource.url
        status = resource.status.code
        source = resource.source.rawValue
        stale = resource.isStale
        age = resource.age
        expires = resource.expiresAt?.formatted(.iso8601)
        cacheStatus = HTTPField.Name("Cache-Status").flatMap { resource.headerFields.text(of: $0) }
        fields = resource.headerFields.map { "\($0.name): \($0.text)" }
        bytes = resource.data.count
        sha256 = digest
        bodyFile = file ?? Self.file(of: digest, in: store)
        seconds = Seconds(
            total: total.roundedSeconds, head: transfer?.head?.roundedSeconds, body: transfer?.body?.roundedSeconds)
    }

    /// Creates the report of a failure.
    init(_ url: String, failure: Failure) {
        self.url = url
        error = failure.message
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
