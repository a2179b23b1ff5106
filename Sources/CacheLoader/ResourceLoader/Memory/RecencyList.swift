/// A list of numbers in the order of their use. Each number is an index into one array of links. The numbers in use
/// form a list from the newest to the oldest, the free numbers another. A use changes only links, so it allocates
/// nothing.
///
///     newest → 3 ⇄ 0 ⇄ 7 ← oldest        free → 1 → 2
///
/// Not generic, so that it is fast even in a table that the compiler did not specialise.
struct RecencyList {
    private struct Links {
        /// The number that was used next; for a free number, the next free one.
        var newer = none
        /// The number that was used before this one.
        var older = none
    }

    private static let none = -1

    private var links: [Links] = []
    private var first = none
    private var last = none
    private var free = none

    init() {}

    /// The count of numbers, including free ones. Every number is less than the count.
    var capacity: Int { links.count }

    var newest: Int? { Self.number(first) }

    var oldest: Int? { Self.number(last) }

    /// Returns the number that was used next after `number`.
    func newer(than number: Int) -> Int? { Self.number(links[number].newer) }

    /// Returns the number that was used last before `number`.
    func older(than number: Int) -> Int? { Self.number(links[number].older) }

    private static func number(_ link: Int) -> Int? { link == none ? nil : link }

    /// Returns a free number, now the newest. If none is free, adds one at the end of the array.
    mutating func add() -> Int {
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

    mutating func touch(_ number: Int) {
        guard number != first else { return }
        unlink(number)
        linkAsNewest(number)
    }

    mutating func remove(_ number: Int) {
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
