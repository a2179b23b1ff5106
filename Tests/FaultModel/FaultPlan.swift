/// Kinds of system calls, as in cfaults.h.
package struct CallKinds: OptionSet, Codable, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package static let open = CallKinds(rawValue: 1)
    package static let read = CallKinds(rawValue: 2)
    package static let write = CallKinds(rawValue: 4)
    package static let name = CallKinds(rawValue: 8)
    package static let resize = CallKinds(rawValue: 16)
    package static let sync = CallKinds(rawValue: 32)
    package static let mode = CallKinds(rawValue: 64)

    /// Calls that change files, and calls that make a change durable.
    package static let changes: CallKinds = [.write, .name, .resize, .sync, .mode]
    package static let all: CallKinds = [.changes, .open, .read]
}

/// The fault of a run, and the call at which it happens.
package struct FaultPlan: Codable, Hashable, Sendable {
    /// As in cfaults.h.
    package enum Action: Int32, Codable, Sendable {
        case count, killBefore, killWithin, killAfter, fail, shorten
    }

    package var action: Action
    /// The kinds of calls that count.
    package var kinds: CallKinds
    /// The number of the call, starting at 1.
    package var first: UInt64
    /// The number of consecutive failing calls.
    package var length: UInt64
    /// The errno of the failing calls.
    package var error: Int32

    /// Whether the error means that the disk is full: ENOSPC, EDQUOT.
    package var isFullDisk: Bool { error == 28 || error == 122 }

    package init(_ action: Action, _ kinds: CallKinds, at first: UInt64 = 1, length: UInt64 = 1, error: Int32 = 0) {
        self.action = action
        self.kinds = kinds
        self.first = first
        self.length = length
        self.error = error
    }
}

/// The program's argument, as JSON.
package struct ScenarioOptions: Codable, Sendable {
    package enum Mode: Codable, Sendable {
        /// Runs a scenario and stops at the first error.
        case run(Scenario)
        /// Runs a scenario, repeats each step until it succeeds, and reads everything back.
        case persist(Scenario)
        /// Locks a key, notes `locked`, and holds the lock until the program is killed. If the lock is taken, notes
        /// `refused` and exits.
        case lock(String)
        /// Loads the keys that no other process loads, and notes each stored key.
        case load([String])
        /// Takes the write lock, notes `taken`, and holds the lock until the program is killed.
        case holdWriteLock
        /// Takes the write lock, holds it for a millisecond and takes it again, until the program is killed. Notes
        /// every tenth time.
        case retakeWriteLock
        /// Works as an app or its extension does, until SIGTERM.
        case app(AppWork)
        /// Runs random operations with the seed, for this many seconds.
        case stress(seed: UInt64, seconds: Double)
    }

    package var mode: Mode
    /// The directory of the store.
    package var directory: String
    /// The file for the notes: one line for each finished step.
    package var journal: String
    /// The fault, or `nil`.
    package var fault: FaultPlan?
    /// The file that records every change to the directory.
    package var record: String?
    /// Whether acknowledged changes must survive a power cut.
    package var isDurable = false

    package init(_ mode: Mode, directory: String, journal: String) {
        self.mode = mode
        self.directory = directory
        self.journal = journal
    }
}
