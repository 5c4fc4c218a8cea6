"""Textures in CUDA C++, compiled by NVRTC: layers, faces of cubes, levels, gathers and filters.

nvrtc_textures.py: the driver and NVRTC are found by the loader, NVRTC also by KM_NVRTC.
"""

import ctypes
import os
import unittest
from pathlib import Path

SOURCE = rb"""
extern "C" __global__ void layers(cudaTextureObject_t t, float* out) {
  const unsigned i = threadIdx.x;
  out[i] = tex2DLayered<float>(t, i % 4 + 0.5f, i / 4 % 4 + 0.5f, i / 16);
}
extern "C" __global__ void faces(cudaTextureObject_t t, float* out) {
  const int axis = threadIdx.x / 2;
  const float way = threadIdx.x % 2 ? -1 : 1;
  out[threadIdx.x] = texCubemap<float>(t, axis == 0 ? way : 0.25f, axis == 1 ? way : 0.125f,
                                       axis == 2 ? way : 0.375f);
}
extern "C" __global__ void levels(cudaTextureObject_t t, float* out) {
  const float level[] = {0, 0.5f, 1, 1.25f, 2, 9, -3, 1.75f};
  out[threadIdx.x] = tex2DLod<float>(t, 0.5f, 0.5f, level[threadIdx.x]);
}
extern "C" __global__ void gathers(cudaTextureObject_t t, float* out) {
  const float4 got = tex2Dgather<float4>(t, 1 + threadIdx.x, 2, 0);
  float* const to = out + 4 * threadIdx.x;
  to[0] = got.x, to[1] = got.y, to[2] = got.z, to[3] = got.w;
}
extern "C" __global__ void filters(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex2D<float>(t, 1 + 0.25f * threadIdx.x, 1);
}
"""
ARRAY, MIPMAPPED = 0, 1
LAYERED, CUBE, GATHER = 1, 4, 8
POINT, LINEAR, CLAMP, NORMALIZED = 0, 1, 1, 2


class ArrayShape(ctypes.Structure):
    _fields_ = [
        ("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("depth", ctypes.c_size_t),
        ("format", ctypes.c_int), ("channels", ctypes.c_uint), ("flags", ctypes.c_uint),
    ]  # fmt: skip


class Side(ctypes.Structure):
    _fields_ = [
        ("x", ctypes.c_size_t), ("y", ctypes.c_size_t), ("z", ctypes.c_size_t),
        ("level", ctypes.c_size_t), ("kind", ctypes.c_uint), ("host", ctypes.c_void_p),
        ("device", ctypes.c_uint64), ("array", ctypes.c_void_p), ("reserved", ctypes.c_void_p),
        ("pitch", ctypes.c_size_t), ("height", ctypes.c_size_t),
    ]  # fmt: skip


class Copy(ctypes.Structure):
    _fields_ = [
        ("source", Side), ("target", Side), ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t), ("depth", ctypes.c_size_t),
    ]  # fmt: skip


class Resource(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int), ("handle", ctypes.c_void_p), ("rest", ctypes.c_int * 30),
        ("flags", ctypes.c_uint),
    ]  # fmt: skip


class Sampling(ctypes.Structure):
    _fields_ = [
        ("addresses", ctypes.c_int * 3), ("filter", ctypes.c_int), ("flags", ctypes.c_uint),
        ("anisotropy", ctypes.c_uint), ("level_filter", ctypes.c_int), ("bias", ctypes.c_float),
        ("least", ctypes.c_float), ("most", ctypes.c_float), ("border", ctypes.c_float * 4),
        ("reserved", ctypes.c_int * 12),
    ]  # fmt: skip


cuda = ctypes.CDLL("libcuda.so.1")


def check(result):
    if result != 0:
        raise AssertionError(f"a call of the driver gave {result}")


def nvrtc_path() -> str:
    """The library that KM_NVRTC names: a file, or one below a folder."""
    named = Path(os.environ.get("KM_NVRTC", "libnvrtc.so.13"))
    found = sorted(named.rglob("libnvrtc.so.*")) if named.is_dir() else [named]
    return str(found[0])


