import ArgumentParser
import CacheLoader

/// How many more attempts there are when the first has failed: 0 to 100.
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

    /// The pauses between attempts are the library's: a second at most, then twice that, up to a minute.
    var policy: RetryPolicy { RetryPolicy(maxAttempts: number + 1) }
}
