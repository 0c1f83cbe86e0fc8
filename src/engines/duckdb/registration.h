// C++ objects as functions of DuckDB.
//
// DuckDB calls them on its own threads and through C, which nothing may throw through: an exception is kept in the object,
// and the query fails. The engine does not let go of functions until it closes, so each has a name of its own, and the
// object lives until then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "engines/duckdb/registered_function.h"

namespace snapdp::engines_internal {

// How often DuckDB may call a scalar function.
enum class CallRate {
  once_a_value,  // equal arguments give the same: once for each entry of a column's dictionary, say
  once_a_row,    // exactly
};

// A scalar function, for which nulls are arguments like others. Object has
//   void call(duckdb_data_chunk arguments, duckdb_vector result);  // on several threads at once
//   KeptException& exception();
// The function's name is `stem` and a number.
template <typename Object>
RegisteredFunction register_scalar(const Connection& connection, const std::string& stem,
                                   std::span<const Argument> arguments, duckdb_type result, CallRate rate,
                                   const std::shared_ptr<Object>& object);

// The states of an aggregate function's rows or groups. DuckDB moves their bytes about: a trivial State lies among them and
// starts as State{}; of any other there is a pointer, null until the state is asked for.
template <typename Object>
class States {
 public:
  using State = typename Object::State;
  static constexpr bool in_place =
      std::is_trivially_copyable_v<State> && std::is_trivially_destructible_v<State>;
  struct Pointer {
    State* to = nullptr;
  };
  using Stored = std::conditional_t<in_place, State, Pointer>;

  States(const Object& object, duckdb_aggregate_state* states, std::size_t count)
      : object_(object), states_(states), count_(count) {}

  std::size_t count() const { return count_; }
  bool started(std::size_t i) const {
    if constexpr (in_place) {
      return true;
    } else {
      return stored(i).to != nullptr;
    }
  }
  State& operator[](std::size_t i) const {
    if constexpr (in_place) {
      return stored(i);
    } else {
      if (!started(i)) stored(i).to = new State(object_.start());
      return *stored(i).to;
    }
  }
  // The first row after `first` that may have another state. Without GROUP BY all rows have the same one, which a look at
  // all of them at once tells fastest; with it, rows of one group often follow each other.
  std::size_t end_of_run(std::size_t first) const {
    if (first == 0 && all_same()) return count_;
    std::size_t end = first + 1;
    while (end < count_ && states_[end] == states_[first]) ++end;
    return end;
  }

  static void start(duckdb_aggregate_state state) { ::new (static_cast<void*>(state)) Stored{}; }
  static void destroy(duckdb_aggregate_state state) requires(!in_place) {
    auto& stored = *reinterpret_cast<Stored*>(state);
    delete stored.to;
    stored.to = nullptr;
  }

 private:
  Stored& stored(std::size_t i) const { return *reinterpret_cast<Stored*>(states_[i]); }
  bool all_same() const {
    std::uintptr_t differences = 0;
    for (std::size_t i = 0; i < count_; ++i)
      differences |=
          reinterpret_cast<std::uintptr_t>(states_[i]) ^ reinterpret_cast<std::uintptr_t>(states_[0]);
    return differences == 0;
  }

