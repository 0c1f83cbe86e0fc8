// Chains: domains, transformations, aggregations and measurements. The library alone says what fits and what it costs.
#include "core/chain.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/noise.h"
#include "core/numbers.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/law.h"
#include "snapdp/release/declaration.h"
#include "snapdp/statistics/from_parts.h"
#include "snapdp/statistics/noisy_parts.h"
#include "snapdp/statistics/quantiles.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp::python {

AtomType type_of(const std::string& name) {
  for (const AtomType type : {AtomType::real, AtomType::integer, AtomType::text}) {
    if (to_string(type) == name) return type;
  }
  throw Error(ErrorCode::invalid_argument, "type",
              "type = " + quoted_text(name) + ": must be \"real\", \"integer\" or \"text\"");
}

Bounds outward(const std::string& lower, const std::string& upper, AtomType type) {
  if (type == AtomType::integer)
    return {Dyadic(floor(parse_rational(lower, "lower")), 0),
            Dyadic(ceil(parse_rational(upper, "upper")), 0)};
  return {*bound_down(lower, "lower"), *bound_up(upper, "upper")};
}

std::vector<Dyadic> dyadics(const std::vector<std::string>& texts, const char* parameter) {
  std::vector<Dyadic> values;
  for (const std::string& text : texts)
    values.push_back(to_dyadic(parse_rational(text, parameter), parameter));
  return values;
}

