public import CacheFoundation

/// Decodes bytes to text.
///
/// The charset comes from the byte order mark, else from the `charset` of `Content-Type`, else it is UTF-8. The WHATWG
/// Encoding Standard, §6 "decode", defines this order. Malformed bytes are an error; the processor inserts no
/// replacement characters. The processor supports all charsets that current servers send: UTF-8, UTF-16, windows-1252
/// and US-ASCII. ISO-8859-1 is decoded as windows-1252.
public struct TextProcessor: SynchronousProcessor {
    /// Creates the processor.
    public init() {}

    /// `text@1`.
    public var id: ProcessorID { ProcessorID("text") }

    /// Returns the text without its byte order mark.
    ///
    /// - Throws: ``ProcessingError/unknownCharset(_:)``, ``ProcessingError/malformedText(charset:)``.
    public func processSynchronously(_ input: Data, _ context: ProcessingContext) throws -> String {
        let (charset, skipped) = try Charset.of(input, MediaType(context.contentType)?.charset)
        guard let text = input.dropFirst(skipped).withUnsafeBytes(charset.text) else {
            throw ProcessingError.malformedText(charset: charset.rawValue)
        }
        return text
    }
}

extension Processor where Self == TextProcessor {
    /// A processor that decodes text in the charset of the response.
    public static var text: TextProcessor { TextProcessor() }
}

extension Charset {
    /// Returns the charset of some bytes, and the length of their byte order mark.
    fileprivate static func of(_ bytes: Data, _ label: String?) throws(ProcessingError) -> (Charset, Int) {
        if let (charset, length) = marked(bytes) { return (charset, length) }
        guard let label else { return (.utf8, 0) }
        guard let charset = Charset(label: label) else { throw .unknownCharset(label) }
        return (charset, 0)
    }
}
