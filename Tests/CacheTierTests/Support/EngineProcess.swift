import CacheLoader
import CacheStoreTesting
import CacheTier
import Foundation
import HTTPTypes
import Synchronization
import TestSupport

/// A real engine in a process of its own.
final class EngineProcess: Sendable {
    let url: String
    private let directory: TemporaryDirectory
    private let port: Int
    private let task: Task<ProcessRunner.Output, any Error>

    private init(
        url: String, directory: TemporaryDirectory, port: Int, task: Task<ProcessRunner.Output, any Error>
    ) {
        self.url = url
        self.directory = directory
        self.port = port
        self.task = task
    }

    deinit {
        task.cancel()
    }

    /// nginx with its DAV module, as the article configures it.
    static func nginx() async throws -> EngineProcess {
        let directory = try TemporaryDirectory()
        let port = freePort()
        try FileManager.default.createDirectory(
            at: directory.url.appending(path: "root"), withIntermediateDirectories: true)
        let path = directory.url.path(percentEncoded: false)
        let caches = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(path)/\($0);" }
        let configuration = """
            daemon off; master_process off; pid \(path)/pid; error_log stderr;
            events {}
            http {
                access_log off; \(caches.joined(separator: " "))
                client_max_body_size 64m;
                server {
                    listen 127.0.0.1:\(port);
                    root \(path)/root;
                    location / { dav_methods PUT DELETE; create_full_put_path on; }
                }
            }
            """
        let file = directory.url.appending(path: "nginx.conf")
        try configuration.write(to: file, atomically: true, encoding: .utf8)
        return try await start(
            nginxPath, ["-e", "stderr", "-p", path, "-c", file.path(percentEncoded: false)], folder: "tier", directory,
            port)
    }

    /// The S3 server of moto, with an empty bucket.
    static func s3() async throws -> EngineProcess {
        let port = freePort()
        let engine = try await start(
            motoPath, ["-H", "127.0.0.1", "-p", "\(port)"], folder: "bucket/prefix", TemporaryDirectory(), port)
        let bucket = HTTPRequest(method: .put, scheme: "http", authority: "127.0.0.1:\(port)", path: "/bucket")
        let response = try await DefaultTransport().send(bucket, content: nil)
        guard response.head.status == .ok else { throw URLError(.badServerResponse) }
        return engine
    }

    static let nginxPath = found("nginx")
    static let motoPath = found("moto_server")
    static var hasNginx: Bool { nginxPath != "" }
    static var hasMoto: Bool { motoPath != "" }

    /// Sends a signal to nginx.
    func signal(_ number: Int32) throws {
        let text = try String(contentsOf: directory.url.appending(path: "pid"), encoding: .utf8)
        guard let process = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw URLError(.unknown)
        }
        _ = kill(process, number)
    }

    private static func start(
        _ program: String, _ arguments: [String], folder: String, _ directory: TemporaryDirectory, _ port: Int
    ) async throws -> EngineProcess {
        let task = Task { try await ProcessRunner.run(URL(filePath: program), arguments) }
        let engine = EngineProcess(
            url: "http://127.0.0.1:\(port)/\(folder)", directory: directory, port: port, task: task)
        // Only a response shows that a program of another project listens.
        let request = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(port)", path: "/")
        for _ in 0..<2_400 {
            if (try? await DefaultTransport().send(request, content: nil)) != nil { return engine }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw URLError(.cannotConnectToHost)
    }

    /// A port that the system gives to no other test: the ports that it chooses are larger.
    private static func freePort() -> Int { nextPort.add(1, ordering: .relaxed).oldValue }
    private static let nextPort = Atomic(Int.random(in: 20_000..<31_000))

    private static func found(_ program: String) -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map { String($0) } + ["/usr/sbin"]
        return folders.map { "\($0)/\(program)" }.first { FileManager.default.isExecutableFile(atPath: $0) } ?? ""
    }
}
