// A newsreader in one file. It shows the stored feed immediately, then the new one. Pictures load while no urgent load
// runs. Without a network it shows the stored content.

internal import ArgumentParser
internal import CacheImages
internal import CacheLoader
internal import CacheStore
internal import Foundation
internal import PixbufDecoder

/// The displayed parts of a JSON Feed (https://www.jsonfeed.org/version/1.1/).
struct Feed: Decodable, Equatable, Sendable {
    struct Item: Decodable, Equatable, Sendable {
        let title: String?
        let url: String?
        let image: String?
    }
    let title: String
    let items: [Item]
}

@main
struct Newsreader: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "newsreader", abstract: "Shows a JSON feed, its pictures and an article, also without a network.",
        discussion: "The news are written to the standard output, where they came from to the standard error.")

    @Argument(help: "The URL of the feed.")
    var feed: String

    @Option(help: "The number of the article to open.")
    var open: Int?

    @Flag(help: "Asks no origin: shows what is stored.")
    var offline = false

    @Option(help: "The directory of the store.")
    var store = "newsreader-store"

    func run() async throws {
        // Above the limit, the store evicts the least recently used entries.
        var settings = ResponseStore.Configuration()
        settings.limits = Limits(maxBytes: 200 << 20)
        let store = try ResponseStore(directory: URL(filePath: store), configuration: settings)
        defer { store.close() }
        let loader = ResourceLoader(store: store)
        loader.configuration.memoryLimit = 32 << 20
        // Offline, a stored response of any age answers. A missing response fails immediately.
        if offline { loader.configuration.policy.mode = .cacheOnly }
        do throws(LoadError) {
            try await show(loader)
        } catch {
            say("\(error)")
            throw ExitCode.failure
        }
    }

    func show(_ loader: ResourceLoader) async throws(LoadError) {
        let feed = try await latestFeed(loader)
        let images = feed.items.compactMap(\.image)
        // The background lane: one load at a time, and none while the article loads.
        let prefetch = loader.prefetch(images.map { ResourceRequest($0) })
        if let (_, item) = zip(1..., feed.items).first(where: { number, _ in number == open }) {
            try await show(item, loader)
        }

        let progress = await prefetch.finished()
        say("pictures: \(progress.loaded) loaded, \(progress.hits) in the store, \(progress.failed) missing")
        for image in images { await show(image, ImageSize(width: 12, height: 8), loader) }
    }

    /// Returns the feed. Before the origin has answered, shows a stored feed that is not fresh.
    func latestFeed(_ loader: ResourceLoader) async throws(LoadError) -> Feed {
        var shown: Feed?
        for await event in loader.events(for: ResourceRequest(feed), as: .json(Feed.self)) {
            switch event {
            case .cached(let old):
                say("feed: stored, and not fresh")
                show(old.value)
                shown = old.value
            case .requesting(let hadCached):
                say(hadCached ? "feed: looking for news" : "feed: loading")
            case .retrying(let error, let failedAttempts, _):
                say("feed: attempt \(failedAttempts) has failed: \(error)")
            case .storeFailed(let error):
                say("feed: goes on without the store: \(error)")
            case .completed(let new):
                say("feed: \(new.source)\(new.isStale ? ", not fresh" : "")")
                if let failure = new.failure { say("feed: in place of an answer: \(failure)") }
                if new.value != shown { show(new.value) }
                return new.value
            case .failed(let error): throw error
            case .progress, .cancelled: break
            }
        }
        throw .cancelled
    }

    func show(_ feed: Feed) {
        print(feed.title.printable)
        for (number, item) in zip(1..., feed.items) { print("  \(number). \(item.title?.printable ?? "(no title)")") }
    }

    /// Shows an article. Loads it in the urgent lane, the default.
    func show(_ item: Feed.Item, _ loader: ResourceLoader) async throws(LoadError) {
        guard let url = item.url else { return say("article: it has no address") }
        let article = try await loader.load(ResourceRequest(url, lane: .urgent), as: .text)
        say("article: \(article.source)")
        print("\n\(item.title?.printable ?? url)\n\n\(article.value.printable)")
        if let image = item.image { await show(image, ImageSize(width: 48, height: 32), loader) }
    }

    /// Shows a picture at its display size. Several variants of a picture need only one request.
    func show(_ image: String, _ size: ImageSize, _ loader: ResourceLoader) async {
        let variant = ImageVariant(displaySize: size, mode: .aspectFill)
        do throws(LoadError) {
            let picture = try await loader.load(image, as: .image(PixbufDecoder(), variant))
            say("picture of \(size): \(picture.source)")
            // Each character shows two pixels: the upper in the foreground color, the lower in the background color.
            for y in stride(from: 0, to: picture.value.height, by: 2) {
                let row = (0..<picture.value.width).map { x in
                    let (upper, lower) = (picture.value[x, y], picture.value[x, y + 1])
                    return "\u{1B}[38;2;\(upper.sgr)m\u{1B}[48;2;\(lower.sgr)m▀"
                }
                print(row.joined() + "\u{1B}[0m")
            }
        } catch {
            say("\(error)")
        }
    }

    /// Writes a progress message to the standard error.
    func say(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data("\(text)\n".utf8))
    }
}

extension String {
    /// The text without characters that control the terminal.
    fileprivate var printable: String {
        String(
            String.UnicodeScalarView(unicodeScalars.filter { $0 == "\n" || $0.properties.generalCategory != .control }))
    }
}

extension PixbufImage.Pixel {
    /// The color as a parameter of SGR (ECMA-48, ITU-T T.416).
    fileprivate var sgr: String { "\(red);\(green);\(blue)" }
}
