// The neighbor tester.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/chain.h"
#include "snapdp/testing/neighbor_tester.h"

namespace snapdp::python {
namespace {

nb::object cell(const Cell& cell) {
  if (const auto* real = std::get_if<double>(&cell)) return nb::float_(*real);
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return nb::int_(*integer);
  if (const auto* text = std::get_if<std::string>(&cell)) return nb::str(text->c_str(), text->size());
  return nb::none();
}

// A row of one column is its cell.
nb::list rows(const Dataset& dataset) {
  nb::list all;
  for (const DataRow& row : dataset) {
    nb::list cells;
    for (const Cell& one : row) cells.append(cell(one));
    all.append(row.size() == 1 ? nb::object(cells[0]) : nb::object(nb::steal(PyList_AsTuple(cells.ptr()))));
  }
  return all;
}

nb::object text_or_none(const std::optional<Rational>& number) {
  return number ? nb::object(nb::str(to_string(*number).c_str())) : nb::none();
}

Facts described(const Counterexample& found) {
  Facts facts;
  facts["part"] = found.part;
  facts["rule"] = to_string(found.rule);
  facts["explanation"] = found.explanation;
  facts["first"] = rows(found.first_rows);
  facts["second"] = rows(found.second_rows);
  facts["first_output"] = found.first_output;
  facts["second_output"] = found.second_output;
  facts["d_in"] = to_string(found.d_in);
  facts["d_out"] = text_or_none(found.distance);
  facts["promised"] = text_or_none(found.claimed);
  facts["description"] = found.description();
  return facts;
}

template <typename Part>
nb::object find(const Part& part, const NeighborTestOptions& options) {
  std::optional<Counterexample> found;
  {
    const nb::gil_scoped_release unlocked;
    found = find_counterexample(part, options);
  }
  if (!found) return nb::none();
  return described(*found);
}

// Of several measurements, what is found first.
nb::object find(const HeldMeasurement& held, const NeighborTestOptions& options) {
  for (const TablePart& part : held.parts) {
    nb::object found = find(part.measurement, options);
    if (!found.is_none()) return found;
  }
  return nb::none();
}

template <typename Part>
void bind_find(nb::module_& module) {
  module.def(
      "find_counterexample",
      [](const Part& part, std::uint64_t trials, std::uint64_t seed,
         const std::vector<std::uint64_t>& distances, const std::vector<double>& reals,
         const std::vector<std::int64_t>& integers, const std::vector<std::string>& texts) {
        return find(part, NeighborTestOptions{trials, seed, distances, reals, integers, texts});
      },
      nb::arg("part"), nb::arg("trials"), nb::arg("seed"), nb::arg("distances"), nb::arg("reals"),
      nb::arg("integers"), nb::arg("texts"));
}

}  // namespace

void bind_neighbors(nb::module_& module) {
  bind_find<Transformation>(module);
  bind_find<Aggregation>(module);
  bind_find<HeldMeasurement>(module);
}

}  // namespace snapdp::python
