public import Foundation

/// Runs programs to their end and hands over what they said.
public enum ProcessRunner {
    /// How a program ended, and what it said.
    public struct Output: Hashable, Sendable {
        /// The exit code; the number of the signal when ``wasKilled``.
        public var exitCode: Int32
        /// Whether a signal ended the program.
        public var wasKilled: Bool
        /// The bytes of the standard output.
        public var standardOutput: Data
        /// The bytes of the standard error.
        public var standardError: Data

        /// The standard output as text.
        public var text: String { String(decoding: standardOutput, as: UTF8.self) }
        /// The standard error as text.
        public var errorText: String { String(decoding: standardError, as: UTF8.self) }
    }

    /// The built product `name` is not beside the tests.
    public struct ProductNotFound: Error, CustomStringConvertible {
        /// Where it was looked for.
        public let description: String
    }

    /// Runs `executable` and returns when it has ended and closed its output.
    ///
    /// Suspends the caller and blocks no thread of Swift's pool. Cancelling the task kills the program.
    ///
    /// - Parameters:
    ///   - environment: The variables of the program, `nil` for those of this process.
    ///   - input: What the program reads from its standard input.
    /// - Throws: `POSIXError`, when the program could not be started.
    public static func run(
        _ executable: URL, _ arguments: [String] = [], environment: [String: String]? = nil, input: Data = Data()
    ) async throws -> Output {
        // A file, because a program that exits without reading would break a pipe, and SIGPIPE this process.
        let directory = try TemporaryDirectory()
        let inputFile = directory.url.appending(path: "input")
        try input.write(to: inputFile)

        let inputHandle = try FileHandle(forReadingFrom: inputFile)
        let (output, error) = (Pipe(), Pipe())
        defer {
            for handle in [inputHandle, output.fileHandleForReading, error.fileHandleForReading] { try? handle.close() }
        }
        let child = try SpawnedProcess(
            executable.path(percentEncoded: false), arguments,
            environment: environment ?? ProcessInfo.processInfo.environment, input: inputHandle.fileDescriptor,
            output: output.fileHandleForWriting.fileDescriptor, error: error.fileHandleForWriting.fileDescriptor)
        for handle in [output.fileHandleForWriting, error.fileHandleForWriting] { try handle.close() }

        return try await withTaskCancellationHandler {
            // Both at once: a program that fills one pipe while the other is read would wait for ever.
            async let standardOutput = readToEnd(output.fileHandleForReading)
            async let standardError = readToEnd(error.fileHandleForReading)
            let ending = await child.ending()
            let (out, err) = try await (standardOutput, standardError)
            return Output(
                exitCode: ending.code, wasKilled: ending.isSignal, standardOutput: out, standardError: err)
        } onCancel: {
            child.kill()
        }
    }

    /// The executable product `name` of this package, built beside the running tests.
    public static func builtProduct(named name: String) throws -> URL {
        #if os(macOS)
        let bundle = Bundle.allBundles.first { $0.bundleURL.pathExtension == "xctest" } ?? .main
        let directory = bundle.bundleURL.deletingLastPathComponent()
        #else
        let directory = Bundle.main.bundleURL
        #endif
        let product = directory.appending(path: name)
        guard FileManager.default.isExecutableFile(atPath: product.path(percentEncoded: false)) else {
            throw ProductNotFound(description: "no executable \(name) in \(directory.path(percentEncoded: false))")
        }
        return product
    }

    /// Reads on a thread of its own, which blocks until the program closes its end.
    private static func readToEnd(_ handle: FileHandle) async throws -> Data {
        try await withCheckedThrowingContinuation { caller in
            Thread.detachNewThread {
                caller.resume(with: Result { try handle.readToEnd() ?? Data() })
            }
        }
    }
}
