// Programs (CUDA C++ to PTX) and modules (PTX to kernels).
#ifndef KERNELMILL_CPP_MODULE_HPP
#define KERNELMILL_CPP_MODULE_HPP

#include <kernelmill/cpp/function.hpp>
#include <kernelmill/cpp/memory.hpp>

#include <initializer_list>

namespace km {
inline namespace v1 {

/// A CUDA C++ source on its way to PTX. Any thread may call all functions; compilations take turns.
template <class P>
class basic_program : public detail::any_program {
  template <class T>
  using result = detail::result_of<P, T>;

 public:
  using object::object;
  /// Takes a copy of the source; `name` is for messages.
  template <class Q = P, detail::if_throwing<Q> = 0>
  explicit basic_program(std::string_view source, const std::string& name = "kernel.cu")
      : basic_program(create(source, name)) {}
  /// Like the constructor, but returns a result.
  static result<basic_program> create(std::string_view source,
                                      const std::string& name = "kernel.cu") {
    return detail::make<P, basic_program>(km_program_create, detail::text_data(source),
                                          std::uint64_t{source.size()}, name.c_str());
  }
  /// Creates and compiles a program from source and options.
  static result<basic_program> compiled(std::string_view source,
                                        std::initializer_list<std::string> options = {},
                                        const std::string& name = "kernel.cu") {
    km_program handle{};
    km_status status =
        km_program_create(detail::text_data(source), source.size(), name.c_str(), &handle);
    basic_program made(handle);
    for (const std::string& option : options) {
      if (status == KM_SUCCESS) status = km_program_add_option(handle, option.c_str());
    }
    if (status == KM_SUCCESS) status = km_program_compile(handle);
    if (status == KM_ERROR_COMPILATION_FAILED) return made.template refused<basic_program>(status);
    return P::give(status, std::move(made));
  }

  /// Adds an option in NVRTC's spelling, for example "--use_fast_math" or "-DN=4".
  result<void> add_option(const std::string& option) const {
    return P::give(km_program_add_option(get(), option.c_str()));
  }
  /// Adds a header that `#include "name"` finds.
  result<void> add_header(const std::string& name, std::string_view source) const {
    return P::give(
        km_program_add_header(get(), name.c_str(), detail::text_data(source), source.size()));
  }
  /// Adds a C++ name to keep, such as "scale<float>", by which the module then finds the kernel.
  result<void> add_name_expression(const std::string& expression) const {
    return P::give(km_program_add_name_expression(get(), expression.c_str()));
  }
  /// Compiles. A source with errors gives a km::compile_error, or a failure with its log().
  result<void> compile() const {
    const km_status status = km_program_compile(get());
    if (status == KM_ERROR_COMPILATION_FAILED) return refused<void>(status);
    return P::give(status);
  }
  /// The compiler's messages of the last compilation, including warnings of a successful one.
  result<std::string> log() const { return detail::text<P>(km_program_log, get()); }
  /// The PTX of the last compilation.
  result<std::string> ptx() const { return detail::text<P>(km_program_ptx, get()); }
  /// The name in the PTX of a name expression.
  result<std::string> lowered_name(const std::string& expression) const {
    return detail::text<P>(km_program_lowered_name, get(), expression.c_str());
  }

 private:
  // The failure of compile() with its log. Reading the log succeeds, so the thread's last error
  // still has the text of the compilation.
  template <class T>
  result<T> refused(km_status status) const {
    std::string said;
    detail::read_text(
        [this](char* buffer, std::uint64_t capacity, std::uint64_t* size) {
          return km_program_log(get(), buffer, capacity, size);
        },
        said);
    return P::template refuse_source<T>(status, std::move(said));
  }
};

/// Compiled PTX with its kernels and global variables. Any thread may call all functions.
template <class P>
class basic_module : public detail::any_module {
  template <class T>
  using result = detail::result_of<P, T>;

 public:
  using object::object;
  /// Loads a compiled program; its kernels can be looked up by its name expressions.
  template <class Q = P, detail::if_throwing<Q> = 0>
  basic_module(const detail::any_context& context, const detail::any_program& program)
      : basic_module(load_program(context, program)) {}
  /// Like the constructor, but returns a result.
  static result<basic_module> load_program(const detail::any_context& context,
                                           const detail::any_program& program) {
    return detail::make<P, basic_module>(km_module_load_program, context.get(), program.get());
  }
  /// Loads a file of PTX, CUDA C++ or object code.
  static result<basic_module> load_file(const detail::any_context& context,
                                        const std::string& path) {
    return detail::make<P, basic_module>(km_module_load_file, context.get(), path.c_str());
  }
  /// Loads PTX; `name` is for messages.
  static result<basic_module> load_ptx(const detail::any_context& context, std::string_view ptx,
                                       const std::string& name = "module.ptx") {
    return detail::make<P, basic_module>(km_module_load_ptx, context.get(), detail::text_data(ptx),
                                         std::uint64_t{ptx.size()}, name.c_str());
  }
  /// Compiles CUDA C++ for the context's device, and loads it. The failure of a source with errors
  /// has the first message; basic_program has all of them.
  static result<basic_module> load_source(const detail::any_context& context,
                                          std::string_view source,
                                          const std::string& name = "kernel.cu") {
    return detail::make<P, basic_module>(km_module_load_source, context.get(),
                                         detail::text_data(source), std::uint64_t{source.size()},
                                         name.c_str());
  }
  /// Loads the contents of an object file, which save_object() made. They contain machine code that
  /// is executed, so load only trusted data.
  static result<basic_module> from_object(const detail::any_context& context, const void* data,
                                          std::uint64_t size_bytes,
                                          const std::string& name = "module.kmo") {
    return detail::make<P, basic_module>(km_module_from_object, context.get(), data, size_bytes,
                                         name.c_str());
  }

  /// Compiles all kernels for blocks of these sizes, and of any size, and writes them to a file.
  result<void> save_object(const std::string& path, const std::vector<dim3>& blocks = {}) const {
    std::vector<std::uint32_t> sizes;
    for (const dim3& block : blocks) sizes.insert(sizes.end(), {block.x, block.y, block.z});
    return P::give(km_module_save_object(get(), path.c_str(),
                                         sizes.empty() ? nullptr : sizes.data(), blocks.size()));
  }
  /// A kernel by its name in the PTX, or by a name expression of the program.
  result<basic_function<P>> function(const std::string& name) const {
    return detail::make<P, basic_function<P>>(km_module_function, get(), name.c_str());
  }
  /// A global or constant variable.
  template <class T>
  result<basic_slice<T, P>> global(const std::string& name) const {
    return basic_slice<T, P>::global(*this, name);
  }
  /// The kernels, in the order of the text.
  result<std::vector<std::string>> function_names() const {
    std::uint32_t count = 0;
    km_status status = km_module_function_count(get(), &count);
    std::vector<std::string> names(status == KM_SUCCESS ? count : 0);
    for (std::uint32_t i = 0; i < count && status == KM_SUCCESS; ++i) {
      status = detail::read_text(
          [&](char* buffer, std::uint64_t capacity, std::uint64_t* size) {
            return km_module_function_name(get(), i, buffer, capacity, size);
          },
          names[i]);
    }
    return P::give(status, std::move(names));
  }
};

}  // namespace v1
}  // namespace km

#endif
