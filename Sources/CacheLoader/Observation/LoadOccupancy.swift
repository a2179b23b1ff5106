/// The number of loads of a loader and the lengths of its queues, or the changes of these numbers.
package struct LoadOccupancy: Hashable, Sendable {
    /// Loads that have not ended: queued, running, processing, or waiting for another attempt. A load counts once,
    /// regardless of the number of its waiters.
    package var loads = 0
    /// The loads among them that wait for their turn in the urgent lane.
    package var urgentQueue = 0
    /// The loads among them that wait for their turn in the background lane.
    package var backgroundQueue = 0

    package static func - (after: LoadOccupancy, before: LoadOccupancy) -> LoadOccupancy {
        LoadOccupancy(
            loads: after.loads - before.loads, urgentQueue: after.urgentQueue - before.urgentQueue,
            backgroundQueue: after.backgroundQueue - before.backgroundQueue)
    }
}
