"""How each peer computes the workloads of `imgpipe bench`, and how it is timed.

A peer has a table of functions, one for each workload it can do: from an array of its own to a result.
"""
import json
import math
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np


class Peer:
    """On the CPU, by the clock. `set_threads` is None where there is only ever one."""
    on_device = False

    def __init__(self, name, version, ways, set_threads=None):
        self.name, self.version, self.ways, self.set_threads = name, version, ways, set_threads

    def has_place(self, place):
        return place == 'host'

    def result(self, workload, image):
        return np.asarray(self.ways[workload](image))

    def times(self, workload, image, repeats, place, threads):
        """Milliseconds of each run: fewer than `repeats` where they take long."""
        if self.set_threads:
            self.set_threads(threads)
        way = self.ways[workload]
        way(image)
        times, begin = [], time.perf_counter()
        while len(times) < repeats and (len(times) < 3 or time.perf_counter() - begin < 2):
            start = time.perf_counter()
            way(image)
            times.append((time.perf_counter() - start) * 1e3)
        return times


def otsu_threshold(counts):
    """The level of the greatest between-class variance: what lies above is foreground."""
    n, levels = counts.sum(), np.arange(counts.size)
    below, mass = np.cumsum(counts) / n, np.cumsum(counts * levels) / n
    with np.errstate(divide='ignore', invalid='ignore'):
        variance = (mass[-1] * below - mass) ** 2 / (below * (1 - below))
    return int(np.nanargmax(variance))


def gaussian_taps(sigma):
    r = math.ceil(4 * sigma)
    taps = np.exp(-0.5 * (np.arange(-r, r + 1) / sigma) ** 2)
    return taps / taps.sum()


# ---- NumPy's interface: SciPy on the CPU, CuPy on the GPU


def pointwise5(xp, v):
    v = v * xp.float32(1.2) + xp.float32(0.05)
    return xp.float32(1) - xp.minimum(xp.maximum(v, xp.float32(0)), xp.float32(1)) ** xp.float32(0.8)


def gamma8(xp, v, g):
    return xp.float32(255) * (v * xp.float32(1 / 255)) ** xp.float32(g)


def pointwise10(xp, a):
    f = xp.float32
    v = a * f(1.1) + f(-5)
    v = gamma8(xp, xp.minimum(xp.maximum(v, f(0)), f(255)), 0.9)
    v = (f(255) - v) * f(0.95) + f(4)
    v = gamma8(xp, v, 1.2) * f(1.02)
    v = f(255) - xp.minimum(xp.maximum(v, f(0)), f(250))
    return xp.rint(gamma8(xp, v, 0.8)).astype(xp.uint8)


def array_ways(xp, ndi, to_host):
    f = xp.float32

    def normalize(a):
        low, high = a.min(), a.max()
        return (a - low) * (f(1) / (high - low))

    def otsu(a):
        limit = otsu_threshold(to_host(xp.bincount(a.ravel(), minlength=256)))
        return (a > limit).astype(xp.uint8) * xp.uint8(255)

    def stats(a):
        return xp.stack([xp.asarray(v, dtype=xp.float64) for v in (a.min(), a.max(), a.mean(), a.std())])

    def magnitude(a):
        return xp.hypot(ndi.sobel(a, 0, mode='mirror'), ndi.sobel(a, 1, mode='mirror'))

    def chain2d(a):
        v = ndi.median_filter(a, size=3, mode='mirror').astype(f) * f(1 / 65535)
        v = f(2.5) * v - f(1.5) * ndi.gaussian_filter(v, 2, mode='mirror')
        v = xp.clip(v, f(0), f(1)) ** f(0.8)
        return xp.rint(normalize(v) * f(255)).astype(xp.uint8)

    def chain3d(a):
        v = ndi.median_filter(a, size=3, mode='mirror').astype(f)
        v = ndi.gaussian_filter(v, 1, mode='mirror')
        return (gradient3d(v) > 1000).astype(xp.uint8) * xp.uint8(255)

    def gradient3d(a):
        return ndi.generic_gradient_magnitude(a, ndi.sobel, mode='mirror')

    def gaussian(sigma):
        return lambda a: ndi.gaussian_filter(a, sigma, mode='mirror')

    def median(size):
        return lambda a: ndi.median_filter(a, size=size, mode='mirror')

    def opening(size):
        return lambda a: ndi.grey_opening(a, size=(size,) * a.ndim)

    return {'pointwise5_f32': lambda a: pointwise5(xp, a), 'pointwise10_u8': lambda a: pointwise10(xp, a),
            'gaussian_s2_f32': gaussian(2), 'gaussian_s10_f32': gaussian(10), 'sobel_mag_f32': magnitude,
            'median3_u16': median(3), 'median5_u16': median(5), 'median11_u8': median(11), 'open15_u8': opening(15),
            'normalize_f32': normalize, 'otsu_u8': otsu, 'stats_f32': stats, 'chain2d_u16': chain2d,
            'gaussian3d_s2_f32': gaussian(2), 'median3d_3_u16': median(3), 'open3d_5_u16': opening(5),
            'gradmag3d_f32': gradient3d, 'chain3d_u16': chain3d}


