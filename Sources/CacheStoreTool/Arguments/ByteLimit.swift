import ArgumentParser

/// A number of bytes: `100`, `10K`, `10M` or `1G`; a K is 1024.
struct ByteLimit: ExpressibleByArgument {
    let byteCount: Int64

    init?(argument: String) {
        var digits = argument[...]
        var shift: Int64 = 0
        switch digits.last {
        case "K", "k": shift = 10
        case "M", "m": shift = 20
        case "G", "g": shift = 30
        default: break
        }
        if shift > 0 { digits.removeLast() }
        // The integer initializer would also accept a sign.
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(digits) else {
            return nil
        }
        let (byteCount, isTooLarge) = number.multipliedReportingOverflow(by: 1 << shift)
        guard !isTooLarge else { return nil }
        self.byteCount = byteCount
    }
    static var defaultCompletionKind: CompletionKind { .list(["10M", "100M", "1G"]) }
}
