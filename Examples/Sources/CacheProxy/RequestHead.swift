internal import HTTPTypes

/// The received head of a request, and its consequences for the connection.
struct RequestHead: Sendable {
    /// The framing of the content (RFC 9112 §6.3).
    enum Framing: Hashable, Sendable {
        case none
        case length(Int64)
        case chunked
    }

    let method: HTTPRequest.Method
    let target: String
    /// HTTP/1.0 has no chunked coding, and its connections do not persist (RFC 9112 §9.3).
    let isHTTP10: Bool
    /// All field lines, in order and with their bytes.
    let fields: HTTPFields
    private(set) var framing = Framing.none
    /// Whether this is the last request on its connection.
    private(set) var isLast: Bool
    /// Whether the client waits for 100 before it sends the content.
    private(set) var expectsContinue = false

    /// - Throws: A refusal for unknown or ambiguous framing.
    init(method: HTTPRequest.Method, target: String, isHTTP10: Bool, fields: HTTPFields) throws(Refusal) {
        self.method = method
        self.target = target
        self.isHTTP10 = isHTTP10
        self.fields = fields
        isLast = isHTTP10
        var (hostCount, codingCount) = (0, 0)
        var length: Int64?
        for field in fields {
            switch field.name.canonicalName {
            case "host":
                hostCount += 1
            case "content-length":
                // RFC 9112 §6.3: a list or a second line would permit request smuggling.
                guard length == nil, let value = Self.length(field) else { throw .malformed }
                length = value
            case "transfer-encoding":
                codingCount += 1
                // RFC 9112 §6.1: this proxy supports only the chunked coding.
                guard field.value.lowercased() == "chunked" else { throw Refusal(.notImplemented) }
            case "connection":
                if field.tokens.contains("close") { isLast = true }
            case "expect":
                expectsContinue = !isHTTP10 && field.value.lowercased() == "100-continue"
            default:
                break
            }
        }
        // RFC 9112 §3.2: exactly one Host line; HTTP/1.0 permits none.
        guard hostCount == 1 || hostCount == 0 && isHTTP10 else { throw .malformed }
        if codingCount > 0 {
            guard codingCount == 1, length == nil, !isHTTP10 else { throw .malformed }
            framing = .chunked
        } else if let length {
            framing = .length(length)
        }
        if framing == .none || framing == .length(0) { expectsContinue = false }
    }

    private static func length(_ field: HTTPField) -> Int64? {
        let text = field.value
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}

extension HTTPField {
    /// The value as a list of tokens, in lower case.
    var tokens: [Substring] {
        value.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
    }
}
