// Python's functions as parts of chains: what they claim is their author's to prove, and the library's to use as it uses its
// own claims. Every answer is checked to be in the output domain; that it keeps the claim is not, and cannot be.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/cells.h"
#include "core/chain.h"
#include "core/numbers.h"
#include "snapdp/error.h"
#include "snapdp/statistics/rounding.h"

namespace snapdp::python {
namespace {

// Distances cross as texts, "p/q".
Relation::Map map_of(PythonFunction function) {
  return [function = std::move(function)](const Rational& distance) {
    const nb::gil_scoped_acquire locked;
    return parse_exact(nb::cast<std::string>(function(to_string(distance))), "relation");
  };
}

Relation::Map map_of(const nb::object& function) {
  return function.is_none() ? Relation::Map() : map_of(PythonFunction(function));
}

Relation predicate_relation(const nb::object& predicate, const nb::object& forward,
                            const nb::object& backward) {
  return Relation(
      [predicate = PythonFunction(predicate)](const Rational& d_in, const Rational& d_out) {
        const nb::gil_scoped_acquire locked;
        return nb::cast<bool>(predicate(to_string(d_in), to_string(d_out)));
      },
      map_of(forward), map_of(backward));
}

// Of a map alone: outputs are at most as far apart as it says.
Relation map_relation(const nb::object& map) {
  const Relation::Map forward = map_of(PythonFunction(map));
  return Relation([forward](const Rational& d_in, const Rational& d_out) { return d_out >= forward(d_in); },
                  forward);
}

nb::list list_of(const Chunk& rows) {
  nb::list all;
  for (std::size_t row = 0; row < rows.length; ++row) all.append(row_of(rows, row));
  return all;
}

[[noreturn]] void refuse_result(const std::string& name, const std::string& problem) {
  throw Error(ErrorCode::mismatch, "function",
              "function: " + name + " " + problem + "; correct it, or what is declared of it");
}

// Before it is looked into: an answer without members is not what the function owes.
void require_members(nb::handle given, const std::string& name, const char* problem) {
  if (PySequence_Check(given.ptr()) == 0 && !nb::hasattr(given, "__iter__")) refuse_result(name, problem);
}

// What a sequence holds, in one look: its length and its members may be code of anybody's.
nb::tuple tuple_of(nb::handle sequence) {
  auto members = nb::steal<nb::tuple>(PySequence_Tuple(sequence.ptr()));
  if (!members.is_valid()) throw nb::python_error();
  return members;
}

// The columns that a function gave for one block. They are the thread's until its next block, as a fold reads them.
class Answer {
 public:
  Answer(const VectorDomain& domain, const nb::object& given, const std::string& name) {
    for (const AtomDomain& atom : domain.columns()) columns_.emplace_back(atom.type);
    require_members(given, name, "gave no list of rows");
    for (const nb::handle row : given) add(row, name);
  }
  Chunk chunk() {
    std::vector<Column> all;
    for (OwnedColumn& column : columns_) all.push_back(column.column());
    return Chunk(all, columns_.empty() ? 0 : columns_[0].rows());
  }

 private:
  void add(nb::handle row, const std::string& name) {
    if (columns_.size() == 1) return columns_[0].add(row, "function");
    require_members(row, name, "gave a row that is no tuple of cells");
    const nb::tuple cells = tuple_of(row);
    if (cells.size() != columns_.size())
      refuse_result(name, "gave a row of another number of cells than its output has columns");
    for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].add(cells[i], "function");
  }
  std::vector<OwnedColumn> columns_;
};

class PythonRows final : public RowFunction {
 public:
  PythonRows(PythonFunction function, VectorDomain output, bool keeps_size, std::string name)
      : function_(std::move(function)),
        output_(std::move(output)),
        keeps_size_(keeps_size),
        name_(std::move(name)) {}
  PythonRows(const PythonRows&) = delete;
  PythonRows& operator=(const PythonRows&) = delete;
  ~PythonRows() override { answers().erase(this); }

  void transform(Chunk& rows, Scratch&) const override {
    const nb::gil_scoped_acquire locked;
    Answer answer(output_, function_(list_of(rows)), name_);
    Answer& kept = answers().insert_or_assign(this, std::move(answer)).first->second;
    const Chunk result = kept.chunk();
    if (result.length > rows.length || (keeps_size_ && result.length != rows.length)) {
      refuse_result(name_, keeps_size_ ? "gave another number of rows than it took, which is public here"
                                       : "gave more rows than it took");
    }
    if (!output_.of_unknown_size().contains(result))
      refuse_result(name_, "gave a row outside its output domain, " + describe(Domain(output_)));
    rows = result;
  }
  std::string description() const override { return name_; }

