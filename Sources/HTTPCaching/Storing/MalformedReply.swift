/// Finds replies that contradict themselves or their request.
package enum MalformedReply {
    /// Returns the contradiction in `reply`, an origin's reply to `request`, or `nil` for a consistent reply.
    package static func reason(_ reply: HTTPResponse, to request: HTTPRequest) -> String? {
        // RFC 9110 §15.3.7: a 206 "is successfully fulfilling a range request".
        if reply.status == .partialContent, !request.headerFields.contains(.range) {
            return "status 206 in reply to a request without Range"
        }
        return hasSeveralLengths(reply.headerFields) ? "Content-Length has several values" : nil
    }

    /// RFC 9112 §6.3: a message with several lengths is invalid, unless all members of the list are the same number.
    private static func hasSeveralLengths(_ fields: HTTPFields) -> Bool {
        let members = fields[values: .contentLength].flatMap { line in
            line.split(separator: ",", omittingEmptySubsequences: false).map { member in
                member.filter { $0 != " " && $0 != "\t" }
            }
        }
        return Set(members).count > 1
    }
}
