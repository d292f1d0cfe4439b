"""Writes values.json: what NumPy, SciPy and scikit-image make of small images. Needs scipy and scikit-image.

    python3 -m venv env && env/bin/pip install scipy scikit-image && env/bin/python tests/filters/reference/values.py

Arrays are (z, y, x), (y, x) or (y, x, channel). Results are kept in float64 and unrounded, so that the reader can tell
a wrong value from one that a rounding made.
"""
import json
import math
import pathlib

import numpy as np
import scipy
import skimage
from scipy import ndimage as nd
from skimage import color, exposure, filters, util

rng = np.random.default_rng(2024)
images, cases, functions = {}, [], []
# SciPy's names of the borders. OpenCV and NumPy use "reflect" for what SciPy calls "mirror".
MODES = {"mirror": "reflect101", "reflect": "reflect", "nearest": "replicate", "wrap": "wrap", "constant": "constant"}
SHORT = {"uint8": "u8", "int8": "i8", "uint16": "u16", "int16": "i16", "int32": "i32", "float32": "f32",
         "float64": "f64"}


def number(v, exact):
    """As short as will do: what float32 can hold, or 8 digits, which are more than its 7."""
    if math.isnan(v):
        return None
    if not exact:
        v = float(str(np.float32(v))) if np.float32(v) == v else float(f"{v:.8g}")
    return int(v) if v == int(v) else v


def numbers(array, exact=False):
    return [number(v, exact) for v in np.asarray(array, np.float64).ravel()]


def image(name, array, channels=1, alpha=False):
    shape = array.shape[:-1] if channels > 1 else array.shape
    depth, (height, width) = (shape[0], shape[1:]) if len(shape) == 3 else (1, shape)
    images[name] = {"dtype": str(array.dtype), "width": width, "height": height, "depth": depth}
    if channels > 1:
        images[name] |= {"channels": channels, "alpha": alpha}
    images[name]["values"] = numbers(array, array.dtype in (np.float64, np.int32))
    return array


def random(dtype, shape, low=None, high=None):
    """Over all of an integer dtype, over a little more than [0, 1] for floats, unless told otherwise."""
    real = np.issubdtype(dtype, np.floating)
    low = low if low is not None else -0.25 if real else np.iinfo(dtype).min
    high = high if high is not None else 1.25 if real else np.iinfo(dtype).max
    if real:
        return np.round(rng.uniform(low, high, shape), 4).astype(dtype)
    return rng.integers(low, high, shape, dtype=dtype, endpoint=True)


FLAT, DEEP = (3, 5), (2, 3, 4)
X = {}
for dtype in (np.uint8, np.int8, np.uint16, np.int16, np.int32, np.float32, np.float64):
    for shape, kind in ((FLAT, "2d"), (DEEP, "3d")):
        if kind == "3d" and dtype in (np.int8, np.int32):
            continue
        key = f"{SHORT[np.dtype(dtype).name]}_{kind}"
        X[key] = image(key, random(dtype, shape))
X["f32_row"] = image("f32_row", random(np.float32, (1, 9)))
X["f32_tiny"] = image("f32_tiny", random(np.float32, (2, 3)))
X["u8_rgb"] = image("u8_rgb", random(np.uint8, (2, 4, 3)), 3)
X["u16_rgb"] = image("u16_rgb", random(np.uint16, (2, 4, 3)), 3)
X["f32_rgb"] = image("f32_rgb", random(np.float32, (2, 4, 3), 0, 1), 3)
X["u8_rgba"] = image("u8_rgba", random(np.uint8, (3, 4, 4), 1), 4, True)
X["f32_unit"] = image("f32_unit", random(np.float32, FLAT, 0, 1))
X["f64_unit"] = image("f64_unit", random(np.float64, FLAT, 0, 1))
X["f32_positive"] = image("f32_positive", random(np.float32, DEEP, 0.5, 2))
X["u8_divisor"] = image("u8_divisor", random(np.uint8, FLAT, 1, 9))
X["f32_other"] = image("f32_other", random(np.float32, FLAT, 0.5, 4))
X["f32_nan"] = image("f32_nan", np.where(rng.random(FLAT) < 0.2, np.nan, random(np.float32, FLAT)).astype(np.float32))
F = {key: array.astype(np.float64) for key, array in X.items()}


