import CacheStoreTool
import Foundation
import TestSupport
import Testing

@Suite("Interruption", .timeLimit(.minutes(20)))
struct InterruptionTests {
    @Test("A signal at the beginning of the work cancels the work")
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
