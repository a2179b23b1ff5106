/// The counts of a tier since its creation.
public struct TierStatistics: Hashable, Sendable {
    /// The reasons why objects of the engine were refused; each is a miss.
    public struct Refusals: Hashable, Sendable {
        /// Records that are no records, or are too long.
        public var malformed = 0
        /// Records under a key that this machine does not know.
        public var unknownKey = 0
        /// Records whose proof does not fit: altered, or under another name.
        public var forged = 0
        /// Old records that were written once more.
        public var replayed = 0
        /// Chunks of bodies that do not fit their record. The rest of the body came from the origin.
        public var damagedBodies = 0
        /// Records from the future: the engine's clock was set back.
        public var fromFuture = 0
    }

    /// Requests that the tier answered.
    public var hits = 0
    /// Requests that asked tier and origin at once, and to which the origin's response came before that of the tier.
    public var lateHits = 0
    /// Requests for which the tier had no usable response.
    public var misses = 0
    /// Requests for which the tier did not answer in time.
    public var timeouts = 0
    /// Requests for which the engine failed.
    public var errors = 0
    /// Requests that did not ask the engine because the breaker was open.
    public var skipped = 0
    /// Bodies whose rest came from the origin, because the tier failed while they arrived.
    public var resumedBodies = 0
    /// Requests to the origin for which this process has taken a lease, so that other machines wait for the response.
    /// Only leases that the engine has confirmed: a `PUT` without an answer may have arrived.
    public var leases = 0
    /// Requests that have waited for the response of another machine.
    public var waits = 0
    /// Of these, requests that the tier has answered afterwards. They count as hits, and not as misses.
    public var waitedHits = 0
    /// Records that were written.
    public var writes = 0
    /// Records, removals and new epochs that the engine did not take. Removals are repeated.
    public var failedWrites = 0
    /// Records that were dropped: too many bytes or writes waited, the breaker was open, an epoch was unknown, or the
    /// body had another length or digest than its head states. Also records that a 304 renews, if their body could not
    /// be read.
    public var droppedWrites = 0
    /// Reads of epochs that do not count: older than a known one, or from a cache in front of the engine.
    public var unusableEpochs = 0
    /// Epochs that this process has written because the engine had none, one without a proof, or an older one again.
    public var newEpochs = 0
    /// Refused objects, by reason.
    public var refused = Refusals()
}
