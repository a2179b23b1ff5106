/// A pattern of bytes in which `*` matches any number of bytes. Supports no other wildcard.
package struct Glob: Hashable, Sendable {
    /// The texts before, between and after the stars.
    private let first: [UInt8]
    private let middle: [[UInt8]]
    /// `nil` for a pattern without a star.
    private let last: [UInt8]?

    package init(_ pattern: some Collection<UInt8>) {
        let parts = pattern.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map { Array($0) }
        first = parts[0]
        middle = parts.dropFirst().dropLast().filter { !$0.isEmpty }
        last = parts.count > 1 ? parts[parts.count - 1] : nil
    }

    /// Whether the pattern matches the whole text. Takes the first occurrence of each part. A later occurrence would
    /// leave less text for the following parts, so no part needs backtracking.
    package func matches(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard let last else { return text.elementsEqual(first) }
        guard text.count >= first.count + last.count, text.starts(with: first),
            text.suffix(last.count).elementsEqual(last)
        else { return false }
        var rest = text.dropFirst(first.count).dropLast(last.count)
        for part in middle {
            guard let end = Self.end(of: part, in: rest) else { return false }
            rest = rest[end...]
        }
        return true
    }

    /// Returns the index after the first occurrence of `part`, or `nil`.
    private static func end(of part: [UInt8], in text: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        guard text.count >= part.count else { return nil }
        for start in text.startIndex...(text.endIndex - part.count) where text[start] == part[0] {
            if text[start..<(start + part.count)].elementsEqual(part) { return start + part.count }
        }
        return nil
    }
}