 private:
  static std::unordered_map<const PythonRows*, Answer>& answers() {
    thread_local std::unordered_map<const PythonRows*, Answer> last;
    return last;
  }

  PythonFunction function_;
  VectorDomain output_;
  bool keeps_size_;
  std::string name_;
};

// A number of Python's that is a binary fraction, exactly. What is none is refused without it: it may be private.
Dyadic dyadic_of(nb::handle given, const std::string& name) {
  const nb::object number = plain(given);
  if (PyFloat_Check(number.ptr())) {
    const double value = PyFloat_AsDouble(number.ptr());
    if (std::isfinite(value)) return Dyadic(value);
  } else if (PyLong_Check(number.ptr())) {
    return whole_dyadic(number);
  } else if (nb::hasattr(number, "numerator") && nb::hasattr(number, "denominator")) {
    const nb::object numerator = number.attr("numerator");
    const nb::object denominator = number.attr("denominator");
    const bool whole = PyLong_Check(numerator.ptr()) && PyLong_Check(denominator.ptr());
    const Integer top = whole ? whole_dyadic(numerator).rational().get_num() : Integer(0);
    const Integer bottom = whole ? whole_dyadic(denominator).rational().get_num() : Integer(0);
    if (mpz_popcount(bottom.get_mpz_t()) == 1) return to_dyadic(Rational(top, bottom), "function");
  }
  refuse_result(name, "gave what is no whole number and no finite binary fraction, as ints and floats are");
}

// What every row adds to the totals, which are summed exactly: so neither order nor splits matter.
class PythonFoldState final : public FoldState {
 public:
  PythonFoldState(PythonFunction function, std::size_t width, std::string name, Totals totals)
      : function_(std::move(function)), width_(width), name_(std::move(name)), totals_(std::move(totals)) {}

  void update(const Chunk& block) override {
    const nb::gil_scoped_acquire locked;
    for (std::size_t row = 0; row < block.length; ++row) add(function_(row_of(block, row)));
    totals_.rows = add_rows(totals_.rows, block.length);
  }
  void merge(const FoldState& other) override {
    const Totals more = other.totals();
    totals_.rows = add_rows(totals_.rows, more.rows);
    for (std::size_t i = 0; i < width_; ++i) totals_.values[i] += more.values[i];
  }
  Totals totals() const override { return totals_; }

 private:
  void add(const nb::object& given) {
    if (!nb::isinstance<nb::tuple>(given) && !nb::isinstance<nb::list>(given)) {
      if (width_ != 1)
        refuse_result(name_, "gave one number for a row, and " + std::to_string(width_) + " are declared");
      totals_.values[0] += dyadic_of(given, name_);
      return;
    }
    const nb::tuple numbers = tuple_of(given);
    if (numbers.size() != width_)
      refuse_result(
          name_, "gave another number of numbers for a row than the " + std::to_string(width_) + " declared");
    for (std::size_t i = 0; i < width_; ++i) totals_.values[i] += dyadic_of(numbers[i], name_);
  }

  PythonFunction function_;
  std::size_t width_;
  std::string name_;
  Totals totals_;
};

class PythonFold final : public Fold {
 public:
  PythonFold(PythonFunction function, std::size_t width, std::string name)
      : function_(std::move(function)), width_(width), name_(std::move(name)) {}
  std::unique_ptr<FoldState> start() const override { return restore({0, std::vector<Dyadic>(width_)}); }
  std::unique_ptr<FoldState> restore(const Totals& totals) const override {
    if (totals.values.size() != width_)
      throw Error(ErrorCode::bad_data, "state",
                  "state: it has another number of totals; fold the rows again");
    return std::make_unique<PythonFoldState>(function_, width_, name_, totals);
  }
  std::string description() const override { return name_; }

