public import ArgumentParser
public import CacheImages
internal import CacheLoader
internal import CacheStore
internal import Foundation
internal import PixbufDecoder
internal import Synchronization

/// Loads an image, and writes a cropped and resized variant of it.
@main
struct Thumbnail: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thumbnail", abstract: "Loads an image, crops and resizes it, and writes the result.",
        discussion: """
            Prints where the image came from, whether it was decoded or its thumbnail was stored, and how large that is.
            """)

    @Argument(help: "The URL of the image.")
    var url: String

    @Option(help: "The width of the area that it is shown in, in points. Without one it is not resized.")
    var width: Double = 0

    @Option(help: "The height of that area.")
    var height: Double = 0

    @Option(help: "How the image is brought into that area.")
    var mode: ImageContentMode = .aspectFill

    @Option(help: "Pixels for each point.")
    var scale: Double = 1

    @Option(help: "The part of the image to use, in fractions of its sides: x,y,width,height.")
    var crop: ImageRect?

    @Option(help: "The directory of the store.")
    var store = "thumbnail-store"

    @Option(name: .shortAndLong, help: "Where to write the result: a name that ends in .jpg, .jpeg or .png.")
    var output: String

    private var encoding: PixbufImage.Encoding? {
        switch URL(filePath: output).pathExtension.lowercased() {
        case "jpg", "jpeg": .jpeg()
        case "png": .png
        default: nil
        }
    }

    func validate() throws {
        guard encoding != nil else { throw ValidationError("\(output) ends neither in .jpg nor in .jpeg nor in .png.") }
    }

    func run() async throws {
        guard let encoding else { return }
        let variant = ImageVariant(
            displaySize: ImageSize(width: width, height: height), crop: crop, mode: mode, scale: scale)
        let store = try ResponseStore(directory: URL(filePath: store))
        defer { store.close() }
        let loader = ResourceLoader(store: store)
        loader.configuration.contentTypes = ["image/*"]

        let isDecoded = Mutex(false)
        let encoded = ClosureProcessor(ProcessorID("encoded", parameters: ["as": "\(encoding)"])) {
            (image: PixbufImage, _) in
            isDecoded.withLock { $0 = true }
            return try image.encoded(as: encoding)
        }
        // The loader makes the thumbnail once for each original, and later reads the stored thumbnail.
        let processor = ImageProcessor(PixbufDecoder(), variant).then(encoded).stored(as: .data)
        let thumbnail = try await loader.load(url, as: processor)
        try thumbnail.value.write(to: URL(filePath: output))
        let size = ImageHeader(thumbnail.value).map { "\($0.width)x\($0.height)" } ?? "no image"
        print("\(thumbnail.source), \(isDecoded.withLock { $0 } ? "decoded" : "stored"): \(size)")
    }
}

extension ImageContentMode: @retroactive ExpressibleByArgument {}

extension ImageRect: @retroactive ExpressibleByArgument {
    /// Parses x, y, width and height, as in `0.25,0,0.5,1`.
    public init?(argument: String) {
        let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).compactMap { Double($0) }
        guard numbers.count == 4 else { return nil }
        self.init(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
    }
}
