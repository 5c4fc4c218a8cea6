# shellcheck shell=bash
# Sourced: has scripts that test Vulkan devices see the software device alone, by both names that
# loaders read. Fails where the machine has none.
lavapipe=(/usr/share/vulkan/icd.d/lvp_icd.*.json)
if [[ ! -e ${lavapipe[0]} ]]; then
  echo 'there is no software Vulkan (mesa-vulkan-drivers)'
  return 1
fi
export VK_DRIVER_FILES=${lavapipe[0]} VK_ICD_FILENAMES=${lavapipe[0]} KM_TEST_DEVICE=vulkan:0
