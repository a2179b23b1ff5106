extension HTTPResponse {
    /// Turns a 206 into a 200 if it has all bytes and `request` asked for no range. Some servers and proxies answer
    /// every request with a 206.
    package mutating func becomeWhole(inAnswerTo request: HTTPRequest) {
        guard status == .partialContent, request.method == .get, !request.headerFields.contains(.range),
            let part = StoredPart(contentRange: headerFields), part.isComplete
        else { return }
        becomeWhole(ofLength: part.byteCount)
    }

    /// Turns the response with a part into the response with the whole.
    package mutating func becomeWhole(ofLength length: Int64) {
        status = .ok
        headerFields.describeWhole(ofLength: length)
    }
}

extension HTTPFields {
    /// The number in the only line of `Content-Length`.
    var statedContentLength: Int64? { onlyLine(.contentLength).flatMap { Int64($0.value) } }

    /// Makes the fields of a part describe the whole.
    package mutating func describeWhole(ofLength length: Int64?) {
        self[.contentRange] = nil
        self[.contentLength] = length.map(String.init)
    }

    /// Makes the fields describe this part.
    mutating func describe(_ part: StoredPart) {
        self[.contentRange] = part.contentRange
        self[.contentLength] = String(part.byteCount)
    }
}
