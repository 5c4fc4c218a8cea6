# Precompiled headers, one for each kind of target: a file of ours takes two seconds to compile, of
# which one goes to the standard library, LLVM or GoogleTest. Presets that find a missing #include
# (release, ci-clang, the sanitizers) do without.
option(KM_PRECOMPILED_HEADERS "Share precompiled headers between targets (the preset ci does)" OFF)

set(km_standard_headers <algorithm> <array> <atomic> <cstdint> <cstring> <functional> <map>
  <memory> <mutex> <optional> <span> <string> <string_view> <unordered_map> <utility> <vector>)
set(km_llvm_headers_in_use <llvm/IR/IRBuilder.h> <llvm/IR/Intrinsics.h> <llvm/IR/Module.h>
  <llvm/IR/PassManager.h>)

# km_add_precompiled(kind [PROGRAM] [VISIBILITY v] HEADERS h... [LIBRARIES target...]): the target
# km_pch_<kind>, a program where what uses it is one (the header is then made with -fPIE).
function(km_add_precompiled kind)
  cmake_parse_arguments(PARSE_ARGV 1 pch "PROGRAM" "VISIBILITY" "HEADERS;LIBRARIES")
  set(source ${PROJECT_BINARY_DIR}/precompiled/${kind}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}  // Its target owns a header.\n")
  if(pch_PROGRAM)
    add_executable(km_pch_${kind} EXCLUDE_FROM_ALL ${source})
  else()
    add_library(km_pch_${kind} OBJECT EXCLUDE_FROM_ALL ${source})
  endif()
  target_link_libraries(km_pch_${kind} PRIVATE km_flags ${pch_LIBRARIES})
  if(pch_VISIBILITY)
    set_target_properties(km_pch_${kind} PROPERTIES CXX_VISIBILITY_PRESET ${pch_VISIBILITY})
  endif()
  list(TRANSFORM pch_HEADERS REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>")
  target_precompile_headers(km_pch_${kind} PRIVATE ${pch_HEADERS})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # ccache can store what uses a precompiled header only with it.
    target_compile_options(km_pch_${kind} PRIVATE -fpch-preprocess)
  endif()
endfunction()

# km_use_precompiled(kind target...): the targets' C++ files begin with that kind's header, and
# those of a folder are compiled together.
function(km_use_precompiled kind)
  km_use_unity_build(${ARGN})
  if(NOT KM_PRECOMPILED_HEADERS)
    return()
  endif()
  if(NOT TARGET km_pch_${kind})
    set(headers ${km_standard_headers})
    if(kind STREQUAL "llvm")
      km_add_precompiled(llvm HEADERS ${headers} ${km_llvm_headers_in_use} LIBRARIES km_llvm)
    elseif(kind STREQUAL "gtest")
      km_add_precompiled(gtest PROGRAM HEADERS ${headers} <gmock/gmock.h> <gtest/gtest.h>
        LIBRARIES GTest::gmock)
    elseif(kind STREQUAL "program")
      km_add_precompiled(program PROGRAM HEADERS ${headers})
    elseif(kind STREQUAL "test")  # a kind of its own, since tests are optimised less
      km_add_precompiled(test PROGRAM HEADERS ${headers})
    elseif(kind STREQUAL "dropin")
      km_add_precompiled(dropin HEADERS ${headers} VISIBILITY default)
    else()
      km_add_precompiled(standard HEADERS ${headers})
    endif()
  endif()
  foreach(target IN LISTS ARGN)
    target_precompile_headers(${target} REUSE_FROM km_pch_${kind})
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.c$")
    if(sources)  # The kinds have headers of C++ alone.
      set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # gcc 12 inlines more of std::string from such a header and then warns of its memory, out of
      # any bounds; the builds without keep these warnings.
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>
        -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
    endif()
  endforeach()
endfunction()
