"""Coefficients of filters/base/maths.cuh: polynomials through Chebyshev nodes, near minimax. Needs mpmath."""
from mpmath import mp, mpf, cos, pi, log, exp, sin, sqrt, atan, matrix, lu_solve

mp.dps = 60


def fit(f, low, high, degree):
    """Coefficients, lowest first, of the polynomial through f at the Chebyshev nodes of [low, high]."""
    n = degree + 1
    nodes = [(low + high) / 2 + (high - low) / 2 * cos((2 * k + 1) * pi / (2 * n)) for k in range(n)]
    a = matrix(n, n)
    b = matrix(n, 1)
    for i, x in enumerate(nodes):
        for j in range(n):
            a[i, j] = x**j
        b[i] = f(x)
    return list(lu_solve(a, b))


def show(name, coefficients, digits):
    print(name + ":", ", ".join(mp.nstr(c, digits) for c in coefficients))


def taylor_safe(f, at_zero):
    return lambda x: at_zero if abs(x) < mpf(10) ** -25 else f(x)


ln2 = log(2)
lo, hi = sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1
show("log2_float", fit(taylor_safe(lambda f: (log(1 + f) / ln2 - f / ln2) / f**2, -1 / (2 * ln2)), lo, hi, 9), 10)
show("exp2_float", fit(taylor_safe(lambda r: (2**r - 1) / r, ln2), mpf(-1) / 2, mpf(1) / 2, 5), 10)
show("exp2_double", fit(taylor_safe(lambda r: (2**r - 1) / r, ln2), mpf(-1) / 2, mpf(1) / 2, 11), 20)
# atanh(s)/s = 1 + s2 * A(s2), s2 in [0, ((sqrt2-1)/(sqrt2+1))^2]
s2 = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2
atanh_over = lambda t: (log((1 + sqrt(t)) / (1 - sqrt(t))) / (2 * sqrt(t)) - 1) / t
show("atanh_double", fit(taylor_safe(atanh_over, mpf(1) / 3), mpf(0), s2, 8), 20)
quarter = (pi / 4) ** 2 * mpf("1.02")
show("sin_double", fit(taylor_safe(lambda t: (sin(sqrt(t)) / sqrt(t) - 1) / t, mpf(-1) / 6), mpf(0), quarter, 6), 20)
show("cos_double", fit(taylor_safe(lambda t: (cos(sqrt(t)) - 1 + t / 2) / t**2, mpf(1) / 24), mpf(0), quarter, 6), 20)
tan8 = (sqrt(mpf(2)) - 1) ** 2 * mpf("1.001")
show("atan_double", fit(taylor_safe(lambda t: (atan(sqrt(t)) / sqrt(t) - 1) / t, mpf(-1) / 3), mpf(0), tan8, 14), 20)
for name, value in (("1/ln2", 1 / ln2), ("ln2", ln2), ("log10(2)", log(2) / log(10)), ("pi/2", pi / 2)):
    high = mpf(float(value))
    print(name, repr(float(value)), repr(float(value - high)), repr(float(value - high - mpf(float(value - high)))))
