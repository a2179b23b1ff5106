/// How far a memory cache shrinks under memory pressure, and for how long.
///
/// Each share refers to the cost limit. In a cache without a limit, each share refers to the cost when the pressure
/// began.
public struct StressLimits: Hashable, Sendable {
    /// The share to keep after ``MemoryPressure/warning``, from 0 to 1; 0.5 by default.
    public let warning: Double
    /// The share to keep after ``MemoryPressure/critical``, from 0 to 1; 0.1 by default.
    public let critical: Double
    /// How long the limit stays low after a signal; 10 seconds by default. A system repeats its signals while the
    /// pressure lasts, Linux every 2 seconds.
    public let duration: Duration

    /// Creates limits.
    ///
    /// - Precondition: The shares are from 0 to 1, and the duration is not negative.
    public init(warning: Double = 0.5, critical: Double = 0.1, duration: Duration = .seconds(10)) {
        precondition((0...1).contains(warning) && (0...1).contains(critical), "a share is from 0 to 1")
        precondition(duration >= .zero, "a duration is not negative")
        self.warning = warning
        self.critical = critical
        self.duration = duration
    }
}
