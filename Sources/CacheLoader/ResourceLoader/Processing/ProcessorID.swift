/// The name of a processor and of everything besides the input that its output depends on.
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

    /// Returns the text escaped as in RFC 3986 §2.1. The result has no `@`, `;`, `=` or `+`, and `%` only at the start
    /// of an escape.
    private static func escaped(_ text: String) -> String {
        var escaped: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: escaped.append(byte)
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: ","),
                UInt8(ascii: ":"):
                escaped.append(byte)
            default: escaped += [UInt8(ascii: "%"), hexadecimal(byte >> 4), hexadecimal(byte & 0xF)]
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10
    }
}

extension ProcessorID: CustomStringConvertible {}
