/// The name of a processor and of everything besides the input that its output depends on.
///
/// Ids are equal where their texts are. The text is stable from one run of a program to the next and plain ASCII, so that it
/// can stand in a key:
///
///     thumbnails@2                            name and version
///     text@1+count@1;unit=word                a chain, its second processor with a parameter
///     image@1;decoder=png%401;mode=center     what is no letter, digit or one of - . _ ~ , : is escaped
public struct ProcessorID: Hashable, Sendable {
    /// The text.
    public let description: String

    /// Creates the id of one processor.
    ///
    /// - Parameters:
    ///   - name: Who it is. It is compared byte by byte.
    ///   - version: To be raised when the code changes in a way that changes the output.
    ///   - parameters: The settings that change the output, in any order.
    public init(_ name: String, version: Int = 1, parameters: [String: String] = [:]) {
        // Escaped first, then sorted: the order of bytes is the same everywhere and always.
        let settings = parameters.map { "\(Self.escaped($0.key))=\(Self.escaped($0.value))" }.sorted()
        description = (["\(Self.escaped(name))@\(version)"] + settings).joined(separator: ";")
    }

    private init(description: String) {
        self.description = description
    }

    /// The id of this processor with another behind it.
    public func then(_ next: ProcessorID) -> ProcessorID {
        ProcessorID(description: "\(description)+\(next.description)")
    }

    /// The text as RFC 3986 §2.1 would escape it; `@`, `;`, `=`, `+` and `%` never stand for themselves in it.
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
