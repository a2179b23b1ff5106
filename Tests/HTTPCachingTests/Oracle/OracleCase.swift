import TestSupport

/// A request, a response and their times, as lines. The oracle and the tested code each parse the lines.
struct OracleCase: Sendable {
    /// A field line.
    struct Line: Hashable, Sendable, CustomStringConvertible {
        var name: String
        var value: String

        var description: String { "\(name): \(value)" }
    }

    var method = "GET"
    var request: [Line] = []
    /// The request that stored the response.
    var storedRequest: [Line] = []
    var status = 200
    var response: [Line] = []
    /// The meaning of each date in the response. Any other text is not a date: the oracle parses none.
    var dates: [(text: String, seconds: Int64)] = []
    var requestTime: Int64 = 0
    var responseTime: Int64 = 0
    var now: Int64 = 0
    var isShared = false
}

extension OracleCase {
    /// The values of the response's lines with this name in lower case.
    func response(_ name: String) -> [String] { Self.values(name, response) }

    /// The values of the request's lines with this name in lower case.
    func request(_ name: String) -> [String] { Self.values(name, request) }

    /// The value of all lines together (RFC 9110 §5.3), or `nil` without a line.
    static func combined(_ name: String, _ lines: [Line]) -> String? {
        let values = values(name, lines)
        return values.isEmpty ? nil : values.map { trim($0) }.joined(separator: ", ")
    }

    /// The time that a text of this case means.
    func date(_ text: String) -> Int64? {
        let text = Self.trim(text)
        return dates.first { $0.text == text }?.seconds
    }

    static func trim(_ text: String) -> String {
        String(decoding: OracleDirectives.trim(Array(text.utf8)), as: UTF8.self)
    }

    private static func values(_ name: String, _ lines: [Line]) -> [String] {
        lines.filter { OracleDirectives.lowercased(Array($0.name.utf8)) == name }.map(\.value)
    }
}

// MARK: - For the code under test

extension OracleCase {
    var policy: CachePolicy { CachePolicy(isShared: isShared) }

    var httpRequest: HTTPRequest { Self.request(method, request) }

    var fields: HTTPFields { Self.fields(response) }

    /// The stored response, or `nil` if its `Vary` matches no request.
    var stored: StoredResponse? {
        let fields = fields
        let varyKey = VaryKey(
            response: fields, request: Self.request("GET", storedRequest), fingerprint: Sample.fingerprint,
            nominatesAuthorization: !isShared)
        return varyKey.map { varyKey in
            StoredResponse(
                status: HTTPResponse.Status(code: status), fields: fields,
                requestTime: HTTPDate(secondsSince1970: requestTime),
                responseTime: HTTPDate(secondsSince1970: responseTime), varyKey: varyKey)
        }
    }

    private static func request(_ method: String, _ lines: [Line]) -> HTTPRequest {
        HTTPRequest(
            method: HTTPRequest.Method(method) ?? .get, scheme: "https", authority: "example.com", path: "/",
            headerFields: fields(lines))
    }

    private static func fields(_ lines: [Line]) -> HTTPFields {
        var fields = HTTPFields()
        for line in lines {
            guard let name = HTTPField.Name(line.name) else { continue }
            fields.append(HTTPField(name: name, lenientValue: Array(line.value.utf8)))
        }
        return fields
    }
}

extension OracleCase: CustomStringConvertible {
    var description: String {
        """
        \(isShared ? "shared" : "private") cache, \(method), now \(now - responseTime) s after the response, which took \
        \(responseTime - requestTime) s
        request:  \(request)
        stored:   \(storedRequest)
        response: \(status) \(response)
        dates:    \(dates.map { "\($0.text) = \($0.seconds - responseTime)" })
        """
    }
}
