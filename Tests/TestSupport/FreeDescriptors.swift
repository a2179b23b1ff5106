/// The remaining file descriptors of the process. For a test in a separate process.
public struct FreeDescriptors: Sendable {
    /// Prepares the process for running out of descriptors.
    public init() async throws {
        // libdispatch traps without a descriptor for the first timer of a clock, such as a time limit's.
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
    public func giveBack(_ taken: [Int32]) { for descriptor in taken { close(descriptor) } }
}
