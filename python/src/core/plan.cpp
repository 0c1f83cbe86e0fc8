// Declarations and plans: TOML texts go in, for the library alone says what is right.
#include "core/plan.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/bindings.h"
#include "core/ledger.h"
#include "core/style.h"

namespace snapdp::python {
namespace {

std::optional<LedgerBalance> balance_of(const HeldLedger* ledger) {
  if (ledger == nullptr) return std::nullopt;
  return ledger->with([](const Ledger& held) { return held.balance(); });
}

Facts described(const Declaration& declaration) {
  Facts facts;
  facts["dataset"] = declaration.dataset;
  facts["title"] = declaration.title;
  facts["neighbors"] = to_string(declaration.neighbors);
  facts["privacy_unit"] =
      declaration.privacy_unit ? nb::object(nb::str(declaration.privacy_unit->c_str())) : nb::none();
  facts["path"] = declaration.path.string();
  nb::list columns;
  for (const auto& [name, column] : declaration.columns) columns.append(name);
  facts["columns"] = columns;
  return facts;
}

nb::object described(const std::optional<StatisticAccuracy>& accuracy) {
  if (!accuracy) return nb::none();
  Facts facts;
  facts["tight"] = accuracy->tight;
  facts["conservative"] = accuracy->conservative;
  facts["laplace"] = accuracy->laplace;
  facts["simultaneous"] =
      accuracy->simultaneous ? nb::object(nb::float_(*accuracy->simultaneous)) : nb::none();
  return facts;
}

Facts described(const PlannedStatistic& planned) {
  const StatisticSpecification& asked = planned.specification;
  Facts facts;
  facts["name"] = asked.name;
  facts["kind"] = to_string(asked.kind);
  facts["columns"] = nb::cast(asked.columns);
  facts["group_by"] = asked.group_by ? nb::object(nb::str(asked.group_by->c_str())) : nb::none();
  facts["groups"] = planned.groups;
  facts["bins"] = nb::cast(planned.bins);
  facts["epsilon"] = to_string(planned.cost.value);
  facts["delta"] = to_string(planned.cost.delta);
  facts["loss_bound"] = to_string(planned.loss_bound);
  facts["alpha"] = to_string(asked.alpha);
  facts["accuracy"] = described(planned.accuracy);
  facts["rank_error"] = planned.hierarchy ? nb::object(nb::float_(planned.rank_error)) : nb::none();
  facts["gap"] = planned.gap ? nb::object(nb::float_(*planned.gap)) : nb::none();
  facts["constant"] =
      planned.constant ? nb::object(nb::str(to_string(*planned.constant).c_str())) : nb::none();
  nb::list measurements;
  for (const PlannedMeasurement& measured : planned.measurements) {
    Facts part;
    part["part"] = measured.part;
    part["epsilon"] = to_string(measured.epsilon);
    if (measured.measurement.is_choice()) {
      const Choice& choice = measured.measurement.choice();
      part["sensitivity"] = to_string(choice.sensitivity());
      part["scale"] = to_string(choice.scale());
      part["grid"] = to_string(measured.measurement.aggregation().output_domain().grid.spacing());
      measurements.append(part);
      continue;
    }
    const Noise& noise = measured.measurement.mechanism().noise();
    part["sensitivity"] = to_string(noise.sensitivity);
    part["scale"] = to_string(Rational(noise.scale.up()));
    part["grid"] = to_string(noise.grid.spacing());
    measurements.append(part);
  }
  facts["measurements"] = measurements;
  return facts;
}

}  // namespace

std::vector<std::string> columns_of(const Plan& plan) {
  std::vector<std::string> columns;
  const auto add = [&](const std::string& name) {
    if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
  };
  if (plan.selection().unit) add(plan.selection().unit->column);
  if (plan.selection().where) {
    for (const std::string& name : plan.selection().where->columns) add(name);
  }
  for (const PlannedStatistic& planned : plan.statistics()) {
    if (planned.specification.group_by) add(*planned.specification.group_by);
    for (const std::string& name : planned.specification.columns) add(name);
  }
  return columns;
}

std::vector<std::string> texts_of(const Plan& plan) {
  std::vector<std::string> columns;
  const auto add = [&](const std::string& name, AtomType type) {
    if (type == AtomType::text) columns.push_back(name);
  };
  if (const auto& where = plan.selection().where) {
    for (std::size_t i = 0; i < where->columns.size(); ++i) add(where->columns[i], where->types[i]);
  }
  for (const PlannedStatistic& planned : plan.statistics()) {
    const StatisticSpecification& asked = planned.specification;
    if (asked.group_by) add(*asked.group_by, asked.key_type);
    for (const std::string& name : asked.columns) add(name, asked.type.value_or(AtomType::real));
  }
  return columns;
}

void bind_plan(nb::module_& module) {
  // Both throw what Declaration does, and return (canonical TOML, facts).
  module.def(
      "declaration",
      [](const std::string& text, const std::string& name, const std::string& folder) {
        const Declaration declaration = Declaration::parse(text, name, folder);
        return std::pair(declaration.canonical_text(), described(declaration));
      },
      nb::arg("text"), nb::arg("name"), nb::arg("folder"));
  module.def(
      "read_declaration",
      [](const std::string& path) {
        const Declaration declaration = Declaration::read(path);
        return std::pair(declaration.canonical_text(), described(declaration));
      },
      nb::arg("path"));
  // The text of a specification's file, checked: (text, folder).
  module.def(
      "read_specification",
      [](const std::string& path, const std::optional<std::string>& declaration) {
        std::optional<Declaration> declared;
        if (declaration) declared = Declaration::parse(*declaration, "declaration", "");
        const Specification specification = Specification::read(path, declared);
        return std::pair(specification.text, specification.folder.string());
      },
      nb::arg("path"), nb::arg("declaration").none());

  nb::class_<HeldPlan>(module, "Plan")
      .def(nb::init<const std::string&, const std::string&, const std::string&,
                    const std::optional<std::string>&>(),
           nb::arg("text"), nb::arg("name"), nb::arg("folder"), nb::arg("declaration").none(),
           nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("epsilon", [](const HeldPlan& self) { return to_string(self.plan.epsilon()); })
      .def_prop_ro(
          "budget",
          [](const HeldPlan& self) { return to_string(self.plan.specification().budget.amount.value); })
      .def_prop_ro("label", [](const HeldPlan& self) { return self.plan.specification().label; })
      .def_prop_ro("unpaid", [](const HeldPlan& self) { return self.plan.unpaid(); })
      .def_prop_ro("affordable", [](const HeldPlan& self) { return self.plan.is_affordable(); })
      .def("require_affordable", [](const HeldPlan& self) { self.plan.require_affordable(); })
      .def_prop_ro("data", [](const HeldPlan& self) { return described(self.plan.specification().data); })
      .def_prop_ro("columns", [](const HeldPlan& self) { return columns_of(self.plan); })
      .def_prop_ro("texts", [](const HeldPlan& self) { return texts_of(self.plan); })
      .def_prop_ro("loss_bound", [](const HeldPlan& self) { return self.plan.certificate().bound_text(); })
      .def("statistics",
           [](const HeldPlan& self) {
             nb::typed<nb::list, Facts> all;
             for (const PlannedStatistic& planned : self.plan.statistics()) all.append(described(planned));
             return all;
           })
      .def(
          "warnings",
          [](const HeldPlan& self, const HeldLedger* ledger) {
            const nb::gil_scoped_release unlocked;  // whoever holds the ledger may want the interpreter
            std::vector<std::pair<std::string, std::string>> all;
            for (const PlanWarning& warning : self.plan.warnings(balance_of(ledger)))
              all.emplace_back(warning.statistic, warning.message);
            return all;
          },
          nb::arg("ledger").none())
      .def(
          "to_table",
          [](const HeldPlan& self, const HeldLedger* ledger, bool utility, std::size_t width,
             const std::string& marks, bool color) {
            const nb::gil_scoped_release unlocked;
            return self.plan.to_table(
                {.style = style_of(width, marks, color), .utility = utility, .ledger = balance_of(ledger)});
          },
          nb::arg("ledger").none(), nb::arg("utility"), nb::arg("width"), nb::arg("marks"), nb::arg("color"))
      .def(
          "to_json", [](const HeldPlan& self) { return self.plan.to_json(); },
          nb::call_guard<nb::gil_scoped_release>())
      .def(
          "to_html",
          [](const HeldPlan& self, const HeldLedger* ledger) {
            const nb::gil_scoped_release unlocked;
            return self.plan.to_html(balance_of(ledger));
          },
          nb::arg("ledger").none())
      .def(
          "explanation", [](const HeldPlan& self) { return self.plan.explanation(); },
          nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace snapdp::python
