# Vulkan's headers, with which the plugin for Vulkan devices is built. Its library is opened at run
# time, so a machine that builds needs none.
option(KM_VULKAN "Build the plugin for Vulkan devices if Vulkan's headers are found" ON)
if(KM_VULKAN)
  find_path(KM_VULKAN_INCLUDE vulkan/vulkan_core.h DOC "libvulkan-dev of Debian has it")
  if(NOT KM_VULKAN_INCLUDE)
    message(STATUS "No Vulkan headers (libvulkan-dev): the plugin for Vulkan devices is left out")
  endif()
endif()
