import TestSupport

@Suite struct PauseTests {
    @Test(
        "A pause of any length never traps", arguments: [Duration.seconds(Int64.max), .seconds(1 << 40), .seconds(-1)])
    func length(duration: Duration) async {
        let pausing = Task { try await pause(for: duration) }
        pausing.cancel()
        _ = await pausing.result
    }
}
