#include "values.h"

#include "texts.h"

namespace km::fuzz {
namespace {

constexpr Word kEdges[] = {
    0,
    1,
    2,
    3,
    31,
    32,
    255,
    256,
    1023,
    1024,
    1025,
    4095,
    4096,
    65535,
    65536,
    (1ull << 31) - 1,
    1ull << 31,
    (1ull << 32) - 1,
    1ull << 32,
    (1ull << 32) + 1,
    (1ull << 47) - 1,
    1ull << 47,
    (1ull << 62) + 8,
    (1ull << 63) - 1,
    1ull << 63,
    ~0ull - 4095,
    ~0ull - 7,
    ~0ull - 1,
    ~0ull,
};

}  // namespace

bool Values::is_wrong() { return wrong_in_ != 0 && random.one_in(wrong_in_); }

Word Values::edge() { return random.pick(kEdges); }

Word Values::number(NumberClass kind, bool wrong) {
  if (wrong) return random.one_in(4) ? any() >> random.below(64) : edge();
  switch (kind) {
    case kAnyNumber:
      return random.one_in(4) ? edge() : random.below(8);
    case kCapacity:
      return random.below(300);
    case kElementSize:
      return 1ull << random.below(5);
    case kOffset:
      return random.one_in(2) ? 0 : 4 * random.below(64);
    case kSize:
      return random.one_in(2) ? 4 * random.below(64)
                              : random.below(random.one_in(8) ? 65536 : 4097);
    case kSharedSize:
      return random.one_in(2) ? 0 : random.below(random.one_in(8) ? 49153 : 1024);
    case kTime:
      return random.below(2'000'000);
    case kIndex:
      return random.below(4);
    case kDimension:
      return random.one_in(16) ? random.between(1, 64) : random.between(1, 4);
    case kThreads:
      return random.between(1, 1024);
    case kFlagBits:
      return random.one_in(3) ? random.below(8) : 0;
    case kCount:
      return random.one_in(8) ? random.below(256) : random.below(12);
    case kDevice:
      return random.below(2);
    case kPriority:
      return ~random.below(3) + 1;
    case kNull:
      return 0;
  }
  return 0;
}

Word Values::wrong_handle(size_t type) {
  switch (random.below(7)) {
    case 0:
      return 0;
    case 1:
      return any();
    case 2:  // of another type
      return shared_->handles[random.below(shared_->handles.size())].live(random, 0).value;
    case 3:  // nearly right
      return shared_->handles[type].live(random, 0).value ^ (1ull << random.below(64));
    case 4:
      return shared_->lost[type].live(random, 0).value;
    default:
      return shared_->handles[type].ended(random);
  }
}

void Values::pin(size_t type, const PoolEntry& entry) {
  for (auto& [pinned, value] : pins_) {
    if (pinned != type) continue;
    value = entry;
    return;
  }
  pins_.emplace_back(type, entry);
}

Word Values::handle(size_t type, bool wrong) {
  if (wrong) return wrong_handle(type);
  PoolEntry entry;
  for (const auto& [pinned, value] : pins_) {
    if (pinned == type) entry = value;
  }
  if (entry.value == 0) {
    entry = shared_->handles[type].live(random, random.one_in(16) ? 0 : group_,
                                        type == parent_type_ ? 0 : parent_);
  }
  if (group_ == 0) group_ = entry.group;
  if (type == parent_type_) parent_ = entry.value;
  return entry.value;
}

Word Values::address(bool wrong, uint64_t* out_size_bytes) {
  const PoolEntry entry = shared_->addresses.live(random, random.one_in(16) ? 0 : group_);
  const uint64_t size = entry.size_bytes;
  if (out_size_bytes != nullptr) *out_size_bytes = size;
  if (!wrong) {
    const uint64_t inside = random.one_in(2) || size < 8 ? 0 : random.below(size) & ~3ull;
    if (out_size_bytes != nullptr) *out_size_bytes = size - inside;
    return entry.value + inside;
  }
  switch (random.below(host_addresses_ ? 5 : 7)) {
    case 0:
      return entry.value + size;
    case 1:
      return entry.value + size - random.below(9);
    case 2:
      return entry.value - random.below(9);
    case 3:
      return edge();
    case 4:
      return any() | (1ull << 63);
    case 5:
      return any() >> 17 & ~0xffull;
    default:
      return shared_->addresses.ended(random);
  }
}

Word Values::enumerator(const Enumeration& all, bool wrong) {
  if (wrong) return random.one_in(2) ? edge() : random.below(2 * all.count + 8);
  return static_cast<Word>(all.values[random.below(all.count)]);
}

std::string Values::text(TextClass kind, bool wrong) { return draw_text(random, kind, wrong); }

}  // namespace km::fuzz
