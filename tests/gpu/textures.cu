// Asks a GPU how it reads textures: 16,384 fetches of each of 147 kinds of texture.
//   nvcc -std=c++17 -arch=native -o textures textures.cu && ./textures OUT
// OUT/textures.bin holds the results (`channels` values of 32 bits for each fetch), textures.tsv
// one row for each case: number, place in textures.bin in bytes, channels, format, parameters.
// Texels and coordinates come from the generator below, with the seed of the row.
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#define OK(x)                                        \
  do {                                               \
    cudaError_t e = (x);                             \
    if (e != cudaSuccess) {                          \
      printf("%s: %s\n", #x, cudaGetErrorString(e)); \
      return false;                                  \
    }                                                \
  } while (0)
/// A generator that every language can repeat: the upper half of a linear congruence.
struct Rng {
  uint64_t s;
  uint32_t next() {
    s = s * 6364136223846793005ull + 1442695040888963407ull;
    return uint32_t(s >> 32);
  }
  float unit() { return float(next() >> 8) * (1.0f / 16777216.0f); }
};
constexpr int N = 16384;
enum Op {
  kTex1,
  kTex2,
  kTex3,
  kTex2Layer,
  kCube,
  kGather0,
  kGather1,
  kGather2,
  kGather3,
  kLod,
  kGrad,
  kTex1Layer,
  kCubeLayer,
  kFetch1
};
/// Thread i writes what the fetch at c[i] gives.
__global__ void fetch(cudaTextureObject_t t, int op, const float4* c, uint4* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float4 p = c[i], r = make_float4(0, 0, 0, 0);
  int layer = int(fabsf(p.w)) & 3;
  switch (op) {
    case kTex1:
      r = tex1D<float4>(t, p.x);
      break;
    case kTex2:
      r = tex2D<float4>(t, p.x, p.y);
      break;
    case kTex3:
      r = tex3D<float4>(t, p.x, p.y, p.z);
      break;
    case kTex2Layer:
      r = tex2DLayered<float4>(t, p.x, p.y, int(p.w));
      break;
    case kTex1Layer:
      r = tex1DLayered<float4>(t, p.x, int(p.w));
      break;
    case kCube:
      r = texCubemap<float4>(t, p.x, p.y, p.z);
      break;
    case kCubeLayer:
      r = texCubemapLayered<float4>(t, p.x, p.y, p.z, layer & 1);
      break;
    case kGather0:
      r = tex2Dgather<float4>(t, p.x, p.y, 0);
      break;
    case kGather1:
      r = tex2Dgather<float4>(t, p.x, p.y, 1);
      break;
    case kGather2:
      r = tex2Dgather<float4>(t, p.x, p.y, 2);
      break;
    case kGather3:
      r = tex2Dgather<float4>(t, p.x, p.y, 3);
      break;
    case kLod:
      r = tex2DLod<float4>(t, p.x, p.y, p.z);
      break;
    case kGrad:
      r = tex2DGrad<float4>(t, p.x, p.y, make_float2(p.z, 0), make_float2(0, p.w));
      break;
    case kFetch1:
      r = tex1Dfetch<float4>(t, int(p.x));
      break;
  }
  out[i] = make_uint4(__float_as_uint(r.x), __float_as_uint(r.y), __float_as_uint(r.z),
                      __float_as_uint(r.w));
}
/// The texels of a texture and how they are read.
struct Format {
  const char* name;
  int bits, channels;
  cudaChannelFormatKind kind;
  cudaTextureReadMode read;
  int srgb;
};
const Format kFormats[] = {
    {"f32x1", 32, 1, cudaChannelFormatKindFloat, cudaReadModeElementType, 0},
    {"f32x4", 32, 4, cudaChannelFormatKindFloat, cudaReadModeElementType, 0},
    {"f16x1", 16, 1, cudaChannelFormatKindFloat, cudaReadModeElementType, 0},
    {"f16x4", 16, 4, cudaChannelFormatKindFloat, cudaReadModeElementType, 0},
    {"unorm8x1", 8, 1, cudaChannelFormatKindUnsigned, cudaReadModeNormalizedFloat, 0},
    {"unorm8x4", 8, 4, cudaChannelFormatKindUnsigned, cudaReadModeNormalizedFloat, 0},
    {"snorm8x1", 8, 1, cudaChannelFormatKindSigned, cudaReadModeNormalizedFloat, 0},
    {"unorm16x1", 16, 1, cudaChannelFormatKindUnsigned, cudaReadModeNormalizedFloat, 0},
    {"snorm16x1", 16, 1, cudaChannelFormatKindSigned, cudaReadModeNormalizedFloat, 0},
    {"unorm8x2", 8, 2, cudaChannelFormatKindUnsigned, cudaReadModeNormalizedFloat, 0},
    {"srgb8x4", 8, 4, cudaChannelFormatKindUnsigned, cudaReadModeNormalizedFloat, 1},
    {"u32x4", 32, 4, cudaChannelFormatKindUnsigned, cudaReadModeElementType, 0},
    {"u8x4", 8, 4, cudaChannelFormatKindUnsigned, cudaReadModeElementType, 0},
    {"s16x2", 16, 2, cudaChannelFormatKindSigned, cudaReadModeElementType, 0}};
static FILE *g_bin, *g_tsv;
static float4* g_c;
static uint4* g_o;
static std::vector<float4> g_coords(N);
static int g_case;
// The bytes of `count` texels: f32 uniform in [-1,1); f16 any finite pattern of small exponent;
// integers any.
static void texels(const Format& f, size_t count, std::vector<unsigned char>& bytes,
                   uint64_t seed) {
  Rng r{seed};
  size_t values = count * f.channels;
  bytes.resize(values * f.bits / 8);
  for (size_t i = 0; i < values; ++i) {
    if (f.kind == cudaChannelFormatKindFloat && f.bits == 32) {
      float v = r.unit() * 2 - 1;
      memcpy(&bytes[4 * i], &v, 4);
    } else if (f.kind == cudaChannelFormatKindFloat) {
      uint16_t h = uint16_t((r.next() & 0x83ff) | ((8 + (r.next() & 7)) << 10));
      memcpy(&bytes[2 * i], &h, 2);
    } else {
      uint32_t v = r.next();
      memcpy(&bytes[i * f.bits / 8], &v, f.bits / 8);
    }
  }
}
/// Half of the coordinates are steps of 1/512 of a texel, for the weights' bits; the last 512 hold
/// special values.
static void coordinates(float sx, float sy, float sz, bool cube, uint64_t seed) {
  Rng r{seed};
  const float special[] = {0.0f,        -0.0f,       0.5f,     1.0f,      -1.0f, 1e10f,
                           -1e10f,      3e38f,       INFINITY, -INFINITY, NAN,   1e-40f,
                           0.49999997f, 0.50000006f, 2.0f,     -2.5f};
  for (int i = 0; i < N; ++i) {
    float4 p;
    p.x = (r.unit() * 4 - 1.5f) * sx;
    p.y = (r.unit() * 4 - 1.5f) * sy;
    p.z = (r.unit() * 4 - 1.5f) * sz;
    p.w = float(r.next() % 6) - 1;
    if (i < 8192) {  // inside, steps of 1/512 of a texel and 1/8192 beyond: the weights' bits
      p.x = (float(r.next() % 8192) / 512.0f + float(r.next() % 3) / 8192.0f) * sx / 16;
      p.y = (float(r.next() % 8192) / 512.0f) * sy / 16;
      p.z = (float(r.next() % 8192) / 1024.0f) * sz / 8;
    }
    if (i >= N - 512) {
      p.x = special[r.next() % 16] * (r.next() & 1 ? 1 : sx);
      if (r.next() & 1) p.y = special[r.next() % 16];
      if (r.next() & 1) p.z = special[r.next() % 16];
    }
    if (cube) {
      p.x = r.unit() * 2 - 1;
      p.y = r.unit() * 2 - 1;
      p.z = r.unit() * 2 - 1;
      if (i % 16 == 0) p.y = p.x;
      if (i % 32 == 0) p.z = -p.x;
      if (i % 64 == 1) p.x = 0;
      if (i >= N - 64) {
        p.x = special[i % 16];
      }
    }
    g_coords[i] = p;
  }
}
/// Fetches and writes the results and the row.
static bool run(cudaTextureObject_t t, int op, const Format& f, const std::string& what,
                int channels) {
  OK(cudaMemcpy(g_c, g_coords.data(), N * sizeof(float4), cudaMemcpyHostToDevice));
  OK(cudaMemset(g_o, 0xcd, N * sizeof(uint4)));
  fetch<<<N / 128, 128>>>(t, op, g_c, g_o);
  OK(cudaDeviceSynchronize());
  std::vector<uint4> o(N);
  OK(cudaMemcpy(o.data(), g_o, N * sizeof(uint4), cudaMemcpyDeviceToHost));
  long at = ftell(g_bin);
  for (int i = 0; i < N; ++i) fwrite(&o[i], 4, channels, g_bin);
  fprintf(g_tsv, "%d\t%ld\t%d\t%s\t%s\n", g_case++, at, channels, f.name, what.c_str());
  return true;
}
/// One case: makes array and texture, fetches, and frees them.
static bool one(int op, const Format& f, cudaTextureAddressMode a, cudaTextureFilterMode filter,
                bool norm, int w, int h, int d, int levels = 1,
                cudaTextureFilterMode mip = cudaFilterModePoint, float bias = 0) {
  bool layered = op == kTex2Layer || op == kTex1Layer || op == kCubeLayer,
       cube = op == kCube || op == kCubeLayer, gather = op >= kGather0 && op <= kGather3;
  if (op == kTex1)
    h = d = 0;
  else if (op == kTex2 || gather || op == kLod || op == kGrad)
    d = 0;
  else if (op == kTex1Layer) {
    h = 0;
    d = 4;
  } else if (op == kTex2Layer)
    d = 4;
  else if (op == kCube) {
    h = w;
    d = 6;
  } else if (op == kCubeLayer) {
    h = w;
    d = 12;
  }
  uint64_t seed = 1000 + g_case;
  cudaChannelFormatDesc desc =
      cudaCreateChannelDesc(f.bits, f.channels > 1 ? f.bits : 0, f.channels > 2 ? f.bits : 0,
                            f.channels > 3 ? f.bits : 0, f.kind);
  cudaExtent extent = make_cudaExtent(w, h, d);
  unsigned flags = (layered ? cudaArrayLayered : 0) | (cube ? cudaArrayCubemap : 0) |
                   (gather ? cudaArrayTextureGather : 0);
  std::vector<unsigned char> bytes;
  cudaResourceDesc res = {};
  cudaArray_t array = nullptr;
  cudaMipmappedArray_t mips = nullptr;
  auto fill = [&](cudaArray_t to, int ww, int hh, int dd, uint64_t s) -> bool {
    texels(f, size_t(ww) * (hh ? hh : 1) * (dd ? dd : 1), bytes, s);
    size_t row = size_t(ww) * f.channels * f.bits / 8;
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(bytes.data(), row, ww, hh ? hh : 1);
    p.dstArray = to;
    p.extent = make_cudaExtent(ww, hh ? hh : 1, dd ? dd : 1);
    p.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&p));
    return true;
  };
  if (levels > 1) {
    OK(cudaMallocMipmappedArray(&mips, &desc, extent, levels, flags));
    for (int l = 0; l < levels; ++l) {
      cudaArray_t lv;
      OK(cudaGetMipmappedArrayLevel(&lv, mips, l));
      if (!fill(lv, w >> l, h >> l, 0, seed + 7919 * l)) return false;
    }
    res.resType = cudaResourceTypeMipmappedArray;
    res.res.mipmap.mipmap = mips;
  } else {
    OK(cudaMalloc3DArray(&array, &desc, extent, flags));
    if (!fill(array, w, h, d, seed)) return false;
    res.resType = cudaResourceTypeArray;
    res.res.array.array = array;
  }
  cudaTextureDesc td = {};
  for (auto& m : td.addressMode) m = a;
  td.filterMode = filter;
  td.readMode = f.read;
  td.normalizedCoords = norm;
  td.sRGB = f.srgb;
  td.borderColor[0] = 0.25f;
  td.borderColor[1] = -3;
  td.borderColor[2] = 7;
  td.borderColor[3] = 0.5f;
  td.mipmapFilterMode = mip;
  td.mipmapLevelBias = bias;
  td.minMipmapLevelClamp = 0;
  td.maxMipmapLevelClamp = float(levels - 1);
  cudaTextureObject_t t = 0;
  cudaError_t made = cudaCreateTextureObject(&t, &res, &td, nullptr);
  char what[200];
  snprintf(what, sizeof what,
           "op=%d addr=%d filter=%d norm=%d size=%d,%d,%d levels=%d mip=%d bias=%g seed=%llu", op,
           a, filter, norm, w, h, d, levels, mip, bias, (unsigned long long)seed);
  bool good = true;
  if (made != cudaSuccess) {
    fprintf(g_tsv, "%d\t-1\t0\t%s\t%s refused %s\n", g_case++, f.name, what,
            cudaGetErrorName(made));
    cudaGetLastError();
  } else {
    float sx = norm ? 1.0f : w, sy = norm ? 1.0f : (h ? h : 1), sz = norm ? 1.0f : (d ? d : 1);
    if (op == kLod) sz = 1.5f;
    if (op == kGrad) sz = norm ? 0.5f : 4.0f;
    coordinates(sx, sy, sz, cube, seed);
    if (op == kGrad)
      for (auto& p : g_coords) p.w = fabsf(p.z) * 0.7f;
    good = run(t, op, f, what, gather ? 4 : f.channels);
    cudaDestroyTextureObject(t);
  }
  if (array) cudaFreeArray(array);
  if (mips) cudaFreeMipmappedArray(mips);
  return good;
}
int main(int argc, char** argv) {
  if (argc != 2) return fprintf(stderr, "usage: textures OUT\n"), 2;
  std::string out = argv[1];
  g_bin = fopen((out + "/textures.bin").c_str(), "wb");
  g_tsv = fopen((out + "/textures.tsv").c_str(), "w");
  cudaMalloc(&g_c, N * sizeof(float4));
  cudaMalloc(&g_o, N * sizeof(uint4));
  const cudaTextureAddressMode A[] = {cudaAddressModeWrap, cudaAddressModeClamp,
                                      cudaAddressModeMirror, cudaAddressModeBorder};
  const auto L = cudaFilterModeLinear, P = cudaFilterModePoint;
  int bad = 0;
  for (int op : {kTex1, kTex2, kTex3})
    for (auto a : A)
      for (auto fl : {P, L})
        for (int n : {0, 1})
          bad += !one(op, kFormats[0], a, fl, n, op == kTex3 ? 8 : 16, op == kTex3 ? 8 : 16, 8);
  for (auto a : A)
    for (auto fl : {P, L}) bad += !one(kTex2, kFormats[0], a, fl, 1, 13, 7, 0);
  for (const Format& f : kFormats)
    for (auto fl : {P, L}) bad += !one(kTex2, f, cudaAddressModeClamp, fl, 0, 16, 16, 0);
  for (const Format& f : kFormats) bad += !one(kTex2, f, cudaAddressModeBorder, P, 1, 16, 16, 0);
  for (int op : {kTex1Layer, kTex2Layer, kCube, kCubeLayer})
    for (auto fl : {P, L})
      for (auto a : {cudaAddressModeWrap, cudaAddressModeClamp})
        bad += !one(op, kFormats[0], a, fl, 1, 16, 16, 0);
  for (int op : {kGather0, kGather1, kGather2, kGather3})
    for (auto fl : {P, L})
      for (auto a : {cudaAddressModeClamp, cudaAddressModeWrap})
        bad += !one(op, kFormats[1], a, fl, 1, 16, 16, 0);
  for (auto fl : {P, L})
    for (auto mp : {P, L})
      for (int n : {1, 0}) {
        bad += !one(kLod, kFormats[0], cudaAddressModeClamp, fl, n, 16, 16, 0, 4, mp);
        bad += !one(kGrad, kFormats[0], cudaAddressModeClamp, fl, n, 16, 16, 0, 4, mp);
      }
  bad += !one(kLod, kFormats[0], cudaAddressModeWrap, L, 1, 16, 16, 0, 4, L, 0.37f);
  fclose(g_bin);
  fclose(g_tsv);
  printf("%d cases, %d failed\n", g_case, bad);
  return bad != 0;
}
