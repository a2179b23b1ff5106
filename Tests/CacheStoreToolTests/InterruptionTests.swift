import CacheStoreTool
import TestSupport

@Suite("Interruption", .timeLimit(.minutes(5)))
struct InterruptionTests {
    @Test("A signal before the work starts cancels the work")
    func atTheBeginning() async {
        await #expect(processExitsWith: .success) {
            let signal = try await Interruption.cancelling {
                kill(getpid(), SIGTERM)
                await Gate().wait()
            }.signal
            #expect(signal?.number == SIGTERM)
        }
    }
}
