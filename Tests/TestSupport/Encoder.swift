#if Brotli || Zstd

/// A command-line tool that encodes.
package enum Encoder: String, CaseIterable, CustomTestStringConvertible {
    #if Brotli
    case brotli
    #endif
    #if Zstd
    case zstd
    #endif

    package var testDescription: String { rawValue }

    /// The name of the content coding.
    package var coding: String { rawValue == "brotli" ? "br" : rawValue }

    /// Levels from the fastest to the best, with windows that the content codings allow.
    package var levels: [[String]] {
        rawValue == "brotli" ? [["-q", "0"], ["-q", "5"], ["-q", "11"]] : [["-1"], ["-19"]]
    }

    /// Options for a window that is larger than the content coding allows.
    package var largeWindow: [String] { rawValue == "brotli" ? ["--large_window=26"] : ["--ultra", "-22"] }

    package static var areInstalled: Bool { allCases.allSatisfy { $0.program != nil } }

    private var program: URL? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
        return path.split(separator: ":").map { URL(filePath: "\($0)/\(rawValue)") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path(percentEncoded: false)) }
    }

    /// Whether the tool compresses with a dictionary, as brotli does since 1.1.
    package var hasDictionaries: Bool {
        get async {
            guard let program, let help = try? await ProcessRunner.run(program, ["--help"]) else { return false }
            return (help.text + help.errorText).contains("--dictionary")
        }
    }

    package func encode(_ data: Data, _ options: [String] = []) async throws -> Data {
        let program = try #require(program)
        let output = try await ProcessRunner.run(program, options + ["-c"], input: data)
        try #require(output.exitCode == 0, "\(output.errorText)")
        return output.standardOutput
    }
}
#endif
