public import CacheImages
internal import CGdkPixbuf
public import Foundation

extension PixbufDecoder: ProgressiveImageDecoder {
    /// Begins to decode an image as its bytes arrive.
    public func makeSession(_ variant: ImageVariant) -> Session {
        Session(self, variant)
    }

    /// Decodes one image as its bytes arrive. A progressive JPEG and an interlaced PNG appear whole with rising detail.
    /// Any other image grows from top to bottom.
    public struct Session: ImageDecodingSession {
        /// Starts with reading the header, which determines the decoding.
        private enum State {
            case reading
            case decoding(ImageHeader, ImagePlan, PixbufLoader)
        }

        private let decoder: PixbufDecoder
        private let variant: ImageVariant
        private var state = State.reading
        /// Kept to find the end of the image.
        private var data = Data()

        init(_ decoder: PixbufDecoder, _ variant: ImageVariant) {
            self.decoder = decoder
            self.variant = variant
        }

        /// Decodes the next bytes.
        ///
        /// - Throws: The same errors as ``PixbufDecoder/decode(_:_:)``.
        public mutating func append(_ bytes: Data) throws {
            data.append(bytes)
            switch state {
            case .decoding(_, _, let loader): try loader.write(bytes)
            case .reading:
                switch ImageHeader.reading(data) {
                case .incomplete: break
                case .unknown: throw ImageError.unknownFormat
                case .header(let header):
                    let plan = try decoder.plan(header, variant)
                    let loader = try PixbufLoader(header, plan)
                    try loader.write(data)
                    state = .decoding(header, plan, loader)
                }
            }
        }

        /// Returns the image with the detail of the bytes so far. Missing pixels are transparent or black.
        public func partialImage() throws -> PixbufImage? {
            guard case .decoding(_, let plan, let loader) = state, let image = try loader.image() else { return nil }
            if plan.isDrawn { return try decoder.drawn(image, plan, variant) }
            // Later bytes change the pixels of this image.
            guard let copy = image.copied() else { throw ImageError.malformed(reason: "there is no memory to copy it") }
            return copy
        }

        /// Returns the complete image.
        ///
        /// - Throws: The same errors as ``PixbufDecoder/decode(_:_:)``.
        public func finish() throws -> PixbufImage {
            guard case .decoding(let header, let plan, let loader) = state else { throw ImageError.unknownFormat }
            guard header.format.hasEnd(in: data) else { throw ImageError.malformed(reason: "its end is missing") }
            try loader.close()
            guard let image = try loader.image() else { throw ImageError(nil) }
            return try decoder.drawn(image, plan, variant)
        }
    }
}
