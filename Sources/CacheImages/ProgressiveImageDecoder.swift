public import CacheFoundation

/// Decodes one image as its bytes arrive.
///
/// For one task at a time.
public protocol ImageDecodingSession<Image> {
    /// The type of a decoded image.
    associatedtype Image: Sendable

    /// Adds the next bytes.
    mutating func append(_ bytes: Data) throws

    /// Returns the image with the detail of the bytes so far, or `nil` before the first pixel.
    mutating func partialImage() throws -> Image?

    /// Returns the complete image. Called once, after the last bytes. Throws for a truncated image.
    mutating func finish() throws -> Image
}

/// An image decoder that can also decode the first part of an image.
public protocol ProgressiveImageDecoder: ImageDecoder {
    /// The type that decodes one image.
    associatedtype Session: ImageDecodingSession<Image>

    /// Begins to decode one variant of an image.
    func makeSession(_ variant: ImageVariant) throws -> Session
}

extension ProgressiveImageDecoder {
    /// Decodes the image of a body as the body arrives. Returns images with rising detail; the last one is complete.
    ///
    /// ```swift
    /// let response = try await cache.response(for: request)
    /// for try await image in decoder.images(from: response.body, variant) { show(image) }
    /// ```
    ///
    /// Decodes again after `step` more bytes and a quarter more than before: about ten times for each tenfold size.
    /// Keeps only the newest image for a slow reader. Decodes on the shared thread pool of all tasks, and reads the
    /// body no faster than it decodes. Releasing the sequence, or cancelling the task that reads it, stops decoding and
    /// reading.
    ///
    /// The sequence throws ``ImageError/tooLarge(width:height:maxPixels:)`` and the errors of an invalid variant as
    /// soon as the header has arrived. It also throws the errors of the decoder and of the body.
    ///
    /// - Parameters:
    ///   - body: The bytes of the image, such as the body of a `CachedResponse`.
    ///   - variant: The crop, the size and the quality of the images.
    ///   - step: The fewest bytes between two images, at least 1.
    public func images<Body: AsyncSequence & Sendable>(
        from body: Body, _ variant: ImageVariant = .original, every step: Int = 16_384
    ) -> AsyncThrowingStream<Image, any Error> where Body.Element == Data {
        let (images, continuation) = AsyncThrowingStream<Image, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            do {
                var decoding = ProgressiveDecoding(try makeSession(variant), step: step) { header in
                    try check(header.size(in: variant.orientation), for: variant)
                }
                for try await bytes in body {
                    if let image = try decoding.append(bytes) { continuation.yield(image) }
                }
                // A body that ended by cancellation is incomplete.
                try Task.checkCancellation()
                continuation.yield(try decoding.finish())
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return images
    }
}

/// Decides when to decode again.
struct ProgressiveDecoding<Session: ImageDecodingSession> {
    private var session: Session
    private let step: Int
    private let check: (ImageHeader) throws -> Void

    /// The bytes up to the end of the header, `nil` after it.
    private var head: Data? = Data()
    private var byteCount = 0
    /// The byte count at which to read the header next.
    private var nextReading = 0
    /// The byte count at which to decode next.
    private var next: Int

    /// `check` throws if the image of a header must not be decoded.
    init(_ session: Session, step: Int, check: @escaping (ImageHeader) throws -> Void) {
        self.session = session
        self.step = max(1, step)
        self.check = check
        next = self.step
    }

    /// Adds bytes. Returns an image when the next one is due.
    mutating func append(_ bytes: Data) throws -> Session.Image? {
        byteCount += bytes.count
        try pass(bytes)
        guard head == nil, byteCount >= next else { return nil }
        next = byteCount + max(step, byteCount / 4)
        return try session.partialImage()
    }

    mutating func finish() throws -> Session.Image {
        try passHead(isWhole: true)
        return try session.finish()
    }

    /// Passes bytes to the session once the header has arrived with an acceptable size.
    private mutating func pass(_ bytes: Data) throws {
        guard head != nil else { return try session.append(bytes) }
        head?.append(bytes)
        guard byteCount >= nextReading else { return }
        // Reading a header of many small chunks after each of them would take quadratic time.
        nextReading = byteCount + byteCount / 4
        try passHead(isWhole: false)
    }

    private mutating func passHead(isWhole: Bool) throws {
        guard let head else { return }
        switch ImageHeader.reading(head) {
        case .incomplete: guard isWhole else { return }
        case .header(let header): try check(header)
        // For other formats the decoder checks the size.
        case .unknown: break
        }
        self.head = nil
        try session.append(head)
    }
}
