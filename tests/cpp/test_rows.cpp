// Copies and fills of rows, by raw address, and between devices.
#include <numeric>

#include "support.h"

namespace {

using km_test::status_of;
using Words = std::vector<std::uint32_t>;

struct Rows : km_test::Fixture {};

TEST_F(Rows, PicturesGoToPitchedSlicesAndBack) {
  km::pitched_slice<std::uint32_t> picture(context, 3, 2);
  EXPECT_EQ(picture.pitch_bytes() % 256, 0u);
  EXPECT_EQ(picture.width(), 3u);
  EXPECT_EQ(picture.height(), 2u);
  const Words pixels{1, 2, 3, 4, 5, 6};
  picture.upload(stream, pixels.data());
  Words wide(8, 0);
  picture.download(stream, wide.data(), 16);
  EXPECT_EQ(wide, (Words{1, 2, 3, 0, 4, 5, 6, 0}));
  picture.fill(stream, 7u);
  Words back(6);
  picture.download(stream, back.data());
  EXPECT_EQ(back, Words(6, 7));
}

TEST_F(Rows, RowsOfSlicesAreCopiedAndFilled) {
  auto slice = km::slice<std::uint32_t>::zeroed(context, 12);  // 3 rows of 4
  const Words four{1, 2, 3, 4};
  slice.upload_rows(stream, four.data(), {2, 2}, {5, 16, 0});
  EXPECT_EQ(slice.to_vector(stream), (Words{0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0}));
  const auto copy = km::slice<std::uint32_t>::zeroed(context, 4);
  copy.copy_rows_from(stream, slice, {2, 2}, {}, {5, 16, 0});
  EXPECT_EQ(copy.to_vector(stream), four);
  slice.fill_rows(stream, 9u, {1, 3}, {0, 16, 0});
  Words column(3);
  slice.download_rows(stream, column.data(), {1, 3}, {0, 16, 0});
  EXPECT_EQ(column, Words(3, 9));
  EXPECT_EQ(status_of([&] { slice.fill_rows(stream, 1u, {4, 4}); }), KM_ERROR_OUT_OF_BOUNDS);
  EXPECT_EQ(status_of([&] { slice.upload_rows(stream, four.data(), {2, 2}, {0, 4, 0}); }),
            KM_ERROR_INVALID_ARGUMENT);
}

TEST_F(Rows, VolumesHaveLayers) {
  const km::slice<std::uint32_t> volume(context, 8);
  Words source(16);
  std::iota(source.begin(), source.end(), 0u);  // 2 layers of 4 rows of 2, of which 2 rows
  volume.upload_rows(stream, source.data(), {2, 2, 2}, {}, {0, 8, 4});
  EXPECT_EQ(volume.to_vector(stream), (Words{0, 1, 2, 3, 8, 9, 10, 11}));
}

TEST_F(Rows, RawAddressesAreChecked) {
  const auto slice = km::slice<std::uint32_t>::zeroed(context, 8);
  const km::device_address start{slice.address()};
  const Words two{1, 2};
  km::raw::upload(stream, start, two.data(), 8);
  km::raw::copy(stream, {start.value + 8}, start, 8);
  km::raw::fill(stream, {start.value + 16}, 5u, 1);
  km::raw::fill(stream, {start.value + 20}, std::uint16_t{6}, 1);
  km::raw::fill(stream, {start.value + 24}, std::uint8_t{7}, 1);
  km::raw::fill_rows(stream, {start.value + 28}, std::uint8_t{1}, 2, 1, 2);
  Words seen(8);
  km::raw::download(stream, start, seen.data(), 32);
  EXPECT_EQ(seen, (Words{1, 2, 1, 2, 5, 6, 7, 0x00010001}));
  km_copy_3d rows{};
  rows.width_bytes = 4;
  rows.height = 2;
  rows.depth = 1;
  rows.source_pitch_bytes = 8;
  km::raw::upload_rows(stream, start, seen.data(), rows);
  km::raw::copy_rows(stream, {start.value + 16}, start, {4, 2, 1, 0, 0, 0, 0, 0, 0});
  km::raw::download_rows(stream, {start.value + 16}, seen.data(), {4, 2, 1, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ((Words{seen[0], seen[1]}), (Words{1, 1}));
  EXPECT_EQ(status_of([&] { km::raw::fill(stream, {start.value + 32}, 1u, 1); }),
            KM_ERROR_OUT_OF_BOUNDS);
}

TEST_F(Rows, ContextsCopyToEachOther) {
  const km::context peer("cpu");
  const km::stream theirs(peer);
  const auto source = km::slice<std::uint32_t>::zeroed(peer, 4);
  source.fill(theirs, 3u);
  theirs.synchronize();
  const auto slice = km::slice<std::uint32_t>::zeroed(context, 6);
  slice.copy_from_peer(stream, source, 2);
  EXPECT_EQ(slice.to_vector(stream), (Words{0, 0, 3, 3, 3, 3}));
  km::raw::copy_peer(stream, context, {slice.address()}, peer, {source.address()}, 8);
  EXPECT_EQ(slice.to_vector(stream), Words(6, 3));
  EXPECT_EQ(status_of([&] { slice.copy_from_peer(stream, source, 3); }), KM_ERROR_OUT_OF_BOUNDS);
  const km::device device = context.device();
  EXPECT_FALSE(device.can_access_peer(device));
  context.enable_peer_access(peer);
  stream.launch_kernel(km_test::load(context).function("fill_index"), 1, 4, 0, source, 1u, 4u);
  stream.synchronize();
  EXPECT_EQ(source.to_vector(theirs), (Words{1, 2, 3, 4}));
  context.disable_peer_access(peer);
  EXPECT_EQ(status_of([&] { context.enable_peer_access(context); }), KM_ERROR_INVALID_ARGUMENT);
}

}  // namespace
