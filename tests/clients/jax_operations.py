"""Operations of JAX on a device of CUDA, each compared with NumPy: one line for each, "NAME ok",
"NAME FAILED: why" and how many seconds it took."""

import math
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

RANDOM = np.random.default_rng(1)
X, Y = (RANDOM.standard_normal((64, 33)).astype(np.float32) for _ in range(2))
A = RANDOM.standard_normal((48, 64)).astype(np.float32)
V = RANDOM.standard_normal(1000).astype(np.float32)
TOLERANCE = 2e-5


def softmax(values):
    powers = np.exp(values - values.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def largest_of_four(values):
    pairs = np.maximum(values[:-1], values[1:])
    return np.maximum(pairs[:, :-1], pairs[:, 1:])


def looped():
    result = 1.0
    for i in range(10):
        result = result * 1.5 + i
    return result


def uniform():
    return jax.random.uniform(jax.random.PRNGKey(3), (40,))


def maximum_in_windows():
    return lax.reduce_window(X, -np.inf, lax.max, (2, 2), (1, 1), "VALID")


# name: (what JAX does, what NumPy does)
OPERATIONS = {
    "add": (lambda: jnp.add(X, Y), lambda: X + Y),
    "tanh": (lambda: jnp.tanh(X), lambda: np.tanh(X)),
    "exp": (lambda: jnp.exp(X), lambda: np.exp(X)),
    "erf": (lambda: jax.scipy.special.erf(V), lambda: np.vectorize(math.erf)(V)),
    "sum": (lambda: jnp.sum(X), lambda: X.sum()),
    "sum_of_columns": (lambda: jnp.sum(X, axis=0), lambda: X.sum(0)),
    "mean": (lambda: jnp.mean(X, axis=1), lambda: X.mean(1)),
    "max": (lambda: jnp.max(X, axis=1), lambda: X.max(1)),
    "min": (lambda: jnp.min(X), lambda: X.min()),
    "prod": (lambda: jnp.prod(X[:, :4], axis=1), lambda: X[:, :4].prod(1)),
    "argmax": (lambda: jnp.argmax(X, axis=1), lambda: X.argmax(1)),
    "dot": (lambda: jnp.dot(A, X, precision="highest"), lambda: A @ X),
    "einsum": (lambda: jnp.einsum("ij,kj->ik", X, Y, precision="highest"), lambda: X @ Y.T),
    "softmax": (lambda: jax.nn.softmax(X, axis=1), lambda: softmax(X)),
    "jit": (lambda: jax.jit(lambda x, y: jnp.sin(x) * y + 1)(X, Y), lambda: np.sin(X) * Y + 1),
    "grad": (lambda: jax.grad(lambda x: jnp.sum(x**3))(X), lambda: 3 * X**2),
    "vmap": (lambda: jax.vmap(jnp.vdot)(X, Y), lambda: (X * Y).sum(1)),
    "sort": (lambda: jnp.sort(V), lambda: np.sort(V)),
    "argsort": (lambda: jnp.argsort(V), lambda: np.argsort(V, kind="stable")),
    "cumsum": (lambda: jnp.cumsum(V), lambda: np.cumsum(V)),
    "top_k": (lambda: lax.top_k(V, 5)[0], lambda: np.sort(V)[::-1][:5]),
    "scatter": (lambda: jnp.zeros(6).at[jnp.array([1, 3, 3])].add(2.0),
                lambda: np.array([0, 2, 0, 4, 0, 0])),
    "gather": (lambda: jnp.asarray(V)[jnp.array([5, 1, 999])], lambda: V[[5, 1, 999]]),
    "where": (lambda: jnp.where(X > 0, X, Y), lambda: np.where(X > 0, X, Y)),
    "fori_loop": (lambda: lax.fori_loop(0, 10, lambda i, s: s * 1.5 + i, jnp.float32(1)), looped),
    "while_loop": (lambda: lax.while_loop(lambda s: s < 100, lambda s: s * 3, jnp.int32(1)),
                   lambda: 243),
    "scan": (lambda: lax.scan(lambda s, e: (s + e, s * e), jnp.float32(0), V[:50])[0],
             lambda: V[:50].sum()),
    "cond": (lambda: lax.cond(True, lambda x: x + 1, lambda x: x - 1, X), lambda: X + 1),
    "transpose": (lambda: jnp.transpose(X) + 0, lambda: X.T),
    "concatenate": (lambda: jnp.concatenate([X, Y], 1), lambda: np.concatenate([X, Y], 1)),
    "integers": (lambda: (jnp.arange(100) * 7) % 13 // 2, lambda: (np.arange(100) * 7) % 13 // 2),
    "int8": (lambda: jnp.arange(9, dtype=jnp.int8).astype(jnp.float32), lambda: np.arange(9)),
    "f16": (lambda: (jnp.asarray(X, jnp.float16) * 2).astype(jnp.float32),
            lambda: X.astype(np.float16) * 2),
    "bf16": (lambda: (jnp.asarray([1.5, 2.25], jnp.bfloat16) * 3).astype(jnp.float32),
             lambda: np.array([4.5, 6.75])),
    "pooling": (maximum_in_windows, lambda: largest_of_four(X)),
    "random": (uniform, lambda: jax.jit(uniform, backend="cpu")()),
}  # fmt: skip


def outcome(name):
    ours, numpy_s = OPERATIONS[name]
    try:
        got, want = np.asarray(ours()), np.asarray(numpy_s())
    except Exception as failure:  # pylint: disable=broad-exception-caught
        return "FAILED: " + str(failure)[:300].replace("\n", " ")
    good = got.shape == want.shape and np.allclose(got, want, TOLERANCE, TOLERANCE)
    return "ok" if good else f"FAILED: {got.ravel()[:4]} for {want.ravel()[:4]}"


def main():
    if jax.devices()[0].platform != "gpu":
        sys.exit(f"jax_operations: JAX has {jax.devices()} only")
    for name in sys.argv[1:] or OPERATIONS:
        begin = time.perf_counter()
        print(name, outcome(name), f"({time.perf_counter() - begin:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
