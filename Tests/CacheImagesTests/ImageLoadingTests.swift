internal import CacheImages
internal import TestSupport

@Suite("ImageProcessor with a ResourceLoader", .timeLimit(.minutes(5))) struct ImageLoadingTests {
    /// Returns the header of an image and the size of its variant.
    private struct Picture: Equatable, MemoryCosting {
        let header: ImageHeader
        let output: ImageSize
        var memoryCost: Int { 100 }
    }

    /// Reads only the header, and counts its calls.
    private struct HeaderDecoder: ImageDecoder {
        let id = ProcessorID("header")
        let calls = CallCount()

        func decode(_ data: Data, _ variant: ImageVariant) throws -> Picture {
            calls.increment()
            guard let header = ImageHeader(data) else { throw CocoaError(.fileReadCorruptFile) }
            let size = ImageSize(width: Double(header.width), height: Double(header.height))
            return Picture(header: header, output: try variant.placement(of: size).output)
        }
    }

    private let url = "https://example.com/a.png"
    private let directory: TemporaryDirectory
    private let transport: ScriptedTransport
    private let loader: ResourceLoader
    private let decoder = HeaderDecoder()

    init() throws {
        directory = try TemporaryDirectory()
        let png = Data(ImageFixtures.png(width: 500, height: 375))
        transport = ScriptedTransport { _, _ in
            TransportResponse(
                head: HTTPResponse(
                    status: .ok, headerFields: [.cacheControl: "max-age=3600", .contentType: "image/png"]),
                body: TransportBody(chunks: [png]))
        }
        var configuration = ResourceLoader.Configuration()
        configuration.memoryLimit = 1 << 20
        loader = ResourceLoader(
            store: try ResponseStore(directory: directory.url), transport: transport, configuration: configuration)
    }

    private static let base = ImageVariant(
        displaySize: ImageSize(width: 100, height: 100), crop: ImageRect(x: 0, y: 0.25, width: 1, height: 0.5),
        mode: .aspectFill)

    /// The base variant with one field changed.
    private static func changed(_ change: (inout ImageVariant) -> Void) -> ImageVariant {
        var variant = base
        change(&variant)
        return variant
    }

    private static let variants: [(field: String, variant: ImageVariant)] = [
        ("display width", changed { $0.displaySize?.width = 101 }),
        ("display height", changed { $0.displaySize?.height = 101 }),
        ("no display size", changed { $0.displaySize = nil }),
        ("crop", changed { $0.crop?.y = 0.5 }),
        ("no crop", changed { $0.crop = nil }),
        ("mode", changed { $0.mode = .aspectFit }),
        ("options", changed { $0.excess = .fillLeavesExcess }),
        ("interpolation", changed { $0.interpolation = .low }),
        ("scale", changed { $0.scale = 2 }),
        ("orientation", changed { $0.orientation = .stored }),
        ("color space", changed { $0.colorSpace = .sRGB }),
        ("another color space", changed { $0.colorSpace = .displayP3 }),
    ]

    @Test("a variant with one changed field misses; an equal variant hits and calls no decoder", .requirement("F3"))
    func variants() async throws {
        let first = try await loader.load(url, as: .image(decoder, Self.base))
        #expect(first.source == .network)
        #expect(first.value.header == ImageHeader(Data(ImageFixtures.png(width: 500, height: 375))))
        #expect(first.value.output == ImageSize(width: 100, height: 100))
        for (index, (field, variant)) in Self.variants.enumerated() {
            let made = try await loader.load(url, as: .image(decoder, variant))
            #expect(made.source == .disk, "\(field)")
            #expect(decoder.calls.value == index + 2, "\(field)")
            let again = try await loader.load(url, as: .image(decoder, variant))
            #expect(again.source == .memory, "\(field)")
            #expect(again.value == made.value, "\(field)")
            #expect(decoder.calls.value == index + 2, "\(field)")
        }
        #expect(try await loader.load(url, as: .image(decoder, Self.base)).source == .memory)
        #expect(decoder.calls.value == Self.variants.count + 1)
        #expect(transport.requestCount == 1)
    }

    @Test("two sizes share one request; a removal removes both", .requirement("F4"))
    func sizes() async throws {
        let small = ImageVariant(displaySize: ImageSize(width: 10, height: 10))
        let large = ImageVariant(displaySize: ImageSize(width: 200, height: 200))
        #expect(try await loader.load(url, as: .image(decoder, small)).value.output.width == 10)
        #expect(try await loader.load(url, as: .image(decoder, large)).value.output.width == 200)
        #expect(transport.requestCount == 1)
        #expect(try await loader.remove(url))
        #expect(try loader.cachedValue(for: ResourceRequest(url), as: .image(decoder, small)) == nil)
        #expect(try loader.cachedValue(for: ResourceRequest(url), as: .image(decoder, large)) == nil)
        #expect(try await loader.load(url, as: .image(decoder, small)).source == .network)
        #expect(transport.requestCount == 2)
    }

    /// Returns the orientation and the color space of its variant.
    private struct NamingDecoder: ImageDecoder {
        let id = ProcessorID("naming")

        func decode(_ data: Data, _ variant: ImageVariant) throws -> Data {
            Data("\(variant.orientation.rawValue) \(variant.colorSpace.rawValue)".utf8)
        }
    }

    @Test("the store keeps a separate representation for each orientation and color space", .requirement("F3"))
    func storedSettings() async throws {
        func load(_ loader: ResourceLoader) async throws -> [String] {
            var texts: [String] = []
            for orientation in ImageVariant.Orientation.allCases {
                for colorSpace in ImageVariant.ColorSpace.allCases {
                    let variant = ImageVariant(orientation: orientation, colorSpace: colorSpace)
                    let processor = ImageProcessor(NamingDecoder(), variant).stored(as: .data)
                    texts.append(String(decoding: try await loader.load(url, as: processor).value, as: UTF8.self))
                }
            }
            return texts
        }
        let texts = try await load(loader)
        #expect(Set(texts).count == 6)
        #expect(try loader.store.statistics().derivedBodies == 6)
        // Without a memory cache, the store answers.
        #expect(try await load(ResourceLoader(store: loader.store, transport: transport)) == texts)
    }

    @Test("the limit applies to the image in the orientation of its variant", .requirement("F1"))
    func sizeInOrientation() throws {
        let bytes = ImageFixtures.jpeg(ImageFixtures.exif(orientation: 6), ImageFixtures.frame(width: 500, height: 375))
        let header = try #require(ImageHeader(Data(bytes)))
        #expect(header.size(in: .upright) == ImageSize(width: 375, height: 500))
        #expect(header.size(in: .stored) == ImageSize(width: 500, height: 375))
    }

    @Test("an image without a readable header throws and is not stored", .requirement("F2"))
    func garbage() async throws {
        let transport = ScriptedTransport { _, _ in .reply(200, [.cacheControl: "max-age=60"], "no image") }
        let directory = try TemporaryDirectory()
        let loader = ResourceLoader(store: try ResponseStore(directory: directory.url), transport: transport)
        for count in 1...2 {
            await #expect(throws: LoadError.self) { _ = try await loader.load(url, as: .image(decoder)) }
            #expect(transport.requestCount == count)
            #expect(try !loader.contains(url))
        }
    }
}
