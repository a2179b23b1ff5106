internal import Foundation
internal import Testing

/// Images of 64 by 48 pixels with a color in each quarter, written by Pillow (libjpeg-turbo).
enum Fixtures {
    /// Red, green, blue, yellow: top left, top right, bottom left, bottom right.
    static let colors: [[Double]] = [[220, 40, 30], [40, 180, 60], [30, 60, 200], [230, 200, 40]]

    /// A baseline JPEG without chroma subsampling.
    static let baseline = data(
        """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAIBAQEBAQIBAQECAgICAgQDAgICAgUEBAMEBgUGBgYFBgYGBwkIBgcJBwYGCAsI\
        CQoKCgoKBggLDAsKDAkKCgr/2wBDAQICAgICAgUDAwUKBwYHCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoK\
        CgoKCgoKCgoKCgoKCgr/wAARCAAwAEADAREAAhEBAxEB/8QAFwABAQEBAAAAAAAAAAAAAAAAAAcJCP/EABQQAQAAAAAAAAAA\
        AAAAAAAAAAD/xAAYAQEBAQEBAAAAAAAAAAAAAAAACggDCf/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/AOc2\
        c3rYAAAvjmmjAAAQN0UuAAAL45powAAEDdFLgAAC+OaaMAABw29vGiAAAG+CX9tgAABgeqAYnAAAb4Jf22AAAGB6oBicAABv\
        gl/bYAAAf//Z
        """)

    /// A progressive JPEG.
    static let progressive = data(
        """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAIBAQEBAQIBAQECAgICAgQDAgICAgUEBAMEBgUGBgYFBgYGBwkIBgcJBwYGCAsI\
        CQoKCgoKBggLDAsKDAkKCgr/2wBDAQICAgICAgUDAwUKBwYHCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoK\
        CgoKCgoKCgoKCgoKCgr/wgARCAAwAEADAREAAhEBAxEB/8QAFwABAQEBAAAAAAAAAAAAAAAAAAYIB//EABgBAQEBAQEAAAAA\
        AAAAAAAAAAAJBwII/9oADAMBAAIQAxAAAAHnOc+tgBfczRAED1S4AX3M0QBA9UuAF9zNEAcN9vaIAN8S/wBsAGB6gYmAN8S/\
        2wAYHqBiYA3xL/bAB//EABQQAQAAAAAAAAAAAAAAAAAAAFD/2gAIAQEAAQUCQ//EABQRAQAAAAAAAAAAAAAAAAAAAFD/2gAI\
        AQMBAT8BQ//EABQRAQAAAAAAAAAAAAAAAAAAAFD/2gAIAQIBAT8BQ//EABQQAQAAAAAAAAAAAAAAAAAAAFD/2gAIAQEABj8C\
        Q//EABQQAQAAAAAAAAAAAAAAAAAAAFD/2gAIAQEAAT8hQ//aAAwDAQACAAMAAAAQAAAAAAAAAAAAAAAAAAAAAAAA/8QAFBEB\
        AAAAAAAAAAAAAAAAAAAAUP/aAAgBAwEBPxBD/8QAFBEBAAAAAAAAAAAAAAAAAAAAUP/aAAgBAgEBPxBD/8QAFBABAAAAAAAA\
        AAAAAAAAAAAAUP/aAAgBAQABPxBD/9k=
        """)

