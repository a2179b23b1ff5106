/// The percent-encoding of URL paths (RFC 3986 §2.1).
enum PercentEncoding {
    /// Returns `path` with every byte encoded except slashes and the unreserved characters.
    static func encoded(_ path: String) -> String {
        var result = ""
        for byte in path.utf8 {
            if isPlain(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += byte < 16 ? "%0" : "%"
                result += String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }

    /// Returns `path` with its triplets decoded once; invalid triplets stay unchanged.
    static func decoded(_ path: String) -> String {
        var result: [UInt8] = []
        var rest = Array(path.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = value(ofHexDigits: rest.prefix(2)) {
                result.append(value)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "-._~/".utf8.contains(byte)
        }
    }

    private static func value(ofHexDigits digits: ArraySlice<UInt8>) -> UInt8? {
        // The integer initializer would also accept a sign.
        guard digits.count == 2, let first = digits.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-")
        else { return nil }
        return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
