// Kernelmill for C++17 and later: the objects of <kernelmill/c_api.h> as classes that own their
// handles, and failures as exceptions. Header only; link libkernelmill.
//
//   km::context context("auto");
//   km::stream stream(context);
//   km::module module = km::module::load_file(context, "saxpy.cu");
//   km::slice<float> x(context, n), y(context, n);
//   x.upload(stream, host_x);
//   y.upload(stream, host_y);
//   stream.launch(module.function("saxpy")).grid(blocks).block(256).args(a, x, y, n).submit();
//   std::vector<float> result = y.to_vector(stream);
//
// These rules hold for every class:
//  - It owns one handle, can be moved but not copied, and releases the handle when it is destroyed.
//    Objects may be destroyed in any order: the library keeps everything that others still need.
//  - A default-constructed or moved-from object is empty: calls on it throw km::error with
//    KM_ERROR_INVALID_HANDLE, and destroying it or assigning to it is fine.
//  - Every function throws km::error when the C call fails, and nothing else but std::bad_alloc;
//    noexcept functions do not throw. Statuses, units and blocking are documented with the function
//    of that name in c_api.h.
//  - km::nothrow has the same classes and calls, which return a km::result: a value or a km::error.
//    Constructors that can fail are static functions there (create, load_file ...). Programs that
//    are compiled without exceptions have these only. Both kinds of objects work together.
//  - Any number of threads may call const functions of one object at a time. Moving, assigning and
//    destroying it, and building a launch, are for one thread at a time.
//  - Work on different streams runs side by side, except that each use of a slice waits for the
//    earlier uses on other streams that it conflicts with (docs/guide/ordering.md), unless the
//    context was made with KM_CONTEXT_DEFAULT.
//  - get() gives the handle to C calls, release() gives it away, and the constructor from a handle
//    takes it over.
#ifndef KERNELMILL_HPP
#define KERNELMILL_HPP

#include <kernelmill/cpp/coroutine.hpp>
#include <kernelmill/cpp/mdspan.hpp>
#include <kernelmill/cpp/names.hpp>
#include <kernelmill/cpp/raw.hpp>

#endif
