import Foundation

/// Another cache, in its own process.
struct Peer {
    /// The operations that a peer supports.
    enum Ability {
        case get, put, open, evict
    }

    let name: String
    let abilities: Set<Ability>
    /// The most operations in a round: some peers are a hundred times slower.
    let maxOperations: Int
    let start: @Sendable (URL) throws -> LineProcess

    /// Returns the installed peers, and the missing ones with the reasons.
    static func all() -> (present: [Peer], absent: [Omission]) {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let built = package.appending(path: ".build/peers")
        let python = built.appending(path: "python/bin/python")
        let jars = ["/usr/share/java/okhttp.jar", "/usr/share/java/okio.jar"]
        let java = URL(filePath: "/usr/bin/java")
        let files = FileManager.default
        func isThere(_ paths: String...) -> Bool { paths.allSatisfy(files.fileExists(atPath:)) }

        var present: [Peer] = []
        var absent: [Omission] = []
        let script = package.appending(path: "peers/diskcache_peer.py").path(percentEncoded: false)
        if isThere(python.path(percentEncoded: false)) {
            present.append(
                Peer(name: "diskcache", abilities: [.get, .put, .open, .evict], maxOperations: 5_000) { directory in
                    try LineProcess("diskcache", python, [script, directory.path(percentEncoded: false)])
                })
        } else {
            absent.append(Omission(work: "diskcache", reason: "peers/install has not installed it"))
        }
        if isThere(
            java.path(percentEncoded: false), jars[0], jars[1],
            built.appending(path: "DiskLruCachePeer.class").path(percentEncoded: false))
        {
            let classes = ([built.path(percentEncoded: false)] + jars).joined(separator: ":")
            present.append(
                Peer(name: "DiskLruCache", abilities: [.get, .put, .open, .evict], maxOperations: 5_000) { directory in
                    try LineProcess(
                        "DiskLruCache", java,
                        ["-cp", classes, "DiskLruCachePeer", directory.path(percentEncoded: false)])
                })
        } else {
            absent.append(Omission(work: "DiskLruCache", reason: "peers/install has not installed it"))
        }
        present.append(
            Peer(name: "URLCache", abilities: [.get, .put, .open], maxOperations: 20) { directory in
                try LineProcess(subcommand: "urlcache", [directory.path(percentEncoded: false)])
            })
        return (present, absent)
    }
}
