import ArgumentParser
import CacheLoader
import CacheReports
import CacheStore
import CacheTier
import Foundation
import HTTPTypes

/// Inspects a shared tier, without a store.
struct Tier: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a cache that machines share, and look into it.",
        discussion: """
            The option --tier of get and prefetch uses such a cache. CACHESTORE_TIER_KEY has its secret: 64 hexadecimal \
            digits or more, the same on all machines. CACHESTORE_TIER_KEY_FILE names a file with the secret instead, or \
            with the keys for a rotation or for a machine that only reads. For S3, the credentials and the region come from \
            the variables and files of AWS.
            """,
        subcommands: [Check.self, Get.self, Remove.self])

    /// Checks the address, the credentials, the permissions and the speed.
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write, read and delete an object of the tier, and compare its speed with the deadline.")

        @OptionGroup var options: TierURL
        @OptionGroup var deadline: TierDeadline

        func run() async throws {
            let check = try await options.tier(nil, deadline).check()
            func milliseconds(_ duration: Duration) -> String {
                "\((duration / .microseconds(10)).rounded() / 100) ms"
            }
            let direction = check.secondsAhead < 0 ? "behind" : "ahead of"
            let verdict = check.isDeadlineSufficient ? "enough for" : "too short for"
            let rows = [
                (
                    "objects",
                    check.canWrite
                        ? "the tier takes, returns and deletes them" : "the tier answers; the keys here only read"
                ),
                ("read", "\(milliseconds(check.medianRead)) in the median, \(milliseconds(check.reads[0])) the first"),
                ("deadline", "\(milliseconds(check.deadline)), \(verdict) the three reads of a hit"),
                ("conditional writes", check.hasConditionalWrites ? "yes" : "no"),
                ("clock", "\(check.engineTime), \(check.secondsAhead.magnitude) s \(direction) this machine"),
            ]
            for (name, text) in rows { try StandardOutput.write(line: "\(name.leftAligned(in: 18))  \(text)") }
            if !check.isDeadlineSufficient {
                throw Failure(.no, "give --tier-deadline more than three times the time of a read")
            }
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
            let origin = SilentTransport(message: "the tier has no fresh response for the URL")
            let transport = TieredTransport(tier: tier, origin: origin)
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
            abstract: "Remove the responses of a URL, a host or a tag from the tier, or all of the partition.",
            discussion: "Other machines follow within seconds. Their stores keep their own responses.")

        @Option(help: ArgumentHelp("All variants of a URL.", valueName: "url"))
        var url: String?

        @Option(help: ArgumentHelp("All URLs of a host, with its port if they name one.", valueName: "host"))
        var host: String?

        @Option(
            help: ArgumentHelp(
                "All responses with a name in Cache-Groups; needs --origin.", valueName: "name"))
        var tag: String?

        @Option(help: ArgumentHelp("The scheme and host of a tag, such as https://example.com.", valueName: "origin"))
        var origin: String?

        @Flag(help: "All responses of the partition.")
        var all = false

        @Flag(help: "Only say what would go.")
        var dryRun = false

        @OptionGroup var options: TierURL
        @OptionGroup var partition: TierPartition

        func validate() throws {
            let given = [url != nil, host != nil, tag != nil, all].count { $0 }
            guard given == 1 else { throw ValidationError("tier remove needs one of --url, --host, --tag and --all") }
            guard (tag == nil) == (origin == nil) else { throw ValidationError("--tag and --origin need each other") }
            if let url { _ = try Self.parts(of: url, "--url") }
            if let origin {
                guard try ["", "/"].contains(Self.parts(of: origin, "--origin").path) else {
                    throw ValidationError("--origin needs a scheme and a host without a path")
                }
                try URLArgument.validate(origin)
            }
            if let host {
                let parts = URLComponents(string: "http://\(host)/")
                guard !host.isEmpty, !host.contains("/"), !host.contains("@"), parts?.host?.isEmpty == false else {
                    throw ValidationError(
                        "--host needs a host such as example.com or example.com:8080, without a scheme")
                }
            }
        }

        func run() async throws {
            let (scope, text): (TierScope, String) =
                if let url {
                    (.url(try URLArgument(url).key.text), "the responses of \(url.inOneLine)")
                } else if let host {
                    (.host(Self.withoutDefaultPort(host)), "the responses of \(host.inOneLine)")
                } else if let tag, let origin {
                    // Without a default port, as in the URLs of requests.
                    (
                        .tag(tag, origin: try URLArgument(origin).key.text),
                        "the responses of \(origin.inOneLine) with \(tag.inOneLine)"
                    )
                } else {
                    (.partition, "all responses of the partition")
                }
            let tier = try options.tier(partition)
            if dryRun { return try StandardOutput.write(line: "would remove \(text)") }
            try await tier.removeAll(in: scope)
            try StandardOutput.write(line: "removed \(text)")
        }

        private static func parts(of text: String, _ option: String) throws -> URLComponents {
            guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
                ["http", "https"].contains(scheme), parts.host?.isEmpty == false
            else { throw ValidationError("\(option) needs an absolute http or https URL") }
            return parts
        }

        /// Requests state a default port only if their URL does, and hosts are hardly ever written with it.
        private static func withoutDefaultPort(_ host: String) -> String {
            for port in [":443", ":80"] where host.hasSuffix(port) { return String(host.dropLast(port.count)) }
            return host
        }
    }
}
