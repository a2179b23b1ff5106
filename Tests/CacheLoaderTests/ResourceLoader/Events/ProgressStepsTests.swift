import TestSupport

@Suite("ResourceLoader: steps of progress") struct ProgressStepsTests {
    @Test(
        "A known length is reported in at most a thousand steps, the last of them the whole", .requirement("I1"),
        arguments: [
            (1, 1), (999, 999), (1_000, 1_000), (30_000, 1_000), (1_048_577, 1_000),
        ])
    func known(total: Int64, most: Int) {
        var steps = ProgressSteps()
        let reported = (0...total).filter { steps.isDue($0, of: total) }
        #expect((min(most, 500)...most).contains(reported.count))
        #expect(reported.last == total)
        #expect(reported.first == (total + 999) / 1_000)
    }

    @Test("An unknown length is reported in steps of a hundredth, each number once", .requirement("I1"))
    func unknown() {
        var steps = ProgressSteps()
        let reported = (0...1_000_000).filter { steps.isDue(Int64($0), of: nil) }
        // 100 steps of one byte, then log 10,000 / log 1.01 larger steps.
        #expect((900...1_200).contains(reported.count))
        #expect(reported.prefix(3) == [1, 2, 3])
        #expect(zip(reported, reported.dropFirst()).allSatisfy { $1 - $0 <= max(1, $0 / 50) })
        let isDueAgain = steps.isDue(Int64(reported.last ?? 0), of: nil)
        #expect(!isDueAgain)
    }
}
