import Foundation

@testable import CacheTier
@testable import HTTPCaching

private let keys: TierKeys = {
    guard let keys = try? TierKeys(secret: Data(repeating: 7, count: 32)) else { fatalError("a secret of 32 bytes") }
    return keys
}()

/// The objects of a tier: a flag, and an object, a payload, or operations on epochs.
///
/// Rules: an object that the keys did not seal is refused. A sealed object opens under its name, and is refused after
/// any change and under another name. A decoded record, encoded again, is the same record. No epoch counts while its
/// removal is pending.
@Sendable func fuzzTier(_ input: inout FuzzInput) {
    switch input.byte() % 4 {
    case 0:
        let object = input.all()
        check((try? SealedObject.opening(object, as: "v1/resp/a/b", with: keys)) == nil, "a forged object is refused")
    case 1: checkSeal(&input)
    case 2: checkRecord(input.all())
    default: checkEpochs(&input)
    }
}

private func checkSeal(_ input: inout FuzzInput) {
    let (place, change, name) = (Int(input.byte()), input.byte(), input.text())
    let payload = input.all()
    guard let object = SealedObject.sealing(payload, as: name, with: keys) else { fatalError("keys that write") }
    check((try? SealedObject.opening(object, as: name, with: keys)) == payload, "a sealed object opens")
    check((try? SealedObject.opening(object, as: name + "/", with: keys)) == nil, "another name is a forgery")
    check((try? SealedObject.opening(object.dropLast(), as: name, with: keys)) == nil, "a cut object is refused")
    guard change != 0 else { return }
    var changed = object
    changed[place % changed.count] ^= change
    check((try? SealedObject.opening(changed, as: name, with: keys)) == nil, "a changed object is refused")
}

private func checkRecord(_ payload: Data) {
    guard let record = TierRecord(decoding: payload) else { return }
    guard let encoded = try? record.encoded() else { fatalError("broken rule: a decoded record can be encoded") }
    check(TierRecord(decoding: encoded) == record, "an encoded record decodes to itself")
    let now = HTTPDate(secondsSince1970: record.head.writtenAt)
    _ = record.now(at: now, lastModified: now.advanced(by: 1))
    _ = record.isReplayed(lastModified: now)
    _ = record.isFromFuture(now: now, lastModified: now)
}

private func checkEpochs(_ input: inout FuzzInput) {
    var table = EpochTable(lifetime: .seconds(5), limit: 4)
    var time = Duration.zero
    while !input.rest.isEmpty {
        let (operation, argument) = (input.byte(), input.byte())
        let (name, value) = ("n\(operation >> 4)", "v\(argument % 4)")
        time += .seconds(Int(argument >> 6))
        switch operation % 6 {
        case 0:
            let date = HTTPDate(secondsSince1970: Int64(argument) << (operation >> 2))
            let stamp = SharedTier.Stamp(now: date, lastModified: date.advanced(by: -Int64(argument)), age: 0)
            _ = table.note(
                argument % 4 == 0 ? nil : value, of: name, at: time - .seconds(Int(argument % 8)),
                .init(uptime: time, stamp: argument % 3 == 0 ? nil : stamp))
        case 1: table.wrote(value, to: name, from: time - .seconds(1), to: time)
        case 2: _ = table.beginRemoval(of: name)
        case 3:
            let count = table.removalCount(of: name)
            guard count > 0 else { continue }
            check(
                table.endRemoval(of: name, count: count, value, from: time, to: time),
                "the last removal ends")
            check(!table.isPending(name), "an ended removal is not pending")
        case 4: _ = table.current(name, at: time)
        default: _ = table.endRemoval(of: name, count: Int(argument), value, from: time, to: time)
        }
        let asked = EpochTable.Time(
            uptime: time - .seconds(Int(argument)), date: HTTPDate(secondsSince1970: .init(argument)))
        let values = [table.known(name, at: asked), table.current(name, at: time)].compactMap(\.self)
        check(values.allSatisfy { $0 == table.known(name) }, "an epoch of a time is the known one")
        if table.isPending(name) {
            check(table.known(name) == nil && values.isEmpty, "no epoch counts while pending")
        }
    }
}
