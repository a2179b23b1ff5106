import Foundation
import Samples

/// Measures hits of 16 KiB with `wrk` through the example `cacheproxy`, and through other caches in front of the same
/// file server, in nanoseconds per request.
///
/// Each cache runs on the first processor, `wrk` on the second.
struct Proxy {
    let place: Place
    let executable: URL
    let seconds: Int

    static let wrk = URL(filePath: "/usr/bin/wrk")
    private static let nginx = URL(filePath: "/usr/sbin/nginx")
    private static let varnish = URL(filePath: "/usr/sbin/varnishd")
    private static let taskset = URL(filePath: "/usr/bin/taskset")

    func plan() -> [PlannedWork] {
        [8, 64].map { count in
            PlannedWork("request through cacheproxy, hit, 16 KiB, \(count) connections") { try requests(count) }
        }
    }

    private func requests(_ connections: Int) throws -> Workload {
        let origin = try Origin(place.fresh("proxy files"))
        var sides = [try side("ours", ours(origin), connections)]
        if Self.isInstalled(Self.nginx) {
            // The aim: at least 0.7 times the requests per second of nginx.
            sides.append(try side("nginx, proxy_cache", nginx(origin), connections, aim: .ratio(1 / 0.7)))
        }
        if Self.isInstalled(Self.varnish) { sides.append(try side("Varnish", varnish(origin), connections)) }
        return Workload(operations: 1, rounds: 3, sides: sides)
    }

    private static func isInstalled(_ program: URL) -> Bool {
        FileManager.default.isExecutableFile(atPath: program.path(percentEncoded: false))
    }

    private func side(
        _ name: String, _ cache: Cache, _ connections: Int, aim: Comparison.Aim? = nil
    ) throws -> Workload.Side {
        Workload.Side(elsewhere: name, aim: aim) { _ in
            let load = try LineProcess(
                "wrk", Self.taskset,
                [
                    "-c", "1", Self.wrk.path(percentEncoded: false), "-t1", "-c\(connections)", "-d\(seconds)s",
                    "http://127.0.0.1:\(cache.port)/body.jpg",
                ])
            while true {
                let line = try load.line()
                // wrk counts a non-2xx response like any other, and a broken connection not at all.
                if line.contains("Non-2xx") || line.contains("Socket errors") {
                    throw LineProcess.Ended(description: "\(name): \(line)")
                }
                guard line.hasPrefix("Requests/sec:") else { continue }
                guard let rate = line.split(separator: " ").last.flatMap({ Double($0) }) else { continue }
                return 1e9 / rate
            }
        }
    }

    // MARK: Servers

    /// A file server without freshness information. RFC 9111 §4.2.2: the heuristic lifetime is a tenth of the age of
    /// the file.
    private final class Origin {
        let port: Int
        private let server: LineProcess

        init(_ files: URL) throws {
            let file = files.appending(path: "body.jpg")
            try Sample.body(1, .kib16).write(to: file)
            let old = Date().addingTimeInterval(-31_536_000)
            try FileManager.default.setAttributes(
                [.modificationDate: old], ofItemAtPath: file.path(percentEncoded: false))
            port = try Proxy.freePort()
            server = try LineProcess(
                "python3", URL(filePath: "/usr/bin/env"),
                [
                    "python3", "-m", "http.server", "\(port)", "--bind", "127.0.0.1", "--directory",
                    files.path(percentEncoded: false),
                ],
                isServer: true)
            try Proxy.awaitListener(port)
        }
    }

    /// A running cache, which also keeps its origin alive.
    private struct Cache {
        let port: Int
        let process: LineProcess
        let origin: Origin

        init(port: Int, process: LineProcess, origin: Origin) throws {
            (self.port, self.process, self.origin) = (port, process, origin)
            try Proxy.awaitListener(port)
        }
    }

    private func ours(_ origin: Origin) throws -> Cache {
        let port = try Self.freePort()
        let process = try LineProcess(
            "cacheproxy", Self.taskset,
            [
                "-c", "0", executable.path(percentEncoded: false), "--listen", "127.0.0.1:\(port)", "--origin",
                "http://127.0.0.1:\(origin.port)", "--store",
                place.fresh("proxy").path(percentEncoded: false),
            ], isServer: true)
        return try Cache(port: port, process: process, origin: origin)
    }

    private func nginx(_ origin: Origin) throws -> Cache {
        let port = try Self.freePort()
        let folder = try place.fresh("proxy-nginx")
        let path = folder.path(percentEncoded: false)
        let file = folder.appending(path: "nginx.conf")
        let configuration = """
            daemon off; master_process off; pid \(path)/nginx.pid; error_log \(path)/errors;
            events { worker_connections 512; }
            http {
                access_log off; keepalive_requests 1000000000; sendfile on; tcp_nopush on; open_file_cache max=64;
                client_body_temp_path \(path)/body; proxy_temp_path \(path)/temporary; fastcgi_temp_path \(path)/fastcgi;
                uwsgi_temp_path \(path)/uwsgi; scgi_temp_path \(path)/scgi;
                proxy_cache_path \(path)/cache keys_zone=bodies:1m;
                server {
                    listen 127.0.0.1:\(port);
                    location / {
                        proxy_pass http://127.0.0.1:\(origin.port); proxy_cache bodies; proxy_cache_valid 200 1h;
                    }
                }
            }
            """
        try Data(configuration.utf8).write(to: file)
        let process = try LineProcess(
            "nginx", Self.taskset,
            [
                "-c", "0", Self.nginx.path(percentEncoded: false), "-c", file.path(percentEncoded: false), "-e",
                "\(path)/errors",
            ], isServer: true)
        return try Cache(port: port, process: process, origin: origin)
    }

    private func varnish(_ origin: Origin) throws -> Cache {
        let port = try Self.freePort()
        // varnishd closes the descriptor by which Foundation detects the end of a program. The shell keeps this
        // descriptor open, and ends varnishd when the shell's input ends.
        let process = try LineProcess(
            "varnishd", URL(filePath: "/bin/sh"),
            [
                "-c", "\"$@\" > /dev/null 2>&1 & read -r _; kill -KILL $!; wait", "sh",
                Self.taskset.path(percentEncoded: false),
                "-c", "0", Self.varnish.path(percentEncoded: false),
                "-F", "-a", "127.0.0.1:\(port)", "-b", "127.0.0.1:\(origin.port)", "-t", "3600", "-s", "malloc,64m",
                "-n", place.fresh("proxy-varnish").path(percentEncoded: false),
            ])
        return try Cache(port: port, process: process, origin: origin)
    }

    /// Waits until a server listens, for at most half a minute.
    private static func awaitListener(_ port: Int) throws {
        for _ in 0..<3_000 {
            if withSocket(port, connect) == port { return }
            usleep(10_000)
        }
        throw LineProcess.Ended(description: "nothing listens on port \(port)")
    }

    /// Returns a port that no socket currently uses.
    private static func freePort() throws -> Int {
        guard let port = withSocket(0, bind) else { throw LineProcess.Ended(description: "no free port") }
        return port
    }

    /// Binds or connects a socket, and closes it. Returns the port.
    private static func withSocket(
        _ port: Int, _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int? {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = in_port_t(port).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isDone = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                use(socket, address, length) == 0 && (port > 0 || getsockname(socket, address, &length) == 0)
            }
        }
        return isDone ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }
}
