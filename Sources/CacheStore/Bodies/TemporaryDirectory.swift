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

/// A directory that only its owner may enter; gone, with all that is in it, with the last reference.
final class TemporaryDirectory {
    let path: String
    private var isKept = false

    /// Makes one whose path is `prefix` and some letters.
    init(at prefix: String) throws(SystemError) {
        // mkdtemp(3) wants six X, and puts letters in their place.
        var template = Array("\(prefix)XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError(call: "mkdtemp", path: prefix) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Makes one among the system's temporary ones; its path has no links, which SQLite is told not to follow.
    convenience init(named prefix: String) throws(SystemError) {
        let parent = FileManager.default.temporaryDirectory.path(percentEncoded: false)
        guard let resolved = realpath(parent, nil) else { throw SystemError(call: "realpath", path: parent) }
        defer { free(resolved) }
        try self.init(at: String(cString: resolved) + "/" + prefix)
    }

    deinit {
        remove()
    }

    /// Removes it now, with all that is in it, unless it is kept.
    func remove() {
        if !isKept { try? FileManager.default.removeItem(atPath: path) }
        isKept = true
    }

    /// Leaves it where it is.
    func keep() {
        isKept = true
    }
}
