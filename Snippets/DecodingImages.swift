// Images at the size that is shown: the samples of the documentation of CacheImages.

import CacheImages

func place() throws {
    let variant = ImageVariant(displaySize: ImageSize(width: 100, height: 100), mode: .aspectFill, scale: 2)
    let placement = try variant.placement(of: ImageSize(width: 500, height: 375))
    print(placement.source, placement.destination, placement.output)  // 62,0,375,375 0,0,200,200 200x200
}

try place()
