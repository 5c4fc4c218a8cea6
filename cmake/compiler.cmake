# Language level, warnings, sanitizers and the linker, as one interface target: km_flags.
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
# -O3 buys nothing here but compile time: the hot code is generated.
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# The sanitizer presets: fast to build, assertions on.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g")

# The compiler searches these by itself: named again, they would come before the C++ library's. A
# launcher of the compiler can hide them from CMake's own search.
if(CMAKE_SYSROOT)
  foreach(language C CXX)
    list(APPEND CMAKE_${language}_IMPLICIT_INCLUDE_DIRECTORIES ${CMAKE_SYSROOT}/usr/include)
  endforeach()
endif()

include(CheckCXXCompilerFlag)
find_package(Threads REQUIRED)

add_library(km_flags INTERFACE)
target_compile_features(km_flags INTERFACE cxx_std_20)
target_link_libraries(km_flags INTERFACE Threads::Threads)
target_compile_definitions(km_flags INTERFACE
  _GNU_SOURCE KM_ASSERTIONS=$<BOOL:${KM_ASSERTIONS}>)
# Contraction would make the bits of a result depend on the compiler.
target_compile_options(km_flags INTERFACE
  -Wall -Wextra $<$<BOOL:${KM_WERROR}>:-Werror> -ffp-contract=off)
# Equal sources give equal bytes, wherever they lie.
target_compile_options(km_flags INTERFACE
  $<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)
target_link_options(km_flags INTERFACE -Wl,-z,relro -Wl,-z,now)

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # std::stable_sort of gcc 12's library uses what C++17 deprecates, and clang says so.
  target_compile_options(km_flags INTERFACE -Wno-deprecated-declarations)
endif()

# A unique symbol would pin the plugin and merge its statics with those of the host program.
check_cxx_compiler_flag(-fno-gnu-unique KM_HAS_NO_GNU_UNIQUE)
if(KM_HAS_NO_GNU_UNIQUE)
  target_compile_options(km_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
endif()

if(KM_SANITIZE)
  target_compile_options(km_flags INTERFACE
    -fsanitize=${KM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  target_link_options(km_flags INTERFACE -fsanitize=${KM_SANITIZE})
  if(KM_SANITIZE MATCHES undefined)
    # vptr wants the type information of LLVM's classes, float-cast rejects what C defines.
    target_compile_options(km_flags INTERFACE -fno-sanitize=vptr)
  endif()
else()
  target_link_options(km_flags INTERFACE -Wl,--no-undefined)
endif()

# LLVM's archives are large: lld links the plugin in a second, bfd in fifteen.
option(KM_USE_LLD "Link with lld where it works" ON)
if(KM_USE_LLD)
  include(CheckLinkerFlag)
  find_program(KM_LLD NAMES ld.lld HINTS /usr/lib/llvm-19/bin NO_CACHE)
  if(KM_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    set(km_lld_flags --ld-path=${KM_LLD})
  elseif(KM_LLD)
    get_filename_component(km_lld_dir ${KM_LLD} DIRECTORY)
    set(km_lld_flags -fuse-ld=lld -B${km_lld_dir})
  endif()
  if(km_lld_flags)
    check_linker_flag(CXX "${km_lld_flags}" KM_LLD_WORKS)
    if(KM_LLD_WORKS)
      target_link_options(km_flags INTERFACE ${km_lld_flags})
    endif()
  endif()
endif()