    /// A CMYK JPEG in Adobe's format.
    static let cmyk = data(
        """
        /9j/7gAOQWRvYmUAZAAAAAAA/9sAQwACAQEBAQECAQEBAgICAgIEAwICAgIFBAQDBAYFBgYGBQYGBgcJCAYHCQcGBggLCAkK\
        CgoKCgYICwwLCgwJCgoK/8AAFAgAMABABEMRAE0RAFkRAEsRAP/EAB8AAAEFAQEBAQEBAAAAAAAAAAABAgMEBQYHCAkKC//E\
        ALUQAAIBAwMCBAMFBQQEAAABfQECAwAEEQUSITFBBhNRYQcicRQygZGhCCNCscEVUtHwJDNicoIJChYXGBkaJSYnKCkqNDU2\
        Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6g4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrC\
        w8TFxsfIycrS09TV1tfY2drh4uPk5ebn6Onq8fLz9PX29/j5+v/aAA4EQwBNAFkASwAAPwD9cK/J+vx3r9/KKKKKKKKKKKKK\
        /kvr+jCveKKKKKKKKKKKKKK/rQr+c+vB6KKKKKKKKKKKKK/kvr+jCveKKKKKKKKKKKKKK/rQr+c+vB6KKKKKKKKKKKKK/kvr\
        +jCveKKKKKKKKKKKKKK5evwfr+jCiiiiiiiiiiiiiv7IK/owr+X+iiiiiiiiiiiiiv436/nPr+oCiiiiiiiiiiiiiv7IK/ow\
        r+X+iiiiiiiiiiiiiv436/nPr+oCiiiiiiiiiiiiiv7IK/owr+X+iiiiiiiiiiiiiv/Z
        """)

    /// A grayscale JPEG.
    static let gray = data(
        """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAIBAQEBAQIBAQECAgICAgQDAgICAgUEBAMEBgUGBgYFBgYGBwkIBgcJBwYGCAsI\
        CQoKCgoKBggLDAsKDAkKCgr/wAALCAAwAEABAREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgED\
        AwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RF\
        RkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJ\
        ytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/APnOiiivfKKKK8Dooor3yiiivA6KKK98ooor4booor98\
        KKKK/A+iiiv3wooor8D6KKK/fCiiiv/Z
        """)

    /// A PNG.
    static let png = data(
        """
        iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwCAIAAAAuKetIAAAAYElEQVR42u3RQQ3AIBBFQUqQwLlndHBGBIKqpEoqomJQsWlJ\
        5gn4m8kebztTZOOK3c9p8wAAAAAAAAAAAAAAAAAAAAC+qfR6hx546vQBAAAAAAAAAAAAAAAAAAAAgP+1AHAqBLaqGGOTAAAA\
        AElFTkSuQmCC
        """)

    /// A GIF.
    static let gif = data(
        """
        R0lGODdhQAAwAIEAAObIKCi0PB48yNwoHiwAAAAAQAAwAEAI+gAHCBxIsKDBgwQDKFzIsKHDhwwRSpxYEKLFiw0papSIsaNF\
        ASBDihxJsqRIAChTqlzJsqVKkzBjjnRJs+ZKmThh2txJc6PPih6DRvxJVKjRAESLHg2as+lMnlBfOp0atSqAqVStQk36c2lQ\
        rj69egS7UWxHshrNYkRLUe1FthPdfsTaVCtUunXt7sSbU+9evjL92gQcWDBNwjEN94SLUC5Exo0dO4R8UPJkykAtL8ScWTNS\
        zgM9bwYtULRC0qVNox5g+jPp1qtho26NWKfilrVN3sadm+Rulr19/5YaPORw4sUFHE+Z3Pjyq82VP48ufTn159CbY7/+PCAA\
        Ow==
        """)

    /// Returns a JPEG with an EXIF orientation.
    static func turned(_ orientation: UInt8, isLittleEndian: Bool = false) -> Data {
        let tiff: [UInt8] =
            isLittleEndian
            ? [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0]
            : [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
        let segment = [0xFF, 0xE1, 0, UInt8(tiff.count + 8)] + Array("Exif\0\0".utf8) + tiff
        return baseline.prefix(2) + segment + baseline.dropFirst(2)
    }

    /// Returns a JPEG that declares this size but has the pixels of ``baseline``.
    static func claiming(width: UInt16, height: UInt16) throws -> Data {
        var data = baseline
        let frame = try #require(data.firstRange(of: Data([0xFF, 0xC0]))).upperBound
        let sides = [UInt8(height >> 8), UInt8(height & 0xFF), UInt8(width >> 8), UInt8(width & 0xFF)]
        data.replaceSubrange(frame + 3..<frame + 7, with: sides)
        return data
    }

    private static func data(_ base64: String) -> Data {
        guard let data = Data(base64Encoded: base64) else { preconditionFailure("no base64") }
        return data
    }
}
