// The module `CacheStoreTestTraits` has traits for Swift Testing. It is separate, because a program that links Swift
// Testing starts only where a toolchain is installed, and previews use `CacheStoreTesting`, too.

public import CacheFoundation
public import CacheLoader
public import CacheStoreTesting
public import HTTPTypes
public import Testing

/// Replays the exchanges of a file in the folder of the test: `@Test(.replay("search"))`.
public struct ReplayTrait: TestTrait, TestScoping {
    /// The transport of a running test, and the date of its recording.
    private struct Scope: Sendable {
        let transport: any HTTPTransport
        let startDate: Date
    }

    @TaskLocal private static var scope: Scope?

    fileprivate let file: URL
    fileprivate let mode: RecordingTransport.Mode?
    fileprivate let origin: (any HTTPTransport)?
    fileprivate let fields: [HTTPField.Name]
    fileprivate let redactedFields: [HTTPField.Name]
    fileprivate let redactedQueryItems: [String]

    /// The transport of the running test. In a test without the trait, it fails each request.
    public static var transport: any HTTPTransport {
        scope?.transport
            ?? ScriptedTransport { (_, _) throws(TransportError) in
                throw TransportError(.unsupportedRequest, message: "the test lacks the trait replay")
            }
    }

    /// The start of the first recorded request, for a `ManualClock`. The present time during the first recording.
    public static var startDate: Date { scope?.startDate ?? Date() }

    /// Provides one scope for all cases of a parameterised test.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> ReplayTrait? {
        testCase == nil ? self : nil
    }

    /// Runs the test with its transport, and saves a recording afterwards.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        guard let mode = try mode ?? environmentMode() else {
            let transport = try ReplayTransport(
                file: file, matching: fields, redactedFields: redactedFields, redactedQueryItems: redactedQueryItems)
            return try await Self.$scope.withValue(Scope(transport: transport, startDate: transport.startDate)) {
                try await function()
            }
        }
        let transport = try RecordingTransport(
            try origin ?? defaultOrigin(), file: file, mode: mode, matching: fields, redactedFields: redactedFields,
            redactedQueryItems: redactedQueryItems)
        try await Self.$scope.withValue(Scope(transport: transport, startDate: transport.startDate)) {
            try await function()
        }
        try transport.save()
    }

    private func defaultOrigin() throws(RecordingError) -> any HTTPTransport {
        #if canImport(Darwin) || Curl
        return DefaultTransport()
        #else
        throw RecordingError(file: file, reason: "a recording without the trait Curl needs a transport")
        #endif
    }

    private func environmentMode() throws(RecordingError) -> RecordingTransport.Mode? {
        guard let name = ProcessInfo.processInfo.environment["CACHESTORE_RECORDING"], !name.isEmpty else { return nil }
        if let mode = RecordingTransport.Mode(rawValue: name) { return mode }
        throw RecordingError(file: file, reason: "CACHESTORE_RECORDING is missing or all, not “\(name)”")
    }
}

extension Trait where Self == ReplayTrait {
    /// Replays the exchanges of a file in the folder of the test. The test opens no connection.
    ///
    /// ```swift
    /// @Test(.replay("search"))
    /// func search() async throws {
    ///     let clock = ManualClock(ReplayTrait.startDate)
    ///     let store = try ResponseStore.temporary(clock: clock)
    ///     let loader = ResourceLoader(store: store, transport: ReplayTrait.transport, clock: clock)
    ///     …
    /// }
    /// ```
    ///
    /// To record, set the variable `CACHESTORE_RECORDING` in the environment of the test run to `missing` or `all`, the
    /// names of the modes of `RecordingTransport`. The recording is saved after a test without a thrown error.
    ///
    /// - Parameters:
    ///   - name: The name of the file without `.har`. It may begin with a folder, as in `"Recordings/search"`.
    ///   - mode: Records although the environment does not say so. Only while you write the test.
    ///   - origin: Carries the requests of a recording; `DefaultTransport` by default.
    ///   - fields: The fields that a request must share with a recorded one; none by default.
    ///   - redactedFields: More fields whose values to redact.
    ///   - redactedQueryItems: More query items whose values to redact.
    ///   - filePath: The file of the test. The recording is in the same folder.
    public static func replay(
        _ name: String, recording mode: RecordingTransport.Mode? = nil,
        through origin: (any HTTPTransport)? = nil, matching fields: [HTTPField.Name] = [],
        redactedFields: [HTTPField.Name] = [], redactedQueryItems: [String] = [], filePath: String = #filePath
    ) -> ReplayTrait {
        ReplayTrait(
            file: URL(filePath: filePath).deletingLastPathComponent().appending(path: "\(name).har"), mode: mode,
            origin: origin, fields: fields, redactedFields: redactedFields, redactedQueryItems: redactedQueryItems)
    }
}
