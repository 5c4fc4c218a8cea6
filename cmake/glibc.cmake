# KM_GLIBC=2.28: everything is linked against the symbols of that glibc, so that it runs on every
# newer one. The headers and the compilers stay the system's.
set(KM_GLIBC "" CACHE STRING "Oldest glibc to run on: releases say 2.28 (empty: the system's)")
if(NOT KM_GLIBC)
  return()
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(NOT KM_ZIG)
  message(FATAL_ERROR "KM_GLIBC=${KM_GLIBC} takes the symbols of that glibc from Zig, which is "
                      "missing: run scripts/setup.sh, or set -DKM_ZIG.")
endif()

# The stubs are made again when one of these changes: the version, the program that makes them, Zig.
set(km_glibc_dir ${PROJECT_BINARY_DIR}/glibc)
set(km_glibc_maker ${PROJECT_SOURCE_DIR}/packaging/glibc/stubs.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${km_glibc_maker})
file(SHA256 ${km_glibc_maker} km_glibc_maker_hash)
execute_process(COMMAND ${KM_ZIG} version OUTPUT_VARIABLE km_glibc_zig
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(km_glibc_inputs "glibc ${KM_GLIBC}, zig ${km_glibc_zig}, stubs.py ${km_glibc_maker_hash}")
set(km_glibc_have "")
if(EXISTS ${km_glibc_dir}/inputs)
  file(READ ${km_glibc_dir}/inputs km_glibc_have)
endif()
if(NOT km_glibc_have STREQUAL km_glibc_inputs)
  message(STATUS "Making linker stubs of glibc ${KM_GLIBC}")
  execute_process(COMMAND ${CMAKE_COMMAND} -E env STRIP=${CMAKE_STRIP} AR=${CMAKE_AR}
    ${Python3_EXECUTABLE} ${km_glibc_maker}
    ${KM_ZIG} ${KM_ARCHITECTURE} ${KM_GLIBC} ${km_glibc_dir} COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${km_glibc_dir}/inputs "${km_glibc_inputs}")
endif()
# New stubs are a reason to link again.
set_property(TARGET km_flags APPEND PROPERTY INTERFACE_LINK_DEPENDS ${km_glibc_dir}/inputs)

add_library(km_glibc_compat STATIC ${PROJECT_SOURCE_DIR}/packaging/glibc/compat.c)
target_compile_definitions(km_glibc_compat PRIVATE _GNU_SOURCE)
target_compile_options(km_glibc_compat PRIVATE -Wall -Wextra $<$<BOOL:${KM_WERROR}>:-Werror>)
# -B comes before the compiler's own folders, for start files and libraries.
target_link_options(km_flags INTERFACE -B${km_glibc_dir}/ -L${km_glibc_dir})
target_link_libraries(km_flags INTERFACE km_glibc_compat)
# The compiler's own libraries need newer symbols, too. CMocka, which only tests link, is that of
# the machine they run on.
target_link_options(km_flags INTERFACE
  -static-libstdc++ -static-libgcc -Wl,--allow-shlib-undefined)
# A stub does not say that environ and __environ are one variable: a program with a copy of the one
# would not see what setenv does to the other. Position-independent code needs no copies.
target_compile_options(km_flags INTERFACE
  $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-fPIC>)
