#include "core/object/handle_table.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/object/handles.h"

namespace km {
namespace {

std::atomic<int> g_alive{0};

class Thing final : public Object {
 public:
  Thing() { ++g_alive; }

 private:
  ~Thing() override { --g_alive; }
};

class HandleTableTest : public ::testing::Test {
 protected:
  ~HandleTableTest() override { EXPECT_EQ(g_alive, 0); }
  uint64_t add(HandleTable& table) { return table.insert(make_ref<Thing>().release()); }
  static bool is_live(HandleTable& table, uint64_t id) {
    HandleSlot* slot = table.pin(id);
    if (slot != nullptr) HandleTable::unpin(slot);
    return slot != nullptr;
  }

  HandleTable table_{ObjectType::kStream, [](Object* object) { object->handle_gone(); }};
};

TEST_F(HandleTableTest, OnlyLiveIdsLeadToTheirObject) {
  const uint64_t id = add(table_);
  HandleSlot* slot = table_.pin(id);
  ASSERT_NE(slot, nullptr);
  EXPECT_NE(HandleTable::object_of(slot), nullptr);
  HandleTable::unpin(slot);
  for (uint64_t wrong : {uint64_t{0}, ~uint64_t{0}, id + 1, id - 1, id ^ uint64_t{1} << 32,
                         id ^ uint64_t{1} << 56, id & 0xFFFFFFFF}) {
    EXPECT_FALSE(is_live(table_, wrong)) << std::hex << wrong;
    EXPECT_FALSE(table_.destroy(wrong)) << std::hex << wrong;
  }
  EXPECT_TRUE(table_.destroy(id));
  EXPECT_FALSE(table_.destroy(id));
  EXPECT_FALSE(is_live(table_, id));
}

TEST_F(HandleTableTest, IdsAreNoAddresses) {
  const uint64_t id = add(table_);
  EXPECT_EQ(id >> 56, tag_of(ObjectType::kStream));
  const int64_t high_bits = static_cast<int64_t>(id) >> 46;
  EXPECT_TRUE(high_bits != 0 && high_bits != -1);
  EXPECT_EQ(claimed_type(id), ObjectType::kStream);
  EXPECT_EQ(claimed_type(0), ObjectType::kNone);
  EXPECT_EQ(claimed_type(0x7F0011223344), ObjectType::kNone);
  EXPECT_TRUE(table_.destroy(id));
}

TEST_F(HandleTableTest, ReusedSlotsGiveNewIds) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t id = add(table_);
    EXPECT_TRUE(seen.insert(id).second);
    EXPECT_TRUE(table_.destroy(id));
  }
  EXPECT_EQ(table_.live_count(), 0u);
}

TEST_F(HandleTableTest, PinsOutliveTheDestroy) {
  const uint64_t id = add(table_);
  HandleSlot* first = table_.pin(id);
  HandleSlot* second = table_.pin(id);
  EXPECT_TRUE(table_.destroy(id));
  EXPECT_FALSE(is_live(table_, id));
  EXPECT_STREQ(table_.reason_not_live(id), "was destroyed already");
  HandleTable::unpin(first);
  EXPECT_EQ(g_alive, 1);
  HandleTable::unpin(second);
  EXPECT_EQ(g_alive, 0);
}

TEST_F(HandleTableTest, ReasonsTellDestroyedFromMadeUp) {
  const uint64_t id = add(table_);
  EXPECT_STREQ(table_.reason_not_live(id + 1), "was never given out");
  EXPECT_STREQ(table_.reason_not_live(id + (uint64_t{100} << 32)), "was never given out");
  EXPECT_STREQ(table_.reason_not_live(id + (uint64_t{100000} << 32)), "was never given out");
  EXPECT_TRUE(table_.destroy(id));
  EXPECT_STREQ(table_.reason_not_live(id), "was destroyed already");
}

TEST_F(HandleTableTest, UsedUpSlotsAreRetired) {
  HandleTable table(ObjectType::kEvent, [](Object* object) { object->handle_gone(); }, 3);
  std::set<uint64_t> seen;
  std::set<uint64_t> slots;
  for (int i = 0; i < 300; ++i) {
    const uint64_t id = add(table);
    EXPECT_TRUE(seen.insert(id).second);
    slots.insert(id >> 32);
    EXPECT_TRUE(table.destroy(id));
    EXPECT_FALSE(is_live(table, id));
  }
  EXPECT_EQ(slots.size(), 100u);
  for (uint64_t id : seen) EXPECT_FALSE(is_live(table, id));
}

TEST_F(HandleTableTest, ManyObjectsAtOnce) {
  std::vector<uint64_t> ids;
  for (int i = 0; i < 10000; ++i) ids.push_back(add(table_));
  EXPECT_EQ(table_.live_count(), ids.size());
  for (uint64_t id : ids) EXPECT_TRUE(is_live(table_, id));
  for (uint64_t id : ids) EXPECT_TRUE(table_.destroy(id));
}

TEST_F(HandleTableTest, RandomIdsAreRefused) {
  std::vector<uint64_t> ids;
  for (int i = 0; i < 100; ++i) ids.push_back(add(table_));
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000000; ++i) {
    // Half of them with the right tag and a slot in use, which leaves 32 bits to guess.
    uint64_t id = random();
    if (i % 2 == 0) id = ids[id % ids.size()] ^ (id & 0xFFFFFFFF) ^ 1;
    if (std::find(ids.begin(), ids.end(), id) != ids.end()) continue;
    ASSERT_FALSE(is_live(table_, id)) << std::hex << id;
    ASSERT_FALSE(table_.destroy(id));
  }
  for (uint64_t id : ids) EXPECT_TRUE(table_.destroy(id));
}

TEST_F(HandleTableTest, ThreadsUseWhatOthersDestroy) {
  constexpr int kSlots = 4;
  constexpr int kRounds = 20000;
  std::atomic<uint64_t> ids[kSlots] = {};
  std::atomic<bool> done{false};
  std::vector<std::thread> users;
  for (int t = 0; t < 3; ++t) {
    users.emplace_back([&] {
      while (!done.load()) {
        for (std::atomic<uint64_t>& id : ids) {
          HandleSlot* slot = table_.pin(id.load());
          if (slot == nullptr) continue;
          Object* object = HandleTable::object_of(slot);
          object->ref();
          HandleTable::unpin(slot);
          object->unref();
        }
      }
    });
  }
  for (int i = 0; i < kRounds; ++i) {
    std::atomic<uint64_t>& id = ids[i % kSlots];
    const uint64_t old = id.exchange(add(table_));
    EXPECT_EQ(table_.destroy(old), old != 0);
  }
  done = true;
  for (std::thread& user : users) user.join();
  for (std::atomic<uint64_t>& id : ids) EXPECT_TRUE(table_.destroy(id.load()));
}

TEST(Handles, EachTypeHasItsTable) {
  for (uint8_t type = 1; type < kObjectTypeCount; ++type) {
    HandleTable& table = handle_table(static_cast<ObjectType>(type));
    const uint64_t id = table.insert(make_ref<Thing>().release());
    EXPECT_EQ(static_cast<uint8_t>(claimed_type(id)), type);
    EXPECT_TRUE(table.destroy(id));
  }
  EXPECT_STREQ(handle_type_name(ObjectType::kLaunch), "km_launch");
}

}  // namespace
}  // namespace km
