// mbarrier objects by inline PTX: their phases, waiting for them, and clusters of one block.
typedef unsigned int u32;
typedef unsigned long long u64;

static __device__ u32 shared_address(const void* pointer) {
  return (u32)__cvta_generic_to_shared(pointer);
}

static __device__ void init(u32 at, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(count) : "memory");
}
static __device__ u64 arrive(u32 at) {
  u64 state;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
  return state;
}
static __device__ u64 arrive(u32 at, u32 count) {
  u64 state;
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(at), "r"(count)
               : "memory");
  return state;
}
static __device__ u64 arrive_expecting(u32 at, u32 bytes) {
  u64 state;
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(at), "r"(bytes)
               : "memory");
  return state;
}
static __device__ bool test(u32 at, u64 state) {
  u32 done;
  asm volatile(
      "{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(at), "l"(state)
      : "memory");
  return done;
}
static __device__ bool test_parity(u32 at, u32 parity) {
  u32 done;
  asm volatile(
      "{ .reg .pred p; mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;"
      " selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(at), "r"(parity)
      : "memory");
  return done;
}
static __device__ bool try_parity(u32 at, u32 parity) {
  u32 done;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, 1000;"
      " selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(at), "r"(parity)
      : "memory");
  return done;
}
static __device__ u32 pending(u64 state) {
  u32 count;
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
  return count;
}

// Every thread has an object of its own, that starts with 3 + t % 3 arrivals.
extern "C" __global__ void phases(u32* out, u32 results) {
  __shared__ __align__(8) u64 barriers[64];
  const u32 t = threadIdx.x, at = shared_address(&barriers[t]), count = 3 + t % 3;
  u32* log = out + results * t;
  init(at, count);
  const u64 s0 = arrive(at);
  *log++ = pending(s0);
  *log++ = test(at, s0) | test_parity(at, 0) << 1 | test_parity(at, 1) << 2;
  const u64 s1 = arrive(at, count - 1);
  *log++ = pending(s1);
  *log++ = test(at, s0) | test(at, s1) << 1 | test_parity(at, 0) << 2 | test_parity(at, 1) << 3;
  // One arrival less from the next phase on.
  u64 s2, s3;
  asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];" : "=l"(s2) : "r"(at) : "memory");
  asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], %2;"
               : "=l"(s3)
               : "r"(at), "r"(count - 2)
               : "memory");
  *log++ = pending(s2);
  *log++ = pending(s3);
  const u64 s4 = arrive(at);
  *log++ = pending(s4);
  *log++ = test(at, s4) | test(at, s2) << 1;
  // Bytes hold a phase up.
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 100;" ::"r"(at) : "memory");
  const u64 s5 = arrive(at, count - 1);
  *log++ = pending(s5);
  *log++ = test(at, s5);
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 60;" ::"r"(at) : "memory");
  *log++ = test(at, s5);
  asm volatile("mbarrier.complete_tx.shared::cta.b64 [%0], 40;" ::"r"(at) : "memory");
  *log++ = test(at, s5);
  // They may be complete before they are expected.
  asm volatile("mbarrier.complete_tx.shared::cta.b64 [%0], 4096;" ::"r"(at) : "memory");
  const u64 s6 = arrive(at, count - 2);
  *log++ = test(at, s6);
  const u64 s7 = arrive_expecting(at, 4096);
  *log++ = test(at, s6) | test(at, s7) << 1 | pending(s7) << 2;
  // Without a state, at a generic address, until nobody is left to arrive.
  asm volatile("mbarrier.arrive.b64 _, [%0], %1;" ::"l"(&barriers[t]), "r"(count - 2) : "memory");
  asm volatile("mbarrier.arrive_drop.release.cta.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
  *log++ = test_parity(at, 0) | test_parity(at, 1) << 1;
  const u64 s8 = arrive(at);
  *log++ = pending(s8);
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(at) : "memory");
}

// The first warp fills a ring of two stages, the others empty it.
extern "C" __global__ void ring(const u32* in, u32* out, u32 rounds) {
  __shared__ u32 stage[2][32];
  __shared__ __align__(8) u64 full[2], empty[2];
  const u32 t = threadIdx.x, lane = t % 32, consumers = blockDim.x - 32;
  if (t < 2) {
    init(shared_address(&full[t]), 32);
    init(shared_address(&empty[t]), consumers);
  }
  __syncthreads();
  if (t < 32) {
    for (u32 r = 0; r < rounds; ++r) {
      const u32 s = r % 2;
      while (!try_parity(shared_address(&empty[s]), (r / 2 + 1) & 1)) {
      }
      stage[s][lane] = in[32 * r + lane] + r;
      arrive(shared_address(&full[s]));
    }
    return;
  }
  u32 sum = 0;
  for (u32 r = 0; r < rounds; ++r) {
    const u32 s = r % 2;
    while (!try_parity(shared_address(&full[s]), (r / 2) & 1)) {
    }
    sum = sum * 5 + stage[s][(lane + r) % 32];
    arrive(shared_address(&empty[s]));
  }
  out[blockIdx.x * consumers + t - 32] = sum;
}

