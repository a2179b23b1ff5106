package import ArgumentParser

/// A duration: `90s`, `15m`, `12h` or `30d`.
package struct Age: ExpressibleByArgument {
    package let duration: Duration

    package init?(argument: String) {
        let secondsPerUnit: Int64
        switch argument.last {
        case "s": secondsPerUnit = 1
        case "m": secondsPerUnit = 60
        case "h": secondsPerUnit = 3_600
        case "d": secondsPerUnit = 86_400
        default: return nil
        }
        let digits = argument.dropLast()
        // The integer initializer would also accept a sign.
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(digits) else {
            return nil
        }
        let (seconds, isTooLong) = number.multipliedReportingOverflow(by: secondsPerUnit)
        guard !isTooLong else { return nil }
        duration = .seconds(seconds)
    }

    package static var defaultCompletionKind: CompletionKind { .list(["1h", "12h", "1d", "7d", "30d"]) }
}
