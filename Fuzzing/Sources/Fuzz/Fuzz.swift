import Foundation

/// A parser, and the rules that its results must satisfy.
typealias FuzzTarget = @Sendable (inout FuzzInput) -> Void

private let targets: [String: FuzzTarget] = [
    "brotli": fuzzBrotli,
    "dictionary": fuzzDictionary,
    "fields": fuzzFields,
    "heads": fuzzHeads,
    "integrity": fuzzIntegrity,
    "query": fuzzQuery,
    "redirects": fuzzRedirects,
    "requests": fuzzRequests,
    "tier": fuzzTier,
    "zstd": fuzzZstd,
]

private let target: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    guard let target = targets[name] else {
        let names = targets.keys.sorted().joined(separator: ", ")
        fatalError("FUZZ_TARGET is '\(name)', not one of \(names)")
    }
    return target
}()

/// libFuzzer calls this function with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(Array(UnsafeBufferPointer(start: start, count: count)))
    target(&input)
    return 0
}

/// Ends the process when a rule is broken, so that libFuzzer keeps the input.
func check(_ condition: Bool, _ rule: @autoclosure () -> String) {
    if !condition { fatalError("broken rule: \(rule())") }
}