def scipy_peer():
    import scipy
    import scipy.ndimage
    return [Peer('scipy', scipy.__version__, array_ways(np, scipy.ndimage, lambda a: a))]


# ---- OpenCV


def opencv_peer():
    import cv2
    buffers = {}

    def buffer(a, name, dtype=None):
        """Results go into memory that is there already."""
        kept = buffers.get(name)
        if kept is None or kept.shape != a.shape or kept.dtype != (dtype or a.dtype):
            buffers[name] = np.zeros(a.shape, dtype or a.dtype)
        return buffers[name]

    def pointwise5(a):
        v = cv2.addWeighted(a, 1.2, a, 0, 0.05, dst=buffer(a, 'v'))
        v = cv2.max(cv2.min(v, 1.0, dst=v), 0.0, dst=v)
        return cv2.subtract(1.0, cv2.pow(v, 0.8, dst=v), dst=v)

    # As one would with OpenCV: the ten steps once for each of the 256 values.
    table = pointwise10(np, np.arange(256, dtype=np.uint8))

    def magnitude(a):
        x = cv2.Sobel(a, cv2.CV_32F, 1, 0, dst=buffer(a, 'x'))
        return cv2.magnitude(x, cv2.Sobel(a, cv2.CV_32F, 0, 1, dst=buffer(a, 'y')), buffer(a, 'm'))

    def gaussian(width, sigma):
        return lambda a: cv2.GaussianBlur(a, (width, width), sigma, dst=buffer(a, 'g'))

    def median(width):
        return lambda a: cv2.medianBlur(a, width, dst=buffer(a, 'm'))

    def chain2d(a):
        m = cv2.medianBlur(a, 3, dst=buffer(a, 'm'))
        v = np.multiply(m, np.float32(1 / 65535), out=buffer(a, 'v', np.float32), dtype=np.float32)
        g = cv2.GaussianBlur(v, (17, 17), 2, dst=buffer(v, 'g'))
        v = cv2.addWeighted(v, 2.5, g, -1.5, 0, dst=v)
        v = cv2.pow(cv2.max(cv2.min(v, 1.0, dst=v), 0.0, dst=v), 0.8, dst=v)
        return cv2.normalize(v, buffer(a, 'o', np.uint8), 0, 255, cv2.NORM_MINMAX, cv2.CV_8U)

    def stats(a):
        low, high, _, _ = cv2.minMaxLoc(a)
        mean, deviation = cv2.meanStdDev(a)
        return np.array([low, high, mean.item(), deviation.item()])

    box = np.ones((15, 15), np.uint8)
    ways = {'pointwise5_f32': pointwise5, 'pointwise10_u8': lambda a: cv2.LUT(a, table, dst=buffer(a, 'o')),
            'gaussian_s2_f32': gaussian(17, 2), 'gaussian_s10_f32': gaussian(81, 10), 'sobel_mag_f32': magnitude,
            'median3_u16': median(3), 'median5_u16': median(5), 'median11_u8': median(11),
            'open15_u8': lambda a: cv2.morphologyEx(a, cv2.MORPH_OPEN, box, dst=buffer(a, 'o')),
            'normalize_f32': lambda a: cv2.normalize(a, buffer(a, 'o'), 0, 1, cv2.NORM_MINMAX, cv2.CV_32F),
            'otsu_u8': lambda a: cv2.threshold(a, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU, dst=buffer(a, 'o'))[1],
            'stats_f32': stats, 'chain2d_u16': chain2d}
    return [Peer('opencv', cv2.__version__, ways, cv2.setNumThreads)]


