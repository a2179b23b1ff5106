/// Reports whether hosts are reachable, so that loads wait for the network instead of failing, and the conditions of
/// the network, so that loads wait for a better one.
///
/// Without a `Reachability`, a load fails immediately if its host refuses the connection or has no address, and no load
/// is held back.
///
/// A class, because the loader compares sources by identity: only another object makes waiting loads try again.
public protocol Reachability: AnyObject, Sendable {
    /// Returns whether a host is reachable now. Called on any thread; must not block.
    func isReachable(_ host: String) -> Bool

    /// Returns a new stream of the hosts that become reachable again. An element `nil` means all hosts.
    func changes() -> AsyncStream<String?>

    /// The current conditions of the network; none by default. Called on any thread; must not block.
    var conditions: NetworkConditions { get }

    /// Returns a new stream with an element after each change of ``conditions``; without elements by default.
    func conditionChanges() -> AsyncStream<Void>
}

extension Reachability {
    /// No conditions.
    public var conditions: NetworkConditions { [] }

    /// Returns a stream without elements.
    public func conditionChanges() -> AsyncStream<Void> { AsyncStream { $0.finish() } }
}

#if canImport(Network)
internal import CacheStore
internal import Dispatch
internal import Foundation
internal import Network
internal import Synchronization

/// Reports the state of the network as a whole, as the system sees it, and Low Power Mode.
public final class SystemReachability: Reachability {
    /// Guards the last reported state.
    private let state = Mutex(NetworkState())
    private let hosts = Observers<String?>()
    private let conditionObservers = Observers<Void>()
    private let monitor = NWPathMonitor()
    /// Listens to changes of Low Power Mode. The mutex guards the task.
    private let power = Mutex<Task<Void, Never>?>(nil)

    /// Starts to monitor the network and Low Power Mode.
    public init() {
        monitor.pathUpdateHandler = { [weak self] path in self?.update(path) }
        monitor.start(queue: .global(qos: .utility))
        let task = Task { [weak self] in
            // The iterator registers for the notifications. Read the mode afterwards, so that no change is missed.
            var changes = NotificationCenter.default.notifications(named: .NSProcessInfoPowerStateDidChange)
                .makeAsyncIterator()
            self?.updateLowPower()
            while await changes.next() != nil { self?.updateLowPower() }
        }
        power.withLock { $0 = task }
        updateLowPower()
    }

    deinit {
        monitor.cancel()
        power.withLock { $0?.cancel() }
    }

    /// Returns whether any network is available.
    public func isReachable(_ host: String) -> Bool { state.withLock { $0.isSatisfied } }

    /// Returns a stream with an element each time that a network becomes available.
    public func changes() -> AsyncStream<String?> { hosts.stream() }

    /// Low Data Mode, a network that the system calls expensive, and Low Power Mode.
    ///
    /// Without a network, returns the conditions of the last one. Until the system has reported the first network,
    /// returns Low Data Mode and an expensive network.
    public var conditions: NetworkConditions { state.withLock { $0.conditions } }

    /// Returns a stream with an element after each change of ``conditions``.
    public func conditionChanges() -> AsyncStream<Void> { conditionObservers.stream() }

    private func update(_ path: NWPath) {
        let (isSatisfied, isConstrained) = (path.status == .satisfied, path.isConstrained)
        let isExpensive = path.isExpensive
        report(
            state.withLock {
                $0.update(isSatisfied: isSatisfied, isConstrained: isConstrained, isExpensive: isExpensive)
            })
    }

    private func updateLowPower() {
        let isOn = ProcessInfo.processInfo.isLowPowerModeEnabled
        report(state.withLock { $0.update(isLowPower: isOn) })
    }

    private func report(_ change: NetworkState.Change) {
        if change.conditionsChanged { conditionObservers.notify(()) }
        if change.becameAvailable { hosts.notify(nil) }
    }
}

extension Observers {
    /// Returns a stream of the events. A slow reader gets the latest one.
    fileprivate func stream() -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let registration = add { continuation.yield($0) }
        continuation.onTermination = { _ in withExtendedLifetime(registration) {} }
        return stream
    }
}
#endif
