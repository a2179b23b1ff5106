// The module `HTTPArchive` reads and writes HTTP Archives (HAR 1.2), redacts credentials, and matches requests with
// recorded exchanges. The module may decode content codings. The module uses no network and no store.

package import CacheFoundation

/// An HTTP Archive, the format in which network panels of browsers save exchanges
/// (http://www.softwareishard.com/blog/har-12-spec/). Contains the properties that a replay needs. Reading ignores the
/// other ones, and writing adds those that HAR 1.2 requires.
package struct HTTPArchive: Decodable, Sendable {
    package struct Log: Decodable, Sendable {
        package var entries: [Entry]
    }

    package var log: Log

    package init(entries: [Entry]) {
        log = Log(entries: entries)
    }

    /// An exchange.
    package struct Entry: Sendable {
        /// ISO 8601.
        package var startedDateTime: String
        /// The milliseconds to the end of the response.
        package var time: Double?
        /// The milliseconds to the head of the response.
        package var wait: Double?
        package var request: Request
        package var response: Response
        /// "disk" for a response that a cache has given without asking the origin. Browsers write this property.
        package var fromCache: String?
        /// Identifies the connection, or the process.
        package var connection: String?
        package var comment: String?

        package init(
            startedDateTime: String, time: Double? = nil, wait: Double? = nil, request: Request, response: Response,
            fromCache: String? = nil, connection: String? = nil, comment: String? = nil
        ) {
            self.startedDateTime = startedDateTime
            self.time = time
            self.wait = wait
            self.request = request
            self.response = response
            self.fromCache = fromCache
            self.connection = connection
            self.comment = comment
        }
    }

    package struct Request: Sendable {
        package var method: String
        package var url: String
        package var headers: [Field]
        package var postData: PostData?

        package init(method: String, url: String, headers: [Field] = [], postData: PostData? = nil) {
            self.method = method
            self.url = url
            self.headers = headers
            self.postData = postData
        }
    }

    package struct Response: Sendable {
        /// 0 for a request without a response.
        package var status: Int
        package var statusText: String?
        package var headers: [Field]
        package var content: Content

        package init(status: Int, statusText: String? = nil, headers: [Field] = [], content: Content) {
            self.status = status
            self.statusText = statusText
            self.headers = headers
            self.content = content
        }
    }

    package struct Field: Codable, Hashable, Sendable {
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The content of a request.
    package struct PostData: Codable, Sendable {
        package var mimeType: String
        package var text: String?
        /// "base64" for content that is no text. HAR 1.2 has no property for it.
        package var encoding: String?

        package enum CodingKeys: String, CodingKey {
            case mimeType, text
            case encoding = "_encoding"
        }
    }

    /// The body of a response.
    package struct Content: Codable, Sendable {
        /// The number of bytes of the decoded body.
        package var size: Int64?
        package var mimeType: String?
        package var text: String?
        /// "base64" for a body that is no text.
        package var encoding: String?
        /// Whether the text is the body in its content coding. HAR 1.2 has no property for it, and expects it decoded.
        package var isCoded: Bool?

        package init(
            size: Int64?, mimeType: String? = nil, text: String? = nil, encoding: String? = nil, isCoded: Bool? = nil
        ) {
            self.size = size
            self.mimeType = mimeType
            self.text = text
            self.encoding = encoding
            self.isCoded = isCoded
        }

        package enum CodingKeys: String, CodingKey {
            case size, mimeType, text, encoding
            case isCoded = "_isCoded"
        }
    }
}

extension HTTPArchive {
    package init(_ data: Data) throws(ArchiveError) {
        // RFC 8259 §8.1 permits a parser to ignore a byte order mark.
        let json = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
        do {
            self = try JSONDecoder().decode(HTTPArchive.self, from: json)
        } catch let error as DecodingError {
            throw ArchiveError(error)
        } catch {
            throw ArchiveError(reason: "\(error)")
        }
    }

    /// The text of the archive, with sorted properties, so that a version control system shows small differences.
    package func encoded() throws -> Data {
        var data = Data(ArchiveText.head.utf8)
        for (index, entry) in log.entries.enumerated() {
            data += try ArchiveText.entry(entry, isFirst: index == 0)
        }
        return data + Data(ArchiveText.end.utf8)
    }
}

/// The parts of an archive's text, for archives that are written entry by entry.
package enum ArchiveText {
    package static let head = """
        {
          "log" : {
            "version" : "1.2",
            "creator" : { "name" : "cachestore", "version" : "1" },
            "entries" : [
        """

    package static let end = "\n    ]\n  }\n}\n"

    package static func entry(_ entry: HTTPArchive.Entry, isFirst: Bool) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Data((isFirst ? "\n" : ",\n").utf8) + (try encoder.encode(entry))
    }
}

/// The reason why a text is not an HTTP Archive, or why an entry of it cannot be replayed.
package struct ArchiveError: Error, Hashable, CustomStringConvertible {
    package let reason: String

    package init(reason: String) {
        self.reason = reason
    }

    init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            self.init(reason: "\(Self.path(context.codingPath + [key])) is absent")
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            self.init(reason: "\(Self.path(context.codingPath)) has the wrong type")
        case .dataCorrupted(let context) where context.codingPath.isEmpty:
            self.init(reason: "the file is not JSON")
        case .dataCorrupted(let context):
            self.init(reason: "\(Self.path(context.codingPath)): \(context.debugDescription)")
        @unknown default: self.init(reason: "\(error)")
        }
    }

    /// Returns a path such as "log.entries[3].request".
    private static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce("") { path, key in
            if let index = key.intValue { return "\(path)[\(index)]" }
            return path.isEmpty ? key.stringValue : "\(path).\(key.stringValue)"
        }
    }

    package var description: String { reason }
}
