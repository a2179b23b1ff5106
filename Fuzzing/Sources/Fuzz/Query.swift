import Foundation
import HTTPCaching
import HTTPTypes

/// The keys of two QUERY requests (RFC 10008): flags, the metadata of both, a line of content, other content.
///
/// Rules: a key ends with the content. Two keys are equal only if metadata and contents have equal bytes.
@Sendable func fuzzQuery(_ input: inout FuzzInput) {
    let flags = input.byte()
    var metadata = [Metadata(&input), Metadata(&input)]
    var contents = [input.line(), Array(input.all())]
    if flags & 1 != 0 { metadata[1] = metadata[0] }
    if flags & 2 != 0 { contents[1] = contents[0] }

    let keys = zip(metadata, contents).map { QueryKey($0.request, content: $1) }
    for (key, content) in zip(keys, contents) {
        guard let key else { continue }
        check(key.bytes.suffix(content.count) == content[...], "a key ends with the content")
    }
    guard let first = keys[0], let second = keys[1] else { return }
    let isEqual = metadata[0].values == metadata[1].values && contents[0] == contents[1]
    check((first == second) == isEqual, "equal metadata and content, and no others, have one key")
}

/// The fields that describe content: one line each, possibly empty.
private struct Metadata {
    let request: HTTPRequest
    /// The bytes of each value, or `nil` for a missing field.
    let values: [[UInt8]?]

    init(_ input: inout FuzzInput) {
        var request = HTTPRequest(method: .query, scheme: "https", authority: "example.com", path: "/")
        var values: [[UInt8]?] = []
        for name in [HTTPField.Name.contentType, .contentEncoding, .contentLanguage] {
            let line = input.line()
            guard !line.isEmpty else {
                values.append(nil)
                continue
            }
            let field = HTTPField(name: name, lenientValue: line)
            request.headerFields.append(field)
            values.append(field.withUnsafeBytesOfValue { Array($0) })
        }
        (self.request, self.values) = (request, values)
    }
}
