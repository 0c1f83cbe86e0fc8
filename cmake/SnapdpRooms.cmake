# One CMake library per room of the house, with arrows that only point downwards: a room links exactly the rooms it
# may use. tools/check-rooms holds the table of arrows and checks includes and links against it.
#
#   snapdp_packages(<name> modules...)       finds pkg-config modules as the target PkgConfig::SNAPDP_<name>
#   snapdp_room(<name> [USES rooms...] [PUBLIC libraries...] [PRIVATE libraries...] [BUILD_ONLY libraries...])
#       the library snapdp::<name> of the *.cpp files in and below the current folder. BUILD_ONLY libraries are header-only and
#       unseen by users of the room (a JSON parser, say), so that an installed SnapDP does not need them.

add_library(snapdp_options INTERFACE)
target_compile_options(snapdp_options INTERFACE
  -ffp-contract=off -fno-fast-math -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  # GCC 12 reports std::string concatenation as overlapping copies (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${SNAPDP_WERROR}>:-Werror>)
# Hardening, for code and tool alike (docs/threat-model.md): a smashed stack or a length that is too long ends the
# program. Sanitizers do the same and more and take its place: _FORTIFY_SOURCE hides calls from them, and g++ 12 with
# both a protected stack and AddressSanitizer's check of uses after return misaligns the vectors of AVX-512.
if(SNAPDP_SANITIZE)
  set(SNAPDP_FORTIFIED OFF)
else()
  set(SNAPDP_FORTIFIED ON)
  target_compile_options(snapdp_options INTERFACE -fstack-protector-strong
    "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>")
endif()
# The standard library's own checks (an index beyond a vector's end ...): everywhere in builds for finding mistakes,
# otherwise in the rooms that take in bytes from outside, see snapdp_room.
if(SNAPDP_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_definitions(snapdp_options INTERFACE _GLIBCXX_ASSERTIONS)
endif()
if(SNAPDP_SANITIZE)
  target_compile_options(snapdp_options INTERFACE -fsanitize=${SNAPDP_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(snapdp_options INTERFACE -fsanitize=${SNAPDP_SANITIZE})
endif()

configure_file("${PROJECT_SOURCE_DIR}/include/snapdp/version.h.in" "${PROJECT_BINARY_DIR}/include/snapdp/version.h" @ONLY)

set_property(GLOBAL PROPERTY SNAPDP_ROOMS "")

# The prefix keeps our imported targets apart from those of a project that uses SnapDP.
macro(snapdp_packages name)
  pkg_check_modules(SNAPDP_${name} REQUIRED IMPORTED_TARGET ${ARGN})
  set_property(GLOBAL PROPERTY SNAPDP_MODULES_${name} ${ARGN})
endmacro()

function(snapdp_room name)
  cmake_parse_arguments(ROOM "" "" "USES;PUBLIC;PRIVATE;BUILD_ONLY" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  if(NOT sources)
    message(STATUS "snapdp: the room ${name} has no sources; left out")
    return()
  endif()
  add_library(snapdp_${name} STATIC ${sources})
  add_library(snapdp::${name} ALIAS snapdp_${name})
  set_target_properties(snapdp_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(snapdp_${name} PUBLIC cxx_std_20)
  target_include_directories(snapdp_${name}
    PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>"
           "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
    PRIVATE "${PROJECT_SOURCE_DIR}/src")
  set(uses ${ROOM_USES})
  list(TRANSFORM uses PREPEND snapdp_)
  target_link_libraries(snapdp_${name} PUBLIC ${uses} ${ROOM_PUBLIC} PRIVATE $<BUILD_INTERFACE:snapdp_options> ${ROOM_PRIVATE})
  if(name MATCHES "^(privacy|release|duckdb|arrow|sql|postgresql|random)$")
    target_compile_definitions(snapdp_${name} PRIVATE _GLIBCXX_ASSERTIONS)
  endif()
  foreach(library IN LISTS ROOM_BUILD_ONLY)
    target_link_libraries(snapdp_${name} PRIVATE $<BUILD_INTERFACE:${library}>)
  endforeach()
  set_property(GLOBAL APPEND PROPERTY SNAPDP_ROOMS ${name})
  # The headers of src/<folder> are in include/snapdp/<folder>.
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}/src" "${CMAKE_CURRENT_SOURCE_DIR}")
  set_property(GLOBAL PROPERTY SNAPDP_FOLDER_${name} ${folder})

  # What the package configuration needs to know: the rooms and pkg-config modules below this one, nearest first.
  set(closure ${ROOM_USES})
  set(packages ${ROOM_PUBLIC} ${ROOM_PRIVATE})
  list(FILTER packages INCLUDE REGEX "^PkgConfig::SNAPDP_")
  list(TRANSFORM packages REPLACE "^PkgConfig::SNAPDP_" "")
  foreach(used IN LISTS ROOM_USES)
    get_property(below GLOBAL PROPERTY SNAPDP_CLOSURE_${used})
    get_property(packages_below GLOBAL PROPERTY SNAPDP_PACKAGES_${used})
    list(APPEND closure ${below})
    list(APPEND packages ${packages_below})
  endforeach()
  # Static libraries are linked from left to right, so of two mentions the later one counts.
  list(REVERSE closure)
  list(REMOVE_DUPLICATES closure)
  list(REVERSE closure)
  list(REMOVE_DUPLICATES packages)
  set_property(GLOBAL PROPERTY SNAPDP_CLOSURE_${name} ${closure})
  set_property(GLOBAL PROPERTY SNAPDP_PACKAGES_${name} ${packages})
endfunction()