def case(name, source, step, out, by, dtype=None, other=None):
    """`out` is a list of reports for stats, otherwise the image."""
    if by not in functions:
        functions.append(by)
    entry = {"name": name, "in": source, "step": step, "by": functions.index(by)}
    if other:
        entry["with"] = other
    if isinstance(out, list):
        entry["report"] = [numbers(values, exact=True) for values in out]
    else:
        entry |= {"dtype": dtype or str(X[source].dtype), "out": numbers(out, exact=source[:3] in ("f64", "i32"))}
    cases.append(entry)


RANGE = {"u8": (0, 255), "u16": (0, 65535), "i16": (-32768, 32767), "f32": (0, 1), "f64": (0, 1)}
STRETCH = "skimage.exposure.rescale_intensity"


def stretched(source, low, high, to=None):
    return exposure.rescale_intensity(F[source], (low, high), to or RANGE[source.split("_")[0]])


# ---- one value at a time

for word, function in (("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("divide", np.divide)):
    by = f"numpy.{word}"
    case(f"{word}/u8_2d", "u8_2d", f"{word}: 3.7", function(F["u8_2d"], 3.7), by)
    case(f"{word}/i16_3d", "i16_3d", f"{word}: -2.25", function(F["i16_3d"], -2.25), by)
    case(f"{word}/f32_3d_with", "f32_3d", f"{word}: {{with: other0.tif}}", function(F["f32_3d"], F["f32_positive"]), by,
         other="f32_positive")
    case(f"{word}/u8_2d_with", "u8_2d", f"{word}: {{with: other0.tif}}", function(F["u8_2d"], F["u8_divisor"]), by,
         other="u8_divisor")
case("clamp/i16_2d", "i16_2d", "clamp: {low: -9000, high: 20000.5}", np.clip(F["i16_2d"], -9000, 20000.5), "numpy.clip")
case("clamp/f32_3d", "f32_3d", "clamp: {low: 0.1}", np.clip(F["f32_3d"], 0.1, None), "numpy.clip")
case("clamp/f64_2d", "f64_2d", "clamp: {high: 0.7}", np.clip(F["f64_2d"], None, 0.7), "numpy.clip")
# NumPy casts by cutting off: rint is its rounding half to even, clip its saturation.
for source, to in (("f32_3d", "uint8"), ("u16_2d", "int16"), ("i16_3d", "uint8"), ("f64_2d", "float32"),
                   ("i32_2d", "uint16"), ("u8_2d", "int8")):
    out = F[source]
    if to.startswith("float"):
        out = out.astype(to)
    else:
        out = np.clip(np.rint(out), np.iinfo(to).min, np.iinfo(to).max)
    case(f"convert/{source}_to_{SHORT[to]}", source, f"convert: {to}", out, "numpy.rint, numpy.clip", to)
halves = image("f32_halves", np.arange(-3, 9, dtype=np.float32).reshape(2, 6) / 2)
X["f32_halves"] = halves
case("convert/halves_to_i16", "f32_halves", "convert: int16", np.rint(halves), "numpy.rint", "int16")
# adjust_gamma rounds its uint8 table but cuts uint16 off: as floats it does neither.
for source, white in (("u8_2d", 255), ("u16_3d", 65535), ("f32_unit", 1), ("f64_unit", 1)):
    for g in (0.45, 2.2):
        case(f"gamma/{source}_{str(g).replace('.', 'p')}", source, f"gamma: {g}",
             exposure.adjust_gamma(F[source] / white, g) * white, "skimage.exposure.adjust_gamma")
# rgb2yuv has the weights of Rec. 601; rgb2gray those of Rec. 709 as 0.2125, 0.7154, 0.0721.
for source in ("u8_rgb", "u16_rgb", "f32_rgb"):
    case(f"gray/{source}_rec601", source, "gray: rec601", color.rgb2yuv(F[source])[..., 0], "skimage.color.rgb2yuv")
    case(f"gray/{source}_rec709", source, "gray: rec709", color.rgb2gray(F[source]), "skimage.color.rgb2gray")
for source in ("u8_2d", "i8_2d", "u16_3d", "i16_2d", "f32_3d", "f64_2d"):
    case(f"invert/{source}", source, "invert", util.invert(X[source]), "skimage.util.invert")
for source in ("u8_2d", "i16_3d", "f32_3d", "i32_2d"):
    case(f"linear/{source}", source, "linear: {gain: -1.7, offset: 40.25}", np.polyval([-1.7, 40.25], F[source]),
         "numpy.polyval")
# img_as_ubyte shifts uint16 by 8 bits; by way of float64 it rounds v / 257.
for source, to, function, by in (
        ("u8_2d", "uint16", util.img_as_uint, "img_as_uint"),
        ("u8_3d", "float32", util.img_as_float64, "img_as_float64"),
        ("u16_3d", "float64", util.img_as_float64, "img_as_float64"),
        ("f32_unit", "uint8", util.img_as_ubyte, "img_as_ubyte"),
        ("f64_unit", "uint16", util.img_as_uint, "img_as_uint"),
        ("u16_2d", "uint8", lambda a: util.img_as_ubyte(util.img_as_float64(a)), "img_as_float64, img_as_ubyte")):
    case(f"rescale/{source}_to_{SHORT[to]}", source, f"rescale: {to}", function(X[source]), "skimage.util." + by, to)
case("rescale/i16_2d_to_u8", "i16_2d", "rescale: uint8", stretched("i16_2d", -32768, 32767, (0, 255)), STRETCH, "uint8")


for source, text, function in (
        ("u8_2d", "clamp(1.2*v + 5, 10, 200)", lambda v: np.clip(1.2 * v + 5, 10, 200)),
        ("i16_2d", "v > 100 ? sqrt(abs(v)) : -v / 3", lambda v: np.where(v > 100, np.sqrt(np.abs(v)), -v / 3)),
        ("f32_3d", "mod(v * 10, 3) - floor(v) ** 2", lambda v: np.mod(v * 10, 3) - np.floor(v) ** 2),
        ("f64_2d", "exp(-v ^ 2) + log(2 + v) * sin(pi * v)",
         lambda v: np.exp(-v**2) + np.log(2 + v) * np.sin(np.pi * v)),
        ("f32_2d", "min(v, 0.5) + max(v, 0.2, 0.7) * (v < 0.3 || v >= 0.9)",
         lambda v: np.minimum(v, 0.5) + np.maximum(v, 0.7) * np.logical_or(v < 0.3, v >= 0.9))):
    case(f"expr/{source}", source, f'expr: "{text}"', function(F[source]), "numpy")
y, x = np.mgrid[0:3, 0:5]
case("expr/u8_2d_position", "u8_2d", 'expr: "v / 4 + x * width + hypot(x, y)"', F["u8_2d"] / 4 + x * 5 + np.hypot(x, y),
     "numpy.mgrid")
case("expr/u8_rgb_index", "u8_rgb", 'expr: "255 * (g - r) / (g + r + 1)"',
     255 * (F["u8_rgb"][..., 1] - F["u8_rgb"][..., 0]) / (F["u8_rgb"][..., 1] + F["u8_rgb"][..., 0] + 1), "numpy")


def mask(condition):
    return np.where(condition, 255, 0)


for source, limit in (("u8_2d", 100.5), ("i16_3d", -7), ("f32_3d", 0.5), ("f64_2d", 0.25)):
    case(f"threshold/{source}", source, f"threshold: {limit}", mask(X[source] > limit), "numpy.greater", "uint8")
for source in ("u16_2d", "f32_3d"):
    case(f"threshold/{source}_mean", source, "threshold: mean", mask(X[source] > filters.threshold_mean(F[source])),
         "skimage.filters.threshold_mean", "uint8")
    case(f"threshold/{source}_percent", source, "threshold: 30%", mask(X[source] > np.percentile(F[source], 30)),
         "numpy.percentile", "uint8")
for source, low, high in (("u8_2d", 40, 200.5), ("i16_3d", -9000, 20000), ("f32_3d", 0.1, 0.7)):
    case(f"threshold/{source}_band", source, f"threshold: {{low: {low}, high: {high}}}",
         mask(np.digitize(F[source], [low, high], right=True) == 1), "numpy.digitize", "uint8")
for source, low, high in (("u8_2d", 40, 200.5), ("i16_3d", -9000, 20000), ("f32_3d", 0.1, 0.7), ("f64_2d", -0.1, 0.9)):
    case(f"window/{source}", source, f"window: {{low: {low}, high: {high}}}", stretched(source, low, high), STRETCH)
case("window/i16_2d_center", "i16_2d", "window: {center: 40, width: 30000}",
     stretched("i16_2d", 40 - 15000, 40 + 15000), STRETCH)

# ---- the whole image

STRETCH_PERCENT = "numpy.percentile, " + STRETCH
for source, low, high in (("u8_2d", 2, 98), ("u16_3d", 10, 75), ("f32_3d", 5, 95), ("f64_2d", 0, 100),
                          ("u8_rgb", 10, 90)):
    case(f"normalize/{source}", source, f"normalize: {{low: {low}%, high: {high}%}}",
         stretched(source, *np.percentile(F[source], (low, high))), STRETCH_PERCENT)
case("normalize/f32_2d_to", "f32_2d", "normalize: {low: 10%, to: [-3, 5]}",
     stretched("f32_2d", np.percentile(F["f32_2d"], 10), F["f32_2d"].max(), (-3, 5)), STRETCH_PERCENT)
# threshold_otsu gives the middle of the lower class's last bin: half a bin further the upper class begins. 8- and
# 16-bit integers have a bin for each value in both.
for source, bins in (("u8_2d", None), ("u16_2d", None), ("u16_3d", None), ("i16_2d", None), ("f32_3d", 64),
                     ("f64_2d", 16), ("f32_2d", 65536)):
    limit = filters.threshold_otsu(X[source] if bins is None else F[source], nbins=bins or 256)
    if bins:
        limit += np.ptp(F[source]) / bins / 2
    case(f"otsu/{source}" + (f"_{bins}_bins" if bins else ""), source, "otsu" + (f": {{bins: {bins}}}" if bins else ""),
         mask(X[source] > limit), "skimage.filters.threshold_otsu", "uint8")
for source in ("u8_2d", "u16_3d", "i32_2d", "f32_3d", "f64_2d", "f32_nan"):
    v = F[source][~np.isnan(F[source])]
    moments = [v.size, np.isnan(F[source]).sum(), nd.minimum(v), nd.maximum(v), nd.mean(v), nd.standard_deviation(v)]
    case(f"stats/{source}", source, "stats: [0, 10, 50, 97.5]", [moments, np.percentile(v, (0, 10, 50, 97.5))],
         "scipy.ndimage.minimum, maximum, mean, standard_deviation; numpy.percentile")

# ---- geometry

case("crop/u16_3d", "u16_3d", "crop: [1, 2, 0, 2, 1, 2]", X["u16_3d"][0:2, 2:3, 1:3], "numpy slicing")
case("crop/f32_2d", "f32_2d", "crop: {x: 2, y: 1, width: 2}", util.crop(X["f32_2d"], ((1, 0), (2, 1))),
     "skimage.util.crop")
case("flip/u8_2d_x", "u8_2d", "flip: x", np.flip(X["u8_2d"], 1), "numpy.flip")
case("flip/f32_3d_yz", "f32_3d", "flip: [y, z]", np.flip(X["f32_3d"], (0, 1)), "numpy.flip")
case("flip/u8_rgb_y", "u8_rgb", "flip: y", np.flip(X["u8_rgb"], 0), "numpy.flip")

# ---- windows


def bordered(word, source, parameters, mode, by, out, name="", dtype=None):
    constant = ", constant: 0.5" if mode == "constant" else ""
    step = f"{word}: {{{parameters}{', ' if parameters else ''}border: {MODES[mode]}{constant}}}"
    case(f"{word}/{source}_{name}{'_' if name else ''}{mode}", source, step, out, by, dtype)


def xyz(values, source):
    """A vector [x, y, z] as the axes of the array."""
    return tuple(values[:F[source].ndim])[::-1]


def gaussian(source, sigma, mode, order=(0, 0, 0), array=None):
    # SciPy rounds truncate * sigma to the nearest radius, imgpipe rounds it up.
    radius = xyz([math.ceil(4 * s) for s in sigma], source)
    return nd.gaussian_filter(F[source] if array is None else array, xyz(sigma, source), xyz(order, source), mode=mode,
                              cval=0.5, radius=radius)


for mode in MODES:
    bordered("gaussian", "f32_3d", "sigma: 0.8", mode, "scipy.ndimage.gaussian_filter",
             gaussian("f32_3d", [0.8] * 3, mode))
for source in ("u8_2d", "f32_2d", "u16_3d", "f64_3d", "f32_row", "f32_tiny"):
    bordered("gaussian", source, "sigma: [1.3, 0.6, 0.9]", "mirror", "scipy.ndimage.gaussian_filter",
             gaussian(source, [1.3, 0.6, 0.9], "mirror"), "anisotropic")
for source, order, dtype in (("u8_2d", [1, 0, 0], "float32"), ("f32_3d", [0, 1, 2], None), ("f64_2d", [2, 0, 0], None)):
    bordered("gaussian", source, f"sigma: 0.9, order: {order}", "reflect", "scipy.ndimage.gaussian_filter",
             gaussian(source, [0.9] * 3, "reflect", order), "order_" + "".join(map(str, order)), dtype)
colour, weight = F["u8_rgba"][..., :3], F["u8_rgba"][..., 3:]


def over_alpha(blur):
    """Colour weighted by alpha; alpha itself stays."""
    sums = [blur(colour[..., c] * weight[..., 0]) / blur(weight[..., 0]) for c in range(3)]
    return np.dstack(sums + [weight[..., 0]])


case("gaussian/u8_rgba_mirror", "u8_rgba", "gaussian: 1", over_alpha(lambda a: nd.gaussian_filter(a, 1, mode="mirror")),
     "scipy.ndimage.gaussian_filter")
case("box/u8_rgba_mirror", "u8_rgba", "box: 1", over_alpha(lambda a: nd.uniform_filter(a, 3, mode="mirror")),
     "scipy.ndimage.uniform_filter")

for mode in MODES:
    for source, size in (("u8_2d", [3, 3]), ("f32_3d", [3, 2, 3])):
        bordered("box", source, f"size: {size}", mode, "scipy.ndimage.uniform_filter",
                 nd.uniform_filter(F[source], xyz(size, source), mode=mode, cval=0.5))
for source, size in (("u16_2d", [4, 2, 1]), ("i16_3d", [5, 1, 4]), ("f64_3d", [2, 2, 2]), ("f32_tiny", [7, 6, 1])):
    bordered("box", source, f"size: {size}", "reflect", "scipy.ndimage.uniform_filter",
             nd.uniform_filter(F[source], xyz(size, source), mode="reflect"), "x".join(map(str, size)))


def shape_of(word, radius, dimensions):
    """SciPy's footprints: box, cross (the axes alone) and ball."""
    offsets = np.indices([2 * radius + 1] * dimensions) - radius
    if word == "cross":
        return (offsets != 0).sum(0) <= 1
    return (offsets**2).sum(0) <= radius**2 if word == "ball" else np.ones(offsets.shape[1:], bool)


# Even windows have no middle value: imgpipe refuses what SciPy gives the upper one for.
for mode in MODES:
    if mode != "constant":
        bordered("median", "u8_3d", "radius: 1", mode, "scipy.ndimage.median_filter",
                 nd.median_filter(X["u8_3d"], 3, mode=mode))
for source, size in (("u8_2d", [5, 3, 1]), ("u16_2d", [5, 5, 1]), ("f32_2d", [3, 3, 1]), ("i16_3d", [1, 3, 3]),
                     ("f64_3d", [5, 3, 3]), ("f32_row", [7, 1, 1])):
    bordered("median", source, f"size: {size}", "mirror", "scipy.ndimage.median_filter",
             nd.median_filter(X[source], xyz(size, source), mode="mirror"), "x".join(map(str, size)))
for source, radius in (("u8_2d", 2), ("f32_3d", 1)):
    bordered("median", source, f"radius: {radius}, footprint: ball", "nearest", "scipy.ndimage.median_filter",
             nd.median_filter(X[source], footprint=shape_of("ball", radius, X[source].ndim), mode="nearest"), "ball")
bordered("median", "f32_3d", "radius: 1", "constant", "scipy.ndimage.median_filter",
         nd.median_filter(F["f32_3d"], 3, mode="constant", cval=0.5))

# SciPy's Sobel is not normalised (scikit-image's is divided by the sum of its smoothing weights); imgpipe's is SciPy's.
for source, mode in (("u8_2d", "mirror"), ("u16_3d", "reflect"), ("f32_2d", "constant"), ("f64_3d", "wrap")):
    dtype = "float64" if "f64" in source else "float32"
    slopes = [nd.sobel(F[source], -1 - a, mode=mode, cval=0.5) for a in range(F[source].ndim)]
    if mode == "constant":  # SciPy pads each pass; the border belongs to the whole window
        padded = np.pad(F[source], 1, constant_values=0.5)
        slopes = [nd.sobel(padded, -1 - a)[1:-1, 1:-1] for a in range(2)]
    for axis, slope in zip("xyz", slopes):
        bordered("sobel", source, f"axis: {axis}", mode, "scipy.ndimage.sobel", slope, axis, dtype)
    bordered("sobel", source, "", mode, "scipy.ndimage.sobel", np.sqrt(sum(s**2 for s in slopes)), "magnitude", dtype)

for mode in MODES:
    k = [1, -2.5, 3, 0.5]
    bordered("correlate1d", "f32_3d", f"kernel: {k}, axis: z, origin: -1", mode, "scipy.ndimage.correlate1d",
             nd.correlate1d(F["f32_3d"], k, 0, mode=mode, cval=0.5, origin=-1), "z")
    k2 = [[1, -2, 0.5, 3], [0, 4, -1, 0.25]]
    bordered("convolve", "f32_2d", f"kernel: {k2}", mode, "scipy.ndimage.correlate",
             nd.correlate(F["f32_2d"], np.array(k2), mode=mode, cval=0.5))
bordered("correlate1d", "i16_2d", f"kernel: {k}, axis: y, origin: 1", "mirror", "scipy.ndimage.correlate1d",
         nd.correlate1d(F["i16_2d"], k, 0, mode="mirror", origin=1), "y")
k3 = [[[1, 2, 3]], [[-4, 0, 0.5]]]
for source in ("u16_3d", "f64_3d"):
    bordered("convolve", source, f"kernel: {k3}", "reflect", "scipy.ndimage.correlate",
             nd.correlate(F[source], np.array(k3), mode="reflect"))

# unsharp_mask blurs with reflect and SciPy's radius, which is imgpipe's for these sigmas.
for source, sigma, amount in (("u8_2d", 1, 1.5), ("f32_3d", 0.75, 0.6), ("u16_3d", 1, -0.5), ("f64_2d", 1.5, 2)):
    case(f"unsharp/{source}", source, f"unsharp: {{sigma: {sigma}, amount: {amount}, border: reflect}}",
         filters.unsharp_mask(F[source], sigma, amount, preserve_range=True), "skimage.filters.unsharp_mask")
detail = F["u8_2d"] - nd.gaussian_filter(F["u8_2d"], 1, mode="mirror")
case("unsharp/u8_2d_threshold", "u8_2d", "unsharp: {threshold: 40}",
     np.where(np.abs(detail) >= 40, F["u8_2d"] + detail, F["u8_2d"]), "scipy.ndimage.gaussian_filter")

# ---- morphology


def morphology(word, array, **window):
    """In a surrounding that never wins: infinite on the side that loses."""
    steps = {"erode": [nd.grey_erosion], "dilate": [nd.grey_dilation], "open": [nd.grey_erosion, nd.grey_dilation],
             "close": [nd.grey_dilation, nd.grey_erosion]}
    for step in steps[word]:
        array = step(array, **window, mode="constant", cval=np.inf if step is nd.grey_erosion else -np.inf)
    return array


def turned(word, array, **window):
    """grey_dilation turns an even window by half a turn, imgpipe does so in the second step of open and close."""
    if word in ("erode", "open"):
        return morphology(word, array, **window)
    return np.flip(morphology(word, np.flip(array), **window))


BY = {"erode": "grey_erosion", "dilate": "grey_dilation", "open": "grey_opening", "close": "grey_closing"}
for word in BY:
    by = "scipy.ndimage." + BY[word]
    two = f"scipy.ndimage.{'grey_erosion, grey_dilation' if word in ('open', 'close') else BY[word]}"
    for source, shape, radius in (("u8_2d", "box", 1), ("f32_3d", "cross", 1), ("u16_2d", "ball", 2),
                                  ("i16_3d", "ball", 2)):
        case(f"{word}/{source}_{shape}_{radius}", source, f"{word}: {{radius: {radius}, footprint: {shape}}}",
             morphology(word, F[source], footprint=shape_of(shape, radius, F[source].ndim)), two)
    for source, size in (("u8_2d", [4, 2, 1]), ("f32_3d", [2, 1, 2])):
        case(f"{word}/{source}_even", source, f"{word}: {{size: {size}}}",
             turned(word, F[source], size=xyz(size, source)), two)
    bordered(word, "u8_3d", "radius: 1", "mirror", by, getattr(nd, BY[word])(X["u8_3d"], size=3, mode="mirror"))
    bordered(word, "f32_row", "radius: [2, 0]", "wrap", by,
             getattr(nd, BY[word])(X["f32_row"], size=(1, 5), mode="wrap"))


def lines(entries):
    return ",\n".join(json.dumps(e, separators=(",", ":")) for e in entries)


case_names = [c["name"] for c in cases]
assert len(set(case_names)) == len(case_names)
path = pathlib.Path(__file__).with_name("values.json")
used = {c["in"] for c in cases} | {c["with"] for c in cases if "with" in c}
named = lines([{"name": name, **value} for name, value in images.items() if name in used])
libraries = {"numpy": np.__version__, "scipy": scipy.__version__, "scikit-image": skimage.__version__}
path.write_text(f'''{{"libraries": {json.dumps(libraries)},
"functions": {json.dumps(functions, indent=0)},
"images": [
{named}],
"cases": [
{lines(cases)}]}}
''')
print(len(cases), "cases,", path.stat().st_size, "bytes")
