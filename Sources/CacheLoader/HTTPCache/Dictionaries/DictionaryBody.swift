internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A body that is decoded with a dictionary while it arrives (RFC 9842 §4, §5). For one reader.
final class DictionaryBody: Sendable {
    private struct State {
        let decompressor: any Decompressor
        /// Received bytes that are not decoded yet.
        var rest: Data
    }

    private let coding: DictionaryCoding
    private let source: TransportBody
    /// Guards the decompressor. One reader calls, so that the lock is free.
    private let state: Mutex<State>

    /// Returns `nil` if this build does not decode the coding.
    ///
    /// - Parameters:
    ///   - coding: The coding of the body.
    ///   - dictionary: The bytes of the dictionary.
    ///   - rest: The received bytes after the header.
    ///   - source: The bytes after those.
    init?(_ coding: DictionaryCoding, dictionary: Data, rest: Data, source: TransportBody) {
        guard let decompressor = coding.makeDecompressor(dictionary: dictionary) else { return nil }
        self.coding = coding
        self.source = source
        state = Mutex(State(decompressor: decompressor, rest: rest))
    }

    /// Returns the next decoded bytes; `nil` once the body is complete.
    func next() async throws(TransportError) -> Data? {
        while true {
            let (decoded, needsMore) = try decodeSlice()
            if !decoded.isEmpty { return decoded }
            guard needsMore else { continue }
            guard let chunk = try await source.next() else {
                try finish()
                return nil
            }
            state.withLock { $0.rest = chunk }
        }
    }

    private func decodeSlice() throws(TransportError) -> (decoded: Data, needsMore: Bool) {
        let result = state.withLock { state -> Result<(Data, Bool), DecompressionFailure> in
            guard !state.rest.isEmpty else { return .success((Data(), true)) }
            let slice = Data(state.rest.prefix(type(of: state.decompressor).sliceByteCount))
            state.rest = state.rest.dropFirst(slice.count)
            var decoded = Data()
            do throws(DecompressionFailure) {
                try state.decompressor.append(slice, into: &decoded)
                return .success((decoded, false))
            } catch {
                return .failure(error)
            }
        }
        return try translating(result)
    }

    private func finish() throws(TransportError) {
        try translating(
            state.withLock { state -> Result<Void, DecompressionFailure> in
                do throws(DecompressionFailure) {
                    return .success(try state.decompressor.finish())
                } catch {
                    return .failure(error)
                }
            })
    }

    private func translating<Value>(
        _ result: Result<Value, DecompressionFailure>
    ) throws(TransportError) -> Value {
        do {
            return try result.get()
        } catch {
            throw TransportError(
                .malformedResponse, message: "the body is not in the coding \(coding.rawValue)")
        }
    }
}
