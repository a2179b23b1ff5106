// A cache around a dictionary: the sample of the documentation of HTTPCaching.

import HTTPCaching

/// Answers requests from memory where RFC 9111 allows it, and from the origin otherwise.
actor DictionaryCache {
    typealias Reply = (head: HTTPResponse, body: [UInt8])
    private typealias Entry = (response: StoredResponse, body: [UInt8])

    private var entries: [String: [VaryKey: Entry]] = [:]
    private var invalidations = 0
    private let verbatim: VaryKey.Fingerprint = { _, value in value }
    private let now: @Sendable () -> HTTPDate
    private let origin: @Sendable (HTTPRequest) async throws -> Reply

    init(now: @escaping @Sendable () -> HTTPDate, origin: @escaping @Sendable (HTTPRequest) async throws -> Reply) {
        self.now = now
        self.origin = origin
    }

    func reply(to request: HTTPRequest, policy: CachePolicy = CachePolicy()) async throws -> Reply {
        let url = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
        let stored = Array((entries[url] ?? [:]).values)
        let reuse = ReuseDecision(
            for: request, candidates: stored.map { $0.response }, policy: policy, now: now(), fingerprint: verbatim)
        switch reuse.action {
        case .hit(let index, let age, _):
            return answer(to: request, from: stored[index], age: age)
        case .hitWhileRevalidating(let index, let age):
            Task { try await reply(to: request, policy: CachePolicy(mode: .revalidateAlways)) }
            return answer(to: request, from: stored[index], age: age)
        case .validate, .resume, .forward:
            return try await forward(request, for: url, reuse, stored, policy)
        case .unsatisfiable:
            return (HTTPResponse(status: .gatewayTimeout), [])
        }
    }

    private func forward(
        _ request: HTTPRequest, for url: String, _ reuse: ReuseDecision, _ stored: [Entry], _ policy: CachePolicy
    ) async throws -> Reply {
        let sent = reuse.conditionalRequest ?? request
        let (requestTime, invalidationsBefore) = (now(), invalidations)
        let reply = try await origin(sent)
        let targets = Invalidation.targets(of: request, url: url, reply: reply.head)
        for target in targets { entries[target] = nil }
        invalidations += targets.count

        let candidates = stored.map { $0.response }
        let decision = ReplyDecision(
            for: Exchange(request: sent, reply: reply.head, requestTime: requestTime, responseTime: now()),
            original: request, candidates: candidates, question: reuse.question, policy: policy, fingerprint: verbatim)
        for index in decision.removals(among: candidates) { entries[url]?[candidates[index].varyKey] = nil }
        var changes = decision.updates.map { index, response in (response, stored[index].body) }
        if case .store(let response) = decision.action { changes.append((response, reply.body)) }
        // Another request may have invalidated the URL while the origin answered.
        if invalidations != invalidationsBefore { changes = [] }
        for (response, body) in changes { entries[url, default: [:]][response.varyKey] = (response, body) }

        if case .retry = decision.action, reuse.question != .none {
            return try await self.reply(to: request, policy: CachePolicy(mode: .remoteOnly))
        }
        guard let answer = decision.answer(among: candidates, policy: policy, now: now()) else { return reply }
        return self.answer(to: request, from: (answer.response, stored[answer.index].body), age: answer.age)
    }

    private func answer(to request: HTTPRequest, from entry: Entry, age: Int64?) -> Reply {
        let answer = StoredAnswer(from: entry.response, to: request, age: age, byteCount: Int64(entry.body.count))
        return (answer.head, answer.bytes(of: entry.body))
    }
}