# ---- libvips


def vips_peer():
    import pyvips
    pyvips.cache_set_max(0)

    def of_array(compute):
        return lambda a: compute(pyvips.Image.new_from_array(a)).numpy()

    def gaussian(sigma):
        # gaussblur ends its mask earlier than four sigma.
        mask = [gaussian_taps(sigma).tolist()]
        return lambda v: v.convsep(mask, precision='float')

    def clamp(v):
        v = (v > 1).ifthenelse(1, v)
        return (v < 0).ifthenelse(0, v)

    def normalize(v):
        low, high = v.min(), v.max()
        return ((v - low) * (1 / (high - low))).cast('float')

    def rank(width, *indices):
        def ranks(v):
            kind = v.format
            v = v.cast('ushort')  # libvips 8.14 gives wrong values for uint8 from 5 x 5 on
            for index in indices:
                v = v.rank(width, width, index)
            return v.cast(kind)
        return ranks

    def magnitude(v):
        x = v.conv([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], precision='float')
        y = v.conv([[-1, -2, -1], [0, 0, 0], [1, 2, 1]], precision='float')
        return ((x * x + y * y) ** 0.5).cast('float')

    def chain2d(v):
        v = v.rank(3, 3, 4).cast('float') * (1 / 65535)
        v = clamp(v * 2.5 - gaussian(2)(v) * 1.5) ** 0.8
        v = v.copy_memory()  # the extrema and the result read it
        return (normalize(v) * 255).rint().cast('uchar')

    ways = {'pointwise5_f32': lambda v: (1 - clamp(v * 1.2 + 0.05) ** 0.8).cast('float'),
            'gaussian_s2_f32': gaussian(2), 'gaussian_s10_f32': gaussian(10), 'sobel_mag_f32': magnitude,
            'median3_u16': rank(3, 4), 'median5_u16': rank(5, 12), 'median11_u8': rank(11, 60),
            'open15_u8': rank(15, 0, 224), 'normalize_f32': normalize,
            'chain2d_u16': chain2d}
    version = '.'.join(str(pyvips.version(k)) for k in range(3))
    return [Peer('vips', version, {n: of_array(w) for n, w in ways.items()},
                 pyvips.vips_lib.vips_concurrency_set)]


# ---- the GPU


def copies_for(image, l2_bytes, repeats):
    """So many images in turn that none is found in the L2 again."""
    return max(2, min(repeats + 3, 1 + math.ceil(4 * l2_bytes / image.nbytes)))


def event_times(run, event, elapsed, repeats):
    """`run(k)` between two events, `repeats` times after three more; at most for about 4 seconds."""
    times, start = [], time.perf_counter()
    for k in range(repeats + 3):
        begin, end = event(), event()
        begin.record()
        out = run(k)
        end.record()
        end.synchronize()
        del out
        if k >= 3:
            times.append(elapsed(begin, end))
        if len(times) >= 3 and time.perf_counter() - start > 4:
            break
    return times


