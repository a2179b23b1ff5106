import CacheModels
import TestSupport

/// A resource with scripted loads that records its states.
@MainActor
private final class Observed {
    let script = LoadScript()
    private var model: ObservedResource<Int>?
    private let states: AsyncStream<ResourceState<Loaded<Int>>>

    init(now values: [String: Int] = [:]) {
        script.values = values
        let model = ObservedResource(begin: { [script] in script.begin($0) }, now: { [script] in script.now($0) })
        self.model = model
        states = model.states()
    }

    /// Returns the states of the resource during `body` and until its release.
    func log(_ body: (ObservedResource<Int>, LoadScript) async -> Void) async -> [ResourceState<Int>] {
        if let model { await body(model, script) }
        model = nil
        var log: [ResourceState<Int>] = []
        for await state in states { log.append(state.map(\.value)) }
        return log
    }
}

@Suite("ObservedResource", .timeLimit(.minutes(5)))
@MainActor
struct ObservedResourceTests {
    // MARK: Transitions

    @Test("A synchronously available value is one transition, and no load", .requirement("I4"))
    func atOnce() async {
        let observed = Observed(now: ["a": 1])
        let log = await observed.log { model, _ in
            model.bind("a")
            #expect(model.value == 1)
        }
        #expect(log == [.idle, .loaded(1)])
        #expect(observed.script.begun == [])
    }

    @Test("Events that end early leave no task waiting", .requirement("I4"))
    func brokenOff() async {
        let model = ObservedResource<Int>(begin: { _ in AsyncStream { $0.finish() } })
        model.bind("a")
        await model.settled()
        #expect(model.state.map(\.value) == .cancelled(prior: nil))
    }

    @Test("Each transition is one change, and state, value and presentation are consistent", .requirement("I4"))
    func oneChange() async {
        let script = LoadScript()
        let model = ObservedResource(begin: { script.begin($0) }, now: { script.now($0) })
        let log = ChangeLog {
            #expect(model.state.value?.value == model.value)
            #expect(model.presentation.loaded?.value == model.value)
            #expect(model.presentation.showsSpinner == (model.state.isLoading && model.value == nil))
        }
        model.bind("a")
        #expect(log.count == 1)
        script.tell(.requesting(hadCached: false))
        script.tell(.completed(1))
        await model.settled()
        #expect(log.count == 2)
        model.bind("a")
        model.cancel()
        #expect(log.count == 2)
        model.reload()
        script.tell(.failed(.offline))
        await model.settled()
        #expect(log.count == 4)
        #expect(model.value == 1)
        #expect(model.state.error == .offline)
        model.bind(nil)
        #expect(log.count == 5)
    }

    @Test("An observer may make another change, which follows the first", .requirement("I4"))
    func changeWithinChange() async {
        let log = await Observed(now: ["now": 9]).log { model, _ in
            let changes = ChangeLog(onChange: { if model.request == nil { model.bind("now") } }, { _ = model.state })
            model.bind("a")
            #expect(changes.count == 2)
            #expect(model.request?.url == "now")
            #expect(model.value == 9)
        }
        #expect(log == [.idle, .loading(prior: nil), .loaded(9)])
    }

    @Test("An observer of the progress may make another change, which follows the first", .requirement("I4"))
    func changeWithinProgress() async {
        let observed = Observed()
        let log = await observed.log { model, script in
            model.bind("a")
            script.tell(.progress(received: 1, total: 2))
            await eventually { model.progress != nil }
            let changes = ChangeLog(
                onChange: { if script.begun.count == 2 { model.bind("c") } }, { _ = model.progress })
            model.bind("b")
            #expect(changes.count == 1)
            #expect(model.request?.url == "c")
            script.tell(.completed(3))
            await model.settled()
        }
        #expect(observed.script.begun == ["a", "b", "c"])
        #expect(log == [.idle, .loading(prior: nil), .loading(prior: nil), .loading(prior: nil), .loaded(3)])
        await observed.script.hasStopped(1)
    }

    // MARK: Bind

    @Test("Events of A that are still queued when B is bound are ignored", .requirement("I5"))
    func eventsOnTheirWay() async {
        let log = await Observed(now: ["now": 9]).log { model, script in
            model.bind("a")
            script.tell(.completed(1))
            model.bind("b")
            script.tell(.completed(2))
            model.bind("now")
            model.bind("c")
            script.tell(.completed(3))
            await model.settled()
        }
        #expect(
            log == [
                .idle, .loading(prior: nil), .loading(prior: nil), .loaded(9), .loading(prior: nil), .loaded(3),
            ])
    }

    @Test("Releasing a model releases its load", .requirement("I5", "E4"))
    func deinitialisation() async {
        let observed = Observed()
        let log = await observed.log { model, _ in model.bind("a") }
        #expect(log == [.idle, .loading(prior: nil)])
        await observed.script.hasStopped(0)
    }

    // MARK: Observers

    @Test("A reader of the states counts as an observer until the reading ends", .requirement("I7"))
    func readers() async {
        let script = LoadScript()
        script.values = ["a": 1]
        let pressure = MemoryPressureSource()
        let model = ObservedResource(begin: { script.begin($0) }, now: { script.now($0) }, pressure: pressure)
        model.bind("a")
        var first: AsyncStream<ResourceState<Loaded<Int>>>? = model.states()
        let second = Task { for await _ in model.states() {} }
        await eventually { model.observers >= 2 }
        first = nil
        await eventually { model.observers <= 1 }
        pressure.signal(.warning)
        await Task { @MainActor in }.value
        #expect(model.value == 1)
        second.cancel()
        await eventually { model.observers == 0 }
        pressure.signal(.warning)
        await Task { @MainActor in }.value
        #expect(model.value == nil)
        first = model.states()
        #expect(model.value == 1)
        #expect(first != nil)
    }

    @Test("Ending an observation that has not begun is a programming error", .requirement("I7"))
    func unbalanced() async {
        await #expect(processExitsWith: .failure) {
            await MainActor.run {
                let model = ObservedResource<Int>(begin: { _ in AsyncStream { $0.finish() } })
                model.beginObserving()
                model.endObserving()
                model.endObserving()
            }
        }
    }
}
