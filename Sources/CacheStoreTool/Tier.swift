import ArgumentParser
import CacheLoader
import CacheTier
import Foundation
import HTTPTypes

/// Inspects a shared tier, without a store.
struct Tier: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a cache that machines share, and look into it.",
        discussion: """
            The option --tier of get and prefetch uses such a cache. CACHESTORE_TIER_KEY has its secret: 64 hexadecimal \
            digits or more, the same on all machines. For S3, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, \
            AWS_SESSION_TOKEN and AWS_REGION count.
            """,
        subcommands: [Check.self, Stats.self, Get.self, Remove.self])

    /// Checks the address, the credentials and the permissions.
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write, read and delete an object of the tier.")

        @OptionGroup var options: TierURL

        func run() async throws {
            let tier = try options.tier()
            let start = ContinuousClock.now
            try await tier.check()
            let time = Int(((ContinuousClock.now - start) / .milliseconds(1)).rounded())
            try StandardOutput.write(line: "the tier takes, returns and deletes objects, in \(time) ms")
        }
    }

    /// Writes a body from the tier.
    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write the body that the tier has for a URL, without asking the origin.",
            discussion: "Age and Cache-Status go to the standard error. Without a fresh response, the exit code is 1.")

        @Argument(help: ArgumentHelp("An absolute http or https URL.", valueName: "url"))
        var url: String

        @Option(
            name: [.customShort("H"), .customLong("header")],
            help: ArgumentHelp("A field of the request, as 'Name: value'; may be repeated.", valueName: "field"))
        var fields: [HTTPField] = []

        @OptionGroup var body: BodyOptions
        @OptionGroup var options: TierURL
        @OptionGroup var partition: TierPartition
        @OptionGroup var deadline: TierDeadline

        func validate() throws {
            try URLArgument.validate(url)
        }

        func run() async throws {
            let tier = try options.tier(partition, deadline)
            let transport = TieredTransport(tier: tier, origin: NoOrigin())
            var request = transport.prepare(try HTTPRequest(key: URLArgument(url).key, fields: HTTPFields(fields)))
            // RFC 9111 §5.2.1.7: the tier then prepares nothing for a response of the origin.
            request.headerFields.append(HTTPField(name: .cacheControl, value: "only-if-cached"))
            let response: TransportResponse
            do throws(TransportError) {
                response = try await transport.send(request, content: nil)
            } catch {
                let isBroken = tier.statistics.errors + tier.statistics.timeouts > 0
                throw isBroken ? Failure(.broken, "the tier does not answer") : Failure(.no, error.message)
            }
            let names = [HTTPField.Name.age, HTTPField.Name("Cache-Status")].compactMap { $0 }
            for name in names {
                for field in response.head.headerFields[fields: name] {
                    StandardError.write("\(name): \(field.text.inOneLine)\n")
                }
            }
            guard let file = body.file else {
                while let chunk = try await response.body.next() { try body.writeToOutput(chunk, of: url) }
                return
            }
            var content = Data()
            while let chunk = try await response.body.next() { content.append(contentsOf: chunk) }
            try OutputFile(path: file).write(content)
        }
    }

    /// Removes responses from the tier.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove the responses of a host from the tier, or all of the partition.",
            discussion: "Other machines follow within seconds. Their stores keep their own responses.")

        @Option(help: ArgumentHelp("The host, with its port if URLs name one; without it all.", valueName: "host"))
        var host: String?

        @OptionGroup var options: TierURL
        @OptionGroup var partition: TierPartition

        func run() async throws {
            try await options.tier(partition).removeAll(in: host.map { .host($0) } ?? .partition)
        }
    }
}

/// Fails every request, because the command must not ask the origin.
private struct NoOrigin: HTTPTransport {
    private let transport = DefaultTransport()

    func prepare(_ request: HTTPRequest) -> HTTPRequest { transport.prepare(request) }

    func send(
        _ request: HTTPRequest, content: RequestContent?
    ) async throws(TransportError) -> TransportResponse {
        throw TransportError(.unsupportedRequest, message: "the tier has no fresh response for the URL")
    }
}
