#if os(Linux)
import FaultModel
import TestSupport

/// A program that works on the store of a laboratory as an app or its extension.
struct AppProcess: Sendable {
    let work: AppWork
    let child: Child
    private let journal: String
    private let store: String

    init(_ name: String, memoryLimit: UInt64, _ laboratory: Laboratory) throws {
        work = AppWork(name: name, memoryLimit: memoryLimit)
        var options = laboratory.options(.app(work))
        options.journal += "-" + name
        journal = options.journal
        store = laboratory.storePath
        // RLIMIT_DATA counts the stacks of threads. The stacks have the size of iOS's.
        child = try laboratory.start(options, limits: "ulimit -s 512 && ulimit -d \(memoryLimit / 1024)")
    }

    // MARK: Control

    /// Suspends the store and stops the process, as the system does.
    func suspend() async throws {
        try await request(SIGUSR1, "suspended")
        child.send(SIGSTOP)
    }

    /// Continues the process, and resumes the store.
    func resume() async throws {
        child.send(SIGCONT)
        try await request(SIGUSR2, "resumed")
    }

    /// Ends the work.
    func terminate() async -> Child.Ending {
        child.send(SIGTERM)
        return await child.wait()
    }

    private func request(_ signal: Int32, _ answer: String) async throws {
        let count = notes.count { $0 == answer }
        child.send(signal)
        try await wait { $0.notes.count { $0 == answer } > count }
    }

    // MARK: State

    /// Waits until every thread has stored more bodies.
    func goesOn() async throws {
        let before = steps
        try await wait { process in
            let now = process.steps
            return (0..<AppWork.threadCount).allSatisfy { now[$0, default: 0] > before[$0, default: 0] + 2 }
        }
    }

    func wait(until isTrue: (AppProcess) throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(100)
        while try !isTrue(self) {
            try #require(!child.hasEnded, "\(work.name): \(notes.suffix(5))")
            try #require(ContinuousClock.now < end, "\(work.name): \(notes.suffix(5))")
            await Task.yield()
        }
    }

    /// The notes of the process, whole lines only.
    var notes: [String] {
        let text = (try? String(contentsOfFile: journal, encoding: .utf8)) ?? ""
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    func contains(_ note: String) -> Bool { notes.contains(note) }

    /// The last acknowledged step of each key.
    var stored: [String: UInt64] {
        var stored: [String: UInt64] = [:]
        for note in notes {
            let words = note.split(separator: " ")
            if words.count == 2, let step = UInt64(words[1]) { stored[String(words[0])] = step }
        }
        return stored
    }

    /// The last acknowledged step of each thread.
    private var steps: [Int: UInt64] {
        var steps: [Int: UInt64] = [:]
        for (name, step) in stored {
            guard let thread = Int(name.split(separator: "/")[1]) else { continue }
            steps[thread] = max(step, steps[thread, default: 0])
        }
        return steps
    }

    /// The files of the store that the process has locked: one line each, in the format of proc_pid_fdinfo(5).
    var locks: [String] {
        let process = "/proc/\(child.identifier)"
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: process + "/fdinfo")) ?? []
        return descriptors.flatMap { descriptor -> [String] in
            let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: process + "/fd/" + descriptor)) ?? ""
            guard path.hasPrefix(store),
                let text = try? String(contentsOfFile: process + "/fdinfo/" + descriptor, encoding: .utf8)
            else { return [] }
            return text.split(separator: "\n").filter { $0.hasPrefix("lock:") }.map { path + " " + $0 }
        }
    }
}
#endif
