import CacheLoader
import Testing

@Suite("BoundedDictionary")
struct BoundedDictionaryTests {
    @Test("a new key drops all others when the dictionary is full; a present key drops none")
    func full() {
        var values = BoundedDictionary<Int, String>(capacity: 2)
        #expect(values.isEmpty)
        values[1] = "one"
        values[2] = "two"
        values[2] = "second"
        values[3] = nil
        #expect([1, 2, 3].map { values[$0] } == ["one", "second", nil])
        values[3] = "three"
        #expect([1, 2, 3].map { values[$0] } == [nil, nil, "three"])
        values[3] = nil
        #expect(values.isEmpty)
    }
}
