package import Foundation

/// Splits UTF-8 text into lines as it arrives, like Foundation's `AsyncLineSequence`. Omits empty lines, so CR and LF
/// can be treated as two line ends.
package struct LineSplitter {
    /// The bytes of lines that are not returned yet.
    private var bytes: [UInt8] = []
    private var start = 0
    /// The end of the searched bytes.
    private var searched = 0

    package init() {}

    package mutating func append(_ chunk: Data) {
        bytes.removeFirst(start)
        searched -= start
        start = 0
        bytes += chunk
    }

    /// Returns the next line, or `nil` before its end has arrived.
    package mutating func next() -> String? {
        while searched < bytes.count {
            switch separator(at: searched) {
            case .none: searched += 1
            case .incomplete: return nil
            case .found(let length):
                let line = bytes[start..<searched]
                searched += length
                start = searched
                if !line.isEmpty { return String(decoding: line, as: UTF8.self) }
            }
        }
        return nil
    }

    /// Returns the last line, which has no line end, or `nil` for an empty line.
    package mutating func finish() -> String? {
        let line = bytes[start...]
        start = bytes.count
        searched = start
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    private enum Separator {
        case none
        /// The line end depends on the following bytes.
        case incomplete
        case found(length: Int)
    }

    private func separator(at index: Int) -> Separator {
        switch bytes[index] {
        // LF, VT, FF, CR
        case 0x0A...0x0D: return .found(length: 1)
        // NEL, U+0085
        case 0xC2:
            guard index + 1 < bytes.count else { return .incomplete }
            return bytes[index + 1] == 0x85 ? .found(length: 2) : .none
        // LS and PS, U+2028 and U+2029
        case 0xE2:
            guard index + 1 < bytes.count else { return .incomplete }
            guard bytes[index + 1] == 0x80 else { return .none }
            guard index + 2 < bytes.count else { return .incomplete }
            return [0xA8, 0xA9].contains(bytes[index + 2]) ? .found(length: 3) : .none
        default: return .none
        }
    }
}
