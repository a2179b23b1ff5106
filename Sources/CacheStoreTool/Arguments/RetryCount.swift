import ArgumentParser
import CacheLoader

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
