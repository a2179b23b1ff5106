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
    /// Requests for which the tier had no usable response.
    public var misses = 0
    /// Misses that the tier answered after all, because the origin confirmed a stale response by a 304.
    public var validations = 0
    /// Misses that the tier answered with a stale response, because the origin failed.
    public var staleAnswers = 0
    /// Requests for which the tier did not answer in time.
    public var timeouts = 0
    /// Requests for which the engine failed.
    public var errors = 0
    /// Requests that did not ask the engine because the breaker was open.
    public var skipped = 0
    /// Bodies whose rest came from the origin, because the tier failed while they arrived.
    public var resumedBodies = 0
    /// Written records.
    public var writes = 0
    /// Records and removals that the engine did not accept. Removals are repeated.
    public var failedWrites = 0
    /// Dropped records: too many bytes were waiting, the breaker was open, or a removal came after the request. Also
    /// bodies that do not match their heads, and the first response of a URL with other names in `Vary`.
    public var droppedWrites = 0
    /// Removals by unsafe requests that the engine accepted. A URL of which the tier has nothing needs none.
    public var removals = 0
    /// Refused objects, by reason.
    public var refused = Refusals()
}
