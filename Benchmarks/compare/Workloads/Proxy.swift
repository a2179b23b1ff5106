import Foundation
import Samples

/// Measures hits through the example `cacheproxy` with `wrk`, in front of a file server; nanoseconds per request.
struct Proxy {
    let place: Place
    let executable: URL
    let seconds: Int

    static let wrk = URL(filePath: "/usr/bin/wrk")

    func plan() -> [PlannedWork] {
        [PlannedWork("request through cacheproxy, hit, 16 KiB, 8 connections", make: request)]
    }

    private func request() throws -> Workload {
        let files = try place.fresh("proxy files")
        let file = files.appending(path: "body.jpg")
        try Sample.body(1, .kib16).write(to: file)
        // The server sends no freshness information. RFC 9111 §4.2.2: the heuristic lifetime is a tenth of the age of
        // the file.
        let old = Date().addingTimeInterval(-31_536_000)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: file.path(percentEncoded: false))
        let server = try LineProcess(
            "python3", URL(filePath: "/usr/bin/env"),
            [
                "python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory",
                files.path(percentEncoded: false),
            ],
            isServer: true)
        // Serving HTTP on 127.0.0.1 port 43211 (…) ...
        let words = try server.line().split(separator: " ")
        guard let port = words.firstIndex(of: "port").map({ words[$0 + 1] }) else {
            throw LineProcess.Ended(description: "no port")
        }
        let proxy = try LineProcess(
            "cacheproxy", executable,
            [
                "--listen", "127.0.0.1:0", "--origin", "http://127.0.0.1:\(port)", "--store",
                place.fresh("proxy").path(percentEncoded: false),
            ], isServer: true)
        // listening on http://127.0.0.1:43212
        guard let base = try proxy.line().split(separator: " ").last else {
            throw LineProcess.Ended(description: "no address")
        }
        let url = base + "/body.jpg"
        return Workload(
            operations: 1, rounds: 3,
            sides: [
                Workload.Side(elsewhere: "ours") { _ in
                    // Both processes live as long as this closure.
                    _ = (server, proxy)
                    let load = try LineProcess("wrk", Self.wrk, ["-t1", "-c8", "-d\(seconds)s", String(url)])
                    while true {
                        let line = try load.line()
                        guard line.hasPrefix("Requests/sec:") else { continue }
                        guard let rate = line.split(separator: " ").last.flatMap({ Double($0) }) else { continue }
                        return 1e9 / rate
                    }
                }
            ])
    }
}
