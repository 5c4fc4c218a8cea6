# tests/unit/<area>/*.cpp -> km_unit_<area>, linked with km_<area> and with GoogleTest.
find_package(GTest REQUIRED)
include(GoogleTest)

# km_discover_tests(program prefix label environment...): the tests of a program of GoogleTest.
function(km_discover_tests program prefix label)
  gtest_discover_tests(${program} TEST_PREFIX ${prefix} DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60 TEST_LIST ${program}_tests
    PROPERTIES TIMEOUT ${KM_TEST_TIMEOUT_S} LABELS ${label})
  # gtest_discover_tests takes lists apart, and then knows the first variable only.
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${program}_environment.cmake)
  file(CONFIGURE OUTPUT ${script} @ONLY CONTENT [[
if(@program@_tests)
  set_tests_properties(${@program@_tests} PROPERTIES ENVIRONMENT "@KM_TEST_ENVIRONMENT@;@ARGN@")
endif()
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()

function(km_add_unit_tests area)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/unit/${area}/*.cpp)
  if(NOT sources)
    return()
  endif()
  file(GLOB_RECURSE support CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/support/${area}/*.cpp)
  # What the engine's threads still do while the program ends may use static objects.
  add_executable(km_unit_${area} ${sources} ${support}
    ${PROJECT_SOURCE_DIR}/src/base/operators/static_lifetime.cpp)
  target_include_directories(km_unit_${area} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(km_unit_${area} PRIVATE km_${area} GTest::gmock GTest::gtest_main)
  km_use_precompiled(gtest km_unit_${area})
  km_discover_tests(km_unit_${area} unit.${area}. unit)
endfunction()

foreach(area base comm ptx simt spirv compile core cpu reference)
  km_add_unit_tests(${area})
endforeach()
find_program(KM_SPIRV_VAL spirv-val DOC "the validator of SPIRV-Tools, for tests")
target_compile_definitions(km_unit_spirv PRIVATE
  KM_SPIRV_VAL="$<$<BOOL:${KM_SPIRV_VAL}>:${KM_SPIRV_VAL}>"
  KM_TEST_PTX="${CMAKE_CURRENT_SOURCE_DIR}/kernels/ptx"
  KM_SPIRV_REFUSED="${CMAKE_CURRENT_SOURCE_DIR}/unit/spirv/refused.txt")
if(TARGET km_vulkan)
  km_add_unit_tests(vulkan)
  target_compile_definitions(km_unit_vulkan PRIVATE KM_TEST_LAVAPIPE="${KM_LAVAPIPE}")
  target_include_directories(km_unit_vulkan SYSTEM PRIVATE ${KM_VULKAN_INCLUDE})
endif()
if(TARGET km_opengl)
  km_add_unit_tests(opengl)
endif()
# Where the CUDA headers are, our prototypes are checked against them.
if(TARGET km_unit_compile AND KM_CUDA_INCLUDE_DIRS)
  target_include_directories(km_unit_compile SYSTEM PRIVATE ${KM_CUDA_INCLUDE_DIRS})
endif()
# A scripted MPI.
add_library(km_fake_mpi MODULE ${CMAKE_CURRENT_SOURCE_DIR}/support/mpi/library.c)
target_link_libraries(km_fake_mpi PRIVATE km_flags Threads::Threads)
set_target_properties(km_fake_mpi PROPERTIES C_VISIBILITY_PRESET default)
add_dependencies(km_unit_comm km_fake_mpi)
target_compile_definitions(km_unit_comm PRIVATE FAKE_MPI="$<TARGET_FILE:km_fake_mpi>")
# A library that looks like an old OpenBLAS.
if(TARGET km_unit_cpu)
  add_library(km_old_openblas MODULE ${CMAKE_CURRENT_SOURCE_DIR}/support/openblas/library.c)
  set_target_properties(km_old_openblas PROPERTIES C_VISIBILITY_PRESET default)
  add_dependencies(km_unit_cpu km_old_openblas)
  target_compile_definitions(km_unit_cpu PRIVATE OLD_OPENBLAS="$<TARGET_FILE:km_old_openblas>")
endif()
