public import ArgumentParser
import CacheLoader
import CacheStore
public import HTTPTypes

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

extension ByteLimit: ExpressibleByArgument {
    package static var defaultCompletionKind: CompletionKind { .list(["10MB", "100MB", "1GB", "10MiB", "1GiB"]) }
}

/// The number of retries after the first attempt has failed: 0 to 100.
struct RetryCount: ExpressibleByArgument {
    let number: Int

    init(_ number: Int) {
        self.number = number
    }

    init?(argument: String) {
        guard let number = Int(argument), (0...100).contains(number) else { return nil }
        self.number = number
    }

    var defaultValueDescription: String { "\(number)" }

    /// The library's delays: at most a second at first, then twice as long each time, up to a minute.
    var policy: RetryPolicy { RetryPolicy(maxAttempts: number + 1) }
}

/// A name for removing entries together.
struct TagArgument: ExpressibleByArgument {
    let text: String

    init?(argument: String) {
        guard (1...EntryOptions.maxTagByteCount).contains(argument.utf8.count) else { return nil }
        text = argument
    }
}

/// A URL from the command line, parsed by the loader.
struct URLArgument {
    let text: String
    let key: CacheKey

    /// - Throws: `ValidationError` for a URL that the loader rejects. The store cannot contain such a URL either.
    init(_ text: String) throws {
        self.text = text
        do throws(LoadError) {
            key = try .loading(text, partition: "")
        } catch {
            throw ValidationError("\(error)")
        }
    }

    /// Ends the command with a usage error if the loader rejects the URL.
    static func validate(_ text: String) throws {
        _ = try URLArgument(text)
    }
}

extension HTTPField: @retroactive ExpressibleByArgument {
    /// Creates a field from `Name: value`.
    public init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":"),
            let name = HTTPField.Name(String(argument[..<colon])),
            let value = FieldValue(argument: String(argument[argument.index(after: colon)...]))
        else { return nil }
        self.init(name: name, value: value.text)
    }
}

/// The value of a header field.
struct FieldValue: ExpressibleByArgument {
    let text: String

    init?(argument: String) {
        let text = String(argument.drop { $0 == " " || $0 == "\t" })
        guard HTTPField.isValidValue(text) else { return nil }
        self.text = text
    }
}
