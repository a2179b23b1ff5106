/// One operation of a scenario on a store.
package enum Step: Hashable, Sendable {
    /// Stores a body and replaces the key's earlier one.
    case put(String, Version)
    /// Begins a body and discards it.
    case abandon(Version)
    /// Stores the beginning of a body as a part twice, then replaces it with the whole.
    case grow(String, Version)
    /// Stores the beginning of a body as a part twice, and discards the rest.
    case breakOff(String, Version)
    /// Reads a body and counts the access.
    case get(String)
    /// Changes the metadata of the entry and keeps its body.
    case freshen(String)
    /// Counts a failed load.
    case fail(String)
    /// Stores a representation derived from the body (see ``Version/form``).
    case derive(String)
    case remove(String)
    case evict(maxBytes: Int64)
    case sweep
    case flush
    /// Closes the store and opens it again.
    case reopen
    /// Opens a second store, then closes the first: the WAL survives, as when another process has the store open.
    case handOver
}

/// The scenarios that run with faults.
package enum Scenario: String, Codable, Sendable, CaseIterable {
    /// Every operation of a store, once or twice.
    case everything
    /// Derived representations, and their removal.
    case forms
    /// Bodies whose beginnings are stored before the whole.
    case parts
    /// Enough pages for a checkpoint during writes, a checkpoint that the writer waits for, and a restart of the WAL in
    /// use.
    case checkpoints

    package var steps: [Step] {
        switch self {
        case .everything: Self.everySteps
        case .forms:
            [
                .put("a", Version(1, 5_000)), .derive("a"), .derive("a"), .put("a", Version(1, 5_000)), .freshen("a"),
                .put("a", Version(2, 5_000)), .derive("a"), .put("twin", Version(2, 5_000)), .derive("twin"),
                .remove("a"), .reopen, .get("twin"), .put("b", Version(3, 20)), .derive("b"), .evict(maxBytes: 4_500),
                .flush, .remove("b"), .sweep,
            ]
        case .parts:
            [
                .grow("a", Version(1, 60_000)), .breakOff("a", Version(2, 90_000)), .get("a"),
                .breakOff("b", Version(2, 90_000)),
                .grow("b", Version(2, 90_000)), .put("c", Version(3, 30_000)), .grow("c", Version(3, 30_000)),
                .breakOff("d", Version(4, 50_000)), .reopen, .grow("d", Version(5, 50_000)), .remove("a"),
                .breakOff("e", Version(6, 80_000)), .sweep, .evict(maxBytes: 100_000), .flush,
                .grow("e", Version(6, 80_000)),
            ]
        case .checkpoints:
            // A field line of 200,000 bytes takes fifty pages (see `head(of:)`).
            (0..<100).map { .put("key \($0 % 4)", Version(UInt64($0 % 7) + 1, 1_000)) } + [.reopen, .get("key 1")]
        }
    }

    private static var everySteps: [Step] {
        let large = Version(3, 300_000)
        let shared = Version(2, 4_096)
        let again = Version(5, 5_000)
        return [
            .put("a", Version(1, 100)), .put("b", shared), .put("large", large), .put("twin", shared),
            .put("a", Version(4, 20_000)), .put("a", Version(4, 20_000)), .get("large"), .freshen("b"),
            .derive("a"), .derive("b"), .derive("twin"),
            .fail("late"), .fail("late"), .put("late", Version(6, 1_000)), .put("empty", Version(7, 0)),
            .remove("b"), .abandon(Version(8, 50_000)), .put("middle", Version(9, 70_000)),
            .handOver,
            .put("again", again), .remove("again"), .put("again", again), .put("heir", large), .remove("large"),
            .fail("never"), .get("a"), .derive("heir"), .evict(maxBytes: 330_000), .put("tail", Version(10, 3)),
            .reopen,
            .get("tail"), .put("tail", Version(11, 9_000)), .sweep, .flush, .evict(maxBytes: 1_000),
            .put("end", Version(12, 2_000)),
        ]
    }

    /// The field lines of every entry.
    package var head: [UInt8] {
        let line = "Content-Type: text/plain\n"
        guard self == .checkpoints else { return Array(line.utf8) }
        return Array((line + "X: ").utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 200_000) + Array("\n".utf8)
    }
}
