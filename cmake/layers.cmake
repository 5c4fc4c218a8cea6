# km_add_layer(NAME DIR folder... [DEPENDS target...] [PRECOMPILED kind]): one static library per
# layer of src/, from all sources below the folders. A folder without sources gives an interface
# library.
function(km_add_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "PRECOMPILED" "DIR;EXCLUDE;DEPENDS")
  set(sources "")
  foreach(dir IN LISTS layer_DIR)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS
      ${PROJECT_SOURCE_DIR}/src/${dir}/*.cpp ${PROJECT_SOURCE_DIR}/src/${dir}/*.c
      ${PROJECT_SOURCE_DIR}/src/${dir}/*.S)
    list(APPEND sources ${found})
  endforeach()
  foreach(dir IN LISTS layer_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "/src/${dir}(/|\\.cpp$)")
  endforeach()
  km_keep_own_architecture(sources)
  if(sources)
    add_library(${name} STATIC ${sources})
    set(scope PUBLIC)
    add_dependencies(${name} km_version)
    if(NOT layer_PRECOMPILED)
      set(layer_PRECOMPILED standard)
    endif()
    km_use_precompiled(${layer_PRECOMPILED} ${name})
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${name} ${scope}
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include ${KM_GENERATED_DIR})
  target_link_libraries(${name} ${scope} km_flags ${layer_DEPENDS})
endfunction()

# km_own_lifetimes(target): static and thread-local objects of a shared library end by our rules.
function(km_own_lifetimes target)
  target_sources(${target} PRIVATE
    ${PROJECT_SOURCE_DIR}/src/base/operators/static_lifetime.cpp
    ${PROJECT_SOURCE_DIR}/src/base/operators/thread_lifetime.cpp)
endfunction()

# km_export_only(target map): nothing but what the version script names leaves the library.
function(km_export_only target map)
  target_link_options(${target} PRIVATE
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/${map} -Wl,--exclude-libs,ALL
    -Wl,--gc-sections -Wl,-z,nodelete $<$<CONFIG:Release>:-s>)
  set_property(TARGET ${target} APPEND PROPERTY
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/${map})
endfunction()
