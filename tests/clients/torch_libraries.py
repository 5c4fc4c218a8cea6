"""Operations of PyTorch that CUDA's libraries do (cuFFT, cuSOLVER, cuSPARSE, cuDNN), each compared
with PyTorch's CPU device: one line for each, "NAME ok" or "NAME FAILED: why". By hand, with the
build of docs/guide/pytorch.md: kernelmill exec --cc 9.0 -- run-torch torch_libraries.py"""

import sys

import torch
from torch import fft, linalg
from torch.nn import functional

torch.manual_seed(0)
TOLERANCE = 2e-4
HALVES = {torch.float32: 1, torch.float16: 60, torch.bfloat16: 500}


def positive(size):
    factor = torch.randn(size, size)
    return factor @ factor.T + size * torch.eye(size)


def sparse(rows, columns):
    return (torch.randn(rows, columns) * (torch.rand(rows, columns) < 0.2)).to_sparse()


def symmetric_values(x):
    return linalg.eigvalsh(x + x.mT)


def convolution_gradients(x, w):
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
    functional.conv2d(x, w, stride=2, padding=1).square().sum().backward()
    return x.grad, w.grad


def batch_norm(x):
    layer = torch.nn.BatchNorm2d(x.shape[1]).to(x.device)
    x = x.clone().requires_grad_()
    y = layer(x)
    y.square().sum().backward()
    return y.detach(), x.grad, layer.running_mean, layer.running_var


def recurrent(kind):
    def run(x):
        torch.manual_seed(1)
        layer = kind(x.shape[2], 7, 2, bidirectional=True).to(x.device)
        x = x.clone().requires_grad_()
        y, _ = layer(x)
        y.square().sum().backward()
        return y.detach(), x.grad

    return run


def label_loss(x):
    labels = torch.tensor([[1, 2, 3], [2, 2, 1]], device=x.device).int()
    lengths = torch.tensor([x.shape[0]] * 2).int()
    return functional.ctc_loss(x.log_softmax(2), labels, lengths, torch.tensor([3, 3]).int())


def spectrogram(x):
    return torch.stft(x, 64, return_complex=True, window=torch.hann_window(64, device=x.device))


r = torch.randn
CASES = [
    ("fft", fft.fft, r(5, 77)),
    ("fft of a prime length", fft.fft, r(3, 101)),
    ("rfft2", fft.rfft2, r(3, 16, 24)),
    ("irfftn", lambda x: fft.irfftn(fft.rfftn(x)), r(4, 6, 8)),
    ("fft of f64", fft.fftn, r(6, 5, 4, dtype=torch.float64)),
    ("stft", spectrogram, r(2, 512)),
    ("cholesky", linalg.cholesky, positive(6)),
    ("solve", linalg.solve, positive(6), r(6, 2)),
    ("inv", linalg.inv, positive(40)),
    ("inv of a batch", linalg.inv, r(7, 5, 5) + 5 * torch.eye(5)),
    ("eigvalsh", symmetric_values, r(60, 60)),
    ("eigvalsh of a batch", symmetric_values, r(4, 9, 9)),
    ("svdvals", linalg.svdvals, r(12, 7)),
    ("qr", lambda x: linalg.qr(x)[1].abs(), r(9, 6)),
    ("det", linalg.det, r(6, 6)),
    ("lstsq", lambda a, b: linalg.lstsq(a, b).solution, r(9, 4), r(9, 2)),
    ("lu_factor", lambda x: linalg.lu_factor(x)[0], r(8, 8)),
    ("sparse COO times dense", torch.sparse.mm, sparse(20, 30), r(30, 4)),
    ("sparse CSR times dense", lambda a, b: a.to_sparse_csr() @ b, sparse(20, 30), r(30, 4)),
    ("sparse CSR times vector", lambda a, b: a.to_sparse_csr() @ b, sparse(20, 30), r(30)),
    ("sparse times sparse", lambda a, b: torch.sparse.mm(a, b).to_dense(), sparse(20, 30),
     sparse(30, 10)),
    *((f"conv2d {kind}", lambda x, w: functional.conv2d(x, w, padding=1).float(),
       r(2, 3, 12, 12).to(kind), r(4, 3, 3, 3).to(kind)) for kind in HALVES),
    ("conv1d", functional.conv1d, r(2, 4, 30), r(6, 4, 5)),
    ("conv3d", functional.conv3d, r(1, 2, 6, 6, 6), r(3, 2, 3, 3, 3)),
    ("conv_transpose2d", functional.conv_transpose2d, r(2, 3, 8, 8), r(3, 5, 3, 3)),
    ("depthwise", lambda x, w: functional.conv2d(x, w, groups=4), r(2, 4, 9, 9), r(4, 1, 3, 3)),
    ("gradients of conv2d", convolution_gradients, r(2, 3, 9, 9), r(4, 3, 3, 3)),
    ("batch norm", batch_norm, r(4, 3, 5, 5)),
    ("LSTM", recurrent(torch.nn.LSTM), r(6, 3, 5)),
    ("GRU", recurrent(torch.nn.GRU), r(6, 3, 5)),
    ("RNN", recurrent(torch.nn.RNN), r(6, 3, 5)),
    ("max_pool2d", lambda x: functional.max_pool2d(x, 2), r(2, 3, 8, 8)),
    ("ctc_loss", label_loss, r(10, 2, 5)),
]  # fmt: skip


def difference(run, inputs):
    """The largest difference of the results, as a part of the largest value."""
    found, wanted = run(*(each.cuda() for each in inputs)), run(*inputs)
    if not isinstance(found, tuple):
        found, wanted = (found,), (wanted,)
    return max(((a.cpu() - b).abs().max() / b.abs().max().clamp(min=1)).item()
               for a, b in zip(found, wanted, strict=True))  # fmt: skip


def main():
    failures = 0
    for name, run, *inputs in CASES:
        most = TOLERANCE * HALVES.get(inputs[0].dtype, 1)
        try:
            by = difference(run, inputs)
            why = "" if by <= most else f"they differ by {by:.1e}"
        except Exception as error:  # an operation that cannot run is a failure like any other
            why = repr(error)[:200]
        failures += why != ""
        print(name, f"FAILED: {why}" if why else "ok", flush=True)
    print(len(CASES) - failures, "passed,", failures, "failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
