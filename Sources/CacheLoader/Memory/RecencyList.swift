/// Numbers in the order of their use. Pure.
///
/// Each number has a place in one array. Those in use are linked from the newest to the oldest, the free ones behind each
/// other; a use changes links and nothing else, so that it allocates nothing.
///
///     newest → 3 ⇄ 0 ⇄ 7 ← oldest        free → 1 → 2
///
/// Not generic, so that a table that was compiled without knowing its types is fast here all the same.
package struct RecencyList {
    private struct Links {
        /// The number that was used next; of a free one, the next free one.
        var newer = none
        /// The number that was used before.
        var older = none
    }

    private static let none = -1

    private var links: [Links] = []
    private var first = none
    private var last = none
    private var free = none

    package init() {}

    /// How many numbers there are, free ones included: all below this.
    package var capacity: Int { links.count }

    /// The number that was used last.
    package var newest: Int? { Self.number(first) }

    /// The number that was used longest ago.
    package var oldest: Int? { Self.number(last) }

    /// The number that was used next after this.
    package func newer(than number: Int) -> Int? { Self.number(links[number].newer) }

    /// The number that was used last before this.
    package func older(than number: Int) -> Int? { Self.number(links[number].older) }

    private static func number(_ link: Int) -> Int? { link == none ? nil : link }

    /// A number that was free, now the newest; the capacity, if none was.
    package mutating func add() -> Int {
        let number = free
        guard number != Self.none else {
            links.append(Links())
            linkAsNewest(links.count - 1)
            return links.count - 1
        }
        free = links[number].newer
        linkAsNewest(number)
        return number
    }

    /// Makes a number the newest.
    package mutating func touch(_ number: Int) {
        guard number != first else { return }
        unlink(number)
        linkAsNewest(number)
    }

    /// Frees a number.
    package mutating func remove(_ number: Int) {
        unlink(number)
        links[number] = Links(newer: free)
        free = number
    }

    private mutating func linkAsNewest(_ number: Int) {
        links[number] = Links(older: first)
        if first == Self.none { last = number } else { links[first].newer = number }
        first = number
    }

    private mutating func unlink(_ number: Int) {
        let (newer, older) = (links[number].newer, links[number].older)
        if newer == Self.none { first = older } else { links[newer].older = older }
        if older == Self.none { last = newer } else { links[older].newer = newer }
    }
}
