internal import ByteText

/// The name of a processor and of everything that its output depends on, except the input.
///
/// Ids are equal if their texts are equal. The text is plain ASCII and equal in every run of a program, so that a key
/// can contain it:
///
///     thumbnails@2                            name and version
///     text@1+count@1;unit=word                a chain, its second processor with a parameter
///     image@1;decoder=png%401;mode=center     escapes all but letters, digits and - . _ ~ , :
public struct ProcessorID: Hashable, Sendable {
    /// The text.
    public let description: String

    /// Creates the id of one processor.
    ///
    /// - Parameters:
    ///   - name: The name of the processor. Names are compared byte by byte.
    ///   - version: Raise this if a change of the code changes the output.
    ///   - parameters: The settings that change the output, in any order.
    public init(_ name: String, version: Int = 1, parameters: [String: String] = [:]) {
        // Escapes, then sorts: the order of bytes is the same on every platform.
        let settings = parameters.map { "\(Self.escaped($0.key))=\(Self.escaped($0.value))" }.sorted()
        description = (["\(Self.escaped(name))@\(version)"] + settings).joined(separator: ";")
    }

    private init(description: String) {
        self.description = description
    }

    /// Returns the id of the chain of this processor and `next`.
    public func then(_ next: ProcessorID) -> ProcessorID {
        ProcessorID(description: "\(description)+\(next.description)")
    }

    /// Escapes as in RFC 3986 §2.1. The result has no `@`, `;`, `=` or `+`, and `%` only at the start of an escape.
    private static func escaped(_ text: String) -> String {
        PercentEncoding.encoded(text.utf8) { byte in
            PercentEncoding.isUnreserved(byte) || byte == UInt8(ascii: ",") || byte == UInt8(ascii: ":")
        }
    }
}

extension ProcessorID: CustomStringConvertible {}
