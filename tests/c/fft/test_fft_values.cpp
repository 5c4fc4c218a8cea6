// Results of Fourier transforms against their definition in long double: all kinds and types,
// sizes, batches and layouts, in place and not, and that no other byte changes.
#include "fft_reference.h"

namespace fft_test {
namespace {

/// Random choices, the same in each run.
class Dice {
 public:
  explicit Dice(uint32_t seed) : bits_(seed) {}
  uint64_t below(uint64_t end) { return bits_() % end; }
  bool is_one_in(uint64_t many) { return below(many) == 0; }

 private:
  std::mt19937 bits_;
};

/// Two arrays of a transform in device memory.
class Arrays {
 public:
  Arrays(const fixture* f, const km_fft_shape& shape, bool is_in_place)
      : f_(f), shape_(shape), in_(shape, true), out_(shape, false), is_in_place_(is_in_place) {
    const uint64_t in_bytes = in_.size_bytes(), out_bytes = out_.size_bytes();
    from_.assign(is_in_place ? std::max(in_bytes, out_bytes) : in_bytes, 0xFF);
    in_.randomize(&from_);
    to_ = is_in_place ? from_ : std::vector<uint8_t>(out_bytes, 0xFF);
    OK(km_slice_create(f->context, from_.size(), 1, 0, &slices_[0]));
    OK(km_slice_upload(f->stream, slices_[0], 0, from_.data(), from_.size()));
    if (is_in_place) return;
    OK(km_slice_create(f->context, to_.size(), 1, 0, &slices_[1]));
    OK(km_slice_upload(f->stream, slices_[1], 0, to_.data(), to_.size()));
  }
  ~Arrays() {
    for (km_slice slice : slices_) OK(km_slice_destroy(slice));
  }
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;

  km_array input() const { return km_place(slices_[0], 0); }
  km_array output() const { return km_place(slices_[is_in_place_ ? 0 : 1], 0); }

  /// Compares the results, and the bytes that are none.
  void check(km_fft_direction direction) {
    std::vector<uint8_t> seen(to_.size()), marks(to_.size(), 0);
    OK(km_slice_download(f_->stream, slices_[is_in_place_ ? 0 : 1], 0, seen.data(), seen.size()));
    for (uint64_t i = 0; i < shape_.batch_count; ++i) {
      check_one(out_.read(seen, i), transformed(in_.read(from_, i), shape_, direction), i);
    }
    out_.mark(&marks);
    if (is_in_place_) in_.mark(&marks);
    for (size_t i = 0; i < seen.size(); ++i) assert_true(marks[i] != 0 || seen[i] == to_[i]);
    if (is_in_place_) return;
    std::vector<uint8_t> input(from_.size());
    OK(km_slice_download(f_->stream, slices_[0], 0, input.data(), input.size()));
    assert_memory_equal(input.data(), from_.data(), from_.size());
  }

 private:
  /// The error relative to all numbers of a transform, in units of the type's precision.
  void check_one(const std::vector<Wide>& seen, const std::vector<Wide>& wanted,
                 uint64_t transform) const {
    long double error = 0, total = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      error += std::norm(seen[i] - wanted[i]);
      total += std::norm(wanted[i]);
    }
    constexpr long double kMostError = 6;
    if (std::sqrt(error) <= kMostError * out_.epsilon() * std::sqrt(total)) return;
    fail_msg(
        "kind %d, type %d, sizes %llu %llu %llu, batch %llu, in place %d: transform %llu is off "
        "by %Lg of %Lg",
        shape_.kind, shape_.type, static_cast<unsigned long long>(shape_.sizes[0]),
        static_cast<unsigned long long>(shape_.sizes[1]),
        static_cast<unsigned long long>(shape_.sizes[2]),
        static_cast<unsigned long long>(shape_.batch_count), is_in_place_,
        static_cast<unsigned long long>(transform), std::sqrt(error), std::sqrt(total));
  }

