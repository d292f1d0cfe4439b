#!/usr/bin/env python3
"""imgpipe and every peer that is installed, on the same workloads, sizes and kind of data, in one run.

Before a peer is timed its result on a small image is compared with imgpipe's, within CORRIDORS. A peer that computes
another thing is not timed, and the exit code is 1. What is not installed is told as missing.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import ways

HERE = Path(__file__).resolve().parent

# Workload: (pixels left out along each side, kind, limit). "max": greatest difference, as a part of the greatest
# result; "steps": greatest difference in units of the dtype; "share": part of the samples that may differ.
# Margins are there where peers know other borders only.
CORRIDORS = {
    'pointwise5_f32': (0, 'max', 1e-5), 'pointwise10_u8': (0, 'steps', 1),
    'gaussian_s2_f32': (8, 'max', 1e-5), 'gaussian_s10_f32': (40, 'max', 1e-5), 'sobel_mag_f32': (1, 'max', 1e-5),
    'median3_u16': (1, 'steps', 0), 'median5_u16': (2, 'steps', 0), 'median11_u8': (5, 'steps', 0),
    'open15_u8': (14, 'steps', 0), 'normalize_f32': (0, 'max', 1e-5), 'otsu_u8': (0, 'share', 0.01),
    'stats_f32': (0, 'max', 1e-4), 'chain2d_u16': (10, 'steps', 1), 'gaussian3d_s2_f32': (8, 'max', 1e-5),
    'median3d_3_u16': (1, 'steps', 0), 'open3d_5_u16': (4, 'steps', 0), 'gradmag3d_f32': (1, 'max', 1e-5),
    'chain3d_u16': (6, 'share', 0.001)}


def samples(dtype, shape):
    """Uniform over an integer dtype, over [0, 1) for floats: as imgpipe's own."""
    rng = np.random.default_rng(7)
    if dtype == 'float32':
        return rng.random(shape, dtype=np.float32)
    return rng.integers(0, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)


def shape_of(row):
    w, h, d = row['extent']
    return (h, w) if d == 1 else (d, h, w)


def imgpipe_result(program, workload, image):
    """What imgpipe makes of an image; for stats its numbers."""
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        np.save(at / 'in.npy', image)
        (at / 'p.yaml').write_text('steps:\n' + workload['steps'])
        subprocess.run([program, 'run', at / 'p.yaml', '-i', at / 'in.npy', '-o', at / 'out.npy', '--report',
                        at / 'r.json'], check=True, stderr=subprocess.PIPE)
        numbers = json.loads((at / 'r.json').read_text())['files'][0].get('numbers')
        if workload['name'].startswith('stats'):
            values = numbers[0]['values']
            return np.array([values[k] for k in ('min', 'max', 'mean', 'std')])
        return np.load(at / 'out.npy')


def disagreement(name, ours, theirs):
    """'' within the corridor, else the difference in words."""
    margin, kind, limit = CORRIDORS[name]
    if ours.shape != theirs.shape:
        return f'shape {theirs.shape} instead of {ours.shape}'
    inner = tuple(slice(margin, n - margin) for n in ours.shape)
    a, b = ours[inner].astype(np.float64), np.asarray(theirs)[inner].astype(np.float64)
    if a.size == 0:
        return 'nothing to compare'
    if not np.isfinite(b).all():
        return 'it holds NaN or infinities'
    far = {'max': np.abs(a - b).max() / max(np.abs(a).max(), 1e-30), 'steps': np.abs(a - b).max(),
           'share': (a != b).mean()}[kind]
    return '' if far <= limit else f'{kind} {far:.3g} is over {limit:g}'


def summary(times):
    q1, median, q3 = np.percentile(times, [25, 50, 75])
    return {'ms': float(median), 'ms_quartile1': float(q1), 'ms_quartile3': float(q3), 'runs': len(times)}


