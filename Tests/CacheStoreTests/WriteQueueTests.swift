import TestSupport

@Suite("WriteQueue")
struct WriteQueueTests {
    enum Step: Sendable {
        case add(String, leads: Bool)
        case next(limit: Int, [String])
        case isFinished(Bool)
    }

    @Test(
        "the first job leads, later jobs wait; the leader finishes when no job waits",
        arguments: [
            [.add("a", leads: true), .next(limit: 9, ["a"]), .isFinished(true), .add("b", leads: true)],
            [.add("a", leads: true), .add("b", leads: false), .next(limit: 9, ["a", "b"]), .isFinished(true)],
            [
                .add("a", leads: true), .next(limit: 9, ["a"]), .add("b", leads: false), .isFinished(false),
                .next(limit: 9, ["b"]), .isFinished(true), .add("c", leads: true),
            ],
            [
                .add("a", leads: true), .add("b", leads: false), .add("c", leads: false), .next(limit: 2, ["a", "b"]),
                .isFinished(false), .add("d", leads: false), .next(limit: 2, ["c", "d"]), .isFinished(true),
            ],
            [
                .add("a", leads: true), .next(limit: 9, ["a"]), .next(limit: 9, []), .add("b", leads: false),
                .isFinished(false),
            ],
        ] as [[Step]])
    func steps(_ steps: [Step]) {
        var batch = WriteQueue<String>()
        for step in steps {
            switch step {
            case .add(let job, let leads): #expect(batch.add(job) == leads, "\(step)")
            case .next(let limit, let jobs): #expect(batch.next(limit: limit) == jobs, "\(step)")
            case .isFinished(let answer): #expect(batch.isFinished() == answer, "\(step)")
            }
        }
    }
}