 private:
  PythonFunction function_;
  std::size_t width_;
  std::string name_;
};

// The totals themselves, or what Python makes of them, rounded to the grid once. What was said to be integers must be: to
// round them would move neighbors farther apart than is claimed of them.
Finish finish_of(const nb::object& function, const Grid& grid, bool integer, const std::string& name) {
  const auto rounded = [grid, integer, name](const Rational& value) {
    const Dyadic on_grid = grid.round(value);
    if (integer && on_grid.rational() != value)
      refuse_result(name, "gave a fraction where integers are declared (integer=True)");
    return on_grid;
  };
  if (function.is_none()) {
    return [rounded](const Totals& totals) {
      std::vector<Dyadic> values;
      for (const Dyadic& total : totals.values) values.push_back(rounded(total.rational()));
      return values;
    };
  }
  return [function = PythonFunction(function), rounded](const Totals& totals) {
    std::vector<std::string> texts;
    for (const Dyadic& total : totals.values) texts.push_back(to_string(total.rational()));
    const nb::gil_scoped_acquire locked;
    std::vector<Dyadic> values;
    for (const std::string& text : nb::cast<std::vector<std::string>>(function(totals.rows, texts)))
      values.push_back(rounded(parse_exact(text, "finish")));
    return values;
  };
}

// (type, lower, upper, missing) of each column of the output.
using OutputColumn = std::tuple<std::string, std::optional<std::string>, std::optional<std::string>, bool>;

Transformation transformation_of(const HeldRows& rows, const nb::object& function,
                                 const std::optional<std::vector<OutputColumn>>& columns,
                                 const std::string& name, const Relation& relation) {
  std::vector<AtomDomain> atoms = rows.domain.columns();
  if (columns) atoms.clear();
  for (const auto& [type, lower, upper, missing] : columns.value_or(std::vector<OutputColumn>())) {
    AtomDomain atom{type_of(type), missing, missing && type == "real", std::nullopt};
    if (lower && upper) atom.bounds = outward(*lower, *upper, atom.type);
    atoms.push_back(atom);
  }
  VectorDomain output(atoms);
  const bool keeps_size = preserves_size(rows.metric);
  if (keeps_size && rows.domain.size()) output = output.of_size(*rows.domain.size());
  return {{rows.domain, output, rows.metric, rows.metric, relation},
          std::make_shared<PythonRows>(PythonFunction(function), output, keeps_size, name)};
}

struct OutputText {
  std::size_t dimension;
  std::string grid;
  bool integer;
  std::optional<std::string> lower;
  std::optional<std::string> upper;
};

// "2^k", or a power of two.
Grid explicit_grid(const std::string& text) {
  return grid_of(text).resolve(1, false);
}

Aggregation aggregation_of(const HeldRows& rows, const nb::object& function, std::size_t width,
                           const nb::object& finish, const OutputText& output, const std::string& name,
                           const Relation& relation) {
  const Grid grid = output.integer ? Grid(0) : explicit_grid(output.grid);
  StatisticDomain domain{output.dimension, grid, output.integer, std::nullopt};
  if (output.lower && output.upper) domain.range = outward(*output.lower, *output.upper, AtomType::real);
  const Metric metric = output.dimension == 1 ? Metric::absolute_distance : Metric::l1_distance;
  return {{rows.domain, domain, rows.metric, metric, relation},
          std::make_shared<PythonFold>(PythonFunction(function), width, name),
          finish_of(finish, grid, output.integer, name)};
}

// The grid of a statistic that is c-stable before it is rounded to it, the library's own for that c unless one is given, and
// its relation on the grid. Integers are not rounded: finish_of() refuses others.
std::pair<std::string, Relation> rounded_stability(const std::string& c_text,
                                                   const std::optional<std::string>& grid_text, bool integer,
                                                   std::size_t dimension) {
  const Rational c = not_negative(c_text, "stability");
  if (integer) return {"1", Relation::stable(Grid(0).round_up(c).rational())};
  const Grid grid = grid_text ? explicit_grid(*grid_text) : c == 0 ? Grid(0) : statistic_grid(c);
  return {to_string(grid.spacing().rational()), Relation::stable(rounded_sensitivity(c, grid, dimension))};
}

}  // namespace

void bind_functions(nb::module_& module) {
  const nb::class_<Relation> relation_class(module, "Relation");
  module.def(
      "stable", [](const std::string& c) { return Relation::stable(not_negative(c, "stability")); },
      nb::arg("c"));
  module.def("map_relation", &map_relation, nb::arg("map"));
  module.def("predicate_relation", &predicate_relation, nb::arg("predicate"), nb::arg("forward").none(),
             nb::arg("backward").none());
  module.def("rounded_stability", &rounded_stability, nb::arg("c"), nb::arg("grid").none(),
             nb::arg("integer"), nb::arg("dimension"));
  module.def("make_transformation", &transformation_of, nb::arg("rows"), nb::arg("function"),
             nb::arg("columns").none(), nb::arg("name"), nb::arg("relation"));
  module.def(
      "make_aggregation",
      [](const HeldRows& rows, const nb::object& function, std::size_t width, const nb::object& finish,
         std::size_t dimension, const std::string& grid, bool integer,
         const std::optional<std::string>& lower, const std::optional<std::string>& upper,
         const std::string& name, const Relation& relation) {
        return aggregation_of(rows, function, width, finish, {dimension, grid, integer, lower, upper}, name,
                              relation);
      },
      nb::arg("rows"), nb::arg("function"), nb::arg("width"), nb::arg("finish").none(), nb::arg("dimension"),
      nb::arg("grid"), nb::arg("integer"), nb::arg("lower").none(), nb::arg("upper").none(), nb::arg("name"),
      nb::arg("relation"));
}

}  // namespace snapdp::python
