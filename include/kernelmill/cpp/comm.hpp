// Communicators: collective operations and messages among ranks.
#ifndef KERNELMILL_CPP_COMM_HPP
#define KERNELMILL_CPP_COMM_HPP

#include <kernelmill/cpp/context.hpp>
#include <kernelmill/cpp/fft.hpp>

#include <string>
#include <vector>

namespace km {
inline namespace v1 {

/// Numbers of 8 bits, of the OCP's formats.
struct float8_e4m3 {
  std::uint8_t bits;
};
struct float8_e5m2 {
  std::uint8_t bits;
};

/// How elements of ranks are combined.
enum class comm_reduction : km_comm_reduction {
  sum = KM_COMM_REDUCTION_SUM,
  product = KM_COMM_REDUCTION_PRODUCT,
  max = KM_COMM_REDUCTION_MAX,
  min = KM_COMM_REDUCTION_MIN,
  average = KM_COMM_REDUCTION_AVERAGE
};

namespace detail {

// The element types of communicators.
template <class T>
struct comm_type {
  static_assert(sizeof(T) == 0,
                "communicators have integers of 8, 32 and 64 bits, half, bfloat16, "
                "float, double, float8_e4m3 and float8_e5m2");
};
template <km_element_type Type>
struct comm_type_is {
  static constexpr km_element_type value = Type;
};
template <>
struct comm_type<std::int8_t> : comm_type_is<KM_ELEMENT_TYPE_I8> {};
template <>
struct comm_type<std::uint8_t> : comm_type_is<KM_ELEMENT_TYPE_U8> {};
template <>
struct comm_type<std::int32_t> : comm_type_is<KM_ELEMENT_TYPE_I32> {};
template <>
struct comm_type<std::uint32_t> : comm_type_is<KM_ELEMENT_TYPE_U32> {};
template <>
struct comm_type<std::int64_t> : comm_type_is<KM_ELEMENT_TYPE_I64> {};
template <>
struct comm_type<std::uint64_t> : comm_type_is<KM_ELEMENT_TYPE_U64> {};
template <>
struct comm_type<half> : comm_type_is<KM_ELEMENT_TYPE_F16> {};
template <>
struct comm_type<bfloat16> : comm_type_is<KM_ELEMENT_TYPE_BF16> {};
template <>
struct comm_type<float> : comm_type_is<KM_ELEMENT_TYPE_F32> {};
template <>
struct comm_type<double> : comm_type_is<KM_ELEMENT_TYPE_F64> {};
template <>
struct comm_type<float8_e4m3> : comm_type_is<KM_ELEMENT_TYPE_F8_E4M3> {};
template <>
struct comm_type<float8_e5m2> : comm_type_is<KM_ELEMENT_TYPE_F8_E5M2> {};

template <class X, class Y>
constexpr km_element_type comm_type_of() noexcept {
  using from = std::remove_const_t<element_of<X>>;
  static_assert(std::is_same_v<from, element_of<Y>>,
                "both arrays of an operation have elements of one type");
  return comm_type<from>::value;
}

}  // namespace detail

/// A rank of a communicator. Each operation joins a stream and returns at once; operands are
/// slices, views and km::arr, and `count` is the elements of a block: of the whole array, or of one
/// rank's part. Any thread may call all functions.
template <class P>
class basic_comm : public detail::any_comm {
  template <class T>
  using result = detail::result_of<P, T>;

 public:
  basic_comm() noexcept = default;
  /// Takes over a handle.
  explicit basic_comm(km_comm handle) noexcept : object(handle) {}
  /// Joins as a rank, and waits for the others.
  template <class Q = P, detail::if_throwing<Q> = 0>
  basic_comm(const detail::any_context& context, const km_comm_id& id, std::uint32_t rank_count,
             std::uint32_t rank)
      : basic_comm(create(context, id, rank_count, rank)) {}
  /// Like the constructor, but returns a result.
  static result<basic_comm> create(const detail::any_context& context, const km_comm_id& id,
                                   std::uint32_t rank_count, std::uint32_t rank) {
    return detail::make<P, basic_comm>(km_comm_create, context.get(), &id, rank_count, rank);
  }
  /// The name of a communicator, which the program passes to the other ranks.
  static result<km_comm_id> create_id(const detail::any_context& context) {
    km_comm_id id{};
    const km_status status = km_comm_id_create(context.get(), &id);
    return P::give(status, std::move(id));
  }
  /// All ranks of a communicator in this process; rank i has the device of contexts[i].
  static result<std::vector<basic_comm>> create_all(const std::vector<km_context>& contexts) {
    std::vector<km_comm> made(contexts.size());
    std::vector<basic_comm> comms;
    comms.reserve(contexts.size());  // no exception comes between handles and their owners
    const km_status status = km_comm_create_all(contexts.data(), contexts.size(), made.data());
    if (status == KM_SUCCESS) {
      for (const km_comm each : made) comms.emplace_back(each);
    }
    return P::give(status, std::move(comms));
  }
  /// The communicator of the ranks with the same color, in the order of their keys; empty for a
  /// negative color. It waits for all ranks.
  result<basic_comm> split(std::int32_t color, std::int32_t key) const {
    return detail::make<P, basic_comm>(km_comm_split, get(), color, key);
  }

  /// The rank's number, how many ranks there are, the engine, and why it is this one.
  result<km_comm_info> info() const {
    return detail::read_struct<P, km_comm_info>(km_comm_info_get, get());
  }
  /// Fails if the communicator has failed, with the reason.
  result<void> status() const { return P::give(km_comm_status(get())); }
  /// Ends the operations of all ranks.
  result<void> abort() const { return P::give(km_comm_abort(get())); }

  /// receive = the reduction of all ranks' elements, on all ranks.
  template <class X, class Y>
  result<void> all_reduce(const detail::any_stream& stream, const X& send, const Y& receive,
                          std::uint64_t count,
                          comm_reduction reduction = comm_reduction::sum) const {
    const km_array from = detail::array_of(send), to = detail::array_of(receive);
    return P::give(km_comm_all_reduce(get(), stream.get(), &from, &to, count,
                                      detail::comm_type_of<X, Y>(), of(reduction), nullptr));
  }
  /// receive = the sum of all ranks' elements, each multiplied by its rank's `scale`.
  template <class X, class Y>
  result<void> all_reduce_scaled(const detail::any_stream& stream, const X& send, const Y& receive,
                                 std::uint64_t count, const detail::element_of<Y>& scale) const {
    const km_array from = detail::array_of(send), to = detail::array_of(receive);
    return P::give(km_comm_all_reduce(get(), stream.get(), &from, &to, count,
                                      detail::comm_type_of<X, Y>(), KM_COMM_REDUCTION_SCALED_SUM,
                                      &scale));
  }
  /// receive of rank `root` = the reduction of all ranks' elements.
  template <class X, class Y>
  result<void> reduce(const detail::any_stream& stream, const X& send, const Y& receive,
                      std::uint64_t count, std::uint32_t root,
                      comm_reduction reduction = comm_reduction::sum) const {
    const km_array from = detail::array_of(send), to = detail::array_of(receive);
    return P::give(km_comm_reduce(get(), stream.get(), &from, &to, count,
                                  detail::comm_type_of<X, Y>(), of(reduction), nullptr, root));
  }
  /// receive = the rank's block of the reduction of all ranks' blocks.
  template <class X, class Y>
  result<void> reduce_scatter(const detail::any_stream& stream, const X& send, const Y& receive,
                              std::uint64_t count,
                              comm_reduction reduction = comm_reduction::sum) const {
    const km_array from = detail::array_of(send), to = detail::array_of(receive);
    return P::give(km_comm_reduce_scatter(get(), stream.get(), &from, &to, count,
                                          detail::comm_type_of<X, Y>(), of(reduction), nullptr));
  }
  /// receive = `send` of rank `root`.
  template <class X, class Y>
  result<void> broadcast(const detail::any_stream& stream, const X& send, const Y& receive,
                         std::uint64_t count, std::uint32_t root) const {
    const km_array from = detail::array_of(send), to = detail::array_of(receive);
    return P::give(km_comm_broadcast(get(), stream.get(), &from, &to, count,
                                     detail::comm_type_of<X, Y>(), root));
  }
  /// receive = the blocks of all ranks.
  template <class X, class Y>
  result<void> all_gather(const detail::any_stream& stream, const X& send, const Y& receive,
                          std::uint64_t count) const {
    const km_array from = detail::array_of(send), to = detail::array_of(receive);
    return P::give(
        km_comm_all_gather(get(), stream.get(), &from, &to, count, detail::comm_type_of<X, Y>()));
  }
  /// Block j of rank i becomes block i of rank j.
  template <class X, class Y>
  result<void> all_to_all(const detail::any_stream& stream, const X& send, const Y& receive,
                          std::uint64_t count) const {
    const km_array from = detail::array_of(send), to = detail::array_of(receive);
    return P::give(
        km_comm_all_to_all(get(), stream.get(), &from, &to, count, detail::comm_type_of<X, Y>()));
  }
  /// receive of rank `root` = the blocks of all ranks.
  template <class X, class Y>
  result<void> gather(const detail::any_stream& stream, const X& send, const Y& receive,
                      std::uint64_t count, std::uint32_t root) const {
    const km_array from = detail::array_of(send), to = detail::array_of(receive);
    return P::give(
        km_comm_gather(get(), stream.get(), &from, &to, count, detail::comm_type_of<X, Y>(), root));
  }
  /// receive = the rank's block of `send` of rank `root`.
  template <class X, class Y>
  result<void> scatter(const detail::any_stream& stream, const X& send, const Y& receive,
                       std::uint64_t count, std::uint32_t root) const {
    const km_array from = detail::array_of(send), to = detail::array_of(receive);
    return P::give(km_comm_scatter(get(), stream.get(), &from, &to, count,
                                   detail::comm_type_of<X, Y>(), root));
  }
  /// Sends a message to rank `peer`.
  template <class X>
  result<void> send(const detail::any_stream& stream, const X& from, std::uint64_t count,
                    std::uint32_t peer) const {
    const km_array array = detail::array_of(from);
    using element = std::remove_const_t<detail::element_of<X>>;
    return P::give(
        km_comm_send(get(), stream.get(), &array, count, detail::comm_type<element>::value, peer));
  }
  /// Receives a message of rank `peer`.
  template <class Y>
  result<void> receive(const detail::any_stream& stream, const Y& to, std::uint64_t count,
                       std::uint32_t peer) const {
    const km_array array = detail::array_of(to);
    return P::give(km_comm_receive(get(), stream.get(), &array, count,
                                   detail::comm_type<detail::element_of<Y>>::value, peer));
  }

  /// Calls `body`, whose operations go on together once it returns. If it throws, or one of its
  /// calls fails, nothing is queued.
  template <class Body>
  static result<void> group(Body&& body) {
    const km_status begun = km_comm_group_begin();
    if (begun != KM_SUCCESS) return P::give(begun);
    open_group open;
    body();
    return P::give(open.end());
  }

 private:
  // A group that ends without operations unless end() is called.
  struct open_group {
    bool is_open = true;
    open_group() noexcept = default;
    open_group(const open_group&) = delete;
    open_group& operator=(const open_group&) = delete;
    ~open_group() {
      if (!is_open) return;
      // A call that fails drops the whole group.
      (void)km_comm_send(km_comm{}, km_stream{}, nullptr, 0, KM_ELEMENT_TYPE_UNKNOWN, 0);
      (void)km_comm_group_end();
    }
    km_status end() noexcept {
      is_open = false;
      return km_comm_group_end();
    }
  };
  static constexpr km_comm_reduction of(comm_reduction reduction) noexcept {
    return static_cast<km_comm_reduction>(reduction);
  }
};

}  // namespace v1
}  // namespace km

#endif
