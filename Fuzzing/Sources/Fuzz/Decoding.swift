import CReference
import CacheStore
import Foundation

@testable import CacheCodings

/// zstd (RFC 8878), also with a dictionary (RFC 9842 §5): a flag, a limit, a length of slices, the length of a
/// dictionary, a dictionary, and data.
///
/// Rules: the data decodes as with one call of the library, or is refused if the library refuses it. Nothing exceeds
/// the limit. Data that the library encoded decodes to the same bytes.
@Sendable func fuzzZstd(_ input: inout FuzzInput) {
    let (flag, limit, slice) = (input.byte(), limit(input.byte()), Int(input.byte()) + 1)
    let dictionaryCount = Int(input.byte())
    var dictionary = Data()
    if flag & 1 != 0 { for _ in 0..<dictionaryCount { dictionary.append(input.byte()) } }
    var data = input.all()
    let content = data
    if flag & 2 != 0 { data = encoded(content, dictionary, level: Int32(flag >> 2) % 8) }
    // Two frames.
    if flag & 0x80 != 0 { data += data }

    // With a dictionary, no limit applies, so the reader counts.
    let room = dictionary.isEmpty ? limit : Int64(largestOutput)
    let decoder =
        dictionary.isEmpty ? ZstdDecompressor(limit: limit) : ZstdDecompressor(dictionary: dictionary)
    guard let decoded = decode(data, with: decoder, slice: slice, room: room) else { return }
    var output = [UInt8](repeating: 0, count: Int(room))
    let count = data.withUnsafeBytes { data in
        dictionary.withUnsafeBytes { dictionary in
            reference_zstd_decode(
                data.baseAddress, data.count, dictionary.baseAddress, dictionary.count, 23, &output, output.count)
        }
    }
    checkEqual(decoded, count, output, isEmpty: data.isEmpty)
    if flag & 0x82 == 2, content.count <= room {
        check(decoded == .bytes(content), "encoded content decodes to itself")
    }
}

/// Brotli (RFC 7932): a flag, a limit, a length of slices, and data. The rules are those of zstd.
@Sendable func fuzzBrotli(_ input: inout FuzzInput) {
    let (flag, limit, slice) = (input.byte(), limit(input.byte()), Int(input.byte()) + 1)
    var data = input.all()
    let content = data
    if flag & 2 != 0 {
        var output = [UInt8](repeating: 0, count: content.count * 2 + 1024)
        let count = content.withUnsafeBytes {
            reference_brotli_encode($0.baseAddress, $0.count, Int32(flag >> 2) % 6, &output, output.count)
        }
        data = Data(output.prefix(count))
    }
    // Bytes after the end.
    if flag & 0x80 != 0 { data += data }
    guard let decoded = decode(data, with: BrotliDecompressor(limit: limit), slice: slice, room: limit) else { return }
    var output = [UInt8](repeating: 0, count: Int(limit) + 1)
    let count = data.withUnsafeBytes {
        reference_brotli_decode($0.baseAddress, $0.count, &output, Int(limit))
    }
    checkEqual(decoded, count, output, isEmpty: data.isEmpty)
    if flag & 0x82 == 2, content.count <= limit {
        check(decoded == .bytes(content), "encoded content decodes to itself")
    }
}

/// The most bytes that a dictionary's decoder may produce here.
private let largestOutput = 1 << 20

private enum Decoded: Equatable {
    case bytes(Data)
    case malformed
    case tooLarge
}

/// Decodes data in slices. Returns `nil` when the output exceeds `room` and the decoder has no limit.
private func decode(_ data: Data, with decoder: some Decompressor, slice: Int, room: Int64) -> Decoded? {
    var output = Data()
    var rest = data
    do throws(DecompressionFailure) {
        while !rest.isEmpty {
            let part = Data(rest.prefix(slice))
            rest = rest.dropFirst(part.count)
            try decoder.append(part, into: &output)
            if output.count > room { return nil }
        }
        try decoder.finish()
        return .bytes(output)
    } catch {
        check(output.count <= room, "no more bytes than the limit")
        return error == .malformed ? .malformed : .tooLarge
    }
}

private func checkEqual(_ decoded: Decoded, _ count: Int, _ output: [UInt8], isEmpty: Bool) {
    switch decoded {
    case .bytes(let bytes):
        check(count == bytes.count && bytes.elementsEqual(output.prefix(count)), "the bytes that the library decodes")
    // A slice may reveal the damage before the excess, or the excess before the damage.
    case .malformed, .tooLarge: check(count < 0 || isEmpty, "refuses only what the library refuses")
    }
}

private func limit(_ byte: UInt8) -> Int64 {
    [0, 1, 100, 4096, 65_535, 65_536, 65_537, 1 << 20][Int(byte) % 8]
}

private func encoded(_ content: Data, _ dictionary: Data, level: Int32) -> Data {
    var output = [UInt8](repeating: 0, count: content.count * 2 + 1024)
    let count = content.withUnsafeBytes { content in
        dictionary.withUnsafeBytes { dictionary in
            reference_zstd_encode(
                content.baseAddress, content.count, dictionary.baseAddress, dictionary.count, level, &output,
                output.count)
        }
    }
    return Data(output.prefix(count))
}
