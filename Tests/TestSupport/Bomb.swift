/// A tool that encodes zeros in at most a thousandth of their length.
package struct Bomb: CustomTestStringConvertible, Sendable {
    /// The number of zeros, far more than a reader may hold.
    package static let byteCount = 256 << 20

    /// The name of the content coding.
    package let coding: String
    private let tool: String
    private let options: [String]

    package static let gzip = Bomb(coding: "gzip", tool: "gzip", options: [])
    package static let brotli = Bomb(coding: "br", tool: "brotli", options: ["-q", "5", "-w", "24"])
    package static let zstd = Bomb(coding: "zstd", tool: "zstd", options: [])

    /// One bomb for each content coding of this build.
    package static var all: [Bomb] {
        var all = [gzip]
        #if Brotli
        all.append(brotli)
        #endif
        #if Zstd
        all.append(zstd)
        #endif
        return all
    }

    package static var areToolsInstalled: Bool { all.allSatisfy { $0.program != nil } }

    package var testDescription: String { coding }

    private var program: URL? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
        return path.split(separator: ":").map { URL(filePath: "\($0)/\(tool)") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path(percentEncoded: false)) }
    }

    /// Returns the encoded zeros.
    package func body() async throws -> Data {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "zeros")
        try Data().write(to: file)
        // A sparse file, which takes no space.
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: UInt64(Self.byteCount))
        try handle.close()
        let program = try #require(program)
        let output = try await ProcessRunner.run(program, options + ["-c", file.path(percentEncoded: false)])
        try #require(output.exitCode == 0, "\(output.errorText)")
        return output.standardOutput
    }
}
