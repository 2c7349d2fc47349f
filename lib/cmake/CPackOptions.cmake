# What differs from one kind of package to the other: read by cpack.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_PACKAGING_INSTALL_PREFIX "/usr")
else()
  # Its one folder is named by the file.
  set(CPACK_PACKAGING_INSTALL_PREFIX "")
endif()
