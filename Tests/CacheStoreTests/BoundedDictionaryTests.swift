import TestSupport

@Suite("BoundedDictionary")
struct BoundedDictionaryTests {
    @Test("drops unused keys, keeps the most recently used ones, and removes a key on request")
    func full() {
        var values = BoundedDictionary<Int, Int>(capacity: 8)
        #expect(values.isEmpty)
        for key in 1...4 { values[key] = key }
        // These keys are now in the old half. A use moves the first two out of it.
        values[5] = 5
        #expect([values[1], values[2]] == [1, 2])
        values[2] = 22
        values[6] = 6
        values[7] = 7
        #expect([1, 2, 3, 4, 5, 6, 7].map { values[$0] } == [1, 22, nil, nil, 5, 6, 7])
        for key in 1...7 { values[key] = nil }
        #expect(values.isEmpty)
    }

    @Test("keeps at most the capacity, and at least the latest half")
    func bound() {
        var values = BoundedDictionary<Int, Int>(capacity: 10)
        for key in 0..<1_000 {
            values[key] = key
            var present = 0
            // A copy, because a lookup counts as a use.
            for earlier in 0...key {
                var copy = values
                if copy[earlier] != nil { present += 1 }
            }
            #expect(present <= 10)
            for latest in max(0, key - 4)...key { #expect(values[latest] == latest) }
        }
        values.removeAll()
        #expect(values.isEmpty)
    }
}
