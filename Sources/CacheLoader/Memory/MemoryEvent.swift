/// What happens to the values of a memory cache by itself.
package enum MemoryEvent: Hashable, Sendable {
    /// Values had to go, to make room or to free memory.
    case evicted(FreedMemory)
    /// Memory was short, and this was freed, what had expired included.
    case pressure(MemoryPressure, FreedMemory)
}
