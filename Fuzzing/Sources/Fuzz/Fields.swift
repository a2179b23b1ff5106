import Foundation
import HTTPTypes

@testable import HTTPCaching

/// Fields that decide about freshness and selection: a flag, then lines of one field.
///
/// Rules: a date, written and read, is the same. `Cache-Control`, written and read, has the same directives. A response is
/// selected by the request for which it was stored.
@Sendable func fuzzFields(_ input: inout FuzzInput) {
    switch input.byte() % 6 {
    case 0: checkDate(input.lines(of: "date"))
    case 1: checkCacheControl(CacheControl(input.lines(of: "cache-control")))
    case 2:
        if let control = CacheControl(targeted: input.lines(of: "cdn-cache-control"), names: ["cdn-cache-control"]) {
            checkCacheControl(control)
        }
    case 3: checkVary(&input)
    case 4:
        let urls = (input.text(), input.text())
        let variance = NoVarySearch(input.lines(of: "no-vary-search"))
        check(
            variance.isEquivalent(urls.0, urls.1) == variance.isEquivalent(urls.1, urls.0), "equivalence is symmetric")
        check(variance.isEquivalent(urls.0, urls.0), "a URL is equivalent to itself")
    default:
        var request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
        request.headerFields = input.lines(of: "range")
        _ = RangeSet(request)
    }
}

private func checkDate(_ fields: HTTPFields) {
    let now = HTTPDate(secondsSince1970: 1_700_000_000)
    guard let field = fields.first else { return }
    let strict = HTTPDate(field, now: now)
    let lenient = HTTPDate(lenient: field, now: now)
    if let strict { check(lenient == strict, "a strict date is a lenient one") }
    guard let date = lenient else { return }
    let written = HTTPField(name: .date, value: date.description)
    check(HTTPDate(written, now: now) == date, "a written date reads the same")
}

private func checkCacheControl(_ control: CacheControl) {
    guard control.noCacheFields.allSatisfy({ HTTPField.Name($0) != nil }) else { return }
    let written = CacheControl(HTTPFields("cache-control", control.fieldValue))
    check(written == control, "written directives read the same")
}

private func checkVary(_ input: inout FuzzInput) {
    var request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
    request.headerFields = input.lines(of: "accept-language")
    request.headerFields += input.lines(of: "accept-encoding")
    request.headerFields += input.lines(of: "x-any")
    let vary = input.lines(of: "vary")
    guard let key = VaryKey(response: vary, request: request, fingerprint: { $1 }) else { return }
    check(key.matches(request, fingerprint: { $1 }), "the own request selects a response")
    check(VaryKey(text: key.text).matches(request, fingerprint: { $1 }), "a restored key matches, too")
}
