/// A change that a memory cache makes by itself.
enum MemoryEvent: Hashable, Sendable {
    /// The cache evicted values, to make room or to free memory.
    case evicted(FreedMemory)
    /// Memory was short, and the cache freed these values, including expired ones.
    case pressure(MemoryPressure, FreedMemory)
}
