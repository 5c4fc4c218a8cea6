# km_version.h: the version, and two ids. The build id, which the library and its plugin must share,
# is a hash of everything that goes into them, so equal sources built alike give equal ids. The code
# id, which object files and entries of the cache carry, is one of what decides their contents: the
# sources and LLVM, not the compiler, its options and the architecture of the build.
set(KM_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
set(km_version_header ${KM_GENERATED_DIR}/km_version.h)
set(km_id_list ${PROJECT_BINARY_DIR}/build_id_files.txt)

file(GLOB_RECURSE km_id_files CONFIGURE_DEPENDS
  RELATIVE ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/include/* ${PROJECT_SOURCE_DIR}/cmake/*
  ${PROJECT_SOURCE_DIR}/src/*.cpp ${PROJECT_SOURCE_DIR}/src/*.c ${PROJECT_SOURCE_DIR}/src/*.h
  ${PROJECT_SOURCE_DIR}/src/*.S ${PROJECT_SOURCE_DIR}/src/*.def ${PROJECT_SOURCE_DIR}/src/*.inc)
list(JOIN km_id_files "\n" km_id_text)
file(CONFIGURE OUTPUT ${km_id_list} CONTENT "${km_id_text}\n" @ONLY)
set(km_id_paths ${km_id_files})
list(TRANSFORM km_id_paths PREPEND ${PROJECT_SOURCE_DIR}/)

string(TOUPPER "${CMAKE_BUILD_TYPE}" km_build_type)
set(km_id_seed "${PROJECT_VERSION} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
  "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${km_build_type}} ${KM_SANITIZE} ${KM_GLIBC}")
list(JOIN km_id_seed " " km_id_seed)
set(km_code_seed "${PROJECT_VERSION} LLVM ${KM_LLVM_VERSION}")

add_custom_command(
  OUTPUT ${km_version_header}
  COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D LIST=${km_id_list}
    -D VERSION=${PROJECT_VERSION} -D "SEED=${km_id_seed}"
    -D "CODE_SEED=${km_code_seed}" -D OUTPUT=${km_version_header}
    -P ${PROJECT_SOURCE_DIR}/cmake/write_version.cmake
  DEPENDS ${km_id_list} ${km_id_paths}
  COMMENT "Writing km_version.h" VERBATIM)
add_custom_target(km_version DEPENDS ${km_version_header})
