internal import HTTPCaching

// Writes the properties that HAR 1.2 requires, also those that a replay does not need. Reading ignores them.

extension HTTPArchive.Entry: Codable {
    private enum Key: String, CodingKey {
        case startedDateTime, time, request, response, cache, timings, connection, comment
        case fromCache = "_fromCache"
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(
            startedDateTime: try container.decode(String.self, forKey: .startedDateTime),
            time: try container.decodeIfPresent(Double.self, forKey: .time),
            request: try container.decode(HTTPArchive.Request.self, forKey: .request),
            response: try container.decode(HTTPArchive.Response.self, forKey: .response),
            fromCache: try container.decodeIfPresent(String.self, forKey: .fromCache),
            connection: try container.decodeIfPresent(String.self, forKey: .connection),
            comment: try container.decodeIfPresent(String.self, forKey: .comment))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(startedDateTime, forKey: .startedDateTime)
        try container.encode(time ?? 0, forKey: .time)
        try container.encode(request, forKey: .request)
        try container.encode(response, forKey: .response)
        try container.encode([String: String](), forKey: .cache)
        let wait = wait ?? time ?? 0
        try container.encode(["send": 0, "wait": wait, "receive": max(0, (time ?? 0) - wait)], forKey: .timings)
        try container.encodeIfPresent(fromCache, forKey: .fromCache)
        try container.encodeIfPresent(connection, forKey: .connection)
        try container.encodeIfPresent(comment, forKey: .comment)
    }
}

extension HTTPArchive.Request: Codable {
    private enum Key: String, CodingKey {
        case method, url, httpVersion, cookies, headers, queryString, postData, headersSize, bodySize
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        method = try container.decode(String.self, forKey: .method)
        url = try container.decode(String.self, forKey: .url)
        headers = try container.decodeIfPresent([HTTPArchive.Field].self, forKey: .headers) ?? []
        postData = try container.decodeIfPresent(HTTPArchive.PostData.self, forKey: .postData)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(method, forKey: .method)
        try container.encode(url, forKey: .url)
        try container.encode("HTTP/1.1", forKey: .httpVersion)
        try container.encode([String](), forKey: .cookies)
        try container.encode(headers, forKey: .headers)
        try container.encode(queryItems, forKey: .queryString)
        try container.encodeIfPresent(postData, forKey: .postData)
        try container.encode(-1, forKey: .headersSize)
        try container.encode(-1, forKey: .bodySize)
    }

    private var queryItems: [HTTPArchive.Field] {
        guard let query = url.firstIndex(of: "?").map({ url[$0...].dropFirst() }) else { return [] }
        return FormQuery.pairs(query.utf8).map { pair in
            HTTPArchive.Field(
                name: String(decoding: pair.name, as: UTF8.self), value: String(decoding: pair.value, as: UTF8.self))
        }
    }
}

extension HTTPArchive.Response: Codable {
    private enum Key: String, CodingKey {
        case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        status = try container.decode(Int.self, forKey: .status)
        statusText = try container.decodeIfPresent(String.self, forKey: .statusText)
        headers = try container.decodeIfPresent([HTTPArchive.Field].self, forKey: .headers) ?? []
        content =
            try container.decodeIfPresent(HTTPArchive.Content.self, forKey: .content)
            ?? HTTPArchive.Content(size: 0)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(status, forKey: .status)
        try container.encode(statusText ?? "", forKey: .statusText)
        try container.encode("HTTP/1.1", forKey: .httpVersion)
        try container.encode([String](), forKey: .cookies)
        try container.encode(headers, forKey: .headers)
        try container.encode(content, forKey: .content)
        let location = headers.first { $0.name.lowercased() == "location" }?.value
        try container.encode(location ?? "", forKey: .redirectURL)
        try container.encode(-1, forKey: .headersSize)
        try container.encode(-1, forKey: .bodySize)
    }
}
