package import ArgumentParser

extension ByteLimit: ExpressibleByArgument {
    package static var defaultCompletionKind: CompletionKind { .list(["10MB", "100MB", "1GB", "10MiB", "1GiB"]) }
}
