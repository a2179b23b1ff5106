import ArgumentParser
import CacheLoader
import CacheReports
import CacheStore
import Foundation
import HTTPTypes

/// Stores a body as if an origin had just sent it.
struct Put: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Store a file as the content of a URL, without asking its origin.",
        discussion: """
            Without --max-age it stays fresh for a year. What takes the place of another body is pinned and tagged as that \
            was, unless the options say otherwise.
            """)

    @Argument(help: "The http or https URL that the bytes are to answer.")
    var url: String

    @Argument(help: "The file with the bytes; - reads the standard input.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("How long it stays fresh.", valueName: "seconds"))
    var maxAge: Int64?

    @Option(help: ArgumentHelp("The entity tag, with or without its quotes.", valueName: "tag"))
    var etag: FieldValue?

    @Option(help: ArgumentHelp("When it was last changed: 'Sun, 06 Nov 1994 08:49:37 GMT'.", valueName: "date"))
    var lastModified: FieldValue?

    @Option(help: ArgumentHelp("The media type.", valueName: "type"))
    var contentType: FieldValue?

    @Option(
        help: ArgumentHelp(
            "A name to remove it by, of at most \(EntryOptions.maxTagByteCount) bytes; may be repeated. In place of those that it had.",
            valueName: "tag"))
    var tag: [TagArgument] = []

    @Flag(help: "Never evict it.")
    var pin = false

    @Flag(help: "Keep it only for as long as some process has the store open, such as the app whose store it is.")
    var session = false

    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        try URLArgument.validate(url)
        if Set(tag.map(\.text)).count > EntryOptions.maxTagCount {
            throw ValidationError("an entry has at most \(EntryOptions.maxTagCount) tags")
        }
        if let maxAge, maxAge < 0 { throw ValidationError("--max-age needs a number of seconds, 0 or more") }
        if let date = lastModified?.text {
            let field = HTTPField(name: .lastModified, value: date)
            guard HTTPDate(field, now: HTTPDate(secondsSince1970: Int64(Date().timeIntervalSince1970))) != nil else {
                throw ValidationError("--last-modified needs a date such as 'Sun, 06 Nov 1994 08:49:37 GMT'")
            }
        }
    }

    func run() async throws {
        let target = try URLArgument(url)
        let input = try InputFile(path: file)
        let entry = try await store.withStore { store in
            let body = store.makeBodyWriter()
            let progress = ProgressLine()
            try await progress.show { try copy(input, to: body, progress) }
            // The loader sends no request, so any transport will do.
            let loader = ResourceLoader(store: store)
            return try await loader.insert(body, for: target.text, headerFields: fields, options: options)
        }
        let digest = "\(entry.digest ?? ContentDigest(of: UnsafeRawBufferPointer(start: nil, count: 0)))"
        try report.write(
            ["sha256": .text(digest), "bytes": .integer(entry.byteCount), "url": .text(entry.key.text)],
            text: "stored \(digest) \(entry.byteCount) \(entry.key.text)")
    }

    private func copy(_ input: InputFile, to body: BodyWriter, _ progress: ProgressLine) throws {
        while true {
            let chunk = try input.nextChunk()
            if chunk.isEmpty { return }
            try body.write(chunk)
            progress.say("\(body.byteCount.asByteCount) of \(file)")
        }
    }

    private var options: EntryOptions {
        EntryOptions(
            lifetime: session ? .session : nil, isPinned: pin ? true : nil,
            tags: tag.isEmpty ? nil : Set(tag.map(\.text)))
    }

    private var fields: HTTPFields {
        var fields = HTTPFields()
        fields[.cacheControl] = maxAge.map { "max-age=\($0)" }
        fields[.eTag] = etag.map { $0.text.contains("\"") ? $0.text : "\"\($0.text)\"" }
        fields[.lastModified] = lastModified?.text
        fields[.contentType] = contentType?.text
        return fields
    }
}
