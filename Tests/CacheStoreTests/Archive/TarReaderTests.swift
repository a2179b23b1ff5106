import CacheStore
import Foundation
import TestSupport
import Testing

@Suite("TarReader")
struct TarReaderTests {
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let error: ArchiveError?

        init(_ name: String, _ bytes: [UInt8], _ error: ArchiveError?) {
            testDescription = name
            self.bytes = bytes
            self.error = error
        }
    }

    private static let one = TarSample.file("name", "body")
    private static let noName = ArchiveError.invalidSize(name: "")

    @Test(
        "What is no archive of regular files is refused, and says why",
        arguments: [
            Case("a file", one, nil),
            Case("no files", TarWriter.end, nil),
            Case("more zeros at the end", one + [UInt8](repeating: 0, count: 10_000), nil),
            Case("nothing", [], .truncated),
            Case("no end", Array(one.dropLast(1024)), .truncated),
            Case("half an end", Array(one.dropLast(512)), .truncated),
            Case("part of a header", Array(one.prefix(100)), .truncated),
            Case("a header without its file", Array(one.prefix(512)), .truncated),
            Case("part of a file", Array(one.prefix(514)), .truncated),
            Case("a file without its padding", Array(one.prefix(516)), .truncated),
            Case("garbage", [UInt8](repeating: 0xA5, count: 2048), .damagedHeader(offset: 0)),
            Case("text", [UInt8](String(repeating: "hello ", count: 200).utf8), .damagedHeader(offset: 0)),
            Case("a lone block of zeros", one.dropLast(512) + one, .damagedHeader(offset: 1536)),
            Case("something after the end", one + [0, 0, 1], .trailingBytes(offset: 2050)),
            Case("a second archive after the first", one + one, .trailingBytes(offset: 2048)),
            Case("a body in place of a header", one.prefix(512) + one, .damagedHeader(offset: 1024)),
            Case("a size that is too large", TarSample.file("name", "body", size: "77777777777\0"), .truncated),
            Case("a size that swallows the end", TarSample.file("name", "body", size: "00000002001\0"), .truncated),
            Case(
                "a size that is too small",
                TarSample.file("name", String(repeating: "x", count: 600), size: "00000000001\0"),
                .damagedHeader(offset: 1024)),
            Case("no size", TarSample.file("name", size: "\0\0\0\0\0\0\0\0\0\0\0\0"), .invalidSize(name: "name")),
            Case("spaces for a size", TarSample.file("name", size: "            "), .invalidSize(name: "name")),
            Case("a size with spaces", TarSample.file("name", "body", size: "          4 "), nil),
            Case("a size of twelve digits", TarSample.file("name", "body", size: "000000000004"), nil),
            Case("a negative size", TarSample.file("name", size: "-0000000004\0"), .invalidSize(name: "name")),
            Case("a size that is not octal", TarSample.file("name", size: "00000000008\0"), .invalidSize(name: "name")),
            Case(
                "a size and something else", TarSample.file("name", size: "0000004\0\u{1}\0\0\0"),
                .invalidSize(name: "name")),
            Case(
                "an old header", TarSample.file("name", patches: [257: "\0\0\0\0\0\0\0\0"]), .damagedHeader(offset: 0)),
            Case("another version", TarSample.file("name", patches: [263: "01"]), .damagedHeader(offset: 0)),
            Case("GNU's header", TarSample.file("name", patches: [257: "ustar  \0"]), nil),
            Case(
                "a hard link", TarSample.file("name", type: "1", patches: [157: "target"]),
                .unsupportedType(name: "name", type: UInt8(ascii: "1"))),
            Case(
                "a symbolic link", TarSample.file("name", type: "2", patches: [157: "/etc/passwd"]),
                .unsupportedType(name: "name", type: UInt8(ascii: "2"))),
            Case(
                "a character device", TarSample.file("name", type: "3"),
                .unsupportedType(name: "name", type: UInt8(ascii: "3"))),
            Case(
                "a block device", TarSample.file("name", type: "4"),
                .unsupportedType(name: "name", type: UInt8(ascii: "4"))),
            Case(
                "a folder", TarSample.file("name/", type: "5"), .unsupportedType(name: "name/", type: UInt8(ascii: "5"))
            ),
            Case("a FIFO", TarSample.file("name", type: "6"), .unsupportedType(name: "name", type: UInt8(ascii: "6"))),
            Case(
                "a sparse file of GNU", TarSample.file("name", type: "S"),
                .unsupportedType(name: "name", type: UInt8(ascii: "S"))),
            Case(
                "a long name of GNU", TarSample.file("name", "x", type: "L"),
                .unsupportedType(name: "name", type: UInt8(ascii: "L"))),
            Case(
                "records for all files", TarSample.file("name", "9 size=0\n", type: "g"),
                .unsupportedType(name: "name", type: UInt8(ascii: "g"))),
            Case("an unknown type", TarSample.file("name", type: "\u{7}"), .unsupportedType(name: "name", type: 7)),
            Case(
                "a link after records", TarSample.records("12 path=abc\n", type: "2"),
                .unsupportedType(name: "abc", type: UInt8(ascii: "2"))),
            Case("records", TarSample.records("20 mtime=1.23456789\n10 size=4\n", "body"), nil),
            Case("no records", TarSample.records("", "body"), nil),
            Case(
                "records of no file", Array(TarSample.records("10 size=4\n").prefix(1024)) + TarWriter.end,
                .damagedHeader(offset: 1024)),
            Case("records of records", TarSample.records("10 size=4\n", type: "x"), .invalidSize(name: "name")),
            Case("a huge size in records", TarSample.records("28 size=9223372036854775807\n", "body"), .truncated),
            Case("a size of more than 64 bits", TarSample.records("28 size=9223372036854775808\n"), noName),
            Case("a negative size in records", TarSample.records("11 size=-1\n"), noName),
            Case("no size in records", TarSample.records("8 size=\n"), noName),
            Case("a record that is too long", TarSample.records("99 size=1\n"), .damagedHeader(offset: 0)),
            Case("a record that is too short", TarSample.records("9 size=10\n"), .damagedHeader(offset: 0)),
            Case("a record of no length", TarSample.records("0 size=1\n"), .damagedHeader(offset: 0)),
            Case("a record of 65 bits", TarSample.records("18446744073709551617 size=1\n"), .damagedHeader(offset: 0)),
            Case("a record without a length", TarSample.records("size=1\n"), .damagedHeader(offset: 0)),
            Case("a record without a value", TarSample.records("7 size\n"), .damagedHeader(offset: 0)),
            Case("a record without an end", TarSample.records("10 size=44"), .damagedHeader(offset: 0)),
            Case(
                "a sparse file of pax", TarSample.records("22 GNU.sparse.major=1\n"),
                .unsupportedType(name: "", type: UInt8(ascii: "x"))),
            Case("endless records", TarSample.file("x", type: "x", size: "00000200001\0"), .invalidSize(name: "x")),
        ])
    func reading(_ c: Case) throws {
        for chunk in [Int.max, 512, 511, 7, 1] {
            if let error = c.error {
                #expect(throws: error, "in chunks of \(chunk)") { try TarReader.files(in: c.bytes, chunk: chunk) }
            } else {
                #expect(throws: Never.self, "in chunks of \(chunk)") { try TarReader.files(in: c.bytes, chunk: chunk) }
            }
        }
    }

    @Test("Any byte of a header that changes is found, by the checksum or else")
    func checksum() throws {
        for index in 0..<512 {
            var bytes = Self.one
            bytes[index] ^= 0x01
            // The last two of the checksum itself are not looked at closely: NUL and space.
            let isFound = (try? TarReader.files(in: bytes)) == nil
            #expect(isFound || (154...155).contains(index), "byte \(index)")
        }
    }

    @Test("Names are those of the header, with their prefix, or of the records")
    func names() throws {
        for (bytes, name) in [
            (TarSample.file("name", patches: [345: "some/folder"]), "some/folder/name"),
            (TarSample.file("name", patches: [257: "ustar  \0", 345: "12345670123"]), "name"),
            (TarSample.file(String(repeating: "n", count: 100)), String(repeating: "n", count: 100)),
            (TarSample.records("17 path=../a=b\0c\n"), "../a=b\0c"),
            (TarSample.records("10 path=a\n10 path=b\n"), "b"),
        ] {
            #expect(try TarReader.files(in: bytes).map(\.name) == [name])
        }
    }

    @Test("Garbage ends in an error, and never in a crash")
    func garbage() throws {
        var generator = SeededGenerator()
        for _ in 0..<2_000 {
            var bytes = TarSample.records("10 size=4\n", "body") + Self.one
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(
                    in: .min ... .max, using: &generator)
            }
            let count = Int.random(in: 0...bytes.count, using: &generator)
            _ = try? TarReader.files(in: Array(bytes.prefix(count)), chunk: .random(in: 1...600, using: &generator))
        }
    }
}
