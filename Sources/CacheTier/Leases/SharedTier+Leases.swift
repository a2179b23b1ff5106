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
/// A machine that finds its own token in the lease after a 412 has taken it: its `PUT` was repeated on the way.
///
/// A lease binds no machine: one that has waited for its bound asks the origin itself, and so does one whose engine
/// fails. So a lease that was lost, doubled or forged costs requests or a wait, and no load.
extension SharedTier {
    /// The next step of a load that the tier has not answered.
    enum Turn: Sendable {
        /// Another machine has written the response meanwhile.
        case answer(Hit)
        /// Ask the origin.
        case ask(Lookup, Lease?)
    }

    private enum LeaseReading {
        case absent
        case live(LeaseToken)
        /// The lease of a machine that has ended, or an object without a proof.
        case dead
        case nothingToWaitFor
        case failed
    }

    private static let notePayload = Data("note".utf8)

    /// Takes the lease for a response that the tier lacks, or waits for the machine that has it.
    ///
    /// Takes at most the deadline for the lease and another one for the look after a 412; with a wait, its bound and four
    /// deadlines.
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

    /// Whether a response to a request may come from another machine that asks the origin now.
    private func mayTakeLease(_ request: HTTPRequest) -> Bool {
        guard hasConditionalWrites, configuration.leaseWait > .zero, mayWrite(request) else { return false }
        // RFC 9111 §3.5: such a response is rarely one for other users.
        if configuration.policy.isShared, request.headerFields[.authorization] != nil { return false }
        // RFC 9111 §5.2.1: such requests demand the origin's response, or one that is newer than a wait.
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
        /// Another machine has it, or had it before the look.
        case present(Look)
        case refused
    }

    /// The first look at a lease after a 412.
    private struct Look: Sendable {
        /// The uptime before it.
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
                // It may be the machine's own.
                case .failed: return unconfirmed()
                default: return .present(Look(start: lookStart, reading: reading))
                }
            }
        } catch {
            // The lookup has just succeeded. The short deadline, or the caller's cancellation, says nothing else.
            if error.isUnconditional { noteFailure(error) }
            // Without an answer, the lease may have arrived. A look at it would cost the load a further deadline.
            return error.isRefusal ? .refused : unconfirmed()
        }
        count { $0.leases += 1 }
        return .taken(Lease(name, token, of: self, from: start, isConfirmed: true))
    }

    /// Deletes a lease of this machine. An unconfirmed one only if it is there: the engine may have the lease of another
    /// machine.
    func deleteLease(_ name: String, _ token: LeaseToken, isConfirmed: Bool) async {
        if !isConfirmed {
            guard case .live(token) = await readLease(name, within: configuration.writeDeadline) else { return }
        }
        await delete(name)
    }

    /// Finds out behind the first lease whether the engine honours conditions. On one that does not, each machine takes
    /// each lease, and asks the origin once.
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

    /// Records that there is nothing to wait for.
    func insertNote(_ name: String) {
        let now = configuration.uptime()
        state.withLock { $0.leaseNotes[name] = now }
    }

    /// Replaces a lease by the note that there is nothing to wait for.
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
            // A lease from the future would never end: the engine's clock was set back.
            let isLive = (-TierRecord.clockTolerance..<configuration.leaseLifetime.components.seconds).contains(age)
            guard isLive else { return .dead }
            if payload == Self.notePayload { return .nothingToWaitFor }
            return LeaseToken(payload: payload).map { .live($0) } ?? .dead
        }
    }
}
