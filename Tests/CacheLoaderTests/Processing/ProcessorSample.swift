internal import CacheLoader
internal import Dispatch
internal import Foundation
internal import HTTPTypes
internal import Synchronization

/// What the tests of processors share.
enum ProcessorSample {
    /// Takes a processor where a loader would, so that `.text` and the like have to be found.
    static func value<Output>(
        _ data: Data, contentType: String? = nil, as processor: some Processor<Data, Output>
    ) async throws -> Output {
        try await processor.process(data, context(contentType))
    }

    static func context(_ contentType: String? = nil) -> ProcessingContext {
        var fields = HTTPFields()
        fields[.contentType] = contentType
        return ProcessingContext(url: "http://a.test/", headerFields: fields)
    }
}

/// Counts calls from any task.
final class CallCount: Sendable {
    /// Guards the number.
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func increment() { count.withLock { $0 += 1 } }
}

/// An executor that can tell whether it is what runs the caller.
final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "QueueExecutor")
    /// Guards the thread on which a job runs just now.
    private let thread = Mutex<ObjectIdentifier?>(nil)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            self.thread.withLock { $0 = ObjectIdentifier(Thread.current) }
            job.runSynchronously(on: self.asUnownedSerialExecutor())
            self.thread.withLock { $0 = nil }
        }
    }

    var isHere: Bool { thread.withLock { $0 == ObjectIdentifier(Thread.current) } }
}
