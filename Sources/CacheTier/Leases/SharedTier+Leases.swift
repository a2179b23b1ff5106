internal import ByteText
internal import CacheFoundation
internal import CacheLoader
internal import CacheStore
internal import Crypto
internal import HTTPCaching
internal import HTTPTypes
internal import Synchronization

/// Lets one machine ask the origin for a response that several machines miss at the same time.
///
///     first:  PUT lease, if absent ─▶ 201 ─▶ ask the origin ─▶ PUT record ─▶ DELETE lease
///     others: PUT lease, if absent ─▶ 412 ─▶ GET lease … GET lease ─▶ 404 ─▶ GET record
///
/// If a machine finds its own token in the lease after a 412, its `PUT` was repeated on the way, and it has the lease.
///
/// A lease binds no machine. A machine asks the origin itself when its wait reaches the bound, or when its engine
/// fails. So a lost, duplicate or forged lease costs only requests or a wait, and never a load.
extension SharedTier {
    /// The next step of a load that the tier could not answer.
    enum Turn: Sendable {
        /// Another machine has written the response.
        case answer(Hit)
        /// Ask the origin.
        case ask(Lookup, Lease?)
    }

    private enum LeaseReading {
        case absent
        case live(LeaseToken)
        /// The lease of a machine that is no longer running, or an object without a proof.
        case dead
        case nothingToWaitFor
        case failed
    }

    private static let notePayload = Data("note".utf8)

    /// Takes the lease for a response that the tier lacks, or waits for the machine that holds it.
    ///
    /// Takes at most one deadline for the lease and another one for the read after a 412. A wait takes at most its
    /// bound and four deadlines.
    func turn(of request: HTTPRequest, after lookup: Lookup) async -> Turn {
        guard mayTakeLease(request), lookup.epochs != nil, !lookup.isPresent, !lookup.hasFailed else {
            return .ask(lookup, nil)
        }
        let name = leaseName(request, lookup)
        if let note = state.withLock({ $0.leaseNotes[name] }),
            configuration.uptime() - note < configuration.leaseLifetime
        {
            return .ask(lookup, nil)
        }
        switch await takeLease(name) {
        case .taken(let lease): return .ask(lookup, lease)
        case .refused: return .ask(lookup, nil)
        case .present(let look): return await wait(for: name, after: look, request, after: lookup)
        }
    }

    /// Whether the response may come from another machine that is asking the origin.
    private func mayTakeLease(_ request: HTTPRequest) -> Bool {
        guard hasConditionalWrites, configuration.leaseWait > .zero, mayWrite(request) else { return false }
        // RFC 9111 §3.5: a shared cache rarely may store such a response.
        if configuration.policy.isShared, request.headerFields[.authorization] != nil { return false }
        // RFC 9111 §5.2.1: such requests require the origin's response, or a response newer than a wait could give.
        let directives = RequestDirectives(request, mode: configuration.policy.mode)
        return !directives.noCache && !directives.mustBeForwarded && directives.maxAge != .seconds(0)
    }

    private func leaseName(_ request: HTTPRequest, _ lookup: Lookup) -> String {
        let variant = variant(named: lookup.varyNames ?? "", request) ?? VaryKey(text: "")
        return layout.lease(layout.key(of: request.url), variant)
    }

    // MARK: Taking

    private enum Taking {
        case taken(Lease)
        /// Another machine has the lease, or had it before the read.
        case present(Look)
        case refused
    }

    /// The first read of a lease after a 412.
    private struct Look: Sendable {
        /// The uptime before the read.
        let start: Duration
        let reading: LeaseReading
    }

    private func takeLease(_ name: String) async -> Taking {
        let (token, start) = (LeaseToken(), configuration.uptime())
        guard let object = SealedObject.sealing(token.payload, as: name, with: keys) else { return .refused }
        func unconfirmed() -> Taking { .taken(Lease(name, token, of: self, from: start, isConfirmed: false)) }
        do throws(WriteFailure) {
            if try await writeIfAbsent(object, as: name, within: configuration.deadline) {
                checkConditionOnce()
            } else {
                let lookStart = configuration.uptime()
                let reading = await readLease(name, within: configuration.deadline)
                switch reading {
                case .live(token): break
                // The lease may belong to this machine.
                case .failed: return unconfirmed()
                default: return .present(Look(start: lookStart, reading: reading))
                }
            }
        } catch {
            // The engine has just answered the lookup, so the short deadline or a cancellation shows no failure.
            if error.isUnconditional { noteFailure(error) }
            // Without an answer, the lease may have arrived. Reading it would cost the load another deadline.
            return error.isRefusal ? .refused : unconfirmed()
        }
        count { $0.leases += 1 }
        return .taken(Lease(name, token, of: self, from: start, isConfirmed: true))
    }

