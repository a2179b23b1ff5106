internal import CacheImages
import CacheModels
internal import TestSupport

/// Loads numbered "images" that a test feeds and finishes.
private final class Loads: Sendable {
    private struct State {
        var events: [AsyncStream<LoadEvent<Int>>.Continuation] = []
        var urls: [String] = []
        var stopped: Set<Int> = []
    }

    /// Guards the loads.
    private let state = Mutex(State())
    let pressure = MemoryPressureSource()

    var urls: [String] { state.withLock { $0.urls } }
    var stopped: Set<Int> { state.withLock { $0.stopped } }

    func begin(_ request: ResourceRequest) -> AsyncStream<LoadEvent<Int>> {
        let (stream, continuation) = AsyncStream<LoadEvent<Int>>.makeStream()
        let number = state.withLock { state in
            state.events.append(continuation)
            state.urls.append(request.url)
            return state.events.count - 1
        }
        continuation.onTermination = { [weak self] termination in
            guard case .cancelled = termination else { return }
            self?.state.withLock { _ = $0.stopped.insert(number) }
        }
        return stream
    }

    /// Passes an event to a load. Loads count from 0.
    func send(_ event: LoadEvent<Int>, to load: Int) {
        let events = state.withLock { $0.events[load] }
        events.yield(event)
        if event.isLast { events.finish() }
    }

    func send(_ image: Int, to load: Int) { send(.completed(Loaded(image, of: "")), to: load) }
}

@MainActor
@Suite("ImageViewModel", .timeLimit(.minutes(5))) struct ImageViewModelTests {
    private let loads: Loads
    private let model: ImageViewModel<Int>
    private nonisolated static let failure = LoadError.notCached(url: "a")

    init() {
        let loads = Loads()
        self.loads = loads
        model = ImageViewModel {
            ObservedResource(
                begin: { loads.begin($0) },
                now: { $0.url == "memory" ? Loaded(7, of: $0.url) : nil }, pressure: loads.pressure)
        }
    }

    private func show(_ url: String?) -> Task<Void, Never> {
        Task { await model.show(url.map { ResourceRequest($0) }) }
    }

    private func reaches(_ phase: ImagePhase<Int>) async { await eventually { model.phase == phase } }

    nonisolated struct Case: CustomTestStringConvertible {
        let testDescription: String
        let events: [LoadEvent<Int>]
        let phase: ImagePhase<Int>
        let animates: Bool
    }

    nonisolated static let cases = [
        Case(testDescription: "nothing yet", events: [], phase: .loading(nil), animates: false),
        Case(
            testDescription: "progress", events: [.requesting(hadCached: false), .progress(received: 1, total: 4)],
            phase: .loading(LoadProgress(received: 1, total: 4)), animates: false),
        Case(
            testDescription: "more progress",
            events: [.progress(received: 1, total: nil), .progress(received: 3, total: nil)],
            phase: .loading(LoadProgress(received: 3, total: nil)), animates: false),
        Case(
            testDescription: "an image",
            events: [.progress(received: 4, total: 4), .completed(Loaded(1, of: ""))], phase: .image(1), animates: true),
        Case(
            testDescription: "a stored image, a newer one on its way",
            events: [.cached(Loaded(1, of: "")), .progress(received: 1, total: 4)], phase: .image(1), animates: true),
        Case(
            testDescription: "a stored image, no newer one", events: [.cached(Loaded(1, of: "")), .failed(failure)],
            phase: .image(1), animates: true),
        Case(
            testDescription: "a failure", events: [.progress(received: 1, total: 4), .failed(failure)],
            phase: .failed(failure), animates: false),
        Case(testDescription: "a load that ends by itself", events: [.cancelled], phase: .empty, animates: false),
    ]

    @Test("each event of a load leads to a phase", arguments: cases)
    func phases(_ test: Case) async {
        #expect(model.phase == .empty)
        let display = show("a")
        await reaches(.loading(nil))
        for event in test.events { loads.send(event, to: 0) }
        await reaches(test.phase)
        #expect(model.shouldAnimate == test.animates)
        display.cancel()
        await display.value
    }

    @Test("a retry loads the image again and resets the progress; a retry during a load does nothing")
    func retry() async {
        model.retry()
        let display = show("a")
        await reaches(.loading(nil))
        model.retry()
        loads.send(.progress(received: 3, total: 4), to: 0)
        loads.send(.failed(Self.failure), to: 0)
        await reaches(.failed(Self.failure))
        #expect(loads.urls == ["a"])
        model.retry()
        #expect(model.phase == .loading(nil))
        #expect(loads.urls == ["a", "a"])
        loads.send(2, to: 1)
        await reaches(.image(2))
        display.cancel()
        await display.value
    }

    @Test("leaving the screen cancels a load; coming back starts a new one")
    func leaving() async {
        let display = show("a")
        await reaches(.loading(nil))
        display.cancel()
        await display.value
        #expect(model.phase == .empty)
        await eventually { loads.stopped.contains(0) }
        let next = show("a")
        await reaches(.loading(nil))
        #expect(loads.urls == ["a", "a"])
        loads.send(5, to: 1)
        await reaches(.image(5))
        next.cancel()
        await next.value
        // Keeps the image and does not load it again.
        #expect(model.phase == .image(5))
        let last = show("a")
        for _ in 0..<10 { await Task.yield() }
        #expect(model.phase == .image(5))
        #expect(loads.urls.count == 2)
        last.cancel()
        await last.value
    }

    @Test("another request: the end of the earlier task does not cancel the new load", arguments: [true, false])
    func anotherRequest(_ cancelsFirst: Bool) async {
        let former = show("a")
        await reaches(.loading(nil))
        // SwiftUI may end the old task after the new one starts.
        if cancelsFirst { former.cancel() }
        let display = show("b")
        await eventually { loads.urls.count >= 2 }
        former.cancel()
        await former.value
        #expect(loads.urls == ["a", "b"])
        #expect(model.phase == .loading(nil))
        #expect(!loads.stopped.contains(1))
        loads.send(.progress(received: 9, total: nil), to: 0)
        loads.send(3, to: 1)
        await reaches(.image(3))
        display.cancel()
        await display.value
    }

    @Test("shows no image without a request; an image from memory appears without an animation")
    func withoutLoad() async {
        let display = show("memory")
        await reaches(.image(7))
        #expect(!model.shouldAnimate)
        #expect(loads.urls == [])
        let revision = model.revision
        let none = show(nil)
        await reaches(.empty)
        #expect(model.revision != revision)
        for task in [display, none] {
            task.cancel()
            await task.value
        }
    }

    @Test("memory pressure releases the image of a view off the screen only, and the next display loads it")
    func pressure() async {
        let display = show("a")
        await reaches(.loading(nil))
        loads.send(1, to: 0)
        await reaches(.image(1))
        loads.pressure.signal(.critical)
        for _ in 0..<10 { await Task.yield() }
        #expect(model.phase == .image(1))
        display.cancel()
        await display.value
        while model.phase != .empty {
            loads.pressure.signal(.critical)
            await Task.yield()
        }
        let next = show("a")
        await reaches(.loading(nil))
        loads.send(2, to: 1)
        await reaches(.image(2))
        next.cancel()
        await next.value
    }

    @Test(
        "the fraction of a progress",
        arguments: [(1, 4, 0.25), (5, 4, 1), (1, nil, nil), (0, 0, nil)] as [(Int64, Int64?, Double?)])
    func fraction(_ received: Int64, _ total: Int64?, _ fraction: Double?) {
        #expect(LoadProgress(received: received, total: total).fraction == fraction)
    }
}
