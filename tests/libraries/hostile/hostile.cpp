#include "hostile.h"

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace km::hostile {
namespace {

const char* g_call = "none";

void name_the_call(int signal_number) {
  const char text[] = "the process ends in ";
  if (write(2, text, sizeof text - 1) > 0 && write(2, g_call, std::strlen(g_call)) > 0) {
    static_cast<void>(write(2, "\n", 1));
  }
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

/// The handlers are there before those of the library, which pass on what is not theirs.
const bool g_names_calls = [] {
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) std::signal(number, name_the_call);
  return true;
}();

char* map(size_t size_bytes, int protection) {
  void* const mapped = mmap(nullptr, size_bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) std::abort();
  return static_cast<char*>(mapped);
}

}  // namespace

WildPointers::WildPointers() {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  char* const pages = map(4 * page, PROT_READ | PROT_WRITE);
  if (mprotect(pages + page, page, PROT_NONE) != 0) std::abort();
  if (mprotect(pages + 2 * page, page, PROT_READ) != 0) std::abort();
  munmap(pages + 3 * page, page);
  const auto at = reinterpret_cast<uint64_t>(pages);
  readable_ = {at + 2 * page};
  all_ = {8,         0x10000,       0x7f0000000000, 0xd0ed80f55cfcc710, ~uint64_t{0} - 7,
          at + page, at + page - 1, at + 2 * page,  at + 3 * page};
}

const WildPointers& wild_pointers() {
  static const WildPointers made;
  return made;
}

GoodMemory::GoodMemory() : known_(kBytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  char* const mapped = map(kBytes + 2 * page, PROT_NONE);
  data_ = mapped + page;
  if (mprotect(data_, kBytes, PROT_READ | PROT_WRITE) != 0) std::abort();
}

void GoodMemory::reset(const std::vector<uint64_t>& words) {
  std::fill(known_.begin(), known_.end(), '\0');
  std::memcpy(known_.data(), words.data(), words.size() * sizeof words[0]);
  std::memcpy(data_, known_.data(), kBytes);
}

bool GoodMemory::has_changed() const { return std::memcmp(data_, known_.data(), kBytes) != 0; }

void note_call(const char* name) { g_call = name; }

uint64_t Choice::edge() {
  constexpr uint64_t kEdges[] = {0,        1,          2,          3,          7,
                                 16,       255,        4096,       65536,      0x7fffffff,
                                 1u << 31, 0xffffffff, 1ull << 32, 1ull << 60, ~uint64_t{0}};
  return kEdges[below(std::size(kEdges))];
}

}  // namespace km::hostile