class CupyPeer(Peer):
    on_device = True

    def has_place(self, place):
        return place in ('device', 'host to host')

    def result(self, workload, image):
        import cupy as cp
        return cp.asnumpy(self.ways[workload](cp.asarray(image)))

    def times(self, workload, image, repeats, place, threads):
        import cupy as cp
        if place == 'host to host':
            return self.times_of_host(self.ways[workload], image, repeats)
        l2 = cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)['l2CacheSize']
        images = [cp.asarray(image) for _ in range(copies_for(image, l2, repeats))]
        return event_times(lambda k: self.ways[workload](images[k % len(images)]), cp.cuda.Event,
                           cp.cuda.get_elapsed_time, repeats)

    def times_of_host(self, way, image, repeats):
        """From pinned memory and back to it, one image after the other."""
        import cupy as cp
        here = pinned(image.shape, image.dtype)
        here[...] = image
        first = way(cp.asarray(here))
        there = pinned(first.shape, first.dtype)
        times, start = [], time.perf_counter()
        while len(times) < min(repeats, 7) and (len(times) < 3 or time.perf_counter() - start < 4):
            begin = time.perf_counter()
            cp.asnumpy(way(cp.asarray(here)), out=there)
            cp.cuda.runtime.deviceSynchronize()
            times.append((time.perf_counter() - begin) * 1e3)
        return times


def pinned(shape, dtype):
    import cupy as cp
    count = int(np.prod(shape))
    memory = cp.cuda.alloc_pinned_memory(max(1, count) * np.dtype(dtype).itemsize)
    return np.frombuffer(memory, dtype, count).reshape(shape)


def cupy_peers():
    import cupy as cp
    import cupyx.scipy.ndimage as ndi
    cp.cuda.runtime.getDeviceProperties(0)

    @cp.fuse()
    def five(v):
        return pointwise5(cp, v)

    ten = cp.ElementwiseKernel('uint8 a', 'uint8 o', '''
        float v = fminf(fmaxf(a * 1.1f - 5.0f, 0.0f), 255.0f);
        v = 255.0f * powf(v / 255.0f, 0.9f);
        v = (255.0f - v) * 0.95f + 4.0f;
        v = 255.0f * powf(v / 255.0f, 1.2f) * 1.02f;
        v = 255.0f - fminf(fmaxf(v, 0.0f), 250.0f);
        o = (unsigned char)rintf(255.0f * powf(v / 255.0f, 0.8f));''', 'ten_steps')
    fused = {'pointwise5_f32': five, 'pointwise10_u8': lambda a: ten(a)}
    return [CupyPeer('cupy', cp.__version__, array_ways(cp, ndi, cp.asnumpy)),
            CupyPeer('cupy fused', cp.__version__, fused)]


class TorchPeer(Peer):
    on_device = True

    def has_place(self, place):
        return place == 'device'

    def upload(self, image):
        import torch
        return torch.from_numpy(image).cuda()[None, None]

    def result(self, workload, image):
        out = self.ways[workload](self.upload(image)).cpu().numpy()
        return out[0, 0] if out.ndim == 4 else out

    def times(self, workload, image, repeats, place, threads):
        import torch
        l2 = getattr(torch.cuda.get_device_properties(0), 'L2_cache_size', 64 << 20)
        images = [self.upload(image) for _ in range(copies_for(image, l2, repeats))]
        return event_times(lambda k: self.ways[workload](images[k % len(images)]),
                           lambda: torch.cuda.Event(enable_timing=True), lambda a, b: a.elapsed_time(b), repeats)