    /// Deletes a lease of this machine. An unconfirmed lease is read first, because the engine may have another
    /// machine's lease.
    func deleteLease(_ name: String, _ token: LeaseToken, isConfirmed: Bool) async {
        if !isConfirmed {
            guard case .live(token) = await readLease(name, within: configuration.writeDeadline) else { return }
        }
        await delete(name)
    }

    /// After the first lease, tests in the background whether the engine honours conditions. If it does not, every
    /// machine gets every lease and asks the origin once.
    private func checkConditionOnce() {
        let isFirst = state.withLock { state in
            defer { state.hasCheckedCondition = true }
            return !state.hasCheckedCondition
        }
        guard isFirst else { return }
        let object = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) }
        let name = "\(TierLayout.version)/lease/check/\(object.hexadecimal)"
        let isAdmitted = writes.add(byteCount: 0) { [self] in
            guard (try? await put(object, as: name)) != nil else {
                return state.withLock { $0.hasCheckedCondition = false }
            }
            await checkCondition(by: object, as: name)
            await delete(name)
        }
        if !isAdmitted { state.withLock { $0.hasCheckedCondition = false } }
    }

    /// Records that waiting for a lease on this URL is useless.
    func insertNote(_ name: String) {
        let now = configuration.uptime()
        state.withLock { $0.leaseNotes[name] = now }
    }

    /// Replaces a lease by a note that waiting is useless.
    func writeNote(_ name: String) async {
        guard let object = SealedObject.sealing(Self.notePayload, as: name, with: keys) else { return }
        do throws(WriteFailure) {
            try await write(object, as: name)
        } catch {
            noteFailure(error)
        }
    }

    // MARK: Waiting

    private func wait(
        for name: String, after look: Look, _ request: HTTPRequest, after lookup: Lookup
    ) async -> Turn {
        var schedule = WaitSchedule(bound: state.withLock { $0.plan.longestWait(atMost: configuration.leaseWait) })
        var reading = look.reading
        count { $0.waits += 1 }
        while true {
            switch reading {
            case .live:
                break
            case .absent:
                let next = await lookUp(request)
                guard let hit = next.hit else {
                    var first = lookup
                    first.isMiss = next.isMiss
                    return .ask(next.epochs == nil ? first : next, nil)
                }
                count { $0.waitedHits += 1 }
                return .answer(hit)
            case .nothingToWaitFor:
                insertNote(name)
                return .ask(lookup, nil)
            case .dead:
                await delete(name, within: configuration.deadline)
                switch await takeLease(name) {
                case .taken(let lease): return .ask(lookup, lease)
                case .refused: return .ask(lookup, nil)
                // Another waiting machine was faster.
                case .present: break
                }
            case .failed:
                return .ask(lookup, nil)
            }
            guard let pause = schedule.pause(after: configuration.uptime() - look.start),
                (try? await configuration.sleep(pause)) != nil
            else { return .ask(lookup, nil) }
            reading = await readLease(name, within: configuration.deadline)
        }
    }

    private func readLease(_ name: String, within limit: Duration) async -> LeaseReading {
        let answer = await withTimeLimit(limit, configuration.sleep) { [self] in
            await get(name, limit: 1024, fields: [.cacheControl: "no-cache"])
        }
        switch answer {
        case .absent: return .absent
        case .failed, nil: return .failed
        case .found(let object):
            guard let payload = opened(object, name) else { return .dead }
            let age = object.stamp.now.seconds(since: object.stamp.lastModified)
            // Reject a lease from the future, which would never end: the engine's clock was set back.
            let isLive = (-TierRecord.clockTolerance..<configuration.leaseLifetime.components.seconds).contains(age)
            guard isLive else { return .dead }
            if payload == Self.notePayload { return .nothingToWaitFor }
            return LeaseToken(payload: payload).map { .live($0) } ?? .dead
        }
    }
}
