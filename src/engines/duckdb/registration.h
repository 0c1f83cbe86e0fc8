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

#include "engines/duckdb/registered_function.h"

namespace snapdp::engine {

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

template <typename Object, typename Action>
void guarded(duckdb_function_info info, void* held, void (*fail)(duckdb_function_info, const char*),
             const Action& action) noexcept {
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

}  // namespace snapdp::engine
