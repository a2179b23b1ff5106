/// The processor time of a thread. Unlike elapsed time, it does not grow while other work occupies the processor.
public enum ThreadTime {
    /// The processor time of the calling thread so far.
    public static func now() -> Duration {
        var time = timespec()
        precondition(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
