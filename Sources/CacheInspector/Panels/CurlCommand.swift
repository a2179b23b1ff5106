import CacheLoader
import CacheStore
import Foundation
import HTTPTypes

/// A request from a URL or from a curl command, as browsers copy it.
struct CurlCommand {
    private(set) var request: HTTPRequest
    private(set) var content: String?
    /// Whether the text was a curl command, whose request has curl's default fields.
    let isCurl: Bool
    /// The options without effect on the request.
    private(set) var ignored: [String] = []

    /// Options whose value, the next word, does not matter to a cache.
    private static let ignoredWithValue: Set<String> = [
        "-o", "--output", "-m", "--max-time", "--connect-timeout", "-x", "--proxy", "--cacert", "-w", "--write-out",
        "-c",
        "--cookie-jar", "--resolve", "--retry", "-E", "--cert", "--key", "--interface", "-D", "--dump-header", "-F",
        "--form",
        "-T", "--upload-file", "-K", "--config", "--limit-rate", "--max-redirs", "-y", "-Y", "-z", "-C", "-t", "-P",
        "-Q",
    ]
    private static let data: Set<String> = ["-d", "--data", "--data-raw", "--data-binary", "--data-ascii"]

    init(_ text: String) throws {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !trimmed.isEmpty else { throw InspectorFailure.invalid("text is missing: a URL, or a curl command") }
        isCurl = trimmed == "curl" || trimmed.hasPrefix("curl ") || trimmed.hasPrefix("curl\t")
        guard isCurl else {
            request = try Self.request(trimmed)
            return
        }
        var arguments = Arguments(words: try ShellWords.split(trimmed).dropFirst())
        try arguments.parse()
        guard var url = arguments.url else { throw InspectorFailure.invalid("the curl command has no URL") }
        if !url.contains("://") { url = "http://\(url)" }
        if let data = arguments.content, arguments.sendsDataInQuery { url += (url.contains("?") ? "&" : "?") + data }
        request = try Self.request(url)
        request.headerFields = arguments.fields
        if request.headerFields[.accept] == nil { request.headerFields[.accept] = "*/*" }
        if let data = arguments.content, !arguments.sendsDataInQuery {
            content = data
            request.method = .post
            if request.headerFields[.contentType] == nil {
                request.headerFields[.contentType] = "application/x-www-form-urlencoded"
            }
        }
        if let method = arguments.method { request.method = method }
        ignored = arguments.ignored
    }

    private static func request(_ url: String) throws -> HTTPRequest {
        do throws(LoadError) {
            return HTTPRequest(key: try CacheKey.loading(url, partition: ""))
        } catch {
            throw InspectorFailure.invalid("\(error)")
        }
    }

    /// Consumes the words of a command one by one.
    private struct Arguments {
        var words: ArraySlice<String>
        var url: String?
        var method: HTTPRequest.Method?
        var fields: HTTPFields = [:]
        var content: String?
        var sendsDataInQuery = false
        var ignored: [String] = []

        mutating func parse() throws {
            while let word = words.popFirst() {
                guard word.hasPrefix("-"), word != "-" else {
                    if url == nil { url = word } else { ignored.append(word) }
                    continue
                }
                let (option, value) = Self.attached(word)
                try take(option, value)
            }
        }

        /// Splits a short option and its attached value, such as `-HName: value`.
        private static func attached(_ word: String) -> (option: String, value: String?) {
            guard !word.hasPrefix("--"), word.count > 2, "HXdAebur".contains(word.dropFirst().first ?? " ") else {
                return (word, nil)
            }
            return (String(word.prefix(2)), String(word.dropFirst(2)))
        }