  const Object& object_;
  duckdb_aggregate_state* states_;
  std::size_t count_;
};

// An aggregate function, for which nulls are arguments like others. Object has
//   using State = ...;
//   State start() const;                                                     // unless State is trivial
//   void update(duckdb_data_chunk arguments, const States<Object>& states);  // on several threads at once, like the others
//   void merge(const States<Object>& into, const States<Object>& from);      // one by one
//   void finish(const States<Object>& states, duckdb_vector result, std::size_t first_row);
//   KeptException& exception();
template <typename Object>
RegisteredFunction register_aggregate(const Connection& connection, const std::string& stem,
                                      std::span<const Argument> arguments, const LogicalType& result,
                                      const std::shared_ptr<Object>& object);

// A table function without arguments. Object has
//   std::vector<TableColumn> columns() const;
//   using Rows = ...;                                                 // those that one thread gives
//   std::unique_ptr<Rows> start(const std::vector<std::size_t>& wanted);   // on several threads at once, like the next
//   void read(Rows& rows, duckdb_data_chunk chunk);                   // an empty chunk is the thread's last
//   KeptException& exception();
// `wanted` are the places of the columns that the chunk has; where there are none, it may have one that is not to be
// written to. The function is called in one query at a time.
struct TableColumn {
  std::string name;
  LogicalType type;
};
template <typename Object>
RegisteredFunction register_table(const Connection& connection, const std::string& stem,
                                  const std::shared_ptr<Object>& object);

// ---- How ----------------------------------------------------------------------------------------------------------------

namespace detail {

// A name that no function has had.
std::string new_name(const std::string& stem);
std::string call(const std::string& name, std::span<const Argument> arguments);
// Throws io: DuckDB does not accept the function.
[[noreturn]] void refuse_function();

template <typename Object>
RegisteredFunction registered(const std::string& name, std::span<const Argument> arguments,
                              const std::shared_ptr<Object>& object) {
  return {call(name, arguments), std::shared_ptr<const KeptException>(object, &object->exception())};
}

template <typename Object>
void* hold(const std::shared_ptr<Object>& object) {
  return new std::shared_ptr<Object>(object);
}

template <typename Object>
void let_go(void* held) {
  delete static_cast<std::shared_ptr<Object>*>(held);
}

template <typename Object, typename Info, typename Action>
void guarded(Info info, void* held, void (*fail)(Info, const char*), const Action& action) noexcept {
  Object& object = **static_cast<std::shared_ptr<Object>*>(held);
  try {
    action(object);
  } catch (...) {
    object.exception().keep(std::current_exception());
    fail(info, "a function of SnapDP failed");
  }
}

template <typename Object, typename Action>
void guarded_aggregate(duckdb_function_info info, const Action& action) noexcept {
  guarded<Object>(info, duckdb_aggregate_function_get_extra_info(info), duckdb_aggregate_function_set_error,
                  action);
}

}  // namespace detail

template <typename Object>
RegisteredFunction register_scalar(const Connection& connection, const std::string& stem,
                                   std::span<const Argument> arguments, duckdb_type result, CallRate rate,
                                   const std::shared_ptr<Object>& object) {
  const std::string name = detail::new_name(stem);
  const Handle<duckdb_scalar_function, duckdb_destroy_scalar_function> function(
      duckdb_create_scalar_function());
  duckdb_scalar_function_set_name(function.get(), name.c_str());
  for (const Argument& argument : arguments)
    duckdb_scalar_function_add_parameter(function.get(), argument.type.get());
  duckdb_scalar_function_set_return_type(function.get(),
                                         LogicalType(duckdb_create_logical_type(result)).get());
  duckdb_scalar_function_set_special_handling(function.get());
  if (rate == CallRate::once_a_row) duckdb_scalar_function_set_volatile(function.get());
  duckdb_scalar_function_set_function(
      function.get(), [](duckdb_function_info info, duckdb_data_chunk cells, duckdb_vector values) {
        detail::guarded<Object>(info, duckdb_scalar_function_get_extra_info(info),
                                duckdb_scalar_function_set_error,
                                [&](Object& called) { called.call(cells, values); });
      });
  duckdb_scalar_function_set_extra_info(function.get(), detail::hold(object), detail::let_go<Object>);
  if (duckdb_register_scalar_function(connection.get(), function.get()) == DuckDBError)
    detail::refuse_function();
  return detail::registered(name, arguments, object);
}

template <typename Object>
RegisteredFunction register_aggregate(const Connection& connection, const std::string& stem,
                                      std::span<const Argument> arguments, const LogicalType& result,
                                      const std::shared_ptr<Object>& object) {
  const std::string name = detail::new_name(stem);
  const Handle<duckdb_aggregate_function, duckdb_destroy_aggregate_function> function(
      duckdb_create_aggregate_function());
  duckdb_aggregate_function_set_name(function.get(), name.c_str());
  for (const Argument& argument : arguments)
    duckdb_aggregate_function_add_parameter(function.get(), argument.type.get());
  duckdb_aggregate_function_set_return_type(function.get(), result.get());
  duckdb_aggregate_function_set_special_handling(function.get());
  duckdb_aggregate_function_set_functions(
      function.get(), [](duckdb_function_info) -> idx_t { return sizeof(typename States<Object>::Stored); },
      [](duckdb_function_info, duckdb_aggregate_state state) { States<Object>::start(state); },
      [](duckdb_function_info info, duckdb_data_chunk cells, duckdb_aggregate_state* states) {
        detail::guarded_aggregate<Object>(info, [&](Object& called) {
          called.update(cells, States<Object>(called, states, duckdb_data_chunk_get_size(cells)));
        });
      },
      [](duckdb_function_info info, duckdb_aggregate_state* from, duckdb_aggregate_state* into, idx_t count) {
        detail::guarded_aggregate<Object>(info, [&](Object& called) {
          called.merge(States<Object>(called, into, count), States<Object>(called, from, count));
        });
      },
      [](duckdb_function_info info, duckdb_aggregate_state* states, duckdb_vector values, idx_t count,
         idx_t first_row) {
        detail::guarded_aggregate<Object>(info, [&](Object& called) {
          called.finish(States<Object>(called, states, count), values, first_row);
        });
      });
  if constexpr (!States<Object>::in_place) {
    duckdb_aggregate_function_set_destructor(function.get(), [](duckdb_aggregate_state* states, idx_t count) {
      for (idx_t i = 0; i < count; ++i) States<Object>::destroy(states[i]);
    });
  }
  duckdb_aggregate_function_set_extra_info(function.get(), detail::hold(object), detail::let_go<Object>);
  if (duckdb_register_aggregate_function(connection.get(), function.get()) == DuckDBError)
    detail::refuse_function();
  return detail::registered(name, arguments, object);
}

namespace detail {

// The places of the columns that the query reads. Where it reads none, DuckDB asks for a column that is not ours.
inline std::vector<std::size_t> wanted_columns(duckdb_init_info info, std::size_t columns) {
  std::vector<std::size_t> wanted;
  for (idx_t i = 0; i < duckdb_init_get_column_count(info); ++i) {
    const idx_t column = duckdb_init_get_column_index(info, i);
    if (column < columns) wanted.push_back(column);
  }
  return wanted;
}

template <typename Object>
void bind_table(duckdb_bind_info info) {
  guarded<Object>(info, duckdb_bind_get_extra_info(info), duckdb_bind_set_error, [&](Object& called) {
    for (const TableColumn& column : called.columns())
      duckdb_bind_add_result_column(info, column.name.c_str(), column.type.get());
  });
}

// As many threads as there are; one that comes too late finds no rows.
inline void init_table(duckdb_init_info info) {
  constexpr idx_t many = 1U << 16;
  duckdb_init_set_max_threads(info, many);
}

template <typename Object>
void init_rows(duckdb_init_info info) {
  guarded<Object>(info, duckdb_init_get_extra_info(info), duckdb_init_set_error, [&](Object& called) {
    duckdb_init_set_init_data(info, called.start(wanted_columns(info, called.columns().size())).release(),
                              [](void* rows) { delete static_cast<typename Object::Rows*>(rows); });
  });
}

template <typename Object>
void read_rows(duckdb_function_info info, duckdb_data_chunk chunk) {
  guarded<Object>(info, duckdb_function_get_extra_info(info), duckdb_function_set_error, [&](Object& called) {
    called.read(*static_cast<typename Object::Rows*>(duckdb_function_get_local_init_data(info)), chunk);
  });
}

}  // namespace detail

template <typename Object>
RegisteredFunction register_table(const Connection& connection, const std::string& stem,
                                  const std::shared_ptr<Object>& object) {
  const std::string name = detail::new_name(stem);
  const Handle<duckdb_table_function, duckdb_destroy_table_function> function(duckdb_create_table_function());
  duckdb_table_function_set_name(function.get(), name.c_str());
  duckdb_table_function_supports_projection_pushdown(function.get(), true);
  duckdb_table_function_set_bind(function.get(), detail::bind_table<Object>);
  duckdb_table_function_set_init(function.get(), detail::init_table);
  duckdb_table_function_set_local_init(function.get(), detail::init_rows<Object>);
  duckdb_table_function_set_function(function.get(), detail::read_rows<Object>);
  duckdb_table_function_set_extra_info(function.get(), detail::hold(object), detail::let_go<Object>);
  if (duckdb_register_table_function(connection.get(), function.get()) == DuckDBError)
    detail::refuse_function();
  return detail::registered(name, {}, object);
}

}  // namespace snapdp::engines_internal
