internal import TestSupport

@Suite struct ProcessorTests {
    private struct Refusal: Error, Equatable {}

    // MARK: Chains

    @Test(
        "In a chain of three, no processor runs after one that throws", .requirement("F1"), arguments: [1, 2, 3, nil])
    func chainStops(refusing: Int?) async throws {
        let calls = [CallCount(), CallCount(), CallCount()]
        func stage(_ number: Int) -> ClosureProcessor<String, String> {
            ClosureProcessor(ProcessorID("stage\(number)")) { text, _ in
                calls[number - 1].increment()
                if number == refusing { throw Refusal() }
                return text + "\(number)"
            }
        }
        let chain = TextProcessor().then(stage(1)).then(stage(2)).then(stage(3))
        if let refusing {
            await #expect(throws: Refusal()) { try await ProcessorSample.value(Data(), as: chain) }
            #expect(calls.map(\.value) == [1, 2, 3].map { $0 <= refusing ? 1 : 0 })
        } else {
            #expect(try await ProcessorSample.value(Data("0".utf8), as: chain) == "0123")
            #expect(calls.map(\.value) == [1, 1, 1])
        }
    }

    @Test("A chain passes types and the context on", .requirement("F1"))
    func chainTypes() async throws {
        let chain = TextProcessor()
            .then(ClosureProcessor(ProcessorID("length")) { (text: String, _) in text.utf8.count })
            .then(ClosureProcessor(ProcessorID("line")) { length, context in "\(context.url) \(length)" })
        #expect(try await ProcessorSample.value(Data("four".utf8), as: chain) == "http://a.test/ 4")
    }

    @Test("A cancelled task begins no further stage", .requirement("F1"))
    func cancelled() async throws {
        let later = CallCount()
        let chain = ClosureProcessor<Data, Data>(ProcessorID("cancelling")) { data, _ in
            withUnsafeCurrentTask { $0?.cancel() }
            return data
        }
        .then(
            ClosureProcessor(ProcessorID("later")) { data, _ in
                later.increment()
                return data
            })
        let task = Task { try await ProcessorSample.value(Data(), as: chain) }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(later.value == 0)
    }

    // MARK: Executors

    /// Without the protocol's isolation, its method would run on the caller's executor.
    private struct Plain: Processor {
        let id = ProcessorID("plain")
        let executor: QueueExecutor
        func process(_ input: Data, _ context: ProcessingContext) async throws -> Bool { executor.isHere }
    }

    private actor Caller {
        nonisolated let executor = QueueExecutor()
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        /// Whether the actor's executor runs the caller: before, in `processor` (if it reports that) and after.
        func isHere(_ processor: some Processor<Data, Bool>) async throws -> [Bool] {
            let before = executor.isHere
            let during = try await processor.process(Data(), ProcessorSample.context())
            return [before, during, executor.isHere]
        }

        func isHere(_ processor: ClosureProcessor<Data, Bool>) async throws -> [Bool] {
            let before = executor.isHere
            let during = try await processor.process(Data(), ProcessorSample.context())
            return [before, during, executor.isHere]
        }
    }

    @Test("No processor runs on the executor of its caller", .requirement("F1"))
    func executor() async throws {
        let caller = Caller()
        let executor = caller.executor
        let plain = Plain(executor: executor)
        let closure = ClosureProcessor<Data, Bool>(ProcessorID("closure")) { _, _ in executor.isHere }
        #expect(try await caller.isHere(plain) == [true, false, true])
        #expect(try await caller.isHere(DataProcessor().then(plain)) == [true, false, true])
        #expect(try await caller.isHere(DataProcessor().then(closure)) == [true, false, true])
        // A direct call, without a protocol witness.
        #expect(try await caller.isHere(closure) == [true, false, true])
    }

    // MARK: Supplied processors

    @Test("Each supplied processor has a static member for generic parameters", .requirement("F1"))
    func names() async throws {
        let data = Data(#"{"a":1}"#.utf8)
        #expect(try await ProcessorSample.value(data, as: .data) == data)
        #expect(try await ProcessorSample.value(data, as: .text) == #"{"a":1}"#)
        #expect(try await ProcessorSample.value(data, as: .json([String: Int].self)) == ["a": 1])
        let length = ClosureProcessor(ProcessorID("length")) { (data: Data, _) in data.count }
        #expect(try await ProcessorSample.value(data, as: length) == 7)
    }

    @Test("A processor receives the fields of the response; of several types the last counts", .requirement("F1"))
    func context() {
        var context = ProcessorSample.context()
        #expect(context.contentType == nil)
        context.headerFields.append(HTTPField(name: .contentType, value: "text/plain"))
        context.headerFields.append(HTTPField(name: .contentType, value: "text/html; charset=utf-8"))
        #expect(context.contentType == "text/html; charset=utf-8")
    }
}
