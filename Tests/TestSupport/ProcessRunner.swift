/// Runs programs to their end and returns their output.
public enum ProcessRunner {
    /// The exit status and the output of a program.
    public struct Output: Hashable, Sendable {
        /// The exit code; the number of the signal if ``wasKilled``.
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

    /// The product is not in the directory of the tests.
    public struct ProductNotFound: Error, CustomStringConvertible {
        /// The name of the product and the directory.
        public let description: String
    }

    /// Runs `executable` and returns when it has exited and closed its output.
    ///
    /// Suspends the caller and blocks no thread of Swift's pool. Cancelling the task kills the program.
    ///
    /// - Parameters:
    ///   - environment: The environment of the program, or `nil` to inherit that of this process.
    ///   - input: The bytes of the standard input.
    public static func run(
        _ executable: URL, _ arguments: [String] = [], environment: [String: String]? = nil, input: Data = Data()
    ) async throws -> Output {
        // A file, not a pipe: if the program exits without reading, a write to a pipe would end this process with
        // SIGPIPE.
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
            // Reads both pipes concurrently. A program would block forever on one full pipe while only the other is
            // read.
            async let standardOutput = readToEnd(output.fileHandleForReading)
            async let standardError = readToEnd(error.fileHandleForReading)
            let ending = await child.ending()
            let (out, err) = try await (standardOutput, standardError)
            return Output(exitCode: ending.code, wasKilled: ending.isSignal, standardOutput: out, standardError: err)
        } onCancel: {
            child.kill()
        }
    }

    /// Runs `executable` like ``run(_:_:environment:input:)``, with a terminal as its standard output.
    ///
    /// - Parameters:
    ///   - environment: The environment of the program, plus TERM, or `nil` to inherit that of this process.
    ///   - width: The columns of the terminal.
    ///   - isErrorOnTerminal: Whether the standard error also goes to the terminal. The standard output of the result
    ///     then contains both.
    ///   - seeing: Receives the text on the terminal so far, after each write of the program.
    public static func run(
        _ executable: URL, _ arguments: [String], environment: [String: String]? = nil,
        onTerminalOfWidth width: Int, isErrorOnTerminal: Bool = false,
        seeing: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> Output {
        let terminal = try PseudoTerminal(width: width)
        let error = Pipe()
        var environment = environment ?? ProcessInfo.processInfo.environment
        environment["TERM"] = "xterm"
        environment["COLUMNS"] = nil
        let child = try SpawnedProcess(
            executable.path(percentEncoded: false), arguments, environment: environment,
            input: terminal.end.fileDescriptor, output: terminal.end.fileDescriptor,
            error: isErrorOnTerminal ? terminal.end.fileDescriptor : error.fileHandleForWriting.fileDescriptor)
        for handle in [terminal.end, error.fileHandleForWriting] { try handle.close() }
        return try await withTaskCancellationHandler {
            async let written = terminal.written(seeing: seeing)
            async let standardError = readToEnd(error.fileHandleForReading)
            let ending = await child.ending()
            return Output(
                exitCode: ending.code, wasKilled: ending.isSignal, standardOutput: await written,
                standardError: try await standardError)
        } onCancel: {
            child.kill()
        }
    }

    /// Returns the executable product `name` of this package, in the directory of the running tests.
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

    /// Reads on a separate thread, which blocks until the program closes its end.
    private static func readToEnd(_ handle: FileHandle) async throws -> Data {
        try await withCheckedThrowingContinuation { caller in
            Thread.detachNewThread { caller.resume(with: Result { try handle.readToEnd() ?? Data() }) }
        }
    }
}
