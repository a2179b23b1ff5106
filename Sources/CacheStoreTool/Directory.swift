import ArgumentParser
import Foundation

/// Prints the directory of the store.
struct Directory: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dir",
        abstract: "Print the directory of the store that the other commands use.",
        discussion: """
            The directory need not exist. On Linux the default is cachestore in $XDG_CACHE_HOME, or in ~/.cache without \
            that variable.
            """)

    @OptionGroup var store: StoreOptions

    func run() async throws {
        try StandardOutput.write(line: store.directory.absoluteURL.path(percentEncoded: false))
    }
}
