internal import ByteText
internal import CacheFoundation
internal import Crypto
internal import HTTPCaching

/// One stored variant of a response, as its object in the tier contains it.
///
///     length of head: 4 | head as JSON | digests of the chunks: 32 each | body, if it is inside
///
/// All times come from the origin or the tier, never from the clock of the writer. The response is received at its own
/// `Date`, so its initial age is `Age` plus the delay of the response (RFC 9111 §4.2.3: "a cache MAY use
/// corrected_age_value").
struct TierRecord: Sendable, Equatable {
    /// The longest body inside a record.
    static let inlineLimit = 65_536
    /// The length of a chunk, the unit of verification. Only the last chunk is shorter.
    static let chunkByteCount = 65_536

    struct Head: Codable, Sendable, Equatable {
        var response: StoredResponse
        /// The seconds from the arrival of the head to the writing of the record, rounded up.
        var heldSeconds: Int64
        /// The tier's time of writing, in seconds since 1970.
        var writtenAt: Int64
        /// The tier's time before the origin was asked, or earlier, in seconds since 1970. A removal at this time or
        /// later removes the record.
        var requestedAt: Int64
        /// The tier's time at which the body was written, in seconds since 1970.
        var bodyWrittenAt: Int64
        /// The SHA-256 of the body in hexadecimal digits.
        var digest: String
        var byteCount: Int64
    }

    /// The times of a record that is written now.
    struct Times: Sendable {
        /// The seconds from the arrival of the head until now, rounded up.
        let heldSeconds: Int64
        /// The tier's present time.
        let writtenAt: HTTPDate
        /// The tier's time before the origin was asked, or earlier.
        let requestedAt: HTTPDate
    }

    var head: Head
    /// The SHA-256 of each chunk. Empty for a body inside the record.
    var chunkDigests: [Data]
    /// The body inside the record, or `nil` for a separate body object.
    var body: Data?

    init(_ response: StoredResponse, body: Data, _ times: Times) {
        let isInside = body.count <= Self.inlineLimit
        head = Head(
            response: response, heldSeconds: times.heldSeconds, writtenAt: times.writtenAt.secondsSince1970,
            requestedAt: times.requestedAt.secondsSince1970, bodyWrittenAt: times.writtenAt.secondsSince1970,
            digest: SHA256.hash(data: body).hexadecimal, byteCount: Int64(body.count))
        self.body = isInside ? body : nil
        chunkDigests =
            isInside
            ? []
            : stride(from: 0, to: body.count, by: Self.chunkByteCount).map { start in
                Data(SHA256.hash(data: body.dropFirst(start).prefix(Self.chunkByteCount)))
            }
    }

    /// Sets the times of the record, except that of its body.
    mutating func setTimes(_ times: Times) {
        head.heldSeconds = times.heldSeconds
        head.writtenAt = times.writtenAt.secondsSince1970
        head.requestedAt = times.requestedAt.secondsSince1970
    }

    func encoded() throws -> Data {
        let json = try JSONEncoder().encode(head)
        return chunkDigests.reduce(Data(number: json.count) + json, +) + (body ?? Data())
    }

    /// Decodes a record. Returns `nil` if parts are missing or contradict each other.
    init?(decoding payload: Data) {
        var reader = ByteReader(payload)
        guard let count = reader.takeNumber(), let json = reader.take(count),
            let head = try? JSONDecoder().decode(Head.self, from: json), head.byteCount >= 0, head.heldSeconds >= 0,
            head.response.part == nil
        else { return nil }
        self.head = head
        if head.byteCount <= Self.inlineLimit {
            chunkDigests = []
            let bytes = reader.rest
            guard bytes.count == head.byteCount, SHA256.hash(data: bytes).hexadecimal == head.digest else { return nil }
            body = bytes
        } else {
            let chunkCount = (head.byteCount - 1) / Int64(Self.chunkByteCount) + 1
            guard Int64(reader.restCount) == chunkCount * 32 else { return nil }
            chunkDigests = (0..<Int(chunkCount)).compactMap { _ in reader.take(32) }
            body = nil
        }
    }

    /// Returns the time on the clock of the origin, which ages and lifetimes use. Both arguments are times of the tier.
    func now(at now: HTTPDate, lastModified: HTTPDate) -> HTTPDate {
        let written = HTTPDate(secondsSince1970: head.writtenAt)
        // Writing the object again changes its Last-Modified, but not the authenticated time.
        let resident = max(0, now.seconds(since: lastModified), now.seconds(since: written))
        return head.response.responseTime.advanced(by: head.heldSeconds).advanced(by: resident)
    }

    /// Whether an old record was written again: the record is older than the `Last-Modified` of its object.
    func isReplayed(lastModified: HTTPDate) -> Bool {
        lastModified.seconds(since: HTTPDate(secondsSince1970: head.writtenAt)) > Self.longestWrite
    }

    /// Whether the object is from the future: the engine's clock was set back, and ages would not advance.
    func isFromFuture(now: HTTPDate, lastModified: HTTPDate) -> Bool {
        max(lastModified, HTTPDate(secondsSince1970: head.writtenAt)).seconds(since: now) > Self.clockTolerance
    }

    /// The seconds by which a machine's estimate of the engine's time may be ahead.
    static let clockTolerance: Int64 = 10

    /// The most seconds that a write may take, from the proof to the time of the object.
    static let longestWrite: Int64 = 30
}
