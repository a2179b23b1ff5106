import ArgumentParser
import CacheStore

/// Selects a command's entries by a common property.
struct SelectionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("What is in this partition; '' for what is in none.", valueName: "name"))
    var partition: String?

    @Option(
        help: ArgumentHelp("What has a key that begins so: a normalised URL, letter by letter.", valueName: "text"))
    var prefix: String?

    @Option(help: "What is from this host, such as example.com, or from a port of it: example.com:8080.")
    var host: HostArgument?

    @Option(help: "What has this tag.")
    var tag: String?

    @Option(
        help: ArgumentHelp("What is of this media type, or of a family such as 'image/*'.", valueName: "type"),
        completion: .list(["application/json", "image/*", "text/*", "text/html", "video/*"]))
    var contentType: String?

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "What an SQL expression over the columns of cache_entries is true of, such as 'hit_count = 0'.",
            valueName: "sql"))
    var predicate: String?

    @Flag(help: "Everything, and also counts of requests, and indices that were set aside.")
    var all = false

    /// Whether the command line selects entries.
    var isGiven: Bool { all || isNarrowed }

    private var isNarrowed: Bool { narrowed != EntrySelection() }

    var selection: EntrySelection { all ? .everything : narrowed }

    private var narrowed: EntrySelection {
        EntrySelection(
            partition: partition, prefix: prefix, host: host?.host, tag: tag, contentType: contentType,
            predicate: wholePredicate)
    }

    /// The expression of the command line, combined with the expression of a host with a port.
    private var wholePredicate: String? {
        guard let host, host.port != nil else { return predicate }
        return predicate.map { "(\($0)) AND \(host.predicate)" } ?? host.predicate
    }

    func validate() throws {
        // An empty shell variable must not select everything.
        let texts = [
            ("--prefix", prefix), ("--tag", tag), ("--content-type", contentType),
            ("--where", predicate),
        ]
        for case (let name, let text?) in texts where text.allSatisfy(\.isWhitespace) {
            throw ValidationError("\(name) needs a text that is not empty")
        }
        if all, isNarrowed { throw ValidationError("--all is everything; leave it or the others out") }
    }
}
