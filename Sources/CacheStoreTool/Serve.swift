import ArgumentParser
import CacheInspector
import CacheStore

/// Shows the store on a web page.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the store on a web page, while programs use it.",
        discussion: """
            Prints the address of the page, and serves it until Ctrl-C. Only this machine reaches the page, and only with \
            the token in its address. The page shows live requests, entries, the reasons of answers, evictions, failures \
            and SQL. Live requests need a record: 'cachestore record on'. The page only reads unless --allow-changes is \
            given. While no page is open, nothing runs.

            For a store on another machine, give --port there, run 'ssh -L 8080:127.0.0.1:8080 user@machine' here, and \
            open the address here. With the same port, browsers keep the theme and the saved queries.
            """)

    @Option(help: ArgumentHelp("The port on 127.0.0.1; 0 for one that the system chooses.", valueName: "number"))
    var port = 0

    @Option(help: ArgumentHelp("The port of your machine that ssh -L forwards, if it is another.", valueName: "number"))
    var forwardedPort: Int?

    @Flag(help: "Let the page remove, pin and refresh entries, and switch the record of requests.")
    var allowChanges = false

    @OptionGroup var store: StoreOptions

    func validate() throws {
        if !(0...65_535).contains(port) { throw ValidationError("--port needs a number from 0 to 65535") }
        if let forwardedPort, !(1...65_535).contains(forwardedPort) {
            throw ValidationError("--forwarded-port needs a number from 1 to 65535")
        }
    }

    func run() async throws {
        let (_, signal) = try await Interruption.cancelling {
            try await store.withExistingStore(isReadOnly: !allowChanges) { store in
                var configuration = StoreInspector.Configuration()
                configuration.allowsChanges = allowChanges
                configuration.version = Version.text
                let inspector = StoreInspector(store: store, configuration: configuration)
                try await InspectorServer(inspector, port: port, forwardedPort: forwardedPort).run { address in
                    // Ignores a closed pipe, because then no reader needs the address.
                    try? StandardOutput.write(line: address)
                }
            }
        }
        if let signal { throw signal.exitCode }
    }
}
