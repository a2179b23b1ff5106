import CacheStore
import Foundation
import HTTPTypes

@testable import CacheLoader
@testable import HTTPCaching

/// `Use-As-Dictionary` (RFC 9842): the path of the dictionary, the path of a request, lines of the field.
///
/// Rules: a parsed field, written again, gives the same dictionary. A dictionary matches no other origin, and matches
/// its own literal path. A glob matches like the textbook algorithm. The request repeats the `id`.
@Sendable func fuzzDictionary(_ input: inout FuzzInput) {
    let origin = "https://example.com"
    let (base, path) = ("\(origin)/\(input.text())", "/\(input.text())")
    let fields = input.lines(of: "use-as-dictionary")
    checkGlob(base, path)
    guard let use = UseAsDictionary(fields, of: base) else { return }
    _ = use.matches(origin + path)
    check(!use.matches("https://example.org" + path), "no dictionary of another origin")
    check(!use.matches("http://example.com" + path), "no dictionary of another scheme")

    let written = "match=\(quoted(use.match)), id=\(quoted(use.id))"
    check(UseAsDictionary(HTTPFields("use-as-dictionary", written), of: base) == use, "a written field reads the same")
    if use.match.hasPrefix("/"), !use.match.contains("*") {
        check(use.matches(origin + use.match), "a literal pattern matches itself")
    }
    if let star = use.match.firstIndex(of: "*"), use.match.hasPrefix("/") {
        checkGlob(use.match, path)
        let filled = use.match.replacing("*", with: "a/b")
        check(use.matches(origin + filled), "a star matches any bytes, from \(use.match[star...])")
    }

    var request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: path)
    let digest = Data(base.utf8).withUnsafeBytes { ContentDigest(of: $0) }
    request.offerDictionary(id: use.id, digest)
    let id = request.headerFields.structuredList(named: "dictionary-id")?.first?.string
    check((id ?? "") == use.id, "Dictionary-ID is the id")
    check(request.headerFields.structuredList(named: "available-dictionary") != nil, "Available-Dictionary is an item")
}

private func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
}

/// Compares a glob with dynamic programming over all pairs of prefixes.
private func checkGlob(_ pattern: String, _ text: String) {
    let (pattern, bytes) = (Array(pattern.utf8.prefix(200)), Array(text.utf8.prefix(200)))
    var row = [true] + [Bool](repeating: false, count: bytes.count)
    for character in pattern {
        var next = [character == UInt8(ascii: "*") && row[0]]
        for (index, byte) in bytes.enumerated() {
            next.append(
                character == UInt8(ascii: "*") ? next[index] || row[index + 1] : row[index] && character == byte)
        }
        row = next
    }
    let matches = bytes.withUnsafeBufferPointer { Glob(pattern).matches($0[...]) }
    check(matches == row[bytes.count], "a glob matches as its definition says")
}
