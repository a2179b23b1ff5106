internal import Synchronization

/// Keeps recently read bodies open: a second read needs neither open(2) nor close(2). Each lookup asks for the status
/// of the file. A body is closed if its file was written, linked or renamed since, so damage is found as if the file
/// had been opened again.
final class OpenBodies: Sendable {
    private struct Open: Sendable {
        let body: StoredBody
        let status: FileStatus
    }

    private struct State {
        var bodies: BoundedDictionary<ContentDigest, Open>
        /// Whether the store is suspended or closed.
        var isEnded = false
    }

    /// The longest body that stays open. A deleted file takes space until it is closed.
    private static let maxByteCount: Int64 = 262_144

    private let isOff: Bool
    private let state: Mutex<State>

    /// - Parameter capacity: The greatest number of open files, at least 2, or 0 for none.
    init(capacity: Int) {
        isOff = capacity <= 0
        state = Mutex(State(bodies: BoundedDictionary(capacity: max(2, capacity))))
    }

    /// Returns the open body. With `nil`, the caller opens the file.
    func find(_ digest: ContentDigest, byteCount: Int64) -> StoredBody? {
        guard let open = state.withLock({ $0.bodies[digest] }), open.body.byteCount == byteCount else { return nil }
        guard let status = try? open.body.descriptor?.status(), status.isUntouched(since: open.status) else {
            close(digest)
            return nil
        }
        return open.body
    }

    /// Keeps a body open. The caller has found the body whole and undamaged.
    func insert(_ body: StoredBody, _ status: FileStatus) {
        guard !isOff, let digest = body.digest, body.byteCount <= Self.maxByteCount else { return }
        state.withLock { state in
            if !state.isEnded { state.bodies[digest] = Open(body: body, status: status) }
        }
        // The file may have been deleted before this insertion, when `close(_:)` could not find the body.
        if (try? body.descriptor?.status())?.linkCount == 0 { close(digest) }
    }

    /// Closes a body when its readers release it.
    func close(_ digest: ContentDigest) {
        state.withLock { $0.bodies[digest] = nil }
    }

    /// Closes all bodies.
    func closeAll() {
        state.withLock { $0.bodies.removeAll() }
    }

    /// Closes all bodies. Keeps no body open until ``begin()``.
    func end() {
        state.withLock { state in
            state.bodies.removeAll()
            state.isEnded = true
        }
    }

    /// Keeps bodies open again after ``end()``.
    func begin() {
        state.withLock { $0.isEnded = false }
    }
}

extension FileStatus {
    /// Whether the file has not been written, linked or renamed since an earlier status.
    fileprivate func isUntouched(since earlier: FileStatus) -> Bool {
        isSameFile(as: earlier) && linkCount == earlier.linkCount && changed == earlier.changed && linkCount > 0
    }
}
