import Foundation

/// A program that reads one command per line and answers each with a number.
final class LineProcess {
    struct Ended: Error, CustomStringConvertible {
        let description: String
    }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let name: String
    private let isServer: Bool
    /// The received bytes of the next line.
    private var rest = Data()

    /// - Parameter isServer: Whether the program continues after the end of its input.
    init(_ name: String, _ executable: URL, _ arguments: [String], isServer: Bool = false) throws {
        self.name = name
        self.isServer = isServer
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Starts this program with a hidden subcommand.
    convenience init(subcommand: String, _ arguments: [String]) throws {
        let executable = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        try self.init(subcommand, executable, [subcommand] + arguments)
    }

    deinit {
        try? input.fileHandleForWriting.close()
        // SIGTERM would not do: a program started from a thread of libdispatch inherits a mask that blocks it.
        if isServer, process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    func send(_ command: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
    }

    /// Returns the answer to the earliest unanswered command.
    func answer() throws -> Double {
        guard let number = try Double(line()) else { throw Ended(description: "\(name): no number") }
        return number
    }

    func ask(_ command: String) throws -> Double {
        try send(command)
        return try answer()
    }

    /// Returns the next line of the program's output.
    func line() throws -> String {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest = Data(rest[(end + 1)...]) }
                return String(decoding: rest[..<end], as: UTF8.self)
            }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw Ended(description: "\(name) has ended") }
            rest.append(data)
        }
    }
}
