// Releases of chains: rows from Python's arrays or from a table, paid by a ledger, a budget in memory or an accountant that
// Python wrote. The library folds, debits and draws, in this order.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/cells.h"
#include "core/chain.h"
#include "core/ledger.h"
#include "core/numbers.h"
#include "core/source.h"
#include "snapdp/error.h"
#include "snapdp/privacy/ledger.h"

namespace snapdp::python {
namespace {

using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using Objects = nb::typed<nb::list, nb::any>;

// The columns of some rows, which lie in Python's arrays or were read from its lists.
class HeldCells {
 public:
  HeldCells() = default;
  HeldCells(const HeldCells&) = delete;
  HeldCells& operator=(const HeldCells&) = delete;

  void add(const Reals& values) {
    add(Column{AtomType::real, values.data()}, values.shape(0));
    reals_.push_back(values);
  }
  void add(const Integers& values) {
    add(Column{AtomType::integer, values.data()}, values.shape(0));
    integers_.push_back(values);
  }
  void add(const std::string& type, const Objects& cells) {
    const AtomType atom = type_of(type);
    OwnedColumn& column = *owned_.emplace_back(std::make_unique<OwnedColumn>(atom));
    for (const nb::handle cell : cells) column.add(cell, "data");
    add(column.column(), column.rows());
  }
  Chunk chunk() const { return Chunk(columns_, rows_.value_or(0)); }

 private:
  void add(const Column& column, std::size_t rows) {
    if (rows_.value_or(rows) != rows)
      throw Error(ErrorCode::bad_data, "data",
                  "data: its columns have different lengths; give a cell for each row");
    rows_ = rows;
    columns_.push_back(column);
  }
  std::vector<Column> columns_;
  std::optional<std::size_t> rows_;
  std::vector<Reals> reals_;  // keep what the columns point at
  std::vector<Integers> integers_;
  std::vector<std::unique_ptr<OwnedColumn>> owned_;
};

// A budget that Python's threads may share. A function of somebody's chain may look at the budget that is to pay.
class HeldBudget {
 public:
  HeldBudget(const std::string& measure, const std::string& value, const std::string& delta)
      : accountant_(budget_of(measure, value, delta)) {}
  template <typename Action>
  auto with(const Action& action) {
    const std::lock_guard lock(mutex_);
    return action(accountant_);
  }

 private:
  InMemoryAccountant accountant_;
  std::recursive_mutex mutex_;
};

// An accountant that Python wrote: `debit` is called with what is asked, and raises or agrees.
class PythonAccountant final : public BudgetAccountant {
 public:
  explicit PythonAccountant(const nb::object& function) : function_(function) {}
  void debit(const Debit& debit) override {
    const nb::gil_scoped_acquire locked;
    function_(to_string(debit.loss.epsilon), to_string(debit.loss.delta), to_string(debit.loss.rho),
              to_string(debit.metric), to_string(debit.distance), debit.what, debit.unit);
  }