def torch_peer():
    import torch
    import torch.nn.functional as F
    if not torch.cuda.is_available():
        raise ImportError('this PyTorch sees no GPU')
    torch.backends.cudnn.allow_tf32 = False  # half the digits would be another result

    def five(v):
        return 1 - torch.clamp(v * 1.2 + 0.05, 0, 1) ** 0.8

    def ten(a):
        v = torch.clamp(a.float() * 1.1 - 5, 0, 255)
        v = (255 - 255 * (v / 255) ** 0.9) * 0.95 + 4
        v = 255 - torch.clamp(255 * (v / 255) ** 1.2 * 1.02, 0, 250)
        return torch.round(255 * (v / 255) ** 0.8).to(torch.uint8)

    def gaussian(sigma):
        r = math.ceil(4 * sigma)
        row = torch.tensor(gaussian_taps(sigma), dtype=torch.float32, device='cuda')[None, None, None]

        def blur(v):
            v = F.conv2d(F.pad(v, (r, r, 0, 0), mode='reflect'), row)
            return F.conv2d(F.pad(v, (0, 0, r, r), mode='reflect'), row.transpose(2, 3))
        return blur

    def sobel():
        x = torch.tensor([[-1., 0, 1], [-2, 0, 2], [-1, 0, 1]], device='cuda')
        kernels = torch.stack([x, x.T])[:, None]

        def magnitude(v):
            g = F.conv2d(F.pad(v, (1, 1, 1, 1), mode='reflect'), kernels)
            return torch.linalg.vector_norm(g, dim=1, keepdim=True)
        return magnitude

    def normalize(v):
        low, high = torch.aminmax(v)
        return (v - low) * (1 / (high - low))

    def stats(v):
        low, high = torch.aminmax(v)
        deviation, mean = torch.std_mean(v, correction=0)
        return torch.stack([low, high, mean, deviation])

    ways = {'gaussian_s2_f32': gaussian(2), 'gaussian_s10_f32': gaussian(10), 'sobel_mag_f32': sobel(),
            'normalize_f32': normalize, 'stats_f32': stats}
    compiled = {'pointwise5_f32': torch.compile(five), 'pointwise10_u8': torch.compile(ten),
                'normalize_f32': torch.compile(normalize)}
    return [TorchPeer('torch', torch.__version__, ways), TorchPeer('torch.compile', torch.__version__, compiled)]


class NppPeer(Peer):
    """A program of its own: npp_peers.cu."""
    on_device = True

    def __init__(self, program):
        names = ('gaussian_s2_f32', 'gaussian_s10_f32', 'median3_u16', 'median5_u16', 'median11_u8', 'open15_u8')
        super().__init__('npp', 'of the CUDA toolkit', dict.fromkeys(names))
        self.program = program

    def has_place(self, place):
        return place == 'device'

    def call(self, workload, image, repeats, copies):
        with tempfile.TemporaryDirectory() as folder:
            at = Path(folder)
            image.tofile(at / 'in')
            height, width = image.shape
            done = subprocess.run([self.program, workload, str(width), str(height), at / 'in', at / 'out',
                                   str(repeats), str(copies)], capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(done.stderr)
            return np.fromfile(at / 'out', image.dtype).reshape(image.shape), json.loads(done.stdout)

    def result(self, workload, image):
        return self.call(workload, image, 0, 1)[0]

    def times(self, workload, image, repeats, place, threads):
        return self.call(workload, image, repeats, copies_for(image, 64 << 20, repeats))[1]


def npp_peer(here):
    compiler = shutil.which('nvcc') or shutil.which('nvcc', path='/usr/local/cuda/bin')
    if not compiler:
        raise ImportError('no nvcc to build npp_peers.cu with')
    if not shutil.which('nvidia-smi') or subprocess.run(['nvidia-smi', '-L'], capture_output=True).returncode != 0:
        raise ImportError('no GPU')
    program = Path(tempfile.mkdtemp(prefix='npp_peers_')) / 'npp_peers'
    built = subprocess.run([compiler, '-O3', '-arch=native', here / 'npp_peers.cu', '-lnppif', '-lnppim', '-lnppc',
                            '-o', program], capture_output=True, text=True)
    if built.returncode != 0:
        raise ImportError('npp_peers.cu cannot be built: ' + ' '.join(built.stderr.split())[:200])
    return [NppPeer(program)]


def find(here):
    """The peers that are installed, and why others are not there."""
    peers, missing = [], {}
    makers = {'opencv': opencv_peer, 'scipy': scipy_peer, 'vips': vips_peer, 'cupy': cupy_peers, 'torch': torch_peer,
              'npp': lambda: npp_peer(here)}
    for name, make in makers.items():
        try:
            peers += make()
        except Exception as error:  # a missing library, or one without its GPU
            missing[name] = ' '.join(str(error).split())[:200]
    return peers, missing
