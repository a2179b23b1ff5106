import CacheStore
import Foundation

/// An archive that a test puts together, well or badly.
struct TarSample {
    var bytes: [UInt8] = []

    /// Adds a file.
    ///
    /// - Parameters:
    ///   - type: What the header calls it.
    ///   - size: What the header says instead of the length.
    ///   - patches: What else stands in the header, by its offset. The checksum is right in the end.
    mutating func add(
        _ name: String, _ body: some Collection<UInt8>, type: String = "0", size: String? = nil,
        patches: [Int: String] = [:]
    ) {
        let entry = TarEntry(name: String(name.prefix(100)), byteCount: Int64(body.count))
        var header = TarWriter.header(of: entry, modifiedAt: 0)
        var patches = patches
        patches[156] = type
        if let size { patches[124] = size }
        for (offset, text) in patches { header.replaceSubrange(offset..<(offset + text.utf8.count), with: text.utf8) }
        let sum = header.enumerated().reduce(0) { $0 + ((148..<156).contains($1.offset) ? 32 : Int($1.element)) }
        header.replaceSubrange(148..<156, with: String(format: "%06o\0 ", sum).utf8)
        bytes += header + body + [UInt8](repeating: 0, count: entry.paddingByteCount)
    }

    /// With the end that an archive has.
    var ended: [UInt8] { bytes + TarWriter.end }

    /// One file.
    static func file(
        _ name: String, _ body: String = "", type: String = "0", size: String? = nil, patches: [Int: String] = [:]
    ) -> [UInt8] {
        var sample = TarSample()
        sample.add(name, body.utf8, type: type, size: size, patches: patches)
        return sample.ended
    }

    /// One file, after records in the way of pax.
    static func records(_ records: String, file: String = "name", _ body: String = "", type: String = "0") -> [UInt8] {
        var sample = TarSample()
        sample.add("PaxHeaders/x", records.utf8, type: "x")
        sample.add(file, body.utf8, type: type)
        return sample.ended
    }
}

extension TarReader {
    struct File: Equatable {
        var name: String
        var body: [UInt8]
    }

    /// The files of an archive that arrives in chunks.
    static func files(in bytes: [UInt8], chunk: Int = .max) throws -> [File] {
        var reader = TarReader()
        var files: [File] = []
        var isOpen = false
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(chunk))
            rest = rest.dropFirst(part.count)
            try part.withUnsafeBytes { buffer in
                var input = buffer
                while let event = try reader.next(&input) {
                    switch event {
                    case .file(let entry):
                        precondition(!isOpen, "a file begins in another")
                        isOpen = true
                        files.append(File(name: entry.name, body: []))
                    case .bytes(let bytes): files[files.count - 1].body += bytes
                    case .endOfFile: isOpen = false
                    }
                }
                precondition(input.isEmpty, "not all of the input is taken")
            }
        }
        try reader.finish()
        return files
    }
}
