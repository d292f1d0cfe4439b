"""Makes the sample images of this folder: our own, from shapes and noise. Needs numpy; run from the project root."""
import struct
import zlib

import numpy as np

rng = np.random.default_rng(20240607)


def png(path, pixels):
    """Writes gray or RGB, 8 or 16 bits."""
    height, width = pixels.shape[:2]
    colour = 2 if pixels.ndim == 3 else 0
    depth = pixels.dtype.itemsize * 8
    rows = pixels.astype(pixels.dtype.newbyteorder(">")).reshape(height, -1)
    raw = b"".join(b"\0" + row.tobytes() for row in rows)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    with open(path, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)))
        out.write(chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


def npy(path, array):
    np.save(path, array)


def smooth(shape, scale):
    """Noise that varies over about `scale` pixels."""
    small = rng.random([max(2, int(np.ceil(n / scale)) + 2) for n in shape])
    for axis, n in enumerate(shape):
        at = np.linspace(0, small.shape[axis] - 1.001, n)
        low = at.astype(int)
        part = (at - low).reshape([-1 if a == axis else 1 for a in range(len(shape))])
        small = np.take(small, low, axis) * (1 - part) + np.take(small, low + 1, axis) * part
    return small


def photo(kind):
    height, width = 288, 384
    y, x = np.mgrid[0:height, 0:width] / [[[height]], [[width]]]
    sky = np.stack([0.45 + 0.3 * y, 0.62 + 0.2 * y, 0.85 - 0.1 * y], -1)
    hills = np.stack([0.25 + 0.1 * x, 0.42 - 0.1 * y, 0.2 + 0 * x], -1) if kind else np.stack([0.55 - 0.2 * y, 0.4 + 0.05 * x, 0.3 + 0 * x], -1)
    edge = 0.55 + 0.12 * np.sin(7 * x + 2 * kind) + 0.05 * np.sin(23 * x)
    image = np.where((y > edge)[..., None], hills * (0.8 + 0.4 * smooth((height, width), 12))[..., None], sky)
    image = np.where(((x - 0.75) ** 2 + (1.2 * (y - 0.2)) ** 2 < 0.006)[..., None], [0.98, 0.93, 0.7], image)
    return (np.clip(image + rng.normal(0, 0.01, image.shape), 0, 1) * 255).round().astype(np.uint8)


def cells():
    size = 320
    y, x = np.mgrid[0:size, 0:size]
    image = 3000 + 5000 * smooth((size, size), 160)
    for _ in range(45):
        cx, cy, r = rng.uniform(12, size - 12), rng.uniform(12, size - 12), rng.uniform(6, 11)
        image += rng.uniform(9000, 20000) / (1 + np.exp((np.hypot(x - cx, y - cy) - r) * 1.3))
    image = rng.poisson(np.clip(image, 0, 65535) / 16) * 16.0
    speckles = rng.random(image.shape) < 0.002
    image[speckles] = 65535
    return np.clip(image, 0, 65535).astype(np.uint16)


def document():
    height, width = 360, 280
    page = 235 - 60 * smooth((height, width), 200)
    for line in range(18, height - 18, 13):
        x = 18
        while x < width - 30:
            word = int(rng.integers(8, 34))
            for k in range(x, min(x + word, width - 18), 4):
                page[line : line + int(rng.integers(4, 8)), k : k + 2] -= 130
                page[line + int(rng.integers(0, 6)), k : k + 4] -= 90
            x += word + 7
    return np.clip(page + rng.normal(0, 4, page.shape), 0, 255).astype(np.uint8)


def beads():
    depth, height, width = 24, 64, 64
    z, y, x = np.mgrid[0:depth, 0:height, 0:width]
    volume = 400.0 + 150 * smooth((depth, height, width), 20)
    for _ in range(14):
        c = rng.uniform([2, 6, 6], [depth - 2, height - 6, width - 6])
        distance = np.sqrt((4 * (z - c[0])) ** 2 + (y - c[1]) ** 2 + (x - c[2]) ** 2)
        volume += 9000 / (1 + np.exp((distance - rng.uniform(4, 8)) * 1.1))
    return np.clip(rng.poisson(volume / 8) * 8, 0, 65535).astype(np.uint16)


png("data/images/photo_hills.png", photo(1))
png("data/images/photo_dunes.png", photo(0))
png("data/images/cells.png", cells())
png("data/images/document.png", document())
npy("data/volumes/beads.npy", beads())
