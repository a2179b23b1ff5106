internal import Foundation

/// The file descriptors that the process has left. For a test in a process of its own.
public struct FreeDescriptors: Sendable {
    /// Prepares the process to have none left.
    public init() async throws {
        // libdispatch traps if it has no descriptor for the first timer of a clock, such as that of a time limit.
        try await ContinuousClock().sleep(for: .milliseconds(1))
        try await SuspendingClock().sleep(for: .milliseconds(1))
    }

    /// Opens files until the process can open no more, and returns their descriptors.
    @discardableResult
    public func takeAll() -> [Int32] {
        var taken: [Int32] = []
        while true {
            let descriptor = open("/dev/null", O_RDONLY)
            if descriptor == -1 { return taken }
            taken.append(descriptor)
        }
    }

    /// Closes the files of ``takeAll()``.
    public func giveBack(_ taken: [Int32]) {
        for descriptor in taken { close(descriptor) }
    }
}
