/// How much a loader has under way, or how that has changed.
package struct LoadOccupancy: Hashable, Sendable {
    /// Loads that wait for their turn or for another attempt, or whose transfer is under way, however many wait for each.
    package var flights = 0
    /// Those of them that wait for their turn in the urgent lane.
    package var urgentQueue = 0
    /// Those of them that wait for their turn in the background.
    package var backgroundQueue = 0

    package static func - (after: LoadOccupancy, before: LoadOccupancy) -> LoadOccupancy {
        LoadOccupancy(
            flights: after.flights - before.flights, urgentQueue: after.urgentQueue - before.urgentQueue,
            backgroundQueue: after.backgroundQueue - before.backgroundQueue)
    }
}