namespace {

// (type, lower, upper) of each column; the bounds are both there or none.
using ColumnText = std::tuple<std::string, std::optional<std::string>, std::optional<std::string>>;
// (lower, upper) for each column.
using BoundTexts = std::vector<std::pair<std::string, std::string>>;

HeldRows rows_of(const std::vector<ColumnText>& columns, bool missing,
                 const std::optional<std::uint64_t>& size, const std::string& neighbors) {
  std::vector<AtomDomain> atoms;
  for (const auto& [name, lower, upper] : columns) {
    AtomDomain atom{type_of(name), missing, missing && name == "real", std::nullopt};
    if (lower && upper) atom.bounds = outward(*lower, *upper, atom.type);
    atoms.push_back(atom);
  }
  const VectorDomain domain(atoms);
  const Metric metric = neighbors == "hamming"      ? hamming()
                        : neighbors == "change-one" ? change_one()
                                                    : symmetric_distance();
  return {size ? domain.of_size(*size) : domain, metric};
}

std::vector<std::string> types_of(const VectorDomain& domain) {
  std::vector<std::string> types;
  for (const AtomDomain& column : domain.columns()) types.push_back(to_string(column.type));
  return types;
}

// Each step in words: what it does, what it gives, by which metric, and the distance of two outputs for the inputs'.
template <typename Part>
std::vector<std::tuple<std::string, std::string, std::string, std::optional<std::string>>> told(
    const Part& part, const std::string& d_in) {
  std::vector<std::tuple<std::string, std::string, std::string, std::optional<std::string>>> steps;
  std::optional<Rational> distance = parse_rational(d_in, "d_in");
  for (const ChainStep& step : part.steps()) {
    if (distance) distance = step.relation.tightest(*distance);
    steps.emplace_back(step.function, step.output, step.metric,
                       distance ? std::optional(to_string(*distance)) : std::nullopt);
  }
  return steps;
}

// What every part of a chain claims of distances.
template <typename Part, typename Class>
void bind_relation(Class& part, const Relation& (Part::*relation)() const) {
  part.def(
          "forward",
          [relation](const Part& self, const std::string& d_in) {
            return to_string((self.*relation)().forward(not_negative(d_in, "d_in")));
          },
          nb::arg("d_in"))
      .def(
          "backward",
          [relation](const Part& self, const std::string& d_out) {
            return to_string((self.*relation)().backward(not_negative(d_out, "d_out")));
          },
          nb::arg("d_out"))
      .def(
          "holds",
          [relation](const Part& self, const std::string& d_in, const std::string& d_out) {
            return (self.*relation)().holds(not_negative(d_in, "d_in"), not_negative(d_out, "d_out"));
          },
          nb::arg("d_in"), nb::arg("d_out"))
      .def("steps", &told<Part>, nb::arg("d_in"));
}

std::vector<Bounds> bounds_of(const HeldRows& rows, const BoundTexts& texts) {
  const std::vector<AtomDomain>& columns = rows.domain.columns();
  std::vector<Bounds> bounds;
  for (std::size_t i = 0; i < texts.size(); ++i)
    bounds.push_back(
        outward(texts[i].first, texts[i].second, i < columns.size() ? columns[i].type : AtomType::real));
  return bounds;
}

std::vector<AtomType> types_of(const std::vector<std::string>& names) {
  std::vector<AtomType> types;
  for (const std::string& name : names) types.push_back(type_of(name));
  return types;
}

// "numbers", "texts" or "edges".
Bins bins_of(const std::string& kind, const std::vector<std::string>& texts, bool other) {
  const Bins bins = kind == "texts"   ? Bins::texts(texts)
                    : kind == "edges" ? Bins::edges(dyadics(texts, "edges"))
                                      : Bins::numbers(dyadics(texts, "categories"));
  return other ? bins.with_other() : bins;
}

// A constructor that takes rows and bins.
template <typename Part>
void bind_with_bins(nb::module_& module, const char* name,
                    Part (*make)(const VectorDomain&, Metric, const Bins&)) {
  module.def(
      name, [make](const HeldRows& rows, const Bins& bins) { return make(rows.domain, rows.metric, bins); },
      nb::arg("rows"), nb::arg("bins"));
}

void bind_bins(nb::module_& module) {
  nb::class_<Bins>(module, "Bins").def_prop_ro("size", &Bins::size);
  module.def("bins", &bins_of, nb::arg("kind"), nb::arg("bins"), nb::arg("other"));
}

void bind_transformations(nb::module_& module) {
  nb::class_<Transformation> transformation(module, "Transformation");
  bind_relation<Transformation>(transformation, &Transformation::stability);
  transformation
      .def_prop_ro("output",
                   [](const Transformation& self) {
                     return HeldRows{self.output_domain(), self.output_metric()};
                   })
      .def("then", &Transformation::then, nb::arg("next"));
  module.def(
      "make_clamp",
      [](const HeldRows& rows, const BoundTexts& bounds) {
        return make_clamp(rows.domain, rows.metric, bounds_of(rows, bounds));
      },
      nb::arg("rows"), nb::arg("bounds"));
  module.def(
      "make_impute",
      [](const HeldRows& rows, const std::vector<std::string>& values) {
        return make_impute(rows.domain, rows.metric, dyadics(values, "impute"));
      },
      nb::arg("rows"), nb::arg("values"));
  module.def(
      "make_drop", [](const HeldRows& rows) { return make_drop(rows.domain, rows.metric); }, nb::arg("rows"));
  module.def(
      "make_parse",
      [](const HeldRows& rows, const std::vector<std::string>& types) {
        return make_parse(rows.domain, rows.metric, types_of(types));
      },
      nb::arg("rows"), nb::arg("types"));
  module.def(
      "make_cast",
      [](const HeldRows& rows, const std::vector<std::string>& types, bool nearest) {
        return make_cast(rows.domain, rows.metric, types_of(types),
                         nearest ? CastFailure::nearest : CastFailure::null);
      },
      nb::arg("rows"), nb::arg("types"), nb::arg("nearest"));
  module.def(
      "make_project",
      [](const HeldRows& rows, std::size_t count) { return make_project(rows.domain, rows.metric, count); },
      nb::arg("rows"), nb::arg("count"));
  bind_with_bins<Transformation>(module, "make_bin", &make_bin);
}

void bind_aggregations(nb::module_& module) {
  nb::class_<Aggregation> aggregation(module, "Aggregation");
  bind_relation<Aggregation>(aggregation, &Aggregation::stability);
  aggregation.def(
      "after", [](const Aggregation& self, const Transformation& first) { return first >> self; },
      nb::arg("first"));
  using Make = Aggregation (*)(const VectorDomain&, Metric);
  const auto simple = [&module](const char* name, Make make) {
    module.def(
        name, [make](const HeldRows& rows) { return make(rows.domain, rows.metric); }, nb::arg("rows"));
  };
  simple("make_count", &make_count);
  simple("make_sum", &make_sum);
  simple("make_mean", &make_mean);
  simple("make_variance", &make_variance);
  simple("make_covariance", &make_covariance);
  simple("make_centered_sum", &make_centered_sum);
  module.def(
      "make_moment",
      [](const HeldRows& rows, int order) { return make_moment(rows.domain, rows.metric, order); },
      nb::arg("rows"), nb::arg("order"));
  bind_with_bins<Aggregation>(module, "make_histogram", &make_histogram);
  bind_with_bins<Aggregation>(module, "make_distinct", &make_distinct_count);
  // `inner` takes the rows of one group, without their key, and gives an aggregation of them.
  module.def(
      "make_grouped",
      [](const HeldRows& rows, const Bins& keys, const nb::object& inner) {
        return make_grouped(rows.domain, rows.metric, keys, [&](const VectorDomain& rest, Metric metric) {
          return nb::cast<Aggregation>(inner(HeldRows{rest, metric}));
        });
      },
      nb::arg("rows"), nb::arg("keys"), nb::arg("inner"));
  module.def(
      "make_hierarchy",
      [](const HeldRows& rows, const HierarchyLayout& layout) {
        return make_hierarchy(rows.domain, rows.metric, layout);
      },
      nb::arg("rows"), nb::arg("layout"));
}

// A number on its way to `kind`: own, fixed, none or gamma.
RangeChoice range_of(const std::string& kind, const std::vector<std::optional<std::string>>& ends) {
  const auto end = [&](std::size_t i) {
    return ends[i] ? std::optional(parse_rational(*ends[i], "range")) : std::nullopt;
  };
  if (kind == "none") return RangeChoice::none();
  if (kind == "gamma") return RangeChoice::widened(FailureRate(*end(0), "gamma"));
  return kind == "fixed" ? RangeChoice::fixed(end(0), end(1)) : RangeChoice();
}

HeldMeasurement measured(const Aggregation& aggregation, const std::optional<std::string>& epsilon,
                         const std::optional<std::string>& delta, const std::optional<std::string>& rho,
                         const std::string& grid, const std::string& mode,
                         const std::optional<long>& precision, const std::string& noise,
                         std::uint64_t distance, const std::string& range,
                         const std::vector<std::optional<std::string>>& ends) {
  const Measurement measurement(
      aggregation,
      {.epsilon = epsilon ? positive(*epsilon, "epsilon") : Rational(0),
       .delta = positive(delta, "delta"),
       .rho = positive(rho, "rho"),
       .grid = grid_of(grid),
       .noise = noise == "gaussian" && mode == "exact" ? NoiseKind::gaussian : noise_kind(mode, noise),
       .precision = precision,
       .distance = distance,
       .range = range_of(range, ends)});
  return {Composition(measurement), {{{}, measurement}}};
}

// The same of a table's columns, of the rows that a condition keeps; of whole units, when a column says whose row it is.
// `declared` are the types of the table's columns.
HeldMeasurement on_table(const HeldMeasurement& measurement, const std::vector<std::string>& columns,
                         const std::map<std::string, std::string>& declared,
                         const std::optional<std::string>& where, const std::optional<std::string>& unit,
                         std::uint64_t max_rows) {
  std::vector<TablePart> parts = measurement.parts;
  for (TablePart& part : parts) part.columns = columns;
  RowSelection selection;
  if (unit) selection.unit = RowSelection::UnitLimit{*unit, max_rows};
  if (where) {
    std::map<std::string, AtomType> types;
    for (const auto& [name, type] : declared) types.emplace(name, type_of(type));
    selection.where = Where::parse(*where).bind(types);
  }
  return {make_on_table(selection, parts), parts, selection, true};
}

bool same_unit(const std::optional<RowSelection::UnitLimit>& first,
               const std::optional<RowSelection::UnitLimit>& second) {
  if (!first || !second) return first.has_value() == second.has_value();
  return first->column == second->column && first->max_rows == second->max_rows;
}

bool same_condition(const std::optional<RowSelection::Condition>& first,
                    const std::optional<RowSelection::Condition>& second) {
  if (!first || !second) return first.has_value() == second.has_value();
  return first->columns == second->columns && first->types == second->types &&
         first->predicate.description() == second->predicate.description();
}

// The columns that choose rows: those of the condition, and the unit's, whose cells are taken as they are.
std::vector<std::pair<std::string, std::string>> selecting(const HeldMeasurement& self) {
  std::vector<std::pair<std::string, std::string>> columns;
  if (const auto& where = self.selection.where) {
    for (std::size_t i = 0; i < where->columns.size(); ++i)
      columns.emplace_back(where->columns[i], to_string(where->types[i]));
  }
  if (self.selection.unit) columns.emplace_back(self.selection.unit->column, "");
  return columns;
}

HeldMeasurement sequential(const std::vector<const HeldMeasurement*>& all) {
  HeldMeasurement together{*all.at(0)};
  together.parts.clear();
  std::vector<Composition> compositions;
  for (const HeldMeasurement* one : all) {
    if (one->table != together.table || !same_unit(one->selection.unit, together.selection.unit) ||
        !same_condition(one->selection.where, together.selection.where)) {
      throw Error(ErrorCode::mismatch, "rows",
                  "sequential: parts start at different rows; start all of them at one rows(...)");
    }
    together.parts.insert(together.parts.end(), one->parts.begin(), one->parts.end());
    compositions.push_back(one->composition);
  }
  together.composition =
      together.table ? make_on_table(together.selection, together.parts) : make_sequential(compositions);
  return together;
}

// The epsilon that was asked for, or the rho of Gaussian noise.
std::string asked_of(const Measurement& measurement) {
  if (measurement.measure() == PrivacyMeasure::pure) return to_string(measurement.mechanism().epsilon());
  return to_string(measurement.price().rho);
}

Facts accuracy_of_part(const HeldMeasurement& self, std::size_t part, const std::string& alpha) {
  const FailureRate rate(parse_rational(alpha, "alpha"));
  Accuracy accuracy{};
  {
    const nb::gil_scoped_release unlocked;
    accuracy = self.parts.at(part).measurement.accuracy(rate);
  }
  Facts facts;
  facts["epsilon"] = asked_of(self.parts[part].measurement);
  facts["tight"] = accuracy.tight;
  facts["conservative"] = accuracy.conservative;
  facts["laplace"] = accuracy.laplace;
  return facts;
}

Facts bias_of_part(const HeldMeasurement& self, std::size_t part, const std::optional<std::string>& value) {
  const Measurement& measurement = self.parts.at(part).measurement;
  const bool integer = measurement.aggregation().output_domain().integer;
  std::optional<Rational> at;
  if (value) at = parse_rational(*value, "value");
  return bias_facts(measurement.mechanism().noise(), integer,
                    at ? std::optional(to_double_nearest(*at)) : std::nullopt, {}, {});
}

Facts described(const Measurement& measurement) {
  const Noise& noise = measurement.mechanism().noise();
  Facts facts;
  facts["description"] = measurement.aggregation().description();
  facts["epsilon"] = asked_of(measurement);
  facts["distance"] = to_string(measurement.distance());
  facts["sensitivity"] = to_string(noise.sensitivity);
  facts["scale"] = to_string(Rational(noise.scale.up()));
  facts["grid"] = to_string(noise.grid.spacing());
  facts["lower"] = nb::cast(noise.lower);
  facts["upper"] = nb::cast(noise.upper);
  facts["noise"] = noise_name(noise.kind);
  return facts;
}

void bind_measurements(nb::module_& module) {
  nb::class_<HeldMeasurement>(module, "Measurement")
      .def(
          "loss",
          [](const HeldMeasurement& self, const std::string& d_in) {
            return to_string(self.composition.loss(not_negative(d_in, "d_in")));
          },
          nb::arg("d_in"))
      .def(
          "holds",
          [](const HeldMeasurement& self, const std::string& d_in, const std::string& d_out) {
            return self.composition.privacy().holds(not_negative(d_in, "d_in"), not_negative(d_out, "d_out"));
          },
          nb::arg("d_in"), nb::arg("d_out"))
      .def_prop_ro("price",
                   [](const HeldMeasurement& self) {
                     return to_string(self.composition.price().in(self.composition.measure()).value);
                   })
      .def_prop_ro("measure",
                   [](const HeldMeasurement& self) { return to_string(self.composition.measure()); })
      .def_prop_ro("metric",
                   [](const HeldMeasurement& self) { return to_string(self.composition.input_metric()); })
      .def_prop_ro("columns",
                   [](const HeldMeasurement& self) {
                     std::vector<std::vector<std::string>> columns;
                     for (const TablePart& part : self.parts) columns.push_back(part.columns);
                     return columns;
                   })
      .def_prop_ro("dimensions",
                   [](const HeldMeasurement& self) {
                     std::vector<std::size_t> dimensions;
                     for (const TablePart& part : self.parts)
                       dimensions.push_back(part.measurement.aggregation().output_domain().dimension);
                     return dimensions;
                   })
      .def_prop_ro("types",
                   [](const HeldMeasurement& self) {
                     std::vector<std::vector<std::string>> types;
                     for (const TablePart& part : self.parts)
                       types.push_back(types_of(part.measurement.aggregation().input_domain()));
                     return types;
                   })
      .def("parts",
           [](const HeldMeasurement& self) {
             nb::typed<nb::list, Facts> all;
             for (const TablePart& part : self.parts) all.append(described(part.measurement));
             return all;
           })
      .def("accuracy", &accuracy_of_part, nb::arg("part"), nb::arg("alpha"))
      .def("bias", &bias_of_part, nb::arg("part"), nb::arg("value").none())
      .def_prop_ro("selecting", &selecting)
      .def("on_table", &on_table, nb::arg("columns"), nb::arg("declared"), nb::arg("where").none(),
           nb::arg("unit").none(), nb::arg("max_rows"));
  module.def("make_measurement", &measured, nb::arg("aggregation"), nb::arg("epsilon").none(),
             nb::arg("delta").none(), nb::arg("rho").none(), nb::arg("grid"), nb::arg("mode"),
             nb::arg("precision").none(), nb::arg("noise"), nb::arg("distance"), nb::arg("range"),
             nb::arg("ends"));
  module.def("make_sequential", &sequential, nb::arg("parts"));
}

// What a released hierarchy says of one quantile: (value, lower, upper). With those of `together` quantiles, its own among
// them, the interval holds with probability 1 - alpha.
std::tuple<double, double, double> quantile(const HierarchyLayout& layout, const HeldMeasurement& measurement,
                                            const std::vector<std::string>& tree, const std::string& q_text,
                                            const std::string& alpha, std::size_t together) {
  const Rational q = parse_rational(q_text, "q");
  const FailureRate all(parse_rational(alpha, "alpha"));
  const FailureRate rate(all.value() / Rational(together));
  const Noise& noise = measurement.parts.at(0).measurement.mechanism().noise();
  const nb::gil_scoped_release unlocked;
  std::vector<Dyadic> nodes;
  for (const std::string& node : tree) nodes.push_back(to_dyadic(parse_exact(node, "values"), "values"));
  const std::vector<Rational> counts = consistent_counts(layout, nodes);
  const double margin = quantile_margin(layout, noise, q, rate);
  const QuantileInterval interval = quantile_interval(layout, counts, q, margin);
  return {quantile_from_hierarchy(layout, counts, q), interval.lower, interval.upper};
}

NoisyPart noisy(const HeldMeasurement& self, std::size_t part, const std::string& value) {
  const Measurement& measurement = self.parts.at(part).measurement;
  const StatisticDomain& domain = measurement.aggregation().output_domain();
  const Rational rounding = domain.integer ? Rational(0) : Rational(domain.grid.spacing().rational() / 2);
  return {to_dyadic(parse_exact(value, "values"), "values"), measurement.mechanism().noise(), rounding,
          domain.integer};
}

// A part of a release: its number among the parts, and the released value.
using ReleasedText = std::pair<std::size_t, std::string>;

// Of the one column of the rows.
std::optional<Bounds> bounds_of(const HeldRows& rows) {
  const std::vector<AtomDomain>& columns = rows.domain.columns();
  return columns.size() == 1 ? columns[0].bounds : std::nullopt;
}

bool has_bounds(const HeldRows& rows, const std::string& lower, const std::string& upper) {
  const std::optional<Bounds> bounds = bounds_of(rows);
  return bounds && *bounds == outward(lower, upper, rows.domain.columns()[0].type);
}

// The mean that a released count and centered sum give, and how far it may be off with probability 1 - alpha.
std::pair<double, double> mean_of(const HeldMeasurement& self, const ReleasedText& count,
                                  const ReleasedText& sum, const HeldRows& summed, const std::string& alpha) {
  const Bounds bounds = bounds_of(summed).value();
  const FailureRate rate(parse_rational(alpha, "alpha"));
  const nb::gil_scoped_release unlocked;
  const NoisyPart rows = noisy(self, count.first, count.second);
  const NoisyPart total = noisy(self, sum.first, sum.second);
  return {mean_from_parts(bounds, rows.value, total.value), mean_accuracy(bounds, rows, total, rate)};
}

void bind_results(nb::module_& module) {
  module.def("mean_of", &mean_of, nb::arg("measurement"), nb::arg("count"), nb::arg("sum"), nb::arg("summed"),
             nb::arg("alpha"));
  nb::class_<HierarchyLayout>(module, "HierarchyLayout")
      .def("with_public_total", &HierarchyLayout::with_public_total, nb::arg("rows"));
  module.def(
      "layout",
      [](const std::vector<std::string>& edges, const std::optional<std::size_t>& branching,
         bool public_total) {
        std::vector<Dyadic> exact = dyadics(edges, "edges");
        const std::size_t leaves = exact.empty() ? 0 : exact.size() - 1;
        return HierarchyLayout(std::move(exact), branching.value_or(best_branching(leaves, public_total)));
      },
      nb::arg("edges"), nb::arg("branching").none(), nb::arg("public_total"));
  module.def("quantile", &quantile, nb::arg("layout"), nb::arg("measurement"), nb::arg("tree"), nb::arg("q"),
             nb::arg("alpha"), nb::arg("together"));
}

}  // namespace