  const fixture* f_;
  const km_fft_shape shape_;
  const Side in_, out_;
  const bool is_in_place_;
  std::vector<uint8_t> from_, to_;
  km_slice slices_[2] = {};
};

km_fft_direction only_direction(km_fft_kind kind) {
  return kind == KM_FFT_KIND_COMPLEX_TO_REAL ? KM_FFT_DIRECTION_INVERSE : KM_FFT_DIRECTION_FORWARD;
}

void check(const fixture* f, const km_fft_shape& shape, km_fft_direction direction,
           bool is_in_place) {
  km_fft fft = nullptr;
  OK(km_fft_create(f->stream, &shape, &fft));
  Arrays arrays(f, shape, is_in_place);
  const km_array input = arrays.input(), output = arrays.output();
  OK(km_fft_execute(fft, direction, &input, &output));
  OK(km_fft_destroy(fft));
  arrays.check(direction);
}

/// A layout whose elements are apart: with gaps, or with transforms that interleave.
km_fft_layout random_layout(Dice* dice, const km_fft_shape& shape, bool is_input) {
  const Side dense(shape, is_input);
  km_fft_layout layout{};
  const bool interleaves = dice->is_one_in(4);
  layout.stride = (interleaves ? shape.batch_count : 1) * (1 + dice->below(2));
  uint64_t span = layout.stride * dense.lengths()[shape.rank - 1];
  for (uint32_t i = shape.rank - 1; i > 0; --i) {
    layout.extents[i] = dense.lengths()[i] + dice->below(3);
    span = span / dense.lengths()[i] * layout.extents[i] * dense.lengths()[i - 1];
  }
  layout.distance = interleaves ? 1 : span + dice->below(5);
  return layout;
}

km_fft_shape random_shape(Dice* dice) {
  km_fft_shape shape{};
  shape.kind = static_cast<km_fft_kind>(1 + dice->below(3));
  shape.type = kNumbers[dice->below(4)].type;
  shape.rank = static_cast<uint32_t>(1 + dice->below(3));
  constexpr uint64_t kMostSize[] = {150, 24, 9};
  for (uint32_t i = 0; i < shape.rank; ++i) {
    shape.sizes[i] = dice->is_one_in(9) ? 1 : 1 + dice->below(kMostSize[shape.rank - 1]);
  }
  shape.batch_count = dice->is_one_in(3) ? 1 : 1 + dice->below(9);
  return shape;
}

void random_shapes(void** state) {
  constexpr int kShapes = 3000;
  const auto* const f = static_cast<const fixture*>(*state);
  if (is_fake(f)) skip();
  Dice dice(20261129);
  for (int i = 0; i < kShapes; ++i) {
    km_fft_shape shape = random_shape(&dice);
    const bool is_in_place = dice.is_one_in(3);
    const bool has_input = dice.is_one_in(2), has_output = dice.is_one_in(2);
    const km_fft_layout input = random_layout(&dice, shape, true);
    const km_fft_layout output = random_layout(&dice, shape, false);
    if (has_input) shape.input = input;
    if (has_output) shape.output = output;
    const bool is_inverse = shape.kind == KM_FFT_KIND_COMPLEX && dice.is_one_in(2);
    check(f, shape, is_inverse ? KM_FFT_DIRECTION_INVERSE : only_direction(shape.kind),
          is_in_place);
  }
}

/// Windows of a signal, each a transform; in place, too, where each result covers other windows.
void overlapping_inputs(void** state) {
  const auto* const f = static_cast<const fixture*>(*state);
  if (is_fake(f)) skip();
  for (const km_fft_kind kind : {KM_FFT_KIND_COMPLEX, KM_FFT_KIND_COMPLEX_TO_REAL}) {
    for (const uint64_t distance : {1, 4, 5}) {
      km_fft_shape shape = km_fft_lines(kind, KM_DATA_TYPE_F32, 8, 50);
      shape.input = {{0, 0, 0}, 1, distance};
      for (const bool is_in_place : {false, true}) {
        check(f, shape, only_direction(kind), is_in_place);
      }
    }
  }
}

void long_lines(void** state) {
  const auto* const f = static_cast<const fixture*>(*state);
  if (is_fake(f)) skip();
  for (const uint64_t size : {1024, 2187, 3001, 4096, 5000}) {
    for (km_fft_kind kind = KM_FFT_KIND_COMPLEX; kind <= KM_FFT_KIND_COMPLEX_TO_REAL; ++kind) {
      for (const Numbers& numbers : kNumbers) {
        if (numbers.type == KM_DATA_TYPE_F16 && size > 4096) continue;  // sums beyond its range
        check(f, km_fft_lines(kind, numbers.type, size, 2), only_direction(kind), false);
      }
    }
  }
}

/// The transform of one number that is not zero, whose results all are known.
void check_impulse(const fixture* f, uint64_t size, uint64_t place) {
  const km_fft_shape shape = km_fft_lines(KM_FFT_KIND_COMPLEX, KM_DATA_TYPE_F64, size, 1);
  std::vector<std::complex<double>> values(size);
  values[place] = 1;
  km_slice slice = nullptr;
  km_fft fft = nullptr;
  OK(km_slice_create(f->context, size, 16, 0, &slice));
  OK(km_slice_upload(f->stream, slice, 0, values.data(), size * 16));
  OK(km_fft_create(f->stream, &shape, &fft));
  const km_array array = km_place(slice, 0);
  OK(km_fft_execute(fft, KM_FFT_DIRECTION_FORWARD, &array, &array));
  OK(km_slice_download(f->stream, slice, 0, values.data(), size * 16));
  for (uint64_t k = 0; k < size; ++k) {
    const long double turn = static_cast<long double>(place * k % size);
    const Wide wanted = std::polar(
        1.0L, -2 * std::numbers::pi_v<long double> * turn / static_cast<long double>(size));
    if (std::abs(Wide(values[k]) - wanted) > 1e-13L) fail_msg("number %zu of %zu", k, size);
  }
  OK(km_fft_execute(fft, KM_FFT_DIRECTION_INVERSE, &array, &array));
  OK(km_slice_download(f->stream, slice, 0, values.data(), size * 16));
  values[place] -= static_cast<double>(size);
  for (const std::complex<double>& each : values) {
    assert_true(std::abs(each) < 1e-10 * static_cast<double>(size));
  }
  OK(km_fft_destroy(fft));
  OK(km_slice_destroy(slice));
}

void very_long_lines(void** state) {
  const auto* const f = static_cast<const fixture*>(*state);
  if (is_fake(f)) skip();
  for (const uint64_t size : {1U << 16, 100003U, 360360U, 1U << 20}) {
    check_impulse(f, size, 1);
    check_impulse(f, size, size - 7);
  }
}

/// Stages that several threads share, and the next launch after each.
void large_arrays_in_graphs(void** state) {
  const auto* const f = static_cast<const fixture*>(*state);
  if (is_fake(f)) skip();
  km_fft_shape shape = km_fft_lines(KM_FFT_KIND_REAL_TO_COMPLEX, KM_DATA_TYPE_F32, 90, 3);
  shape.rank = 3;
  shape.sizes[1] = 36;
  shape.sizes[2] = 50;
  for (const km_fft_kind kind : {KM_FFT_KIND_REAL_TO_COMPLEX, KM_FFT_KIND_COMPLEX_TO_REAL}) {
    shape.kind = kind;
    Arrays arrays(f, shape, false);
    const km_array input = arrays.input(), output = arrays.output();
    km_fft fft = nullptr;
    km_graph graph = nullptr;
    km_graph_exec exec = nullptr;
    OK(km_fft_create(f->stream, &shape, &fft));
    OK(km_stream_begin_capture(f->stream));
    OK(km_fft_execute(fft, only_direction(kind), &input, &output));
    OK(km_stream_end_capture(f->stream, &graph));
    OK(km_fft_destroy(fft));
    OK(km_graph_exec_create(graph, &exec));
    OK(km_graph_destroy(graph));
    for (int i = 0; i < 3; ++i) OK(km_graph_exec_launch(exec, f->stream));
    arrays.check(only_direction(kind));
    OK(km_graph_exec_destroy(exec));
  }
}

}  // namespace
}  // namespace fft_test

int main() {
  using namespace fft_test;
  const CMUnitTest tests[] = {
      cmocka_unit_test(random_shapes),
      cmocka_unit_test(overlapping_inputs),
      cmocka_unit_test(long_lines),
      cmocka_unit_test(very_long_lines),
      cmocka_unit_test(large_arrays_in_graphs),
  };
  return RUN_ON_DEVICES("fft_values", tests);
}
