public import ArgumentParser
import CacheLoader
import CacheReports
import CacheStore
import Foundation
public import HTTPTypes

/// Explains the current decision of the cache for a request.
struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say what a request for a URL would come to now, by which rule, and with which numbers.",
        discussion: """
            No origin is asked, nothing is changed, and it counts as no use. The request is the one that get would send: \
            with -H in place of its own fields, or with nothing but -H for --bare. Of credentials only digests are shown. \
            The exit code is 0 whatever the answer is.
            """)

    @Argument(help: "The URL.")
    var url: String

    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp("A field of the request, as 'Name: value'; may be repeated.", valueName: "field"))
    var fields: [HTTPField] = []

    @Option(help: ArgumentHelp("The method, letter by letter.", valueName: "name"))
    var method = HTTPRequest.Method.get

    @Option(
        name: [.customShort("d"), .customLong("data")],
        help: ArgumentHelp("The content of the request, by which a QUERY finds a stored response.", valueName: "text"))
    var content: String?

    @Option(help: "When a stored response may answer.")
    var policy = PolicyName.http

    @Flag(help: "Decide as a cache of several users does, such as a proxy.")
    var shared = false

    @Option(help: ArgumentHelp("The partition to look into; without it what is in none.", valueName: "name"))
    var partition = ""

    @Flag(help: "Add no fields that get sends of itself, such as Accept-Encoding.")
    var bare = false

    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        try URLArgument.validate(url)
    }

    func run() async throws {
        // The request of `get`, without the fields that the transport adds.
        let request = HTTPRequest(method, key: try URLArgument(url).key, fields: HTTPFields(fields))
        let explanation = try await store.withExistingStore(isReadOnly: true) { store in
            var configuration = HTTPCache.Configuration()
            configuration.policy.isShared = shared
            configuration.partition = partition
            configuration.logger = StandardErrorLog.logger
            let cache = HTTPCache(
                store: store, transport: SilentTransport(isBare: bare), configuration: configuration)
            return try cache.explanation(
                of: request, content: content.map { RequestContent(Data($0.utf8)) }, policy: policy.policy)
        }
        let lines = explanation.description.split(separator: "\n", omittingEmptySubsequences: false)
        try report.write(explanation.json, text: lines.map { String($0).inOneLine }.joined(separator: "\n"))
    }
}

extension HTTPRequest.Method: @retroactive ExpressibleByArgument {
    /// The methods for shell completion. Any other token is also a valid method.
    public static var defaultCompletionKind: CompletionKind {
        .list(["GET", "HEAD", "QUERY", "POST", "PUT", "DELETE"])
    }
}
