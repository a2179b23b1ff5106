import Observation

/// Counts the changes of what is observed, each of them: it looks again within the change.
@MainActor
final class ChangeLog {
    private(set) var count = 0
    private let look: @MainActor () -> Void
    private let onChange: @MainActor () -> Void

    /// - Parameters:
    ///   - onChange: Is called before each change.
    ///   - look: Reads what is observed.
    init(onChange: @escaping @MainActor () -> Void = {}, _ look: @escaping @MainActor () -> Void) {
        (self.look, self.onChange) = (look, onChange)
        observe()
    }

    private func observe() {
        withObservationTracking(look) { [weak self] in
            MainActor.assumeIsolated {
                guard let self else { return }
                self.count += 1
                self.observe()
                self.onChange()
            }
        }
    }
}