def seconds_about(peer, name, image):
    """What a run would take, from a sixteenth of the image (of a volume: a sixty-fourth)."""
    part = np.ascontiguousarray(image[tuple(slice(0, max(64, n // 4)) for n in image.shape)])
    peer.ways[name](part)
    begin = time.perf_counter()
    peer.ways[name](part)
    return (time.perf_counter() - begin) * image.size / part.size


def told(error):
    return ' '.join(str(error).split())[:200] or type(error).__name__


class Session:
    def __init__(self, options):
        self.options = options
        self.peers, self.missing = ways.find(HERE)
        listed = json.loads(self.imgpipe('bench', '--list', '--json'))
        self.workloads = {w['name']: w for w in listed if not options.only or w['name'] in options.only}
        unknown = set(options.only) - set(self.workloads)
        if unknown:
            sys.exit(f'peers: no workload {", ".join(sorted(unknown))}; `imgpipe bench --list` has them all')
        self.agrees = {}  # (peer, workload): '' or why not

    def imgpipe(self, *arguments):
        return subprocess.run([self.options.imgpipe, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout

    def check(self):
        for name, workload in self.workloads.items():
            flat = workload['image'].count('x') == 1
            image = samples(workload['image'].split(':')[1], (150, 200) if flat else (34, 38, 42))
            ours = imgpipe_result(self.options.imgpipe, workload, image)
            for peer in self.peers:
                if name not in peer.ways:
                    continue
                try:
                    self.agrees[peer.name, name] = disagreement(name, ours, peer.result(name, image))
                except Exception as error:  # a peer may fail in any way: told in its row, and at the end
                    self.agrees[peer.name, name] = 'failed: ' + told(error)

    def entry(self, peer, row, image):
        """One peer beside one row of ours: its times, or why there are none."""
        name = row['workload']
        if name not in peer.ways:
            return {'none': 'no such operation'}
        if self.agrees[peer.name, name]:
            return {'disagrees': self.agrees[peer.name, name]}
        try:
            if not peer.on_device and (about := seconds_about(peer, name, image)) > self.options.limit:
                return {'skipped': f'about {about:.0f} s a run'}
            return summary(peer.times(name, image, self.options.repeats, row['place'], row.get('threads', 1)))
        except Exception as error:
            return {'failed': told(error)}

    def run(self):
        document = json.loads(self.imgpipe('bench', '--json', '--repeats', str(self.options.repeats), *self.workloads))
        print_missing(self.missing)
        print_head(document)
        for row in document['rows']:
            image = samples(row['dtype'], shape_of(row))
            row['peers'] = {p.name: self.entry(p, row, image) for p in self.peers if p.has_place(row['place'])}
            times = {name: entry['ms'] for name, entry in row['peers'].items() if 'ms' in entry}
            row['best_peer'] = min(times, key=times.get) if times else None
            row['ratio'] = times[row['best_peer']] / row['ms'] if times else None
            print_row(row)
        document['peers'] = {p.name: p.version for p in self.peers}
        document['missing'] = self.missing
        return document


def print_missing(missing):
    for name, reason in missing.items():
        print(f'missing: {name}: {reason}')


def print_head(document):
    gpu = document['machine']['gpu']
    print(f'imgpipe {document["version"]}, {gpu["name"] if gpu else "no GPU"}, '
          f'{document["machine"]["cpu"]["threads"]} CPU threads')
    print(f'{"workload":<18} {"where":<17} {"image":<22} {"ours ms":>10} {"of floor":>8} {"best peer":>22} '
          f'{"ratio":>7}  peers, ms')


def words(entry):
    if 'ms' in entry:
        return f'{entry["ms"]:.4g}'
    return next(f'({kind}: {why})' for kind, why in entry.items())


def print_row(row):
    gpu_words = {'device': 'gpu', 'host to host': 'gpu, host to host'}
    where = gpu_words.get(row['place']) or f'cpu, {row["threads"]} thread{"s" if row["threads"] > 1 else ""}'
    best = f'{row["best_peer"]} {row["peers"][row["best_peer"]]["ms"]:.4g}' if row['best_peer'] else '-'
    ratio = f'{row["ratio"]:.2f}' if row['ratio'] else '-'
    peers = '  '.join(f'{name} {words(entry)}' for name, entry in row['peers'].items() if 'none' not in entry)
    print(f'{row["workload"]:<18} {where:<17} {row["image"]:<22} {row["ms"]:>10.4f} {100 * row["of_floor"]:>6.0f} % '
          f'{best:>22} {ratio:>7}  {peers}', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--imgpipe', default=str(HERE.parents[1] / 'build' / 'imgpipe'), help='the program')
    parser.add_argument('--only', nargs='+', default=[], metavar='WORKLOAD')
    parser.add_argument('--repeats', type=int, default=20, help='measured runs, fewer where a run takes long')
    parser.add_argument('--limit', type=float, default=10, help='seconds that a CPU run may take')
    parser.add_argument('--json', metavar='FILE', help='write everything as JSON, too')
    parser.add_argument('--check', action='store_true', help='compare the results only')
    options = parser.parse_args()
    session = Session(options)
    session.check()
    if options.check:
        print_missing(session.missing)
        for (peer, name), why in session.agrees.items():
            print(f'{name:<18} {peer:<14} {why or "agrees"}')
    else:
        document = session.run()
        if options.json:
            Path(options.json).write_text(json.dumps(document, indent=2) + '\n')
    faults = {key: why for key, why in session.agrees.items() if why}
    for (peer, name), why in faults.items():
        print(f'peers: {peer} does not compute {name} as imgpipe does: {why}', file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == '__main__':
    main()
