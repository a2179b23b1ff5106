import Foundation
import HTTPTypes

@testable import HTTPCaching

/// The key of a QUERY (RFC 10008): a flag, `Content-Type`, `Content-Encoding`, and content.
///
/// Rules: compact JSON is its own compact form, and has the key of the content. Compact JSON is the text without white
/// space outside of strings, with the same value, which Foundation reads. A key without normalisation ends with the
/// content.
@Sendable func fuzzQuery(_ input: inout FuzzInput) {
    let flag = input.byte()
    var request = HTTPRequest(method: .query, scheme: "https", authority: "example.com", path: "/")
    request.headerFields[.contentType] = flag & 1 != 0 ? "application/json" : input.text()
    if flag & 2 != 0 { request.headerFields[.contentEncoding] = input.text() }
    let content = Array(input.all())

    let compact = CompactJSON.bytes(of: content)
    if let compact {
        check(compact == withoutSpace(content), "only white space outside of strings goes")
        check(CompactJSON.bytes(of: compact) == compact, "compact JSON stays as it is")
        // Foundation also reads what is no JSON, such as a comma behind the last element.
        if let known = value(content) { check(value(compact) == known, "the value stays") }
    }

    if let key = QueryKey(request, content: content) {
        check(key.bytes.suffix(content.count) == content[...], "a key ends with the content")
    }
    guard let key = QueryKey(request, content: content, ignoresFormat: true) else { return }
    if let compact {
        check(QueryKey(request, content: compact, ignoresFormat: true) != nil, "compact content has a key")
        if request.headerFields[.contentType] == "application/json", !request.headerFields.contains(.contentEncoding) {
            check(QueryKey(request, content: compact, ignoresFormat: true) == key, "the key of the compact content")
        }
    }
}

/// The text without white space outside of strings.
private func withoutSpace(_ text: [UInt8]) -> [UInt8] {
    var (isString, isEscaped) = (false, false)
    return text.filter { byte in
        if isString {
            if !isEscaped, byte == UInt8(ascii: "\"") { isString = false }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            return true
        }
        isString = byte == UInt8(ascii: "\"")
        return !" \t\r\n".utf8.contains(byte)
    }
}

/// The value of JSON in UTF-8, as Foundation writes it; `nil` for other text. Foundation also reads other encodings, which it
/// detects by zeros.
private func value(_ text: [UInt8]) -> Data? {
    guard !text.contains(0), !text.starts(with: [0xEF, 0xBB, 0xBF]), ![0xFE, 0xFF].contains(text.first ?? 0),
        let object = try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
    else { return nil }
    return try? JSONSerialization.data(withJSONObject: object, options: [.fragmentsAllowed, .sortedKeys])
}
