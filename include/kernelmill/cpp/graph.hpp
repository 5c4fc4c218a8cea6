// Graphs: work that is built once, by nodes or by a capture, and launched many times.
#ifndef KERNELMILL_CPP_GRAPH_HPP
#define KERNELMILL_CPP_GRAPH_HPP

#include <kernelmill/cpp/host_memory.hpp>
#include <kernelmill/cpp/launch.hpp>

#include <initializer_list>
#include <map>
#include <mutex>

namespace km {
inline namespace v1 {

/// A node of a graph, by its number, which is the same in clones and executable graphs.
struct node {
  std::uint64_t id = 0;
  friend bool operator==(node a, node b) noexcept { return a.id == b.id; }
  friend bool operator!=(node a, node b) noexcept { return a.id != b.id; }
};

namespace detail {

static_assert(sizeof(node) == sizeof(std::uint64_t), "lists of nodes are lists of numbers");

/// The nodes that a new node depends on: one node, a list in braces, or a std::vector.
class dependencies {
 public:
  dependencies(std::initializer_list<node> nodes) : ids_(ids_of(nodes)) {}
  dependencies(node one) : ids_{one.id} {}
  dependencies(const std::vector<node>& nodes) : ids_(ids_of(nodes)) {}
  const std::uint64_t* data() const noexcept { return ids_.data(); }
  std::uint64_t size() const noexcept { return ids_.size(); }

 private:
  template <class Nodes>
  static std::vector<std::uint64_t> ids_of(const Nodes& nodes) {
    std::vector<std::uint64_t> ids;
    for (const node& one : nodes) ids.push_back(one.id);
    return ids;
  }
  std::vector<std::uint64_t> ids_;
};

/// The host functions that the nodes of a graph call, by node; those of captured nodes have the key
/// 0.
class host_functions {
 public:
  using functions = std::multimap<std::uint64_t, std::shared_ptr<void>>;

  host_functions() = default;
  explicit host_functions(functions held) : held_(std::move(held)) {}

  // Replaces the functions of a node by one; null: by none.
  void put(std::uint64_t node, std::shared_ptr<void> function) {
    functions old;  // destroyed outside the lock, since destructors run code of the program
    const std::lock_guard<std::mutex> lock(mutex_);
    if (node != 0) {
      const auto [first, last] = held_.equal_range(node);
      old.insert(first, last);
      held_.erase(first, last);
    }
    if (function) held_.emplace(node, std::move(function));
  }
  // Replaces the functions of a node by all those of a child graph.
  void put(std::uint64_t node, const functions& of_child) {
    put(node, std::shared_ptr<void>());
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [number, function] : of_child) held_.emplace(node, function);
  }
  functions all() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return held_;
  }

 private:
  mutable std::mutex mutex_;
  functions held_;
};

// Reads the nodes of a C call whose last parameters are nodes, capacity and count.
template <class P, class Call, class... Arguments>
result_of<P, std::vector<node>> nodes_of(Call call, Arguments... arguments) {
  std::vector<std::uint64_t> ids;
  km_status status;
  do {
    std::uint64_t count = 0;
    status = call(arguments..., nullptr, 0, &count);
    if (status != KM_SUCCESS || count == 0) break;
    ids.resize(static_cast<std::size_t>(count));
    status = call(arguments..., ids.data(), count, &count);
    if (status == KM_SUCCESS) ids.resize(static_cast<std::size_t>(count));
  } while (status == KM_ERROR_BUFFER_TOO_SMALL);  // another thread added nodes meanwhile
  std::vector<node> nodes;
  for (const std::uint64_t id : ids) nodes.push_back({id});
  return P::give(status, std::move(nodes));
}

}  // namespace detail

template <class P>
class basic_graph_exec;

/// A graph of work: each node runs after the nodes that it depends on. Any thread may call all
/// const functions. The graph keeps the functions and the device memory that its nodes use; the
/// caller has to keep host memory that copies use, unless it is km::host_memory.
template <class P>
class basic_graph : public detail::any_graph {
  template <class T>
  using result = detail::result_of<P, T>;
  using dependencies = detail::dependencies;

