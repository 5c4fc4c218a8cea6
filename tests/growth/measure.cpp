#include "measure.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <new>

#include "ptx/checks/program_check.h"
#include "ptx/ptx.h"

namespace {

std::atomic<uint64_t> allocated_bytes{0};

void* allocate(size_t size, size_t align) {
  allocated_bytes.fetch_add(size, std::memory_order_relaxed);
  const size_t rounded = (std::max<size_t>(size, 1) + align - 1) / align * align;
  void* const result = align <= alignof(std::max_align_t) ? std::malloc(std::max<size_t>(size, 1))
                                                          : std::aligned_alloc(align, rounded);
  if (result == nullptr) throw std::bad_alloc();
  return result;
}

}  // namespace

void* operator new(size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(size_t size, std::align_val_t align) {
  return allocate(size, static_cast<size_t>(align));
}
void operator delete(void* pointer) noexcept { std::free(pointer); }
void operator delete(void* pointer, size_t) noexcept { std::free(pointer); }
void operator delete(void* pointer, std::align_val_t) noexcept { std::free(pointer); }
void operator delete(void* pointer, size_t, std::align_val_t) noexcept { std::free(pointer); }

namespace km::growth {
namespace {

constexpr double kLeastCpu = 0.02;  // below, fixed costs and the clock rule
constexpr double kLeastAllocated = 4e6, kLeastObject = 20e3;

double cpu_now() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Compiles all kernels; empty, or the text of the first error.
std::string compile_all(const simt::Program& program, simt::Mode mode, uint64_t* object_bytes) {
  for (uint32_t kernel = 0; kernel < program.kernels().size(); ++kernel) {
    simt::Variant variant;
    variant.machine = *simt::Machine::of_name("avx2");
    variant.least_mode = mode;
    variant.block = {256, 1, 1};
    const auto object = simt::compile(program, kernel, variant);
    if (!object) return object.error().message;
    *object_bytes += object->size();
  }
  return {};
}

std::string run(const Dimension& dimension, const std::string& text, uint64_t* object_bytes) {
  const auto module = ptx::parse(text, "growth.ptx");
  if (!module) return module.error().message;
  const Status checked = ptx::check_program(**module);
  if (!checked) return checked.error().message;
  const auto program = simt::Program::load(*module);
  if (!program) return program.error().message;
  if (dimension.stage == Stage::load) return {};
  return compile_all(**program, dimension.mode, object_bytes);
}

template <class Member>
double exponent(const std::vector<Work>& works, Member member, double least) {
  std::vector<double> steps;
  for (size_t i = 1; i < works.size() && works[i].refusal.empty(); ++i) {
    const auto before = static_cast<double>(works[i - 1].*member);
    const auto now = static_cast<double>(works[i].*member);
    const double sizes = static_cast<double>(works[i].size) / works[i - 1].size;
    const double ratio = now < least ? 1 : now / std::max(before, least / 2);
    steps.push_back(std::log(ratio) / std::log(sizes));
  }
  if (steps.empty()) return 0;
  std::sort(steps.begin(), steps.end());
  return steps[(steps.size() - 1) / 2];
}

}  // namespace

Work measure(const Dimension& dimension, uint32_t size) {
  const std::string text = dimension.text(size);
  Work work;
  work.size = size;
  const uint64_t allocated_before = allocated_bytes;
  const double before = cpu_now();
  work.refusal = run(dimension, text, &work.object_bytes);
  work.cpu_s = cpu_now() - before;
  work.allocated_bytes = allocated_bytes - allocated_before;
  return work;
}

Work least(const Work& a, const Work& b) {
  Work result = a;
  result.cpu_s = std::min(a.cpu_s, b.cpu_s);
  result.allocated_bytes = std::min(a.allocated_bytes, b.allocated_bytes);
  return result;
}

Exponents growth_of(const std::vector<Work>& works) {
  return {exponent(works, &Work::cpu_s, kLeastCpu),
          exponent(works, &Work::allocated_bytes, kLeastAllocated),
          exponent(works, &Work::object_bytes, kLeastObject)};
}

}  // namespace km::growth
