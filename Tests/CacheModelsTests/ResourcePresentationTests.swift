import CacheModels
import TestSupport

@Suite("ResourcePresentation")
@MainActor
struct ResourcePresentationTests {
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        /// Brings a resource bound to "a" into a state.
        let bring: @MainActor (ObservedResource<Int>, LoadScript) async -> Void
        let content: Int?
        let isPlaceholder: Bool
        let showsSpinner: Bool
        let shouldAnimate: Bool

        init(
            _ name: String, content: Int?, isPlaceholder: Bool, showsSpinner: Bool, shouldAnimate: Bool,
            _ bring: @escaping @MainActor (ObservedResource<Int>, LoadScript) async -> Void
        ) {
            testDescription = name
            (self.content, self.isPlaceholder, self.showsSpinner) = (content, isPlaceholder, showsSpinner)
            (self.shouldAnimate, self.bring) = (shouldAnimate, bring)
        }
    }

    /// 0 is the placeholder; "a" loads 1, "now" is 2 and available synchronously.
    nonisolated static let cases = [
        Case("idle", content: 0, isPlaceholder: true, showsSpinner: false, shouldAnimate: false) { model, _ in
            model.bind(nil)
        },
        Case("loading", content: 0, isPlaceholder: true, showsSpinner: true, shouldAnimate: false) { _, _ in },
        Case("a prior value", content: 1, isPlaceholder: false, showsSpinner: false, shouldAnimate: true) {
            model, script in
            script.tell(.cached(1))
            await model.settled { $0.value != nil }
        },
        Case("loaded", content: 1, isPlaceholder: false, showsSpinner: false, shouldAnimate: true) { model, script in
            script.tell(.completed(1))
            await model.settled()
        },
        Case("loaded at once", content: 2, isPlaceholder: false, showsSpinner: false, shouldAnimate: false) {
            model, _ in
            model.bind("now")
        },
        Case("loaded again", content: 2, isPlaceholder: false, showsSpinner: false, shouldAnimate: false) { model, _ in
            model.bind("now")
            model.reload()
        },
        Case("another value", content: 3, isPlaceholder: false, showsSpinner: false, shouldAnimate: true) {
            model, script in
            model.bind("now")
            model.reload()
            script.tell(.completed(3))
            await model.settled()
        },
        Case("failed", content: 0, isPlaceholder: true, showsSpinner: false, shouldAnimate: false) { model, script in
            script.tell(.failed(.offline))
            await model.settled()
        },
        Case("failed with a prior value", content: 1, isPlaceholder: false, showsSpinner: false, shouldAnimate: true) {
            model, script in
            script.tell(.cached(1))
            script.tell(.failed(.offline))
            await model.settled()
        },
        Case("cancelled", content: 0, isPlaceholder: true, showsSpinner: false, shouldAnimate: false) { model, _ in
            model.cancel()
        },
        Case(
            "cancelled with a prior value", content: 2, isPlaceholder: false, showsSpinner: false, shouldAnimate: false
        ) {
            model, _ in
            model.bind("now")
            model.reload()
            model.cancel()
        },
        Case("released", content: 0, isPlaceholder: true, showsSpinner: false, shouldAnimate: false) { model, script in
            model.bind("now")
            script.pressure.signal(.critical)
            await Task { @MainActor in }.value
        },
    ]

    @Test(
        "Placeholder until the first value, spinner while loading without one, no animation of an available value",
        .requirement("I6"), arguments: cases)
    func truthTable(_ c: Case) async {
        let script = LoadScript()
        script.values = ["now": 2]
        let model = ObservedResource(begin: { script.begin($0) }, now: { script.now($0) }, pressure: script.pressure)
        model.placeholder = 0
        model.bind("a")
        await c.bring(model, script)
        let shown = model.presentation
        #expect(shown.content == c.content)
        #expect(shown.isPlaceholder == c.isPlaceholder)
        #expect(shown.showsSpinner == c.showsSpinner)
        #expect(shown.shouldAnimate == c.shouldAnimate)
        #expect(shown.loaded?.value == (c.isPlaceholder ? nil : c.content))
        #expect(model.value == shown.loaded?.value)
    }

    @Test("Another placeholder appears only while the placeholder is shown", .requirement("I6"))
    func placeholder() {
        let script = LoadScript()
        script.values = ["now": 2]
        let model = ObservedResource(begin: { script.begin($0) }, now: { script.now($0) })
        let log = ChangeLog { _ = model.presentation }
        model.placeholder = 10
        #expect(log.count == 1)
        #expect(model.presentation.content == 10)
        model.bind("now")
        #expect(log.count == 2)
        model.placeholder = 11
        #expect(log.count == 2)
        #expect(model.presentation.content == 2)
        model.bind(nil)
        #expect(log.count == 3)
        #expect(model.presentation.content == 11)
        model.placeholder = nil
        #expect(log.count == 4)
        #expect(model.presentation.content == nil)
        #expect(model.presentation.isPlaceholder == false)
    }

    @Test("The payload changes with its value, not with the bind", .requirement("I6"))
    func payload() async {
        let script = LoadScript()
        let model = ObservedResource(begin: { script.begin($0) }, now: { script.now($0) })
        model.bind("a")
        script.tell(.completed(Loaded(1, of: "first")))
        await model.settled()
        #expect(model.presentation.loaded?.url == "first")
        let before = model.presentation.revision
        model.reload()
        #expect(model.presentation.loaded?.url == "first")
        #expect(model.presentation.revision == before)
        script.tell(.completed(Loaded(1, of: "second")))
        await model.settled()
        #expect(model.presentation.loaded?.url == "second")
        #expect(model.presentation.revision != before)
    }
}
