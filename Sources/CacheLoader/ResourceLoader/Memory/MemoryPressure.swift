/// The degree of memory shortage in a system or a process.
@nonexhaustive
public enum MemoryPressure: Hashable, Sendable, CaseIterable {
    /// Work slows down because memory is short.
    case warning
    /// Hardly any work gets done, or the system may soon end the process.
    case critical
}
