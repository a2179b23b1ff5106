// A cache around a dictionary: the sample of the documentation of HTTPCaching.

import HTTPCaching
import HTTPTypes

/// Answers requests from memory where RFC 9111 allows it, and from the origin otherwise.
actor DictionaryCache {
    typealias Reply = (head: HTTPResponse, body: [UInt8])
    private typealias Entry = (response: StoredResponse, body: [UInt8])

    private var entries: [String: [VaryKey: Entry]] = [:]
    private var invalidations = 0
    private let fingerprint: VaryKey.Fingerprint = { _, value in value }
    private let now: @Sendable () -> HTTPDate
    private let origin: @Sendable (HTTPRequest) async throws -> Reply

    init(now: @escaping @Sendable () -> HTTPDate, origin: @escaping @Sendable (HTTPRequest) async throws -> Reply) {
        self.now = now
        self.origin = origin
    }

    func reply(to request: HTTPRequest, policy: CachePolicy = CachePolicy()) async throws -> Reply {
        let stored = Array((entries[url(of: request)] ?? [:]).values)
        let reuse = ReuseDecision(
            for: request, candidates: stored.map { $0.response }, policy: policy, now: now(), fingerprint: fingerprint)
        switch reuse.action {
        case .hit(let index, let age, _):
            return answer(to: request, from: stored[index], age: age)
        case .hitWhileRevalidating(let index, let age):
            Task { _ = try? await reply(to: request, policy: CachePolicy(mode: .revalidateAlways)) }
            return answer(to: request, from: stored[index], age: age)
        case .validate(_, let conditional, _), .resume(_, let conditional):
            return try await forward(conditional, reuse.question, for: request, stored, policy)
        case .forward:
            return try await forward(request, reuse.question, for: request, stored, policy)
        case .unsatisfiable:
            return (HTTPResponse(status: .gatewayTimeout), [])
        }
    }

    private func forward(
        _ sent: HTTPRequest, _ question: ReplyDecision.Question, for request: HTTPRequest, _ stored: [Entry],
        _ policy: CachePolicy
    ) async throws -> Reply {
        let url = url(of: request)
        let (requestTime, invalidationsBefore) = (now(), invalidations)
        let reply = try await origin(sent)
        for target in Invalidation.targets(of: request, url: url, reply: reply.head) {
            entries[target] = nil
            invalidations += 1
        }
        let decision = ReplyDecision(
            for: Exchange(request: sent, reply: reply.head, requestTime: requestTime, responseTime: now()),
            original: request, candidates: stored.map { $0.response }, question: question, policy: policy,
            fingerprint: fingerprint)

        func remove(_ indices: some Sequence<Int>) {
            for index in indices { entries[url]?[stored[index].response.varyKey] = nil }
        }
        func keep(_ response: StoredResponse, _ body: [UInt8]) {
            // Another request may have invalidated the URL while the origin answered.
            guard invalidations == invalidationsBefore else { return }
            entries[url, default: [:]][response.varyKey] = (response, body)
        }
        switch decision {
        case .store(let response):
            keep(response, reply.body)
        case .freshen(let updates, let index, let removeAfterUse):
            remove(updates.keys)
            if !removeAfterUse { for (index, response) in updates { keep(response, stored[index].body) } }
            let response = updates[index] ?? stored[index].response
            return answer(to: request, from: (response, stored[index].body), age: nil)
        case .update(let updates, let removals):
            remove(Array(updates.keys) + removals)
            for (index, response) in updates { keep(response, stored[index].body) }
        case .serveStale(let index):
            let age = Freshness(of: stored[index].response, policy: policy).age(at: now())
            return answer(to: request, from: stored[index], age: age)
        case .retry(let removals) where question != .none:
            remove(removals)
            return try await forward(request, .none, for: request, [], policy)
        case .relay(removeStored: true):
            entries[url] = nil
        // This cache stores no parts, so it completes none.
        case .relay, .retry, .storePart, .complete:
            break
        }
        return reply
    }

    private func answer(to request: HTTPRequest, from entry: Entry, age: Int64?) -> Reply {
        let answer = StoredAnswer(from: entry.response, to: request, age: age, byteCount: Int64(entry.body.count))
        return (answer.head, answer.bytes(of: entry.body))
    }

    private func url(of request: HTTPRequest) -> String {
        "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
    }
}
