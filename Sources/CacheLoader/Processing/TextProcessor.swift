#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Bytes as text.
///
/// A byte order mark says what the bytes are, else the `charset` of `Content-Type`, else they are UTF-8: the order of the
/// WHATWG Encoding Standard, §6 "decode". Nothing is replaced: where the bytes are no text there is none. Every charset that a
/// current server sends is known: UTF-8, UTF-16, windows-1252 (and ISO-8859-1, which is decoded as that) and US-ASCII.
public struct TextProcessor: Processor {
    /// Creates the processor.
    public init() {}

    /// `text@1`.
    public var id: ProcessorID { ProcessorID("text") }

    /// The text without its byte order mark.
    ///
    /// - Throws: ``ProcessingError/unknownCharset(_:)``, ``ProcessingError/malformedText(charset:)``.
    @concurrent public func process(_ input: Data, _ context: ProcessingContext) async throws -> String {
        let (charset, skipped) = try Charset.of(input, MediaType(context.contentType)?.charset)
        guard let text = charset.text(input.dropFirst(skipped)) else {
            throw ProcessingError.malformedText(charset: charset.rawValue)
        }
        return text
    }
}

extension Processor where Self == TextProcessor {
    /// The bytes as text, in the charset that the response names.
    public static var text: TextProcessor { TextProcessor() }
}

extension Charset {
    /// The charset of some bytes, and how many of them are its byte order mark.
    fileprivate static func of(_ bytes: Data, _ label: String?) throws(ProcessingError) -> (Charset, Int) {
        if let (charset, length) = marked(bytes) { return (charset, length) }
        guard let label else { return (.utf8, 0) }
        guard let charset = Charset(label: label) else { throw .unknownCharset(label) }
        return (charset, 0)
    }
}