 private:
  PythonFunction function_;
};

nb::object number(const Dyadic& value, bool integer) {
  if (integer && value.is_integer()) return whole_number(value);
  if (value.is_double()) return nb::float_(value.to_double_nearest());
  // Its numerator and denominator: Python reads no decimal text of more than some thousands of digits.
  const Rational exact = value.rational();
  return nb::make_tuple(whole_number(Dyadic(exact.get_num(), 0)), whole_number(Dyadic(exact.get_den(), 0)));
}

Facts told(const HeldMeasurement& measurement, const Release& release) {
  nb::list values;
  std::size_t next = 0;
  for (const TablePart& part : measurement.parts) {
    const StatisticDomain& domain = part.measurement.aggregation().output_domain();
    nb::list numbers;
    for (std::size_t i = 0; i < domain.dimension; ++i, ++next)
      numbers.append(number(release.values[next], domain.integer));
    values.append(numbers);
  }
  Facts facts;
  facts["values"] = values;
  facts["loss"] = to_string(release.loss.epsilon);
  facts["delta"] = to_string(release.loss.delta);
  facts["rho"] = to_string(release.loss.rho);
  return facts;
}

// Rows in memory, or a source that is read once; whoever has a Progress may end the reading.
using Data = std::variant<const HeldCells*, HeldSource*>;

// Ctrl-C ends a release before anything is paid.
void obey_signals(double) {
  const nb::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// A source of one column, whatever it is called, for measurements of one column.
HeldMeasurement for_source(const HeldMeasurement& measurement, Source& source) {
  if (measurement.table) return measurement;
  const std::vector<SourceColumn> columns = source.columns();
  if (columns.size() != 1) {
    throw Error(ErrorCode::bad_data, "data",
                "data: is a table of several columns, and the chain starts at one; give one column, or start "
                "at named "
                "ones, rows({\"age\": real()})");
  }
  HeldMeasurement named = measurement;
  for (TablePart& part : named.parts) part.columns = {columns[0].name};
  named.composition = make_on_table({}, named.parts);
  return named;
}

Release draw(const HeldMeasurement& measurement, const Data& data, BudgetAccountant& accountant) {
  if (const auto* cells = std::get_if<const HeldCells*>(&data))
    return measurement.composition.release((*cells)->chunk(), accountant);
  const std::unique_ptr<Source> source = std::get<HeldSource*>(data)->take();
  return for_source(measurement, *source).composition.release(*source, accountant, obey_signals);
}

Data data_of(const HeldCells* cells, HeldSource* source) {
  if (source != nullptr) return source;
  return cells;
}

Facts pay_by_budget(const HeldMeasurement& measurement, const HeldCells* cells, HeldSource* source,
                    HeldBudget& budget) {
  Release release;
  {
    const nb::gil_scoped_release unlocked;
    release = budget.with(
        [&](InMemoryAccountant& held) { return draw(measurement, data_of(cells, source), held); });
  }
  return told(measurement, release);
}

Facts pay_by_ledger(const HeldMeasurement& measurement, const HeldCells* cells, HeldSource* source,
                    HeldLedger& ledger, const std::string& name) {
  Release release;
  std::optional<LedgerReceipt> receipt;
  {
    const nb::gil_scoped_release unlocked;
    release = ledger.with([&](Ledger& held) {
      LedgerAccountant accountant(held, held.identity(), name);
      Release drawn = draw(measurement, data_of(cells, source), accountant);
      receipt = accountant.receipt();
      return drawn;
    });
  }
  Facts facts = told(measurement, release);
  facts["release"] = receipt->release;
  return facts;
}

Facts pay_by_function(const HeldMeasurement& measurement, const HeldCells* cells, HeldSource* source,
                      const nb::object& debit) {
  PythonAccountant accountant(debit);
  Release release;
  {
    const nb::gil_scoped_release unlocked;
    release = draw(measurement, data_of(cells, source), accountant);
  }
  return told(measurement, release);
}

// Throws bad_data unless a proof speaks of such rows, their number aside.
void require_domain(const VectorDomain& domain, const Chunk& rows) {
  if (domain.of_unknown_size().contains(rows)) return;
  throw Error(ErrorCode::bad_data, "rows",
              "rows: they are not in the input domain, " + describe(Domain(domain)));
}

// The exact statistic of rows in memory, which is not private.
std::vector<std::string> exact(const Aggregation& aggregation, const HeldCells& cells) {
  const Chunk rows = cells.chunk();
  const nb::gil_scoped_release unlocked;
  require_domain(aggregation.input_domain(), rows);
  std::vector<std::string> texts;
  for (const Dyadic& value : aggregation(rows)) texts.push_back(to_string(value.rational()));
  return texts;
}

// The rows that a transformation gives, which are not private.
Objects applied(const Transformation& transformation, const HeldCells& cells) {
  const Chunk rows = cells.chunk();
  require_domain(transformation.input_domain(), rows);
  Objects all;
  for (std::size_t first = 0; first < rows.length; first += block_rows) {
    Chunk block = rows.slice(first, std::min(block_rows, rows.length - first));
    for (const auto& function : transformation.functions()) function->transform(block, Scratch::of_thread());
    for (std::size_t row = 0; row < block.length; ++row) all.append(row_of(block, row));
  }
  return all;
}

}  // namespace

void bind_payments(nb::module_& module) {
  nb::class_<HeldCells>(module, "Cells")
      .def(nb::init<>())
      .def(
          "add_reals", [](HeldCells& self, const Reals& values) { self.add(values); },
          nb::arg("values").noconvert())
      .def(
          "add_integers", [](HeldCells& self, const Integers& values) { self.add(values); },
          nb::arg("values").noconvert())
      .def(
          "add_list",
          [](HeldCells& self, const std::string& type, const Objects& cells) { self.add(type, cells); },
          nb::arg("type"), nb::arg("cells"));
  nb::class_<HeldBudget>(module, "Budget")
      .def(nb::init<const std::string&, const std::string&, const std::string&>(), nb::arg("measure"),
           nb::arg("value"), nb::arg("delta"))
      .def_prop_ro(
          "budget",
          [](HeldBudget& self) {
            const nb::gil_scoped_release unlocked;
            return self.with([](InMemoryAccountant& held) { return to_string(held.budget().amount.value); });
          })
      .def_prop_ro("spent",
                   [](HeldBudget& self) {
                     const nb::gil_scoped_release unlocked;
                     return self.with([](InMemoryAccountant& held) { return to_string(held.spent().value); });
                   })
      .def_prop_ro("spent_delta", [](HeldBudget& self) {
        const nb::gil_scoped_release unlocked;
        return self.with([](InMemoryAccountant& held) { return to_string(held.spent().delta); });
      });
  module.def("pay_by_budget", &pay_by_budget, nb::arg("measurement"), nb::arg("cells").none(),
             nb::arg("source").none(), nb::arg("budget"));
  module.def("pay_by_ledger", &pay_by_ledger, nb::arg("measurement"), nb::arg("cells").none(),
             nb::arg("source").none(), nb::arg("ledger"), nb::arg("name"));
  module.def("pay_by_function", &pay_by_function, nb::arg("measurement"), nb::arg("cells").none(),
             nb::arg("source").none(), nb::arg("debit"));
  module.def("exact", &exact, nb::arg("aggregation"), nb::arg("cells"));
  module.def("applied", &applied, nb::arg("transformation"), nb::arg("cells"));
}

}  // namespace snapdp::python
