#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The directory that an import fills: beside its destination, whose name it takes when it is whole.
///
/// If it is not kept, it goes with the last reference, and so do directories that were made on the way to it.
final class ImportDirectory {
    var path: String { directory.path }
    let root: FileDescriptor
    var indexPath: String { path + "/index.sqlite" }

    private let destination: String
    private let directory: TemporaryDirectory
    private let way: MadeDirectories

    /// - Throws: ``StoreError/unusableDirectory(path:reason:)`` where there is something at `url` already.
    init(for url: URL) throws(StoreError) {
        way = MadeDirectories(leadingTo: url)
        let place = try StoreDirectory(creating: url)
        guard try mapping({ () throws(SystemError) in try place.root.names().isEmpty }) else {
            throw Self.occupied(place.path)
        }
        destination = place.path
        let parent = place.path.split(separator: "/").dropLast().joined(separator: "/")
        directory = try mapping { () throws(SystemError) in
            try TemporaryDirectory(at: "/\(parent)\(parent.isEmpty ? "" : "/").cachestore-import-")
        }
        root = try mapping { [directory] () throws(SystemError) in
            try FileDescriptor.openDirectory(atPath: directory.path)
        }
    }

    deinit {
        // What is on the way to it must be empty to go.
        directory.remove()
    }

    /// Puts the directory in the place of the empty one: whoever looks sees one or the other.
    func keep() throws(StoreError) {
        do throws(SystemError) {
            try FileDescriptor.retrying("rename", destination) { rename(path, destination) }
        } catch {
            // Somebody has begun a store there.
            throw [ENOTEMPTY, EEXIST].contains(error.errno) ? Self.occupied(destination) : .file(error)
        }
        directory.keep()
        way.keep()
    }

    private static func occupied(_ path: String) -> StoreError {
        .unusableDirectory(
            path: path, reason: "there is something in it already; an archive needs a new or empty directory")
    }
}

/// Directories that were not there, and are not left behind if they turn out not to be needed.
private final class MadeDirectories {
    /// The innermost first.
    private var paths: [String] = []

    init(leadingTo url: URL) {
        var path = url.path(percentEncoded: false)
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        var status = stat()
        while !path.isEmpty, lstat(path, &status) != 0, errno == ENOENT {
            paths.append(path)
            let parent = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
            path = String(parent)
        }
    }

    func keep() {
        paths = []
    }

    deinit {
        // Only empty ones: what others have put there meanwhile stays.
        for path in paths { rmdir(path) }
    }
}
