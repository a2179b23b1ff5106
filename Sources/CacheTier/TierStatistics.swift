/// The counts of a tier since its creation.
public struct TierStatistics: Hashable, Sendable {
    /// The numbers of refused objects by reason. Each refusal is a miss.
    public struct Refusals: Hashable, Sendable {
        /// Records that cannot be decoded or are too long.
        public var malformed = 0
        /// Records under a key unknown to this machine.
        public var unknownKey = 0
        /// Records with a wrong proof: altered, or stored under another name.
        public var forged = 0
        /// Old records that were written again.
        public var replayed = 0
        /// Chunks of bodies that do not match their record. The rest of the body came from the origin.
        public var damagedBodies = 0
        /// Records from the future: the engine's clock was set back.
        public var fromFuture = 0
    }

    /// Requests that the tier answered.
    public var hits = 0
    /// Requests that asked tier and origin in parallel and got the origin's response first, although the tier had a
    /// hit.
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
    /// Requests to the origin for which this process took a lease, so that other machines wait for the response. Counts
    /// only confirmed leases: a `PUT` without an answer may have arrived.
    public var leases = 0
    /// Requests that waited for the response of another machine.
    public var waits = 0
    /// Waiting requests that the tier answered afterwards. They count as hits and not as misses.
    public var waitedHits = 0
    /// Written records.
    public var writes = 0
    /// Records, removals and new epochs that the engine did not accept. Removals are repeated.
    public var failedWrites = 0
    /// Dropped records: too many bytes or writes were waiting, the breaker was open, an epoch was unknown, or the body
    /// did not match the length or digest in its head. Also records that a 304 renews, if their body could not be read.
    public var droppedWrites = 0
    /// Reads of epochs that do not count: older than a known epoch, or from a cache in front of the engine.
    public var unusableEpochs = 0
    /// Epochs that this process wrote because the engine had none, one without a proof, or an older one.
    public var newEpochs = 0
    /// Refused objects, by reason.
    public var refused = Refusals()
}
