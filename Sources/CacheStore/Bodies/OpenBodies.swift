internal import Synchronization

/// The bodies that were opened last, still open: reading one of them again takes no open(2) and no close(2).
///
/// Each use asks for the status of the file. A body whose file was written to, linked or renamed since is dropped. So the
/// caller finds damage as it does by opening the file.
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

    /// The longest body that stays open. The space of a deleted one is free only when it is closed.
    private static let maxByteCount: Int64 = 262_144

    private let isOff: Bool
    private let state: Mutex<State>

    /// - Parameter capacity: The greatest number of open files, 2 at least; 0 for none.
    init(capacity: Int) {
        isOff = capacity <= 0
        state = Mutex(State(bodies: BoundedDictionary(capacity: max(2, capacity))))
    }

    /// Returns an open body, unless its file must be opened.
    func find(_ digest: ContentDigest, byteCount: Int64) -> StoredBody? {
        guard let open = state.withLock({ $0.bodies[digest] }), open.body.byteCount == byteCount else { return nil }
        guard let status = try? open.body.descriptor?.status(), status.isUntouched(since: open.status) else {
            close(digest)
            return nil
        }
        return open.body
    }

    /// Keeps a whole body open that is as its digest says.
    func insert(_ body: StoredBody, _ status: FileStatus) {
        guard !isOff, let digest = body.digest, body.byteCount <= Self.maxByteCount else { return }
        state.withLock { state in
            if !state.isEnded { state.bodies[digest] = Open(body: body, status: status) }
        }
        // A deletion that did not find the body here has come before.
        if (try? body.descriptor?.status())?.linkCount == 0 { close(digest) }
    }

    /// Closes a body once its present readers are done.
    func close(_ digest: ContentDigest) {
        state.withLock { $0.bodies[digest] = nil }
    }

    /// Closes all bodies.
    func closeAll() {
        state.withLock { $0.bodies.removeAll() }
    }

    /// Closes all bodies, and keeps none open until ``begin()``.
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
    /// Whether the file has its bytes and its names since an earlier status.
    fileprivate func isUntouched(since earlier: FileStatus) -> Bool {
        isSameFile(as: earlier) && linkCount == earlier.linkCount && changed == earlier.changed && linkCount > 0
    }
}
