import TestSupport

@Suite("Observers") struct ObserversTests {
    @Test("an observer may register another and end its own registration, which takes effect at the next event")
    func changesDuringAnEvent() {
        let observers = Observers<Int>()
        let log = Mutex<[String]>([])
        let registrations = Mutex<[ObserverRegistration]>([])
        do {
            let first = observers.add { event in
                log.withLock { $0.append("first \(event)") }
                let second = observers.add { event in log.withLock { $0.append("second \(event)") } }
                _ = registrations.withLock { registrations in
                    defer { registrations = [second] }
                    return registrations
                }
            }
            registrations.withLock { $0 = [first] }
        }
        observers.notify(1)
        observers.notify(2)
        #expect(log.withLock { $0 } == ["first 1", "second 2"])
        #expect(observers.count == 1)
        registrations.withLock { $0 = [] }
        #expect(observers.count == 0)
    }
}
