#include "comm/operation/operation.h"

#include <cinttypes>
#include <cstdio>
#include <iterator>

#include "base/assert.h"

namespace km::comm {
namespace {

struct TypeRow {
  const char* name;
  uint64_t size_bytes;
};
constexpr TypeRow kTypes[] = {{"i8", 1},  {"u8", 1},   {"i32", 4},  {"u32", 4},
                              {"i64", 8}, {"u64", 8},  {"f16", 2},  {"f32", 4},
                              {"f64", 8}, {"bf16", 2}, {"e4m3", 1}, {"e5m2", 1}};
static_assert(std::size(kTypes) == kTypeCount);

constexpr const char* kReductions[] = {"sum", "product", "max", "min", "average", "scaled sum"};
constexpr const char* kKinds[] = {"all-reduce",     "reduce",     "broadcast", "all-gather",
                                  "reduce-scatter", "all-to-all", "gather",    "scatter",
                                  "send",           "receive"};

}  // namespace

uint64_t size_bytes(Type type) noexcept { return kTypes[static_cast<uint32_t>(type)].size_bytes; }
const char* name_of(Type type) noexcept { return kTypes[static_cast<uint32_t>(type)].name; }
const char* name_of(Reduction reduction) noexcept {
  return kReductions[static_cast<uint32_t>(reduction)];
}
const char* name_of(Kind kind) noexcept { return kKinds[static_cast<uint32_t>(kind)]; }

bool is_same_call(const Signature& a, const Signature& b) noexcept {
  KM_ASSERT(!is_between_two(a.kind), "operations between two ranks are compared as pairs");
  if (a.kind != b.kind || a.block_bytes() != b.block_bytes()) return false;
  if (has_root(a.kind) && a.root != b.root) return false;
  return !has_reduction(a.kind) || (a.type == b.type && a.reduction == b.reduction);
}

std::string describe(const Signature& call) {
  char text[160];
  int used = std::snprintf(text, sizeof text, "%s of %" PRIu64 " %s", name_of(call.kind),
                           call.count, name_of(call.type));
  const auto room = [&] { return sizeof text - static_cast<size_t>(used); };
  if (has_reduction(call.kind)) {
    used += std::snprintf(text + used, room(), ", %s", name_of(call.reduction));
  }
  if (has_root(call.kind)) used += std::snprintf(text + used, room(), ", root %d", call.root);
  if (call.kind == Kind::kSend) std::snprintf(text + used, room(), " to rank %d", call.root);
  if (call.kind == Kind::kReceive) std::snprintf(text + used, room(), " from rank %d", call.root);
  return text;
}

}  // namespace km::comm
