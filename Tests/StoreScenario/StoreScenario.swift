import CFaults
import CacheStore
import FaultModel
import Foundation

/// Runs a scenario on a store while system calls fail, as specified by its argument (see `ScenarioOptions`).
///
/// Prints `calls N` at the end: the number of calls of the plan's kinds. If the store does not meet the expectation,
/// prints a sentence and exits with 1.
@main
struct StoreScenario {
    static func main() {
        do {
            // The alarm kills a store that hangs.
            alarm(120)
            guard CommandLine.arguments.count == 2 else { throw Failure("one argument: options as JSON") }
            let options = try JSONDecoder().decode(ScenarioOptions.self, from: Data(CommandLine.arguments[1].utf8))
            try run(options)
            print("calls", cfaults_count())
        } catch {
            // Not print: a kill loses buffered output.
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ options: ScenarioOptions) throws {
        try FileManager.default.createDirectory(atPath: options.directory, withIntermediateDirectories: true)
        let journal = Journal(options.journal)
        start(options)
        switch options.mode {
        case .run(let scenario):
            try ScenarioRun(scenario, options, journal, persists: false).run()
        case .persist(let scenario):
            try ScenarioRun(scenario, options, journal, persists: true).run()
        case .lock(let key): try Loads(options, journal).hold(key)
        case .load(let keys): try Loads(options, journal).load(keys)
        case .holdWriteLock: try WriteLockHolder.hold(options, journal)
        case .retakeWriteLock: try WriteLockHolder.retake(options, journal)
        case .app(let work): try App.run(work, options, journal)
        case .stress(let seed, let seconds):
            try Stress(options, seed: seed).run(for: seconds)
        }
    }

    private static func start(_ options: ScenarioOptions) {
        guard options.fault != nil || options.record != nil else { return }
        let fault = options.fault ?? FaultPlan(.count, .all)
        options.directory.withCString { directory in
            func start(_ record: UnsafePointer<CChar>?) {
                var plan = cfaults_plan(
                    root: directory, record: record, kinds: fault.kinds.rawValue, action: fault.action.rawValue,
                    first: fault.first, length: fault.length, error: fault.error)
                cfaults_start(&plan)
            }
            if let record = options.record { record.withCString { start($0) } } else { start(nil) }
        }
    }
}

/// An expectation that the store did not meet.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension ScenarioOptions {
    /// The configuration of the stores of all scenarios.
    var configuration: ResponseStore.Configuration {
        var configuration = ResponseStore.Configuration()
        // No timer: the scenario alone determines the calls and their order.
        configuration.accessInterval = .seconds(3600)
        configuration.durability = isDurable ? .durable : .relaxed
        return configuration
    }
}