void bind_chain(nb::module_& module) {
  nb::class_<HeldRows>(module, "Rows")
      .def(
          "__init__",
          [](HeldRows* self, const std::vector<ColumnText>& columns, bool missing,
             const std::optional<std::uint64_t>& size, const std::string& neighbors) {
            new (self) HeldRows(rows_of(columns, missing, size, neighbors));
          },
          nb::arg("columns"), nb::arg("missing"), nb::arg("size").none(), nb::arg("neighbors"))
      .def_prop_ro("types", [](const HeldRows& self) { return types_of(self.domain); })
      .def_prop_ro("size", [](const HeldRows& self) { return self.domain.size(); })
      .def("has_bounds", &has_bounds, nb::arg("lower"), nb::arg("upper"))
      .def_prop_ro("domain", [](const HeldRows& self) { return describe(Domain(self.domain)); })
      .def_prop_ro("metric", [](const HeldRows& self) { return to_string(self.metric); });
  // An exact number as people read it, rounded up: in few characters, and with at most so many digits.
  module.def(
      "short_number", [](const std::string& number) { return short_number(parse_exact(number, "number")); },
      nb::arg("number"));
  module.def(
      "round_up_to_digits",
      [](const std::string& number, int digits) {
        return round_up_to_digits(parse_exact(number, "number"), digits);
      },
      nb::arg("number"), nb::arg("digits"));
  bind_bins(module);
  bind_transformations(module);
  bind_aggregations(module);
  bind_measurements(module);
  bind_results(module);
  bind_functions(module);
  bind_payments(module);
  bind_neighbors(module);
}

}  // namespace snapdp::python
