import TestSupport

/// RFC 9110 §5.5: a field value is a sequence of bytes, which need not be UTF-8.
@Suite("HTTPCache: field values as bytes", .timeLimit(.minutes(5))) struct FieldBytesStorageTests {
    private static func tag(_ middle: [UInt8], _ name: HTTPField.Name = .eTag) -> HTTPField {
        HTTPField(name: name, value: Array("\"v".utf8) + middle + Array("\"".utf8))
    }

    private static func fields(_ tag: HTTPField?, _ others: HTTPFields = [.cacheControl: "max-age=60"]) -> HTTPFields {
        var fields = others
        if let tag { fields.append(tag) }
        return fields
    }

    @Test("The bytes 0x80 to 0xFF survive the store, and its columns show them as ISO 8859-1", .requirement("P28"))
    func reopening() async throws {
        let bytes = Array(UInt8(0x80)...0xFF)
        let transport = ScriptedTransport { request, _ in
            let middle = request.path.flatMap { UInt8($0.dropFirst(), radix: 16) } ?? 0
            guard request.headerFields.contains(.ifNoneMatch) else {
                var fields = Self.fields(Self.tag([middle]))
                fields.append(HTTPField(name: .lastModified, value: [middle]))
                fields.append(HTTPField(name: .contentType, value: Array("text/".utf8) + [middle]))
                return .reply(200, fields, "body")
            }
            return .reply(304, Self.fields(Self.tag([middle])))
        }
        let directory = try TemporaryDirectory()
        let first = try LoaderFixture(transport: transport, directory: directory)
        for byte in bytes { _ = try await first.cache.response(for: .to("/\(String(byte, radix: 16))")).bytes }
        first.store.close()

        let second = try LoaderFixture(
            transport: transport, directory: directory, policy: CachePolicy(mode: .revalidateAlways))
        for byte in bytes {
            let path = "/\(String(byte, radix: 16))"
            let text = String(Unicode.Scalar(byte))
            let entry = try #require(
                try second.store.responses(for: try CacheKey(url: "https://example.com\(path)")).first)
            #expect(entry.metadata.etag == "\"v\(text)\"")
            #expect(entry.metadata.lastModified == text)
            #expect(entry.metadata.contentType == "text/\(text)")
            let response = try await second.cache.response(for: .to(path))
            #expect(response.source == .notModified)
            #expect(response.headerFields[fields: .eTag].map(\.trimmedBytes) == [[0x22, 0x76, byte, 0x22]])
            let sent = try #require(transport.requests.last)
            #expect(sent.headerFields[fields: .ifNoneMatch].map(\.trimmedBytes) == [[0x22, 0x76, byte, 0x22]])
            #expect(sent.headerFields[fields: .ifModifiedSince].map(\.trimmedBytes) == [[byte]])
        }
        #expect(transport.requestCount == 2 * bytes.count)
    }

    struct Tags: Sendable {
        let first: [UInt8]
        let second: [UInt8]
        let areEqual: Bool
    }

    static let tags = [
        Tags(first: [0xE9], second: [0xE9], areEqual: true), Tags(first: [0xE9], second: [0xE8], areEqual: false),
        Tags(first: [0xE9], second: Array("é".utf8), areEqual: false),
        // Two tags that a transport has repaired.
        Tags(first: Array("\u{FFFD}".utf8), second: Array("\u{FFFD}".utf8), areEqual: false),
    ]

    @Test("RFC 9110 §15.3.7.3: combines only parts whose tags have the same bytes", arguments: tags)
    func parts(_ tags: Tags) async throws {
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            switch request.headerFields[.range] {
            case "bytes=0-4":
                .reply(206, Self.fields(Self.tag(tags.first), [.contentRange: "bytes 0-4/10"] + Self.fresh), "01234")
            case .some:
                .reply(206, Self.fields(Self.tag(tags.second), [.contentRange: "bytes 5-9/10"] + Self.fresh), "56789")
            case nil:
                .reply(200, Self.fields(Self.tag(tags.second)), "abcdefghij")
            }
        }
        for range in ["bytes=0-4", "bytes=5-9"] {
            #expect(try await fixture.cache.response(for: .to("/a", [.range: range])).bytes.count == 5)
            fixture.clock.advance(by: 1)
        }
        let whole = try await fixture.cache.response(for: .to("/a")).text
        #expect(whole == (tags.areEqual ? "0123456789" : "abcdefghij"))
    }

    private static let fresh: HTTPFields = [.cacheControl: "max-age=60"]

    @Test("RFC 9110 §13.1: only the bytes of the stored tag satisfy a condition of the caller", arguments: tags)
    func conditions(_ tags: Tags) async throws {
        let transport = ScriptedTransport(.reply(200, Self.fields(Self.tag(tags.first)), "0123456789"))
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        let matching = try await fixture.cache.response(
            for: .to("/a", Self.fields(Self.tag(tags.second, .ifNoneMatch), [:])))
        #expect(matching.status == (tags.areEqual ? .notModified : .ok))
        let ranged = try await fixture.cache.response(
            for: .to("/a", Self.fields(Self.tag(tags.second, .ifRange), [.range: "bytes=0-1"])))
        #expect(ranged.status == (tags.areEqual ? .partialContent : .ok))
    }

    @Test("RFC 9111 §4.1: values of a nominated field that differ in one byte select separate responses")
    func variants() async throws {
        let name = try #require(HTTPField.Name("X"))
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            .reply(
                200, [.cacheControl: "max-age=60", .vary: "X"],
                request.headerFields[fields: name].map { "\($0.trimmedBytes)" }.joined())
        }
        for _ in 0..<2 {
            for bytes in [[0xE9], [0xE8], Array("é".utf8)] as [[UInt8]] {
                let response = try await fixture.cache.response(
                    for: .to("/a", Self.fields(HTTPField(name: name, value: bytes), [:])))
                #expect(try await response.text == "\(bytes)")
            }
        }
        #expect(transport.requestCount == 3)
    }

    @Test("Fields that differ in one byte make two keys of a loader", .requirement("A4"))
    func loaderKeys() async throws {
        let name = try #require(HTTPField.Name("X"))
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            .reply(
                200, [.cacheControl: "max-age=60"],
                request.headerFields[fields: name].map { "\($0.trimmedBytes)" }.joined())
        }
        for _ in 0..<2 {
            for byte in [0xE9, 0xE8] as [UInt8] {
                let fields = Self.fields(HTTPField(name: name, value: [byte]), [:])
                let request = ResourceRequest("https://example.com/a", headerFields: fields, key: "name")
                #expect(try await fixture.loader.load(request, as: .text).value == "[\(byte)]")
            }
        }
        #expect(transport.requestCount == 2)
    }
}