// The whole block meets again and again, lanes of a warp at different times.
extern "C" __global__ void meet(u32* out, u32 rounds) {
  __shared__ u32 values[2][160];
  __shared__ __align__(8) u64 barrier;
  const u32 t = threadIdx.x, at = shared_address(&barrier);
  if (t == 0) init(at, blockDim.x);
  __syncthreads();
  u32 value = t;
  for (u32 r = 0; r < rounds; ++r) {
    if (t % 3 == r % 3) {
      for (u32 k = 0; k < t % 7; ++k) value = value * 3 + 1;
    }
    values[r % 2][t] = value;
    const u64 state = arrive(at);
    while (!test(at, state)) {
    }
    value ^= values[r % 2][(t + 37 * r + 1) % blockDim.x];
  }
  out[t] = value;
}

// cp.async arrives for the thread when its copies are complete.
extern "C" __global__ void copies_arrive(const u32* in, u32* out) {
  __shared__ u32 staged[2][96];
  __shared__ __align__(8) u64 barrier;
  const u32 t = threadIdx.x, at = shared_address(&barrier);
  if (t == 0) init(at, blockDim.x);
  __syncthreads();
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(&staged[0][t])),
               "l"(in + t));
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(at) : "memory");
  while (!try_parity(at, 0)) {
  }
  const u32 first = staged[0][(t + 50) % blockDim.x];
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(&staged[1][t])),
               "l"(in + 96 + t));
  asm volatile("cp.async.mbarrier.arrive.b64 [%0];" ::"l"(&barrier) : "memory");
  arrive(at);
  while (!try_parity(at, 1)) {
  }
  out[t] = first * 7 + staged[1][(t + 51) % blockDim.x];
}

// Stores and reductions that complete transactions.
extern "C" __global__ void remote_stores(u32* out) {
  __shared__ __align__(16) u32 values[4 * 32];
  __shared__ u32 total;
  __shared__ __align__(8) u64 barrier;
  const u32 t = threadIdx.x;
  u32 place, total_place, at;
  if (t == 0) {
    init(shared_address(&barrier), 1);
    total = 5;
  }
  __syncwarp();
  asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(place) : "r"(shared_address(values + 4 * t)));
  asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(total_place) : "r"(shared_address(&total)));
  asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(at) : "r"(shared_address(&barrier)));
  if (t == 0) arrive_expecting(at, 32 * 20);
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(place),
      "r"(t), "r"(t * t), "r"(~t), "r"(7), "r"(at)
      : "memory");
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, "
      "[%2];" ::"r"(total_place),
      "r"(t), "r"(at)
      : "memory");
  while (!try_parity(at, 0)) {
  }
  for (u32 k = 0; k < 4; ++k) out[5 * t + k] = values[4 * ((t + 9) % 32) + k];
  out[5 * t + 4] = total;
}

// ---- Clusters: every block is one of its own.

extern "C" __global__ void cluster_registers(u32* out) {
  __shared__ u32 value;
  const u32 t = threadIdx.x, here = shared_address(&value);
  u32 r[12];
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r[0]));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(r[1]));
  asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(r[2]));
  asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(r[3]));
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(r[4]));
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(r[5]));
  asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(r[6]));
  u32 mapped;
  u64 generic;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(here), "r"(r[0]));
  asm("mapa.u64 %0, %1, 0;" : "=l"(generic) : "l"(&value));
  r[7] = mapped == here && generic == (u64)&value;
  asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(r[8]) : "r"(mapped));
  asm("getctarank.u64 %0, %1;" : "=r"(r[9]) : "l"(generic));
  asm("{ .reg .pred p, q; isspacep.shared::cluster p, %1; isspacep.shared::cluster q, %2;"
      " selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; }"
      : "=&r"(r[10])
      : "l"(generic), "l"(out));
  if (t == 0) asm volatile("st.shared::cluster.u32 [%0], 99;" ::"r"(mapped) : "memory");
  __syncthreads();
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(r[11]) : "r"(mapped) : "memory");
  for (u32 k = 0; k < 12; ++k) out[(blockIdx.x * blockDim.x + t) * 12 + k] = r[k];
}

// Arrival and wait are apart, and warps come to them at different places.
extern "C" __global__ void cluster_barrier(u32* out, u32 rounds) {
  __shared__ u32 values[2][96];
  const u32 t = threadIdx.x, warp = t / 32;
  u32 value = t + 1;
  if (t == 95) return;
  for (u32 r = 0; r < rounds; ++r) {
    values[r % 2][t] = value;
    if (warp == r % 3) {
      asm volatile("barrier.cluster.arrive.release;" ::: "memory");
      value *= 3;
      asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
    } else {
      asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
    }
    value += values[r % 2][(t + 31) % 95];
  }
  out[t] = value;
}

extern "C" __global__ void cluster_barrier_aligned(u32* out) {
  __shared__ u32 values[128];
  const u32 t = threadIdx.x;
  values[t] = t * t;
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  asm volatile("griddepcontrol.wait;");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  out[t] = values[(t + 77) % 128];
  asm volatile("griddepcontrol.launch_dependents;\n\tpmevent 3;\n\tfence.proxy.alias;");
}

// The first thread invalidates the object as soon as its own wait is over, while other warps still
// wait.
extern "C" __global__ void invalidated_early(u32* out) {
  __shared__ u64 barrier;
  const u32 at = shared_address(&barrier);
  if (threadIdx.x == 0) init(at, blockDim.x);
  __syncthreads();
  arrive(at);
  while (!test_parity(at, 0)) {
  }
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(at) : "memory");
  }
  out[threadIdx.x] = 1;
}
