/// Decides which numbers of received bytes are reported, so that unread events stay few. A number is due after a
/// thousandth of the announced length. Without that length, it is due after a hundredth of the last number.
package struct ProgressSteps {
    private var reported: Int64 = 0

    package init() {}

    /// Returns whether to report the number. If so, counts from this number on.
    package mutating func isDue(_ received: Int64, of total: Int64?) -> Bool {
        let step = total.map { ($0 - 1) / 1_000 + 1 } ?? max(1, reported / 100)
        guard received - reported >= step || received == total && received > reported else { return false }
        reported = received
        return true
    }
}
