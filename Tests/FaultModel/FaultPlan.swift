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
    /// The calls that count.
    package var kinds: CallKinds
    /// The number of the call, from 1 on.
    package var first: UInt64
    /// How many calls in a row fail.
    package var length: UInt64
    /// The errno of the calls that fail.
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

/// The one argument of the program that runs scenarios, as JSON.
package struct ScenarioOptions: Codable, Sendable {
    package enum Mode: Codable, Sendable {
        /// Runs a scenario; the first error ends it.
        case run(Scenario)
        /// Runs a scenario; each step is tried again until it succeeds, and everything is read back.
        case persist(Scenario)
        /// Locks a key, notes `locked`, and holds the lock until the program is killed; or notes `refused`, and ends.
        case lock(String)
        /// Loads the keys that no other process loads, and notes each key that it stored.
        case load([String])
        /// Takes the write lock, notes `taken`, and holds the lock until the program is killed.
        case holdWriteLock
        /// Takes the write lock, holds it for a millisecond and takes it again, until the program is killed. Notes
        /// every tenth time.
        case retakeWriteLock
        /// Stores bodies from four threads without a pause for so many seconds, then notes how many.
        case fill(seconds: Double)
        /// Stores as many bodies, with pauses of up to 4 ms, and notes for each how many microseconds the store took.
        case put(count: Int)
        /// Works as an app or its extension does, until SIGTERM.
        case app(AppWork)
        /// Runs random operations, with the seed and for as many seconds.
        case stress(seed: UInt64, seconds: Double)
    }

    package var mode: Mode
    /// The directory of the store.
    package var directory: String
    /// The file for the notes: a line for each finished step.
    package var journal: String
    /// The fault; `nil` for none.
    package var fault: FaultPlan?
    /// Where to record every change to the directory.
    package var record: String?
    /// Whether acknowledged changes must survive a power cut.
    package var isDurable = false

    package init(_ mode: Mode, directory: String, journal: String) {
        self.mode = mode
        self.directory = directory
        self.journal = journal
    }
}
