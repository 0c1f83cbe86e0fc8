# Installs every room that was built, as one export set, with a CMake package and pkg-config files:
#
#   find_package(snapdp)                          snapdp::snapdp, the core: numeric ... statistics
#   find_package(snapdp COMPONENTS privacy)       also an optional room, or a message that says how to build it
#   find_package(snapdp COMPONENTS testing)       the neighbor tester and a source in memory, for tests
#   find_package(snapdp COMPONENTS arrow)         a source over any Arrow stream
#   find_package(snapdp COMPONENTS sql)           queries of exact integers for databases, and their results
#   find_package(snapdp COMPONENTS states)        parts of a table that are folded apart
#   find_package(snapdp COMPONENTS postgresql)    a source over a table of a PostgreSQL server
#   pkg-config --libs snapdp | snapdp-privacy     the same for other build systems
#
# Libraries are static, always: symbols are hidden by default and no room exports an ABI.

set(snapdp_core_rooms numeric random mechanism framework statistics)
get_property(snapdp_rooms GLOBAL PROPERTY SNAPDP_ROOMS)

add_library(snapdp_umbrella INTERFACE)
add_library(snapdp::snapdp ALIAS snapdp_umbrella)
set_target_properties(snapdp_umbrella PROPERTIES EXPORT_NAME snapdp)
set(core_targets ${snapdp_core_rooms})
list(REVERSE core_targets)
foreach(room IN LISTS core_targets)
  if(TARGET snapdp_${room})
    target_link_libraries(snapdp_umbrella INTERFACE snapdp_${room})
  endif()
endforeach()

if(NOT SNAPDP_INSTALL)
  return()
endif()

set(config_folder "${CMAKE_INSTALL_LIBDIR}/cmake/snapdp")
install(TARGETS snapdp_umbrella EXPORT snapdpTargets)
install(FILES "${PROJECT_SOURCE_DIR}/include/snapdp/error.h" "${PROJECT_SOURCE_DIR}/include/snapdp/snapdp.h"
  "${PROJECT_SOURCE_DIR}/include/snapdp/text.h"
  "${PROJECT_BINARY_DIR}/include/snapdp/version.h"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/snapdp")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# What the configuration file must know of each room: the rooms below it and the pkg-config modules they need.
set(SNAPDP_ROOM_TABLE "")
set(all_packages "")
foreach(room IN LISTS snapdp_rooms)
  get_property(folder GLOBAL PROPERTY SNAPDP_FOLDER_${room})
  get_property(packages GLOBAL PROPERTY SNAPDP_PACKAGES_${room})
  install(TARGETS snapdp_${room} EXPORT snapdpTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/include/snapdp/${folder}")
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/snapdp/${folder}/"
      DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/snapdp/${folder}" FILES_MATCHING PATTERN "*.h")
  endif()
  string(APPEND SNAPDP_ROOM_TABLE "set(_snapdp_packages_${room} \"${packages}\")\n")
  list(APPEND all_packages ${packages})
endforeach()
list(REMOVE_DUPLICATES all_packages)
foreach(package IN LISTS all_packages)
  get_property(modules GLOBAL PROPERTY SNAPDP_MODULES_${package})
  string(APPEND SNAPDP_ROOM_TABLE "set(_snapdp_modules_${package} \"${modules}\")\n")
endforeach()

# DuckDB comes along: Debian has no package of it, and the tool and the room need this very version.
set(SNAPDP_ENGINE_FOLDER "${CMAKE_INSTALL_LIBDIR}/snapdp")
if(TARGET snapdp_libduckdb)
  get_target_property(libduckdb snapdp_libduckdb IMPORTED_LOCATION)
  install(FILES "${libduckdb}" DESTINATION "${SNAPDP_ENGINE_FOLDER}")
  if(EXISTS "${SNAPDP_DUCKDB_ROOT}/LICENSE")
    install(FILES "${SNAPDP_DUCKDB_ROOT}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" RENAME LICENSE.duckdb)
  endif()
  file(RELATIVE_PATH engine_from_tool "/${CMAKE_INSTALL_BINDIR}" "/${SNAPDP_ENGINE_FOLDER}")
  set(CMAKE_INSTALL_RPATH "$ORIGIN/${engine_from_tool}")  # of the tool, which is made after this file
endif()
install(EXPORT snapdpTargets NAMESPACE snapdp:: DESTINATION "${config_folder}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/snapdpConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/snapdpConfig.cmake" INSTALL_DESTINATION "${config_folder}"
  PATH_VARS SNAPDP_ENGINE_FOLDER)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/snapdpConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/snapdpConfig.cmake" "${PROJECT_BINARY_DIR}/snapdpConfigVersion.cmake"
  DESTINATION "${config_folder}")

# The pkg-config files find the prefix from where they lie, so that an installed tree may be moved.
set(SNAPDP_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(SNAPDP_PC_PREFIX "\${pcfiledir}/${up}")
endif()

# snapdp_pkg_config_file(<name> <description> <room>): <name>.pc for a room and what lies below it. There are only
# static libraries, so that what they need in turn is not private: it must be linked every time.
function(snapdp_pkg_config_file name description room)
  get_property(below GLOBAL PROPERTY SNAPDP_CLOSURE_${room})
  get_property(packages GLOBAL PROPERTY SNAPDP_PACKAGES_${room})
  set(SNAPDP_PC_NAME "${name}")
  set(SNAPDP_PC_DESCRIPTION "${description}")
  set(libraries ${room} ${below})
  list(TRANSFORM libraries PREPEND "-lsnapdp_")
  list(JOIN libraries " " SNAPDP_PC_LIBRARIES)
  set(requires "")
  foreach(package IN LISTS packages)
    get_property(modules GLOBAL PROPERTY SNAPDP_MODULES_${package})
    list(APPEND requires ${modules})
  endforeach()
  list(JOIN requires ", " SNAPDP_PC_REQUIRES)
  string(REGEX REPLACE "([<>]?=)" " \\1 " SNAPDP_PC_REQUIRES "${SNAPDP_PC_REQUIRES}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/snapdp.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()

set(topmost "")
foreach(room IN LISTS snapdp_core_rooms)
  if(TARGET snapdp_${room})
    set(topmost ${room})
  endif()
endforeach()
snapdp_pkg_config_file(snapdp "${PROJECT_DESCRIPTION}" ${topmost})
foreach(room IN ITEMS testing arrow sql states postgresql privacy release)
  if(TARGET snapdp_${room})
    snapdp_pkg_config_file(snapdp-${room} "SnapDP's ${room} room and all below it" ${room})
  endif()
endforeach()