def compiled() -> bytes:
    nvrtc = ctypes.CDLL(nvrtc_path())
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), SOURCE, b"textures.cu", 0, None, None))
    options = (ctypes.c_char_p * 1)(b"--gpu-architecture=compute_75")
    check(nvrtc.nvrtcCompileProgram(program, 1, options))
    check(nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    check(nvrtc.nvrtcGetPTX(program, text))
    return text.raw


def fill(array, values, width, height, depth):
    """Puts the values into an array of the given size."""
    data = (ctypes.c_float * len(values))(*values)
    copy = Copy(width=4 * width, height=height, depth=depth)
    copy.source.kind, copy.source.host = 1, ctypes.addressof(data)
    copy.source.pitch, copy.source.height = 4 * width, height
    copy.target.kind, copy.target.array = 3, array
    check(cuda.cuMemcpy3D_v2(ctypes.byref(copy)))


def array_of(values, width, height, depth, flags):
    array, floats = ctypes.c_void_p(), 0x20
    shape = ArrayShape(width, height, depth, floats, 1, flags)
    check(cuda.cuArray3DCreate_v2(ctypes.byref(array), ctypes.byref(shape)))
    fill(array, values, width, height, max(depth, 1))
    return array


def texture_of(handle, kind=ARRAY, filtering=POINT, flags=0):
    resource = Resource(kind=kind, handle=handle)
    sampling = Sampling(filter=filtering, flags=flags, level_filter=LINEAR, most=99)
    sampling.addresses[:] = [CLAMP] * 3
    texture = ctypes.c_uint64()
    check(cuda.cuTexObjectCreate(ctypes.byref(texture), ctypes.byref(resource),
                                 ctypes.byref(sampling), None))  # fmt: skip
    return texture


class Textures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        context, cls.module = ctypes.c_void_p(), ctypes.c_void_p()
        check(cuda.cuInit(0))
        check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
        check(cuda.cuCtxSetCurrent(context))
        check(cuda.cuModuleLoadData(ctypes.byref(cls.module), compiled()))

    def run_kernel(self, name, texture, threads, count):
        function, out = ctypes.c_void_p(), ctypes.c_uint64()
        check(cuda.cuModuleGetFunction(ctypes.byref(function), self.module, name))
        check(cuda.cuMemAlloc_v2(ctypes.byref(out), ctypes.c_size_t(4 * count)))
        arguments = (ctypes.c_void_p * 2)(ctypes.addressof(texture), ctypes.addressof(out))
        check(cuda.cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, None, arguments, None))
        values = (ctypes.c_float * count)()
        check(cuda.cuMemcpyDtoH_v2(values, out, ctypes.c_size_t(4 * count)))
        check(cuda.cuMemFree_v2(out))
        return list(values)

    def test_layers(self):
        values = [100 * layer + 10 * y + x for layer in range(3) for y in range(4)
                  for x in range(4)]  # fmt: skip
        texture = texture_of(array_of(values, 4, 4, 3, LAYERED))
        self.assertEqual(self.run_kernel(b"layers", texture, 48, 48), values)

    def test_faces_of_a_cube(self):
        values = [face for face in range(6) for _ in range(4)]
        texture = texture_of(array_of(values, 2, 2, 6, CUBE), flags=NORMALIZED)
        self.assertEqual(self.run_kernel(b"faces", texture, 6, 6), list(range(6)))

    def test_levels_are_mixed(self):
        mipmaps, shape = ctypes.c_void_p(), ArrayShape(4, 4, 0, 0x20, 1, 0)
        check(cuda.cuMipmappedArrayCreate(ctypes.byref(mipmaps), ctypes.byref(shape), 3))
        for level in range(3):
            array, size = ctypes.c_void_p(), 4 >> level
            check(cuda.cuMipmappedArrayGetLevel(ctypes.byref(array), mipmaps, level))
            fill(array, [16.0 * level] * (size * size), size, size, 1)
        texture = texture_of(mipmaps, MIPMAPPED, LINEAR, NORMALIZED)
        self.assertEqual(self.run_kernel(b"levels", texture, 8, 8),
                         [0, 8, 16, 20, 32, 32, 0, 28])  # fmt: skip

    def test_gathers_take_four_texels(self):
        values = [10 * y + x for y in range(4) for x in range(4)]
        texture = texture_of(array_of(values, 4, 4, 0, GATHER), filtering=LINEAR)
        self.assertEqual(self.run_kernel(b"gathers", texture, 2, 8),
                         [20, 21, 11, 10, 21, 22, 12, 11])  # fmt: skip

    def test_neighbours_are_weighted(self):
        values = [16 * y + 4 * x for y in range(4) for x in range(4)]
        texture = texture_of(array_of(values, 4, 4, 0, 0), filtering=LINEAR)
        self.assertEqual(self.run_kernel(b"filters", texture, 5, 5), [10, 11, 12, 13, 14])


if __name__ == "__main__":
    unittest.main()
