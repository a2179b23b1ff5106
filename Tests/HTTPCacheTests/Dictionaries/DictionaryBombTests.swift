#if Zstd
import CacheCodings
import TestSupport

@Suite(
    "HTTPCache: a body with a dictionary that expands to 256 MiB",
    .enabled(if: Encoder.areInstalled && Bomb.areToolsInstalled), .timeLimit(.minutes(5)))
struct DictionaryBombTests {
    private static let largestPiece = 65_536

    private let dictionary = Data("line 1\nline 2\n".utf8)

    /// A body that needs no byte of its dictionary.
    private func body(_ coding: DictionaryCoding) async throws -> Data {
        #if Brotli
        let bomb: Bomb = coding == .dcb ? .brotli : .zstd
        #else
        let bomb = Bomb.zstd
        #endif
        return try await header(coding) + bomb.body()
    }

    private func header(_ coding: DictionaryCoding) -> Data {
        coding.header(digest: ContentDigest(of: dictionary).withUnsafeBytes { Data($0) })
    }

    /// Returns a response whose body has arrived, except for its end. The store keeps no bytes of it.
    private func response(_ coding: DictionaryCoding, _ fed: FedBody) async throws -> CachedResponse {
        fed.feed(try await body(coding))
        let transport = ScriptedTransport { [dictionary] request, _ in
            guard request.path == "/v2.js" else {
                return DictionaryVersions.reply(DictionaryVersions.fresh, dictionary)
            }
            var fields = DictionaryVersions.fields(coding)
            fields[.cacheControl] = "no-store"
            return fed.response(.ok, fields)
        }
        let fixture = try LoaderFixture(transport: transport, policy: CachePolicy(usesDictionaries: true))
        _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
        return try await fixture.cache.response(for: .to("/v2.js"))
    }

    @Test(
        "A reader gets chunks of at most 64 KiB, before the body ends", .requirement("D20"),
        arguments: DictionaryCoding.supported)
    func pieces(_ coding: DictionaryCoding) async throws {
        let fed = FedBody()
        let response = try await response(coding, fed)
        var chunks = response.body.makeAsyncIterator()
        var count = 0
        while count < Bomb.byteCount {
            let piece = try #require(try await chunks.next())
            try #require((1...Self.largestPiece).contains(piece.count))
            count += piece.count
            if count == piece.count { #expect(fed.pullCount == 1, "one chunk is received") }
        }
        fed.end()
        #expect(try await chunks.next() == nil)
        #expect(count == Bomb.byteCount)
    }

    @Test("A cancelled body is not decoded further", .requirement("D20"), arguments: DictionaryCoding.supported)
    func cancelledBody(_ coding: DictionaryCoding) async throws {
        let fed = FedBody()
        let response = try await response(coding, fed)
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next()?.isEmpty == false)
        response.body.cancel()
        await #expect(throws: LoadError.cancelled) { try await chunks.next() }
        // The decoder held the transport's body.
        await fed.stopped()
    }

    @Test("A cancelled task gets no further chunk", .requirement("D20"), arguments: DictionaryCoding.supported)
    func cancelledTask(_ coding: DictionaryCoding) async throws {
        let whole = try await body(coding)
        let reading = Task { [dictionary] in
            let rest = Data(whole.dropFirst(header(coding).count))
            let body = try #require(
                DictionaryBody(coding, dictionary: dictionary, rest: rest, source: TransportBody(Data())))
            #expect(try await body.next()?.isEmpty == false)
            withUnsafeCurrentTask { $0?.cancel() }
            await #expect(throws: TransportError(.cancelled)) { try await body.next() }
        }
        try await reading.value
    }
}
#endif