 public:
  basic_graph() noexcept = default;
  /// Takes over a handle of the C ABI.
  explicit basic_graph(km_graph handle)
      : object(handle), functions_(std::make_shared<detail::host_functions>()) {}
  /// A graph without nodes.
  template <class Q = P, detail::if_throwing<Q> = 0>
  explicit basic_graph(const detail::any_context& context) : basic_graph(create(context)) {}
  /// Like the constructor, but returns a result.
  static result<basic_graph> create(const detail::any_context& context) {
    return detail::make<P, basic_graph>(km_graph_create, context.get());
  }
  /// Copies the graph; nodes keep their numbers.
  result<basic_graph> clone() const {
    km_graph made{};
    const km_status status = km_graph_clone(get(), &made);
    return P::give(status, basic_graph(made, held()));
  }
  /// Makes an executable graph of the present state; compiles its kernels, which may take seconds.
  result<basic_graph_exec<P>> instantiate() const;

  /// Adds a kernel with all its arguments. The graph keeps the memory of slices.
  template <class... Arguments>
  result<node> add_kernel(const dependencies& after, const detail::any_function& function,
                          dim3 grid, dim3 block, std::uint64_t shared_bytes,
                          const Arguments&... arguments) const {
    detail::packed_arguments<sizeof...(Arguments)> packed;
    km_status status = packed.pack(function.get(), arguments...);
    if (status != KM_SUCCESS) return P::template refuse<node>(packed.failure(status));
    const km_launch_config config = detail::config_of(grid, block, shared_bytes);
    std::uint64_t made = 0;
    const auto slices = packed.plain_slices();
    status = km_graph_add_kernel(get(), after.data(), after.size(), function.get(), &config,
                                 packed.data(), packed.size_bytes(), slices.data(),
                                 packed.slice_count(), &made);
    return P::give(status, node{made});
  }
  /// Replaces the function, shape and arguments of a kernel's node. The set functions change the
  /// graph only; basic_graph_exec::update applies the change to an executable graph.
  template <class... Arguments>
  result<void> set_kernel(node of, const detail::any_function& function, dim3 grid, dim3 block,
                          std::uint64_t shared_bytes, const Arguments&... arguments) const {
    detail::packed_arguments<sizeof...(Arguments)> packed;
    const km_status status = packed.pack(function.get(), arguments...);
    if (status != KM_SUCCESS) return P::template refuse<void>(packed.failure(status));
    const km_launch_config config = detail::config_of(grid, block, shared_bytes);
    const auto slices = packed.plain_slices();
    return P::give(km_graph_set_kernel(get(), of.id, function.get(), &config, packed.data(),
                                       packed.size_bytes(), slices.data(), packed.slice_count()));
  }
  /// Adds a copy of a whole slice to the elements of another from `first` on.
  template <class T>
  result<node> add_copy(const dependencies& after, const detail::elements<T>& destination,
                        const detail::elements<T>& source, std::uint64_t first = 0) const {
    return added(km_graph_add_copy, after, destination.get(), detail::product(first, sizeof(T)),
                 source.get(), std::uint64_t{0}, source.size_bytes());
  }
  template <class T>
  result<void> set_copy(node of, const detail::elements<T>& destination,
                        const detail::elements<T>& source, std::uint64_t first = 0) const {
    return P::give(km_graph_set_copy(get(), of.id, destination.get(),
                                     detail::product(first, sizeof(T)), source.get(), 0,
                                     source.size_bytes()));
  }
  /// A copy between contexts and devices of one backend.
  template <class T>
  result<node> add_copy_peer(const dependencies& after, const detail::elements<T>& destination,
                             const detail::elements<T>& source, std::uint64_t first = 0) const {
    return added(km_graph_add_copy_peer, after, destination.get(),
                 detail::product(first, sizeof(T)), source.get(), std::uint64_t{0},
                 source.size_bytes());
  }
  template <class T>
  result<void> set_copy_peer(node of, const detail::elements<T>& destination,
                             const detail::elements<T>& source, std::uint64_t first = 0) const {
    return P::give(km_graph_set_copy_peer(get(), of.id, destination.get(),
                                          detail::product(first, sizeof(T)), source.get(), 0,
                                          source.size_bytes()));
  }
  /// Adds a copy from the host, which reads `count` elements at `source` each time the graph runs.
  template <class T>
  result<node> add_upload(const dependencies& after, const detail::elements<T>& destination,
                          const T* source, std::uint64_t count, std::uint64_t first = 0) const {
    return added(km_graph_add_upload, after, destination.get(), detail::product(first, sizeof(T)),
                 source, detail::product(count, sizeof(T)));
  }
  template <class T>
  result<void> set_upload(node of, const detail::elements<T>& destination, const T* source,
                          std::uint64_t count, std::uint64_t first = 0) const {
    return P::give(km_graph_set_upload(get(), of.id, destination.get(),
                                       detail::product(first, sizeof(T)), source,
                                       detail::product(count, sizeof(T))));
  }
  /// Adds a copy to the host, which writes `count` elements at `destination` each time.
  template <class T>
  result<node> add_download(const dependencies& after, const detail::elements<T>& source,
                            T* destination, std::uint64_t count, std::uint64_t first = 0) const {
    return added(km_graph_add_download, after, source.get(), detail::product(first, sizeof(T)),
                 destination, detail::product(count, sizeof(T)));
  }
  template <class T>
  result<void> set_download(node of, const detail::elements<T>& source, T* destination,
                            std::uint64_t count, std::uint64_t first = 0) const {
    return P::give(km_graph_set_download(get(), of.id, source.get(),
                                         detail::product(first, sizeof(T)), destination,
                                         detail::product(count, sizeof(T))));
  }
  /// Adds a fill of all elements, which have 1, 2 or 4 bytes.
  template <class T>
  result<node> add_fill(const dependencies& after, const detail::elements<T>& memory,
                        const std::common_type_t<T>& value) const {
    return added(km_graph_add_fill, after, memory.get(), std::uint64_t{0}, detail::fill_bits(value),
                 std::uint32_t{sizeof(T)}, memory.size());
  }
  template <class T>
  result<void> set_fill(node of, const detail::elements<T>& memory,
                        const std::common_type_t<T>& value) const {
    return P::give(km_graph_set_fill(get(), of.id, memory.get(), 0, detail::fill_bits(value),
                                     sizeof(T), memory.size()));
  }
  /// Adds copies and fills of rows, like the functions of slices of the same names.
  template <class T>
  result<node> add_copy_rows(const dependencies& after, const detail::elements<T>& destination,
                             const detail::elements<T>& source, const extent& rows,
                             const row_layout& to = {}, const row_layout& from = {}) const {
    const km_copy_3d copy = detail::copy_of_rows<T>(rows, to, from);
    return added(km_graph_add_copy_3d, after, destination.get(), source.get(), &copy);
  }
  template <class T>
  result<void> set_copy_rows(node of, const detail::elements<T>& destination,
                             const detail::elements<T>& source, const extent& rows,
                             const row_layout& to = {}, const row_layout& from = {}) const {
    const km_copy_3d copy = detail::copy_of_rows<T>(rows, to, from);
    return P::give(km_graph_set_copy_3d(get(), of.id, destination.get(), source.get(), &copy));
  }
  template <class T>
  result<node> add_upload_rows(const dependencies& after, const detail::elements<T>& destination,
                               const T* source, const extent& rows, const row_layout& here = {},
                               const row_layout& there = {}) const {
    const km_copy_3d copy = detail::copy_of_rows<T>(rows, here, there);
    return added(km_graph_add_upload_3d, after, destination.get(), source, &copy);
  }
  template <class T>
  result<void> set_upload_rows(node of, const detail::elements<T>& destination, const T* source,
                               const extent& rows, const row_layout& here = {},
                               const row_layout& there = {}) const {
    const km_copy_3d copy = detail::copy_of_rows<T>(rows, here, there);
    return P::give(km_graph_set_upload_3d(get(), of.id, destination.get(), source, &copy));
  }
  template <class T>
  result<node> add_download_rows(const dependencies& after, const detail::elements<T>& source,
                                 T* destination, const extent& rows, const row_layout& here = {},
                                 const row_layout& there = {}) const {
    const km_copy_3d copy = detail::copy_of_rows<T>(rows, there, here);
    return added(km_graph_add_download_3d, after, source.get(), destination, &copy);
  }
  template <class T>
  result<void> set_download_rows(node of, const detail::elements<T>& source, T* destination,
                                 const extent& rows, const row_layout& here = {},
                                 const row_layout& there = {}) const {
    const km_copy_3d copy = detail::copy_of_rows<T>(rows, there, here);
    return P::give(km_graph_set_download_3d(get(), of.id, source.get(), destination, &copy));
  }
  template <class T>
  result<node> add_fill_rows(const dependencies& after, const detail::elements<T>& memory,
                             const std::common_type_t<T>& value, const extent& rows,
                             const row_layout& here = {}) const {
    return added(km_graph_add_fill_2d, after, memory.get(), detail::product(here.offset, sizeof(T)),
                 here.pitch_bytes, detail::fill_bits(value), std::uint32_t{sizeof(T)}, rows.width,
                 detail::product(rows.height, rows.depth));
  }
  template <class T>
  result<void> set_fill_rows(node of, const detail::elements<T>& memory,
                             const std::common_type_t<T>& value, const extent& rows,
                             const row_layout& here = {}) const {
    return P::give(km_graph_set_fill_2d(
        get(), of.id, memory.get(), detail::product(here.offset, sizeof(T)), here.pitch_bytes,
        detail::fill_bits(value), sizeof(T), rows.width, detail::product(rows.height, rows.depth)));
  }
  /// Adds a call of `callback(status)`, each time the graph runs, on a thread of the library; it
  /// may not make calls that wait, and must be noexcept. The graph and its executable graphs own
  /// it.
  template <class Callback>
  result<node> add_host(const dependencies& after, Callback callback) const {
    detail::check_callback<Callback>();
    auto owned = std::make_shared<Callback>(std::move(callback));
    std::uint64_t made = 0;
    const km_status status = km_graph_add_host(get(), after.data(), after.size(),
                                               detail::run_again<Callback>, owned.get(), &made);
    if (status == KM_SUCCESS) functions_->put(made, std::move(owned));
    return P::give(status, node{made});
  }
  template <class Callback>
  result<void> set_host(node of, Callback callback) const {
    detail::check_callback<Callback>();
    auto owned = std::make_shared<Callback>(std::move(callback));
    const km_status status =
        km_graph_set_host(get(), of.id, detail::run_again<Callback>, owned.get());
    if (status == KM_SUCCESS) functions_->put(of.id, std::move(owned));
    return P::give(status);
  }
  /// Adds a node without work, which only joins and forks dependencies.
  result<node> add_empty(const dependencies& after) const {
    return added(km_graph_add_empty, after);
  }
  /// Adds a copy of a whole graph as one node.
  result<node> add_child(const dependencies& after, const basic_graph& child) const {
    std::uint64_t made = 0;
    const auto of_child = child.held();
    const km_status status =
        km_graph_add_child(get(), after.data(), after.size(), child.get(), &made);
    if (status == KM_SUCCESS) functions_->put(made, of_child);
    return P::give(status, node{made});
  }
  result<void> set_child(node of, const basic_graph& child) const {
    const auto of_child = child.held();
    const km_status status = km_graph_set_child(get(), of.id, child.get());
    if (status == KM_SUCCESS) functions_->put(of.id, of_child);
    return P::give(status);
  }

