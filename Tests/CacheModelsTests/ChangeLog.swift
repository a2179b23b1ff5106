import Observation

/// Counts each change of observed properties: it reads them again within the change.
@MainActor
final class ChangeLog {
    private(set) var count = 0
    private let look: @MainActor () -> Void
    private let onChange: @MainActor () -> Void

    /// - Parameters:
    ///   - onChange: Called before each change.
    ///   - look: Reads the observed properties.
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
