internal import CacheStore
internal import Synchronization

/// The background revalidations of a store, and the requests that pause after a failure (RFC 5861 §3, §5). At most one
/// revalidation runs for each subject. The pause after a failure begins with a second and doubles with each failure, or
/// is as long as the origin asks with `Retry-After`. A success ends it. A pause that the origin has asked for also
/// holds back other requests, if a stale response may answer them.
///
/// The folder `HTTPCache/Coalescing/` has epochs of keys, background validations with their pauses, and tasks with a
/// time limit. The folder may start and cancel tasks that its callers pass. The folder names no type of another folder,
/// sends no request, and reads no entry.
final class Revalidations: Sendable {
    /// The responses of a key for one user. An origin may ask only one of several users to wait.
    struct Subject: Hashable {
        let key: CacheKey
        /// The credentials of the request, as fingerprints.
        let credentials: String
    }

    enum Outcome: Sendable {
        case succeeded
        /// The origin failed, and may have named a pause.
        case failed(retryAfter: Duration?)
        case cancelled
    }

    fileprivate struct Failures {
        var count = 0
        var lastAt: HTTPDate
        /// The pause in seconds.
        var pause: Int64
        /// The part of the pause that the origin has asked for.
        var asked: Int64

        /// Whether `time` seconds since the last failure are over.
        func isOver(_ time: Int64, at now: HTTPDate) -> Bool {
            // A clock that was set back ends a pause. Otherwise the pause could last for years.
            now < lastAt || now.seconds(since: lastAt) >= time
        }
    }

    fileprivate struct State {
        var running: Set<Subject> = []
        /// If a subject is dropped, it is revalidated once more.
        var failures = BoundedDictionary<Subject, Failures>()
    }

    /// The longest revalidation. A slower one counts as failed.
    static let timeLimit = Duration.seconds(60)

    /// The longest pause in seconds without `Retry-After`.
    static let maxPause: Int64 = 300

    /// The longest pause in seconds that an origin can ask for.
    static let maxRetryAfter: Int64 = 86_400

    /// Guards the running subjects and the failures.
    private let state = Mutex(State())

    var isRunning: Bool { state.withLock { !$0.running.isEmpty } }

    /// Whether any failure is recorded.
    var hasFailures: Bool { state.withLock { !$0.failures.isEmpty } }

    /// Returns whether the caller has to revalidate `subject` now, and then report the result with ``end(_:_:at:)``.
    func begin(_ subject: Subject, at now: HTTPDate) -> Bool {
        state.withLock { state in
            guard state.failures[subject].map({ $0.isOver($0.pause, at: now) }) ?? true else { return false }
            return state.running.insert(subject).inserted
        }
    }

    func end(_ subject: Subject, _ outcome: Outcome, at now: HTTPDate) {
        state.withLock { state in
            state.running.remove(subject)
            state.note(outcome, of: subject, at: now)
        }
    }

    /// Records the result of a request that was not a background revalidation.
    func note(_ outcome: Outcome, of subject: Subject, at now: HTTPDate) {
        state.withLock { $0.note(outcome, of: subject, at: now) }
    }

    /// Whether the origin has asked for a pause that is not over.
    func isPaused(_ subject: Subject, at now: HTTPDate) -> Bool {
        state.withLock { state in state.failures[subject].map { !$0.isOver($0.asked, at: now) } ?? false }
    }
}

extension Revalidations.State {
    fileprivate mutating func note(
        _ outcome: Revalidations.Outcome, of subject: Revalidations.Subject, at now: HTTPDate
    ) {
        switch outcome {
        case .succeeded: failures[subject] = nil
        // A cancellation says nothing about the origin.
        case .cancelled: break
        case .failed(let retryAfter):
            let count = (failures[subject]?.count ?? 0) + 1
            // The inner bound keeps a long series of failures from shifting the pause to 0.
            let backoff = min(Revalidations.maxPause, 1 << min(Int64(count) - 1, 16))
            let asked = min(Revalidations.maxRetryAfter, max(0, retryAfter?.components.seconds ?? 0))
            failures[subject] = Revalidations.Failures(
                count: count, lastAt: now, pause: max(backoff, asked), asked: asked)
        }
    }
}