  /// Removes a node with all its dependencies.
  result<void> remove_node(node gone) const {
    const km_status status = km_graph_remove_node(get(), gone.id);
    if (status == KM_SUCCESS) functions_->put(gone.id, std::shared_ptr<void>());
    return P::give(status);
  }
  /// Adds the dependency of `to` on `from`; the second function removes it.
  result<void> add_dependency(node from, node to) const {
    return P::give(km_graph_add_dependency(get(), from.id, to.id));
  }
  result<void> remove_dependency(node from, node to) const {
    return P::give(km_graph_remove_dependency(get(), from.id, to.id));
  }
  /// All nodes, in the order of their creation.
  result<std::vector<node>> nodes() const { return detail::nodes_of<P>(km_graph_nodes, get()); }
  /// The nodes that a node depends on, and the nodes that depend on it.
  result<std::vector<node>> dependencies_of(node of) const {
    return detail::nodes_of<P>(km_graph_node_dependencies, get(), of.id);
  }
  result<std::vector<node>> dependents_of(node of) const {
    return detail::nodes_of<P>(km_graph_node_dependents, get(), of.id);
  }
  /// Kind and parameters of a node.
  result<km_graph_node_info> info(node of) const {
    return detail::read_struct<P, km_graph_node_info>(km_graph_node_info_get, get(), of.id);
  }
  /// The arguments of a kernel's node, laid out as basic_function::param says.
  result<std::vector<unsigned char>> arguments(node of) const {
    std::vector<unsigned char> bytes;
    std::uint64_t size = 0;
    km_status status = km_graph_node_arguments(get(), of.id, nullptr, 0, &size);
    while (status == KM_SUCCESS && size != bytes.size()) {
      bytes.resize(static_cast<std::size_t>(size));
      status = km_graph_node_arguments(get(), of.id, bytes.data(), bytes.size(), &size);
      if (status != KM_ERROR_BUFFER_TOO_SMALL) continue;
      status = km_graph_node_arguments(get(), of.id, nullptr, 0, &size);
    }
    return P::give(status, std::move(bytes));
  }
  /// The function of a kernel's node. KM_ERROR_INVALID_ARGUMENT for other nodes.
  result<basic_function<P>> function(node of) const {
    return detail::make<P, basic_function<P>>(km_graph_node_function, get(), of.id);
  }
  /// A copy of a child node's graph.
  result<basic_graph> child(node of) const {
    km_graph made{};
    const km_status status = km_graph_node_child(get(), of.id, &made);
    detail::host_functions::functions all;  // may contain more functions than the child needs
    if (status == KM_SUCCESS) {
      for (const auto& [number, function] : held()) all.emplace(0, function);
    }
    return P::give(status, basic_graph(made, std::move(all)));
  }
  /// The rows of a copy or fill of rows.
  result<km_copy_3d> rows(node of) const {
    return detail::read<P, km_copy_3d>(km_graph_node_rows, get(), of.id);
  }
  /// The graph in the DOT language of Graphviz.
  result<std::string> dot() const { return detail::text<P>(km_graph_dot, get()); }

