import ArgumentParser
import CacheLoader
import CacheStore
import Foundation
import HTTPTypes

/// Loads URLs through the cache.
struct Get: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Load URLs through the cache and write their bodies.",
        discussion: """
            A body that is fresh in the store costs no request, a stale one a conditional request. Several URLs are \
            loaded in order; one that fails does not keep the others, and the exit code is that of the worst.
            """)

    @Argument(help: ArgumentHelp("What to load: absolute http or https URLs.", valueName: "url"))
    var urls: [String]

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "Write the body to a file instead, which appears only once it is complete; - is the standard output.",
            valueName: "file"),
        completion: .file())
    var output: String?

    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp("A field to send along, as 'Name: value'; may be repeated.", valueName: "field"))
    var fields: [FieldArgument] = []

    @Option(help: "When a stored response may answer.")
    var policy = PolicyArgument.http

    @Option(help: ArgumentHelp("Give up when nothing arrives for as many seconds.", valueName: "seconds"))
    var timeout = 60.0

    @Flag(name: .shortAndLong, help: "Say on the standard error where each body came from.")
    var verbose = false

    @OptionGroup var store: StoreOptions

    func validate() throws {
        if urls.count > 1, output != nil, output != "-" {
            throw ValidationError("-o takes the body of one URL; there are \(urls.count)")
        }
        if !(timeout > 0 && timeout <= 86_400) {
            throw ValidationError("--timeout needs a number of seconds between 0 and 86400")
        }
    }

    func run() async throws {
        try await store.withStore { store in
            let progress = ProgressLine()
            var configuration = ResourceLoader.Configuration()
            configuration.logger = StandardErrorLog.logger
            configuration.loadsFiles = false
            configuration.retry = .never
            let loader = ResourceLoader(
                store: store, transport: ProgressTransport(transport, progress), configuration: configuration)
            var worst: Failure.Kind?
            for url in urls {
                do {
                    let resource = try await load(url, through: loader, progress)
                    try deliver(resource)
                } catch let error as StandardOutput.ReaderIsGone {
                    throw error
                } catch {
                    let failure = Failure(error)
                    failure.report()
                    worst = max(worst ?? failure.kind, failure.kind)
                }
            }
            if let worst { throw ExitCode(worst.rawValue) }
        }
    }

    private var transport: URLSessionTransport {
        var configuration = URLSessionTransport.Configuration()
        configuration.idleTimeout = timeout
        return URLSessionTransport(configuration: configuration)
    }

    private func load(
        _ url: String, through loader: ResourceLoader, _ progress: ProgressLine
    ) async throws -> Resource {
        let target = try URLArgument(url)
        return try await progress.show {
            try await loader.load(
                ResourceRequest(target.text, headerFields: HTTPFields(fields.map(\.field)), policy: policy.policy))
        }
    }

    private func deliver(_ resource: Resource) throws {
        if verbose { StandardError.write("\(provenance(of: resource))\n") }
        if let output, output != "-" {
            try OutputFile(path: output).write(resource.data)
        } else {
            try StandardOutput.write(resource.data)
        }
    }

    /// One line, of `name=value` pairs, the URL last.
    private func provenance(of resource: Resource) -> String {
        let digest = resource.data.withUnsafeBytes { ContentDigest(of: $0) }
        let expires = resource.expiresAt?.formatted(.iso8601) ?? "-"
        return """
            source=\(resource.source.rawValue) status=\(resource.status.code) bytes=\(resource.data.count) \
            sha256=\(digest) age=\(resource.age) expires=\(expires) url=\(resource.url.inOneLine)
            """
    }
}
