#include "duckdb/capi.h"

#include <dlfcn.h>

#include <array>
#include <mutex>
#include <utility>

#include "snapdp/error.h"

// What the engine calls. A function that is missing here is an undefined symbol of the module, which then does not load.
#define SNAPDP_DUCKDB_FUNCTIONS(DIRECT)               \
  DIRECT(aggregate_function_add_parameter)            \
  DIRECT(aggregate_function_get_extra_info)           \
  DIRECT(aggregate_function_set_destructor)           \
  DIRECT(aggregate_function_set_error)                \
  DIRECT(aggregate_function_set_extra_info)           \
  DIRECT(aggregate_function_set_functions)            \
  DIRECT(aggregate_function_set_name)                 \
  DIRECT(aggregate_function_set_return_type)          \
  DIRECT(aggregate_function_set_special_handling)     \
  DIRECT(bind_add_result_column)                      \
  DIRECT(bind_get_extra_info)                         \
  DIRECT(bind_set_error)                              \
  DIRECT(close)                                       \
  DIRECT(connect)                                     \
  DIRECT(create_aggregate_function)                   \
  DIRECT(create_config)                               \
  DIRECT(create_logical_type)                         \
  DIRECT(create_scalar_function)                      \
  DIRECT(create_table_function)                       \
  DIRECT(data_chunk_get_size)                         \
  DIRECT(data_chunk_get_vector)                       \
  DIRECT(data_chunk_set_size)                         \
  DIRECT(decimal_scale)                               \
  DIRECT(decimal_width)                               \
  DIRECT(destroy_aggregate_function)                  \
  DIRECT(destroy_config)                              \
  DIRECT(destroy_data_chunk)                          \
  DIRECT(destroy_logical_type)                        \
  DIRECT(destroy_pending)                             \
  DIRECT(destroy_prepare)                             \
  DIRECT(destroy_result)                              \
  DIRECT(destroy_scalar_function)                     \
  DIRECT(destroy_table_function)                      \
  DIRECT(disconnect)                                  \
  DIRECT(execute_pending)                             \
  DIRECT(fetch_chunk)                                 \
  DIRECT(free)                                        \
  DIRECT(function_get_extra_info)                     \
  DIRECT(function_get_local_init_data)                \
  DIRECT(function_set_error)                          \
  DIRECT(get_type_id)                                 \
  DIRECT(init_get_column_count)                       \
  DIRECT(init_get_column_index)                       \
  DIRECT(init_get_extra_info)                         \
  DIRECT(init_set_error)                              \
  DIRECT(init_set_init_data)                          \
  DIRECT(init_set_max_threads)                        \
  DIRECT(interrupt)                                   \
  DIRECT(library_version)                             \
  DIRECT(open_ext)                                    \
  DIRECT(pending_error)                               \
  DIRECT(pending_execute_task)                        \
  DIRECT(pending_execution_is_finished)               \
  DIRECT(pending_prepared)                            \
  DIRECT(prepare)                                     \
  DIRECT(prepare_error)                               \
  DIRECT(prepared_statement_column_count)             \
  DIRECT(prepared_statement_column_logical_type)      \
  DIRECT(prepared_statement_column_name)              \
  DIRECT(query_progress)                              \
  DIRECT(register_aggregate_function)                 \
  DIRECT(register_scalar_function)                    \
  DIRECT(register_table_function)                     \
  DIRECT(result_error)                                \
  DIRECT(scalar_function_add_parameter)               \
  DIRECT(scalar_function_get_extra_info)              \
  DIRECT(scalar_function_set_error)                   \
  DIRECT(scalar_function_set_extra_info)              \
  DIRECT(scalar_function_set_function)                \
  DIRECT(scalar_function_set_name)                    \
  DIRECT(scalar_function_set_return_type)             \
  DIRECT(scalar_function_set_special_handling)        \
  DIRECT(scalar_function_set_volatile)                \
  DIRECT(set_config)                                  \
  DIRECT(table_function_set_bind)                     \
  DIRECT(table_function_set_extra_info)               \
  DIRECT(table_function_set_function)                 \
  DIRECT(table_function_set_init)                     \
  DIRECT(table_function_set_local_init)               \
  DIRECT(table_function_set_name)                     \
  DIRECT(table_function_supports_projection_pushdown) \
  DIRECT(validity_set_row_invalid)                    \
  DIRECT(vector_assign_string_element_len)            \
  DIRECT(vector_ensure_validity_writable)             \
  DIRECT(vector_get_data)                             \
  DIRECT(vector_get_validity)                         \
  DIRECT(vector_size)

// Each function is one jump to where load_duckdb() found it; arguments and results pass by untouched.
#if defined(__x86_64__)
#define SNAPDP_JUMP(name) "endbr64\n\tjmp *snapdp_at_" #name "(%rip)\n"
#elif defined(__aarch64__)
#define SNAPDP_JUMP(name) \
  "bti c\n\tadrp x16, snapdp_at_" #name "\n\tldr x16, [x16, :lo12:snapdp_at_" #name "]\n\tbr x16\n"
#else
#error "a jump through a pointer, for this processor"
#endif
#define SNAPDP_DIRECT(name)                                                               \
  extern "C" {                                                                            \
  __attribute__((visibility("hidden"))) void* snapdp_at_##name = nullptr;                 \
  }                                                                                       \
  __asm__(                                                                                \
      ".pushsection .text\n"                                                              \
      ".globl duckdb_" #name                                                              \
      "\n"                                                                                \
      ".hidden duckdb_" #name                                                             \
      "\n"                                                                                \
      ".type duckdb_" #name                                                               \
      ", @function\n"                                                                     \
      "duckdb_" #name ":\n\t" SNAPDP_JUMP(name) ".size duckdb_" #name ", .-duckdb_" #name \
                                                "\n"                                      \
                                                ".popsection\n");
SNAPDP_DUCKDB_FUNCTIONS(SNAPDP_DIRECT)

extern "C" const char* duckdb_library_version();

namespace snapdp::python {
namespace {

#define SNAPDP_PLACE(name) std::pair<const char*, void**>{"duckdb_" #name, &snapdp_at_##name},
const auto places = std::to_array({SNAPDP_DUCKDB_FUNCTIONS(SNAPDP_PLACE)});

std::mutex loading;
bool loaded = false;

[[noreturn]] void refuse(const std::string& library, const std::string& what) {
  throw Error(ErrorCode::io, "data",
              "data: DuckDB, which reads files, was found as \"" + library + "\", but " + what +
                  "; install a version that SnapDP was tested with, pip install \"snapdp[duckdb]\", or read "
                  "the file into a "
                  "table");
}

}  // namespace

void load_duckdb(const std::string& library) {
  const std::lock_guard lock(loading);
  if (loaded) return;
  // Its symbols stay its own, and it stays loaded: what it started may run on.
  void* const object = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (object == nullptr) refuse(library, "cannot be loaded");
  std::array<void*, places.size()> found{};
  for (std::size_t i = 0; i < places.size(); ++i) {
    found[i] = dlsym(object, places[i].first);
    if (found[i] == nullptr) refuse(library, std::string("has no function ") + places[i].first);
  }
  for (std::size_t i = 0; i < places.size(); ++i) *places[i].second = found[i];
  loaded = true;
}

std::string duckdb_version() {
  const std::lock_guard lock(loading);
  return loaded ? duckdb_library_version() : "";
}

}  // namespace snapdp::python
