/// A real server in a separate process, with a directory for its files.
package final class ServerProcess: Sendable {
    package let directory: TemporaryDirectory
    private let task: Task<ProcessRunner.Output, any Error>

    /// Starts a program and waits until it is ready.
    ///
    /// - Parameter isReady: Whether this server answers, and not another program on its port.
    package init(
        _ program: String, _ arguments: [String], in directory: TemporaryDirectory, isReady: () async -> Bool
    ) async throws {
        self.directory = directory
        task = Task { try await ProcessRunner.run(URL(filePath: program), arguments) }
        for _ in 0..<2_400 {
            if await isReady() { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw URLError(.cannotConnectToHost)
    }

    deinit { task.cancel() }

    /// Starts nginx.
    ///
    /// - Parameter http: The contents of the block `http`, except the paths.
    package static func nginx(
        in directory: TemporaryDirectory, http: String, isReady: () async -> Bool
    ) async throws -> ServerProcess {
        let path = directory.url.path(percentEncoded: false)
        let caches = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(path)/\($0);" }
        let configuration = """
            daemon off; master_process off; pid \(path)/pid; error_log stderr;
            events { worker_connections 4096; }
            http {
                access_log off; \(caches.joined(separator: " "))
                \(http)
            }
            """
        let file = directory.url.appending(path: "nginx.conf")
        try configuration.write(to: file, atomically: true, encoding: .utf8)
        return try await ServerProcess(
            nginxPath, ["-e", "stderr", "-p", path, "-c", file.path(percentEncoded: false)], in: directory,
            isReady: isReady)
    }

    package static let nginxPath = found("nginx")
    package static let pythonPath = found("python3")
    package static var hasNginx: Bool { nginxPath != "" }

    /// Returns the path of an installed program, or an empty text.
    package static func found(_ program: String) -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map { String($0) } + ["/usr/sbin"]
        return folders.map { "\($0)/\(program)" }.first { FileManager.default.isExecutableFile(atPath: $0) } ?? ""
    }

    /// A port that no other test gets from the system, which assigns larger port numbers.
    package static func freePort() -> Int { nextPort.add(1, ordering: .relaxed).oldValue }
    private static let nextPort = Atomic(Int.random(in: 20_000..<31_000))
}
