import ArgumentParser
import CacheStore

/// A name for removing entries together.
struct TagArgument: ExpressibleByArgument {
    let text: String

    init?(argument: String) {
        guard (1...EntryOptions.maxTagByteCount).contains(argument.utf8.count) else { return nil }
        text = argument
    }
}
