// Communicators: operations of two ranks in one process, each by the functions of km::comm.
#include <stdexcept>

#include "support.h"

namespace {

using km_test::status_of;

struct Comm : km_test::Fixture {
  Comm() : other("cpu"), streams{km::stream(context), km::stream(other)} {
    comms = km::comm::create_all({context.get(), other.get()});
    for (std::size_t i = 0; i < 2; ++i) {
      const km::context& its = i == 0 ? context : other;
      const std::vector<float> given = {1.0F + static_cast<float>(i) * 10,
                                        2.0F + static_cast<float>(i) * 10};
      inputs.push_back(km::slice<float>(its, 2));
      inputs[i].upload(streams[i], given);
      outputs.push_back(km::slice<float>(its, 4));
    }
  }
  // Calls an operation for each rank in a group, and returns what both have received.
  template <class Operation>
  std::vector<std::vector<float>> run(Operation&& operation) {
    km::comm::group([&] {
      for (std::size_t i = 0; i < 2; ++i) operation(comms[i], streams[i], inputs[i], outputs[i]);
    });
    return {outputs[0].to_vector(streams[0]), outputs[1].to_vector(streams[1])};
  }
  static std::vector<float> first(const std::vector<float>& values, std::size_t count) {
    return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  km::context other;
  km::stream streams[2];
  std::vector<km::comm> comms;
  std::vector<km::slice<float>> inputs, outputs;
};
using Values = std::vector<float>;

TEST_F(Comm, Reductions) {
  auto got =
      run([](auto& comm, auto& queue, auto& in, auto& out) { comm.all_reduce(queue, in, out, 2); });
  EXPECT_EQ(first(got[0], 2), (Values{12, 14}));
  EXPECT_EQ(first(got[1], 2), (Values{12, 14}));
  got = run([](auto& comm, auto& queue, auto& in, auto& out) {
    comm.reduce(queue, in, out, 2, 1, km::comm_reduction::max);
  });
  EXPECT_EQ(first(got[1], 2), (Values{11, 12}));
  got = run([](auto& comm, auto& queue, auto& in, auto& out) {
    comm.reduce_scatter(queue, in, out, 1, km::comm_reduction::average);
  });
  EXPECT_EQ(got[0][0], 6);
  EXPECT_EQ(got[1][0], 7);
  got = run([](auto& comm, auto& queue, auto& in, auto& out) {
    comm.all_reduce_scaled(queue, in, out, 2, 0.5F);
  });
  EXPECT_EQ(first(got[0], 2), (Values{6, 7}));
}

TEST_F(Comm, Copies) {
  auto got = run(
      [](auto& comm, auto& queue, auto& in, auto& out) { comm.broadcast(queue, in, out, 2, 1); });
  EXPECT_EQ(first(got[0], 2), (Values{11, 12}));
  got =
      run([](auto& comm, auto& queue, auto& in, auto& out) { comm.all_gather(queue, in, out, 2); });
  EXPECT_EQ(got[0], (Values{1, 2, 11, 12}));
  got =
      run([](auto& comm, auto& queue, auto& in, auto& out) { comm.all_to_all(queue, in, out, 1); });
  EXPECT_EQ(first(got[0], 2), (Values{1, 11}));
  EXPECT_EQ(first(got[1], 2), (Values{2, 12}));
  got =
      run([](auto& comm, auto& queue, auto& in, auto& out) { comm.gather(queue, in, out, 2, 0); });
  EXPECT_EQ(got[0], (Values{1, 2, 11, 12}));
  got =
      run([](auto& comm, auto& queue, auto& in, auto& out) { comm.scatter(queue, in, out, 1, 1); });
  EXPECT_EQ(got[0][0], 11);
  EXPECT_EQ(got[1][0], 12);
}

TEST_F(Comm, Messages) {
  const auto got = run([](auto& comm, auto& queue, auto& in, auto& out) {
    const std::uint32_t other_rank = 1 - comm.info().rank;
    comm.send(queue, km::arr(in, 1), 1, other_rank);
    comm.receive(queue, out, 1, other_rank);
  });
  EXPECT_EQ(got[0][0], 12);
  EXPECT_EQ(got[1][0], 2);
}

TEST_F(Comm, InformationSplitsAndFailures) {
  EXPECT_EQ(comms[1].info().rank_count, 2U);
  EXPECT_EQ(comms[0].info().engine, KM_COMM_ENGINE_THREADS);
  const km::comm alone(context, km::comm::create_id(context), 1, 0);
  EXPECT_FALSE(alone.split(-1, 0));
  EXPECT_EQ(alone.split(3, 0).info().rank_count, 1U);
  comms[0].abort();
  EXPECT_EQ(status_of([&] { comms[1].status(); }), KM_ERROR_IO);
  EXPECT_EQ(status_of([&] { comms[1].broadcast(streams[1], inputs[1], outputs[1], 1, 5); }),
            KM_ERROR_INVALID_ARGUMENT);
}

TEST_F(Comm, AGroupThatThrowsQueuesNothing) {
  EXPECT_THROW(km::comm::group([&] {
                 comms[0].all_reduce(streams[0], inputs[0], outputs[0], 2);
                 throw std::runtime_error("given up");
               }),
               std::runtime_error);
  streams[0].synchronize();  // it would wait for rank 1
  const auto got =
      run([](auto& comm, auto& queue, auto& in, auto& out) { comm.all_reduce(queue, in, out, 2); });
  EXPECT_EQ(first(got[0], 2), (Values{12, 14}));
  const km::nothrow::comm none;
  EXPECT_EQ(none.status().status(), KM_ERROR_INVALID_HANDLE);
}

}  // namespace
