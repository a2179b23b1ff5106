import ArgumentParser
import CacheStore

/// A name by which entries are removed together.
struct TagArgument: ExpressibleByArgument {
    let text: String

    init?(argument: String) {
        guard (1...EntryOptions.maxTagByteCount).contains(argument.utf8.count) else { return nil }
        text = argument
    }
}
