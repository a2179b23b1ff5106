import CacheTier
import TestSupport

/// A real engine in a separate process.
final class EngineProcess: Sendable {
    let url: String
    private let process: ServerProcess

    private init(url: String, process: ServerProcess) {
        self.url = url
        self.process = process
    }

    /// nginx with its DAV module, configured as in the article.
    static func nginx() async throws -> EngineProcess {
        let directory = try TemporaryDirectory()
        let root = directory.url.appending(path: "root")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        let port = ServerProcess.freePort()
        let process = try await ServerProcess.nginx(
            in: directory,
            http: """
                client_max_body_size 64m;
                server {
                    listen 127.0.0.1:\(port);
                    root \(root.path(percentEncoded: false));
                    location / { dav_methods PUT DELETE; create_full_put_path on; }
                }
                """
        ) { await answers(port) }
        return EngineProcess(url: "http://127.0.0.1:\(port)/tier", process: process)
    }

    /// The S3 server of moto, with an empty bucket.
    static func s3() async throws -> EngineProcess {
        let port = ServerProcess.freePort()
        let process = try await ServerProcess(
            motoPath, ["-H", "127.0.0.1", "-p", "\(port)"], in: TemporaryDirectory()
        ) { await answers(port) }
        let bucket = HTTPRequest(method: .put, scheme: "http", authority: "127.0.0.1:\(port)", path: "/bucket")
        let response = try await DefaultTransport().send(bucket, content: nil)
        guard response.head.status == .ok else { throw URLError(.badServerResponse) }
        return EngineProcess(url: "http://127.0.0.1:\(port)/bucket/prefix", process: process)
    }

    static let motoPath = ServerProcess.found("moto_server")
    static var hasNginx: Bool { ServerProcess.hasNginx }
    static var hasMoto: Bool { motoPath != "" }

    /// Sends a signal to nginx.
    func signal(_ number: Int32) throws {
        let text = try String(contentsOf: process.directory.url.appending(path: "pid"), encoding: .utf8)
        guard let process = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw URLError(.unknown)
        }
        _ = kill(process, number)
    }

    private static func answers(_ port: Int) async -> Bool {
        let request = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(port)", path: "/")
        return (try? await DefaultTransport().send(request, content: nil)) != nil
    }
}