        private mutating func take(_ option: String, _ attached: String?) throws {
            func value(_ words: inout ArraySlice<String>) throws -> String {
                guard let value = attached ?? words.popFirst() else {
                    throw InspectorFailure.invalid("the option \(option) has no value")
                }
                return value
            }
            switch option {
            case "-H", "--header": try add(value(&words))
            case "-X", "--request":
                guard let method = HTTPRequest.Method(try value(&words)) else {
                    throw InspectorFailure.invalid("the method is malformed")
                }
                self.method = method
            case "-I", "--head": method = .head
            case "-G", "--get": sendsDataInQuery = true
            case "-A", "--user-agent": try set(.userAgent, value(&words))
            case "-e", "--referer": try set(.referer, value(&words))
            case "-b", "--cookie": try set(.cookie, value(&words))
            case "-r", "--range": try set(.range, "bytes=\(value(&words))")
            case "-u", "--user":
                try set(.authorization, "Basic \(Data(value(&words).utf8).base64EncodedString())")
            case "--compressed": try set(.acceptEncoding, "deflate, gzip, br, zstd")
            case "--url": url = try value(&words)
            case let name where CurlCommand.data.contains(name):
                let data = try value(&words)
                content = content.map { "\($0)&\(data)" } ?? data
            case let name where CurlCommand.ignoredWithValue.contains(name):
                ignored.append(name)
                _ = try value(&words)
            default: ignored.append(option)
            }
        }

        private mutating func add(_ line: String) throws {
            guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon])) else {
                throw InspectorFailure.invalid("a field of the curl command is malformed")
            }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            guard HTTPField.isValidValue(value) else {
                throw InspectorFailure.invalid("the value of the field \(name) is malformed")
            }
            // Like curl, omits a field without a value.
            guard !value.isEmpty else { return }
            // HTTPFields traps at 65,535 fields, and a cache passes on a request with more than this.
            guard fields.count < StorageDecision.maxFieldCount else {
                throw InspectorFailure.invalid("the curl command has too many fields")
            }
            fields.append(HTTPField(name: name, value: value))
        }

        private mutating func set(_ name: HTTPField.Name, _ value: String) throws {
            guard HTTPField.isValidValue(value) else {
                throw InspectorFailure.invalid("the value of the field \(name) is malformed")
            }
            // Without splitting a cookie into any number of fields. curl sends one line, too.
            fields[fields: name] = [HTTPField(name: name, value: value)]
        }
    }
}

/// Splits a command into words like a POSIX shell, without expansions. Supports `$'…'`, which browsers copy.
enum ShellWords {
    static func split(_ text: String) throws -> ArraySlice<String> {
        var words: [String] = []
        var word: String?
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case " ", "\t", "\n", "\r":
                if let finished = word { words.append(finished) }
                word = nil
            case "'": try quoted(until: "'", &rest, &word) { _, _ in nil }
            case "\"":
                try quoted(until: "\"", &rest, &word) { next, _ in
                    "\"\\$`\n".unicodeScalars.contains(next) ? (next == "\n" ? "" : String(next)) : "\\\(next)"
                }
            case "$" where rest.first == "'":
                rest.removeFirst()
                try quoted(until: "'", &rest, &word, escape: ansiEscape)
            case "\\":
                guard let next = rest.popFirst() else { continue }
                if next != "\n", next != "\r" { word = (word ?? "") + String(next) }
            default: word = (word ?? "") + String(scalar)
            }
        }
        if let word { words.append(word) }
        return words[...]
    }

    /// `escape` returns the replacement for a backslash and the next character, or `nil` for a literal backslash.
    private static func quoted(
        until end: Unicode.Scalar, _ rest: inout Substring.UnicodeScalarView, _ word: inout String?,
        escape: (Unicode.Scalar, inout Substring.UnicodeScalarView) -> String?
    ) throws {
        var text = word ?? ""
        while let scalar = rest.popFirst() {
            if scalar == end {
                word = text
                return
            }
            guard scalar == "\\", let next = rest.first else {
                text.unicodeScalars.append(scalar)
                continue
            }
            var behind = rest.dropFirst()
            if let replacement = escape(next, &behind) {
                text += replacement
                rest = behind
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        throw InspectorFailure.invalid("a quote of the curl command is not closed")
    }

    private static func ansiEscape(_ next: Unicode.Scalar, _ rest: inout Substring.UnicodeScalarView) -> String? {
        switch next {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u", "x":
            let digits = rest.prefix(next == "u" ? 4 : 2).prefix { $0.properties.isASCIIHexDigit }
            guard !digits.isEmpty, let value = UInt32(String(digits), radix: 16), let scalar = Unicode.Scalar(value)
            else { return "" }
            rest = rest.dropFirst(digits.count)
            return String(scalar)
        default: return String(next)
        }
    }
}
