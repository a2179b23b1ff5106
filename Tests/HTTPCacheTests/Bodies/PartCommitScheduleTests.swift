import TestSupport

@Suite("PartCommitSchedule") struct PartCommitScheduleTests {
    private let begin = Date(timeIntervalSince1970: 784_111_777)

    @Test(
        "a commit is due after 4 MiB, or after 2 s and 64 KiB, even if the clock is changed",
        arguments: [
            (4_194_303, 0.0, false), (4_194_304, 0, true), (65_536, 1.9, false), (65_536, 2, true),
            (65_535, 3600, false), (65_536, -1, true), (65_535, -1, false),
        ])
    func due(byteCount: Int, seconds: Double, isDue: Bool) {
        for present in [0, 50_000_000] as [Int64] {
            var schedule = PartCommitSchedule(byteCount: present, at: begin)
            let (grown, time) = (present + Int64(byteCount), begin + seconds)
            #expect(schedule.isDue(grown, at: time) == isDue)
            // Only a due commit restarts the count.
            #expect(schedule.isDue(grown + 4_194_303, at: time) == !isDue)
        }
    }
}
