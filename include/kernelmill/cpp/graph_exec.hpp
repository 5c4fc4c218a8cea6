// Executable graphs, and captures of streams. graph.hpp includes this header.
#ifndef KERNELMILL_CPP_GRAPH_EXEC_HPP
#define KERNELMILL_CPP_GRAPH_EXEC_HPP

#include <kernelmill/cpp/graph.hpp>

namespace km {
inline namespace v1 {

/// The first difference that prevents an update; the node is 0 if there is none.
struct graph_difference {
  km_graph_difference kind = KM_GRAPH_DIFFERENCE_NONE;
  node at;
};

/// An executable graph. Its launches run one after the other, also in different streams. Any thread
/// may call const functions.
template <class P>
class basic_graph_exec : public detail::any_graph_exec {
  template <class T>
  using result = detail::result_of<P, T>;
  using functions = detail::host_functions::functions;

 public:
  using object::object;
  /// Makes an executable graph of a graph's present state; compiles its kernels, which may take
  /// seconds.
  template <class Q = P, detail::if_throwing<Q> = 0>
  explicit basic_graph_exec(const basic_graph<P>& graph) : basic_graph_exec(create(graph)) {}
  /// Like the constructor, but returns a result.
  static result<basic_graph_exec> create(const basic_graph<P>& graph) {
    functions held = graph.held();
    km_graph_exec handle{};
    const km_status status = km_graph_exec_create(graph.get(), &handle);
    basic_graph_exec made(handle);
    if (!held.empty()) made.functions_ = std::make_shared<const functions>(std::move(held));
    return P::give(status, std::move(made));
  }

  /// Queues one run of the graph without waiting. A graph that calls host functions keeps them
  /// until the run is done, and cannot be launched into a capture: add the graph as a child
  /// instead.
  result<void> launch(const detail::any_stream& stream) const {
    if (functions_) return launch_with_functions(stream);
    return P::give(km_graph_exec_launch(get(), stream.get()));
  }
  /// Takes over the parameters of all nodes of a graph of the same topology.
  /// KM_ERROR_GRAPH_MISMATCH when it differs; nothing is changed then.
  result<void> update(const basic_graph<P>& graph) {
    functions held = graph.held();
    const km_status status = km_graph_exec_update(get(), graph.get());
    if (status == KM_SUCCESS) add_functions(held);
    return P::give(status);
  }
  /// Takes over the parameters of one node of the graph or of a clone.
  result<void> update(const basic_graph<P>& graph, node of) {
    functions held = graph.held();
    const km_status status = km_graph_exec_update_node(get(), graph.get(), of.id);
    if (status == KM_SUCCESS) add_functions(held);
    return P::give(status);
  }
  /// The first node and kind of difference that prevent update() from taking a graph over, if any.
  result<graph_difference> compare(const basic_graph<P>& graph) const {
    graph_difference found;
    const km_status status = km_graph_exec_compare(get(), graph.get(), &found.kind, &found.at.id);
    return P::give(status, std::move(found));
  }

 private:
  friend class basic_capture<P>;

  result<void> launch_with_functions(const detail::any_stream& stream) const {
    if (detail::is_captured(stream.get())) {
      return P::template refuse<void>(
          error(KM_ERROR_CAPTURE_UNSUPPORTED,
                "km::graph_exec::launch: the stream is being captured, and the graph calls host "
                "functions, which this object owns; add the graph as a child of the other one"));
    }
    // Holds the functions until the run is done; from the call on the library owns it.
    using keeper = std::shared_ptr<const functions>;
    auto kept = std::make_unique<keeper>(functions_);
    km_status status = km_graph_exec_launch(get(), stream.get());
    if (status != KM_SUCCESS) return P::give(status);
    status = km_stream_add_callback(
        stream.get(),
        [](void* data, km_status) {
          const std::unique_ptr<keeper> gone(static_cast<keeper*>(data));
        },
        kept.get());
    // If the end of a run cannot be observed, for example after a kernel failed, the functions are
    // leaked.
    kept.release();
    return P::give(status);
  }
  // Queued runs may still use the earlier functions, so these are kept too.
  void add_functions(const functions& more) {
    if (more.empty()) return;
    functions all = functions_ ? *functions_ : functions();
    for (const auto& one : more) {
      bool is_known = false;
      for (const auto& own : all) is_known = is_known || own.second == one.second;
      if (!is_known) all.insert(one);
    }
    functions_ = std::make_shared<const functions>(std::move(all));
  }

  std::shared_ptr<const functions> functions_;
};

/// A capture under way: work queued in the stream becomes nodes of a graph and does not run.
/// Destroying the object ends the capture without a graph. The stream has to outlive it; only one
/// thread at a time may use it.
template <class P>
class basic_capture {
  template <class T>
  using result = detail::result_of<P, T>;

 public:
  basic_capture() noexcept = default;
  /// Begins to capture a stream, which has to outlive this object.
  template <class Q = P, detail::if_throwing<Q> = 0>
  explicit basic_capture(const detail::any_stream& stream) : basic_capture(begin(stream)) {}
  /// Like the constructor, but returns a result.
  static result<basic_capture> begin(const detail::any_stream& stream) {
    basic_capture made;
    const km_status status = km_stream_begin_capture(stream.get());
    if (status == KM_SUCCESS) made.stream_ = stream.get();
    return P::give(status, std::move(made));
  }
  basic_capture(basic_capture&& other) noexcept
      : stream_(std::exchange(other.stream_, km_stream{})),
        functions_(std::move(other.functions_)) {}
  basic_capture& operator=(basic_capture&& other) noexcept {
    basic_capture moved(std::move(other));
    std::swap(stream_, moved.stream_);
    functions_.swap(moved.functions_);
    return *this;
  }
  ~basic_capture() {
    km_graph dropped{};
    if (stream_ != km_stream{} &&
        km_stream_end_capture(std::exchange(stream_, km_stream{}), &dropped) == KM_SUCCESS) {
      km_graph_destroy(dropped);
    }
  }

  /// Ends the capture and returns the graph. KM_ERROR_CAPTURE_INVALIDATED when a call has
  /// invalidated it, KM_ERROR_CAPTURE_UNJOINED when the stream does not wait for another that
  /// joined.
  result<basic_graph<P>> end() {
    km_graph handle{};
    const km_status status = km_stream_end_capture(std::exchange(stream_, km_stream{}), &handle);
    return P::give(status, basic_graph<P>(handle, std::exchange(functions_, {})));
  }
  /// Adds a call of `callback(status)` for each run of the graph, as basic_graph::add_host does.
  template <class Callback>
  result<void> add_callback(Callback callback) {
    detail::check_callback<Callback>();
    auto owned = std::make_shared<Callback>(std::move(callback));
    const km_status status =
        km_stream_add_callback(stream_, detail::run_again<Callback>, owned.get());
    if (status == KM_SUCCESS) functions_.emplace(0, std::move(owned));
    return P::give(status);
  }
  /// The capture's state, a KM_CAPTURE_STATUS_...
  result<km_capture_status> status() const {
    return detail::read<P, km_capture_status>(km_stream_capture_status, stream_);
  }

 private:
  km_stream stream_{};
  detail::host_functions::functions functions_;
};

}  // namespace v1
}  // namespace km

#endif
