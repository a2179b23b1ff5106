import Foundation

@testable import CacheTier
@testable import HTTPCaching

private let keys: TierKeys = {
    guard let keys = try? TierKeys(secret: Data(repeating: 7, count: 32)) else { fatalError("a secret of 32 bytes") }
    return keys
}()

/// The objects of a tier: a flag, and an object or a payload.
///
/// Rules: an object that the keys did not seal is refused. A sealed object opens under its name, and is refused after
/// any change and under another name. A decoded record, encoded again, is the same record. So is
/// the object of a URL.
@Sendable func fuzzTier(_ input: inout FuzzInput) {
    switch input.byte() % 4 {
    case 0:
        let object = input.all()
        check((try? SealedObject.opening(object, as: "v2/resp/a/b", with: keys)) == nil, "a forged object is refused")
    case 1: checkSeal(&input)
    case 2: checkRecord(input.all())
    default: checkKeyObject(input.all())
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

private func checkKeyObject(_ payload: Data) {
    let time = HTTPDate(secondsSince1970: 1_700_000_000)
    guard let object = KeyObject(decoding: payload, lastModified: time) else { return }
    check(object.names.count <= KeyObject.maxListCount, "the lists are bounded")
    check(object.removedAt.map { $0 >= time.secondsSince1970 } ?? true, "a removal counts from its write at least")
    check(KeyObject(decoding: object.encoded(), lastModified: time) == object, "an encoded object decodes to itself")
}