 private:
  friend class basic_capture<P>;
  friend class basic_graph_exec<P>;

  basic_graph(km_graph handle, detail::host_functions::functions functions)
      : object(handle),
        functions_(std::make_shared<detail::host_functions>(std::move(functions))) {}
  detail::host_functions::functions held() const {
    return functions_ ? functions_->all() : detail::host_functions::functions();
  }
  template <class Call, class... Arguments>
  result<node> added(Call call, const dependencies& after, Arguments... arguments) const {
    std::uint64_t made = 0;
    const km_status status = call(get(), after.data(), after.size(), arguments..., &made);
    return P::give(status, node{made});
  }

  std::shared_ptr<detail::host_functions> functions_;
};

}  // namespace v1
}  // namespace km

#include <kernelmill/cpp/graph_exec.hpp>

namespace km {
inline namespace v1 {

template <class P>
detail::result_of<P, basic_graph_exec<P>> basic_graph<P>::instantiate() const {
  return basic_graph_exec<P>::create(*this);
}

template <class P>
detail::result_of<P, basic_graph<P>> basic_stream<P>::end_capture() const {
  return detail::make<P, basic_graph<P>>(km_stream_end_capture, get());
}

template <class P>
detail::result_of<P, basic_capture<P>> basic_stream<P>::capture() const {
  return basic_capture<P>::begin(*this);
}

}  // namespace v1
}  // namespace km

#endif
