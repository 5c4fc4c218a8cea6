#include "backends/cpu/config/topology.h"

#include <gtest/gtest.h>

namespace km::cpu::test {
namespace {

TEST(Topology, DevicesLeaveRoomForTheProgram) {
  constexpr uint64_t kGib = uint64_t{1} << 30;
  const SystemMemory idle{24 * kGib, 24 * kGib}, busy{24 * kGib, 6 * kGib};
  EXPECT_EQ(device_memory(idle, 0).total_bytes, 12 * kGib);
  EXPECT_EQ(device_memory(idle, 0).most_bytes, 12 * kGib);
  EXPECT_EQ(device_memory(busy, 0).total_bytes, 12 * kGib);
  EXPECT_EQ(device_memory(busy, 0).most_bytes, 3 * kGib);
  EXPECT_EQ(device_memory(busy, 20 * kGib).most_bytes, 20 * kGib);
  EXPECT_EQ(device_memory(idle, 100 * kGib).total_bytes, 24 * kGib);
  EXPECT_EQ(program_reserve_bytes(24 * kGib), kGib);
  EXPECT_EQ(program_reserve_bytes(512 << 20), uint64_t{32} << 20);
}

TEST(Topology, TheMachineHasMemoryAndAName) {
  SystemMemory memory = system_memory();
  EXPECT_GT(memory.total_bytes, uint64_t{64} << 20);
  EXPECT_LE(memory.free_bytes, memory.total_bytes);
  EXPECT_GT(resident_bytes(), 0u);
  EXPECT_GT(cpu_name().size(), 2u);
}

}  // namespace
}  // namespace km::cpu::test
