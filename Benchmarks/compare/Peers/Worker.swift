import ArgumentParser
import CBaseline
import CacheStore
import Foundation
import Samples

/// A process for work that needs a second process, or its own memory and I/O counters. Reads commands, and answers each
/// with a number.
struct Worker: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "worker", shouldDisplay: false)

    @Argument var directory: String
    @Option var entries = 0

    func run() throws {
        let directory = URL(filePath: directory)
        var ours: MixedStore?
        var theirs: MixedInC?
        while let line = readLine() {
            let words = line.split(separator: " ")
            let numbers = words.dropFirst().compactMap { Int($0) }
            let answer: Double
            switch words.first {
            case "mixed":
                let store = try ours ?? MixedStore(directory, .even, entries: entries)
                ours = store
                try store.run(numbers[0]..<numbers[0] + numbers[1], threads: 1)
                answer = 0
            case "mixed-c":
                let store = try theirs ?? MixedInC(directory, .even, entries: entries, threads: 1)
                theirs = store
                try store.run(numbers[0]..<numbers[0] + numbers[1])
                answer = 0
            case "memory": answer = try memory(directory)
            case "written": answer = try written(numbers[0], directory)
            case "written-c": answer = try writtenByC(numbers[0], directory)
            default: throw ValidationError(line)
            }
            print(answer)
            fflush(nil)
        }
    }

    /// Returns the resident bytes after lookups throughout the store.
    private func memory(_ directory: URL) throws -> Double {
        let store = try ResponseStore.unlimited(directory)
        for number in 0..<50_000 {
            let url = Sample.url(Reading.spread(number, over: entries))
            _ = try store.lookup(CacheKey(url: url)).flatMap { try store.openBody(of: $0)?.data() }
        }
        return Double(try Self.field("VmRSS:", of: "status") * 1024)
    }

    /// Returns the bytes written for each byte of `count` bodies of 16 KiB.
    private func written(_ count: Int, _ directory: URL) throws -> Double {
        let store = try ResponseStore.unlimited(directory)
        let before = try Self.field("wchar:", of: "io")
        for number in 0..<count {
            try store.insert(
                Sample.body(number, .kib16), metadata: Sample.metadata(number, byteCount: 16_384),
                for: CacheKey(url: Sample.url(number)))
        }
        store.close()
        return Double(try Self.field("wchar:", of: "io") - before) / Double(count * Sample.Size.kib16.rawValue)
    }

    private func writtenByC(_ count: Int, _ directory: URL) throws -> Double {
        let before: Int
        do {
            let store = try CStore(directory, baseline_writes)
            before = try Self.field("wchar:", of: "io")
            for number in 0..<count {
                try store.put(
                    Sample.url(number), digest: Sample.digest(number), Sample.body(number, .kib16), at: Int64(number))
            }
        }
        return Double(try Self.field("wchar:", of: "io") - before) / Double(count * Sample.Size.kib16.rawValue)
    }

    /// Returns a number from a file of this process in `/proc`.
    private static func field(_ name: String, of file: String) throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/\(file)", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
        let digits = line.drop { !$0.isNumber }.prefix { $0.isNumber }
        guard let number = Int(digits) else { throw CStore.Failure(description: "no \(name) in \(file)") }
        return number
    }
}
