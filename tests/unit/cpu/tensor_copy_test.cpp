// Copies by tensor maps tell the checker of every write before it is made, with its content.
#include "simt/runtime/tensors/tensor_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace km::cpu {
namespace {

using simt::TensorCopyForm;
using simt::TensorCopySlots;
using simt::TensorFault;
using simt::TensorOperation;
using simt::TensorPlace;

constexpr uint32_t kWindowWords = 512;

class TensorCopyTest : public testing::Test {
 protected:
  TensorCopyTest() {
    for (uint32_t i = 0; i < kWindowWords; ++i) tensor_[i] = 1000 + i;
    map_.mark = TensorMap::kMark;
    map_.address = reinterpret_cast<uint64_t>(tensor_);
    map_.element = static_cast<uint8_t>(TensorElement::s32);
    std::fill_n(map_.steps, kMostTensorDimensions, uint8_t{1});
    place_.shared_window = reinterpret_cast<uint8_t*>(window_);
    place_.box = reinterpret_cast<uint64_t>(window_ + 32);
    place_.shared_bytes = sizeof window_;
    place_.context = this;
    place_.may_access = [](void* self, uint64_t address, uint64_t size_bytes,
                           const uint8_t* content) {
      static_cast<TensorCopyTest*>(self)->note(address, size_bytes, content);
      return true;
    };
    place_.report_box = [](void* self, uint64_t size_bytes, const uint8_t* content) {
      static_cast<TensorCopyTest*>(self)->note_box(size_bytes, content);
    };
  }

  TensorFault copy(TensorOperation operation, uint8_t rank) {
    map_.last_dimension = static_cast<uint8_t>(rank - 1);
    TensorCopyForm form;
    form.operation = operation;
    form.rank = rank;
    TensorCopySlots slots{};
    slots.maps[0] = reinterpret_cast<uint64_t>(&map_);
    uint64_t size_bytes = 0;
    return copy_tensor(form, slots, 0, place_, &size_bytes);
  }

  /// A store that is told is made before the next one is told.
  void note(uint64_t address, uint64_t size_bytes, const uint8_t* content) {
    if (address == reinterpret_cast<uint64_t>(&map_) || content == nullptr) return;
    test_last_store();
    last_ = address;
    stored_.assign(content, content + size_bytes);
    ++stores_;
    const bool is_made = std::memcmp(at(address), content, size_bytes) == 0;
    EXPECT_FALSE(is_made) << "a store is told after it has been made";
  }
  void test_last_store() const {
    if (stored_.empty()) return;
    EXPECT_EQ(std::memcmp(at(last_), stored_.data(), stored_.size()), 0);
  }
  void note_box(uint64_t size_bytes, const uint8_t* content) {
    std::copy_n(reinterpret_cast<const uint8_t*>(place_.box), size_bytes,
                std::back_inserter(box_before_));
    if (content != nullptr) told_.assign(content, content + size_bytes);
  }
  static const void* at(uint64_t address) { return reinterpret_cast<const void*>(address); }

  alignas(128) uint32_t tensor_[kWindowWords] = {};
  alignas(1024) uint32_t window_[kWindowWords] = {};
  std::array<uint8_t, sizeof window_> image_{};
  TensorMap map_{};
  TensorPlace place_;
  uint64_t last_ = 0;
  uint32_t stores_ = 0;
  std::vector<uint8_t> stored_, told_, box_before_;
};

TEST_F(TensorCopyTest, ALoadTellsTheBoxBeforeItIsWritten) {
  map_.sizes[0] = map_.box[0] = 8;
  map_.sizes[1] = map_.box[1] = 16;
  map_.strides_bytes[0] = 8 * sizeof(uint32_t);
  map_.swizzle = static_cast<uint8_t>(TensorSwizzle::bytes_32);
  place_.image = image_.data();
  ASSERT_EQ(copy(TensorOperation::load, 2).kind, simt::FaultKind::none);
  const uint64_t size_bytes = map_.box_bytes();
  EXPECT_EQ(box_before_, std::vector<uint8_t>(size_bytes, 0));
  ASSERT_EQ(told_.size(), size_bytes);
  EXPECT_EQ(std::memcmp(told_.data(), at(place_.box), size_bytes), 0);
  EXPECT_EQ(window_[31], 0U);
  EXPECT_EQ(window_[32 + size_bytes / sizeof(uint32_t)], 0U);

  // The box is the one that a load without an image makes.
  std::fill_n(window_, kWindowWords, 0U);
  place_.image = nullptr;
  box_before_.clear();
  ASSERT_EQ(copy(TensorOperation::load, 2).kind, simt::FaultKind::none);
  EXPECT_EQ(std::memcmp(told_.data(), at(place_.box), size_bytes), 0);
  EXPECT_EQ(box_before_, told_);
}

TEST_F(TensorCopyTest, ABoxBeyondSharedMemoryHasNoImage) {
  map_.sizes[0] = map_.box[0] = 32;
  place_.shared_bytes = 128 + 64;
  place_.image = image_.data();
  ASSERT_EQ(copy(TensorOperation::load, 1).kind, simt::FaultKind::none);
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(box_before_.size(), 128U);
}

TEST_F(TensorCopyTest, EachElementBetweenOthersIsStoredBeforeTheNextIsTold) {
  map_.sizes[0] = 8;
  map_.box[0] = 8;
  map_.sizes[1] = map_.sizes[2] = map_.box[1] = map_.box[2] = 1;
  map_.strides_bytes[0] = map_.strides_bytes[1] = 64;
  map_.interleave = static_cast<uint8_t>(TensorInterleave::bytes_16);
  map_.steps[0] = 2;
  for (uint32_t i = 0; i < 4; ++i) window_[32 + i] = 7 + i;
  ASSERT_EQ(copy(TensorOperation::store, 3).kind, simt::FaultKind::none);
  test_last_store();
  EXPECT_EQ(stores_, 4U);
  for (uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(tensor_[i], i % 2 == 0 ? 7 + i / 2 : 1000 + i);
  }
}

}  // namespace
}  // namespace km::cpu
