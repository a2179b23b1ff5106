/// How far a memory cache shrinks under memory pressure, and for how long.
///
/// A share is of the cost limit; of a cache without a limit, of what it held when the pressure began.
public struct StressLimits: Hashable, Sendable {
    /// The share that is kept after ``MemoryPressure/warning``, from 0 to 1; a half by default.
    public let warning: Double
    /// The share that is kept after ``MemoryPressure/critical``, from 0 to 1; a tenth by default.
    public let critical: Double
    /// How long after a signal the limit stays low; 10 seconds by default. While pressure lasts a system repeats its
    /// signals, Linux every 2 seconds.
    public let duration: Duration

    /// Creates limits.
    ///
    /// - Precondition: Shares from 0 to 1, and a duration that is not negative.
    public init(warning: Double = 0.5, critical: Double = 0.1, duration: Duration = .seconds(10)) {
        precondition((0...1).contains(warning) && (0...1).contains(critical), "a share is from 0 to 1")
        precondition(duration >= .zero, "a duration is not negative")
        self.warning = warning
        self.critical = critical
        self.duration = duration
    }
}
