#include "snapdp/framework/composition.h"

#include <algorithm>

#include "framework/require_rows.h"
#include "framework/shared/memory_reserve.h"
#include "framework/shared/paid.h"
#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;
using namespace framework_internal;

class Composition::Node {
 public:
  // `asked` is what the authors of the measurements asked for altogether.
  Node(VectorDomain domain, Metric metric, Rational distance, PrivacyMeasure measure, Relation privacy,
       PrivacyLoss asked, std::string description)
      : measure_(measure),
        domain_(std::move(domain)),
        metric_(metric),
        distance_(std::move(distance)),
        privacy_(std::move(privacy)),
        price_(proved_price(std::move(asked))),
        description_(std::move(description)) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() = default;

  const VectorDomain& domain() const { return domain_; }
  Metric metric() const { return metric_; }
  PrivacyMeasure measure() const { return measure_; }
  const Rational& distance() const { return distance_; }
  const Relation& privacy() const { return privacy_; }
  const PrivacyLoss& price() const { return price_; }
  const std::string& description() const { return description_; }
  // Of distances in privacy units, the column that tells whose row it is.
  virtual std::string unit() const { return {}; }
  // How many functions of released values follow one another: each holds values of its own.
  virtual std::size_t postprocessings() const { return 0; }

  // Appends the exact statistics of the rows, or of what `before` gives of them.
  virtual void fold(const Chunk& rows, const Transformation* before, std::vector<ExactPart>& parts) const = 0;
  // Appends the exact statistics of a table.
  virtual void fold(Source& table, const Progress& progress, std::vector<ExactPart>& parts) const = 0;
  // Appends the released values; takes from `next` on, and uses up, the exact statistics that fold() gave.
  virtual void draw(ExactPart*& next, const Paid& paid, std::vector<Dyadic>& values) const = 0;

 protected:
  static void append_noisy(ExactPart& part, const Paid& paid, std::vector<Dyadic>& values) {
    for (Dyadic& value : part.measurement->draw(std::move(part.statistic), paid))
      values.push_back(std::move(value));
  }

 private:
  PrivacyLoss proved_price(PrivacyLoss asked) const {
    if (privacy_.holds(distance_, asked.in(measure_).value)) return asked;
    const Rational proved = privacy_.forward(distance_);
    return measure_ == PrivacyMeasure::pure ? PrivacyLoss(proved) : PrivacyLoss::gaussian(proved);
  }

  PrivacyMeasure measure_;
  VectorDomain domain_;
  Metric metric_;
  Rational distance_;
  Relation privacy_;
  PrivacyLoss price_;
  std::string description_;
};

namespace {

using Nodes = std::vector<std::shared_ptr<const Composition::Node>>;

// The predicate and forward map of a loss.
Relation loss_relation(const std::function<Rational(const Rational&)>& loss) {
  return Relation([loss](const Rational& d_in, const Rational& epsilon) { return epsilon >= loss(d_in); },
                  loss);
}

// Of measurements on the same input.
Relation sum_of_losses(const std::vector<Relation>& parts) {
  return loss_relation([parts](const Rational& d_in) {
    Rational sum = 0;
    for (const Relation& part : parts) sum += part.forward(d_in);
    return sum;
  });
}

// What counts all the parts: pure, unless one of them is not.
PrivacyMeasure measure_of(const std::vector<PrivacyMeasure>& parts) {
  const bool pure = std::all_of(parts.begin(), parts.end(),
                                [](PrivacyMeasure part) { return part == PrivacyMeasure::pure; });
  return pure ? PrivacyMeasure::pure : PrivacyMeasure::zcdp;
}
PrivacyMeasure measure_of(const Nodes& nodes) {
  std::vector<PrivacyMeasure> parts;
  for (const auto& node : nodes) parts.push_back(node->measure());
  return measure_of(parts);
}

// A relation of the measure `from` in the measure `to`.
Relation converted(const Relation& relation, PrivacyMeasure from, PrivacyMeasure to) {
  if (from == to) return relation;
  return loss_relation([relation](const Rational& d_in) { return pure_to_zcdp(relation.forward(d_in)); });
}

std::vector<Relation> relations_of(const Nodes& nodes) {
  std::vector<Relation> relations;
  for (const auto& node : nodes)
    relations.push_back(converted(node->privacy(), node->measure(), measure_of(nodes)));
  return relations;
}

PrivacyLoss sum_of_prices(const Nodes& nodes) {
  PrivacyLoss sum;
  for (const auto& node : nodes) sum += node->price();
  return sum;
}
PrivacyLoss largest_price(const Nodes& nodes) {
  PrivacyLoss largest;
  for (const auto& node : nodes) largest = larger(largest, node->price());
  return largest;
}

std::size_t most_postprocessings(const Nodes& nodes) {
  std::size_t most = 0;
  for (const auto& node : nodes) most = std::max(most, node->postprocessings());
  return most;
}

std::string listed(const Nodes& nodes) {
  std::string text;
  for (const auto& node : nodes) text += (text.empty() ? "" : "; ") + node->description();
  return "(" + text + ")";
}

void require_parts(std::size_t count, const char* what) {
  if (count == 0) {
    throw Error(ErrorCode::invalid_argument, "parts",
                std::string(what) + ": there are no parts; give at least one measurement");
  }
}

void require_distance(const Composition::Node& first, const Composition::Node& other, const char* what) {
  if (first.distance() == other.distance()) return;
  throw Error(ErrorCode::mismatch, "distance",
              std::string(what) + ": parts protect neighbors at distance " + to_string(first.distance()) +
                  " and " + to_string(other.distance()) + "; give all measurements one distance");
}

[[noreturn]] void refuse_table(const VectorDomain& domain) {
  throw Error(ErrorCode::mismatch, "domain",
              "domain: the measurements take " + describe(Domain(domain)) +
                  ", not a table; say which of its columns each of them takes, with make_on_table");
}

class One final : public Composition::Node {
 public:
  explicit One(const Measurement& measurement)
      : Node(measurement.aggregation().input_domain(), measurement.input_metric(), measurement.distance(),
             measurement.measure(), measurement.privacy(), measurement.price(),
             measurement.aggregation().description()),
        measurement_(measurement) {}

  void fold(const Chunk& rows, const Transformation* before, std::vector<ExactPart>& parts) const override {
    const Aggregation& aggregation = measurement_.aggregation();
    parts.push_back({&measurement_, before != nullptr ? (*before >> aggregation)(rows) : aggregation(rows)});
    measurement_.check(parts.back().statistic);
  }
  void fold(Source&, const Progress&, std::vector<ExactPart>&) const override { refuse_table(domain()); }
  void draw(ExactPart*& next, const Paid& paid, std::vector<Dyadic>& values) const override {
    append_noisy(*next++, paid, values);
  }

 private:
  Measurement measurement_;
};

class Sequential final : public Composition::Node {
 public:
  explicit Sequential(Nodes parts)
      : Node(parts[0]->domain(), parts[0]->metric(), parts[0]->distance(), measure_of(parts),
             sum_of_losses(relations_of(parts)), sum_of_prices(parts), "all of " + listed(parts)),
        parts_(std::move(parts)) {}

  std::string unit() const override { return parts_[0]->unit(); }
  std::size_t postprocessings() const override { return most_postprocessings(parts_); }

  void fold(const Chunk& rows, const Transformation* before, std::vector<ExactPart>& parts) const override {
    for (const auto& part : parts_) part->fold(rows, before, parts);
  }
  void fold(Source& table, const Progress& progress, std::vector<ExactPart>& parts) const override {
    for (const auto& part : parts_) part->fold(table, progress, parts);
  }
  void draw(ExactPart*& next, const Paid& paid, std::vector<Dyadic>& values) const override {
    for (const auto& part : parts_) part->draw(next, paid, values);
  }

 private:
  Nodes parts_;
};

class Parallel final : public Composition::Node {
 public:
  Parallel(const VectorDomain& domain, Nodes parts, std::vector<Transformation> selections,
           const std::string& description)
      : Node(domain, symmetric_distance(), parts[0]->distance(), measure_of(parts),
             loss_relation([relations = relations_of(parts),
                            pure = measure_of(parts) == PrivacyMeasure::pure](const Rational& d_in) {
               // Group privacy: d rows lose d times an epsilon, and d^2 times a rho (Bun and Steinke 2016,
               // Proposition 1.9), at worst all in one part.
               Rational largest = 0;
               for (const Relation& part : relations) largest = std::max(largest, part.forward(1));
               return Rational((pure ? d_in : d_in * d_in) * largest);
             }),
             largest_price(parts), description),
        parts_(std::move(parts)),
        selections_(std::move(selections)) {}

  std::size_t postprocessings() const override { return most_postprocessings(parts_); }

  void fold(const Chunk& rows, const Transformation* before, std::vector<ExactPart>& parts) const override {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Transformation selection = before != nullptr ? *before >> selections_[i] : selections_[i];
      parts_[i]->fold(rows, &selection, parts);
    }
  }
  void fold(Source&, const Progress&, std::vector<ExactPart>&) const override { refuse_table(domain()); }
  void draw(ExactPart*& next, const Paid& paid, std::vector<Dyadic>& values) const override {
    for (const auto& part : parts_) part->draw(next, paid, values);
  }

 private:
  Nodes parts_;
  std::vector<Transformation> selections_;
};

class PostProcessed final : public Composition::Node {
 public:
  using Function = std::function<std::vector<Dyadic>(std::vector<Dyadic>)>;
  PostProcessed(std::shared_ptr<const Node> release, Function function, const std::string& name)
      : Node(release->domain(), release->metric(), release->distance(), release->measure(),
             release->privacy(), release->price(), name + " of " + release->description()),
        release_(std::move(release)),
        function_(std::move(function)) {}

  std::string unit() const override { return release_->unit(); }
  std::size_t postprocessings() const override { return 1 + release_->postprocessings(); }

  void fold(const Chunk& rows, const Transformation* before, std::vector<ExactPart>& parts) const override {
    release_->fold(rows, before, parts);
  }
  void fold(Source& table, const Progress& progress, std::vector<ExactPart>& parts) const override {
    release_->fold(table, progress, parts);
  }
  void draw(ExactPart*& next, const Paid& paid, std::vector<Dyadic>& values) const override {
    std::vector<Dyadic> released;
    release_->draw(next, paid, released);
    for (Dyadic& value : function_(std::move(released))) values.push_back(std::move(value));
  }

 private:
  std::shared_ptr<const Node> release_;
  Function function_;
};

class OnTable final : public Composition::Node {
 public:
  OnTable(Metric metric, PrivacyMeasure measure, Relation privacy, PrivacyLoss asked, RowSelection selection,
          std::vector<TablePart> parts, const std::string& description)
      : Node(VectorDomain({}), metric, 1, measure, std::move(privacy), std::move(asked), description),
        selection_(std::move(selection)),
        parts_(std::move(parts)) {}

  std::string unit() const override { return selection_.unit ? selection_.unit->column : ""; }

  void fold(const Chunk&, const Transformation*, std::vector<ExactPart>&) const override {
    throw Error(ErrorCode::mismatch, "rows", "rows: the measurements take columns of a table; give a Source");
  }
  void fold(Source& table, const Progress& progress, std::vector<ExactPart>& parts) const override {
    std::vector<FoldRequest> requests;
    for (const TablePart& part : parts_)
      requests.push_back({part.columns, &part.measurement.aggregation(), part.groups});
    const FoldResult result = table.fold(selection_, requests, progress);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Measurement& measurement = parts_[i].measurement;
      require_size(measurement.aggregation().input_domain(), result.rows);
      parts.push_back({&measurement, measurement.aggregation().finish(result.states[i])});
      measurement.check(parts.back().statistic);
    }
  }
  void draw(ExactPart*& next, const Paid& paid, std::vector<Dyadic>& values) const override {
    for (std::size_t i = 0; i < parts_.size(); ++i) append_noisy(*next++, paid, values);
  }

 private:
  static void require_size(const VectorDomain& domain, std::uint64_t rows) {
    if (!domain.size() || *domain.size() == rows) return;
    throw Error(
        ErrorCode::bad_data, "rows",
        "rows: the table does not have the " + std::to_string(*domain.size()) +
            " rows that the measurements are for; under change-one their number is public and must be "
            "given exactly");
  }

  RowSelection selection_;
  std::vector<TablePart> parts_;
};

std::size_t count_values(const std::vector<ExactPart>& parts) {
  std::size_t count = 0;
  for (const ExactPart& part : parts) count += part.statistic.size();
  return count;
}

std::size_t memory_after_the_debit(const std::vector<ExactPart>& parts, std::size_t postprocessings) {
  // A vector of values that grows by doubling takes 72 bytes a value, and a function has its argument and its result.
  constexpr std::size_t of_function = 256;
  std::size_t bytes = count_values(parts) * postprocessings * of_function;
  std::size_t of_decision = 0;
  for (const ExactPart& part : parts) {
    bytes += memory_to_draw(*part.measurement);
    of_decision = std::max(of_decision, memory_to_decide(*part.measurement));
  }
  return bytes + of_decision;
}

}  // namespace

Composition::Composition(const Measurement& measurement) : node_(std::make_shared<One>(measurement)) {}

const VectorDomain& Composition::input_domain() const {
  return node_->domain();
}
Metric Composition::input_metric() const {
  return node_->metric();
}
const Relation& Composition::privacy() const {
  return node_->privacy();
}
PrivacyMeasure Composition::measure() const {
  return node_->measure();
}
const Rational& Composition::distance() const {
  return node_->distance();
}
const PrivacyLoss& Composition::price() const {
  return node_->price();
}
const std::string& Composition::description() const {
  return node_->description();
}

std::vector<ExactPart> Composition::exact(const Chunk& rows) const {
  std::vector<ExactPart> parts;
  node_->fold(rows, nullptr, parts);
  return parts;
}

std::vector<ExactPart> Composition::exact(Source& table, const Progress& progress) const {
  std::vector<ExactPart> parts;
  node_->fold(table, progress, parts);
  return parts;
}

Release Composition::release(const Chunk& rows, BudgetAccountant& accountant) const {
  const FloatEnvironment environment;
  require_rows(input_domain(), rows);
  return pay_and_draw(exact(rows), accountant);
}

Release Composition::release(Source& table, BudgetAccountant& accountant, const Progress& progress) const {
  const FloatEnvironment environment;
  return pay_and_draw(exact(table, progress), accountant);
}

Release Composition::pay_and_draw(std::vector<ExactPart> parts, BudgetAccountant& accountant) const {
  Release release{{}, price()};
  release.values.reserve(count_values(parts));
  const Paid paid({price(), input_metric(), distance(), description(), node_->unit()}, accountant,
                  memory_after_the_debit(parts, node_->postprocessings()));
  ExactPart* next = parts.data();
  node_->draw(next, paid, release.values);
  return release;
}

Composition make_sequential(const std::vector<Composition>& parts) {
  require_parts(parts.size(), "make_sequential");
  Nodes nodes;
  for (const Composition& part : parts) {
    if (!(part.input_domain() == parts[0].input_domain())) {
      throw Error(ErrorCode::mismatch, "domain",
                  "make_sequential: parts take " + describe(Domain(parts[0].input_domain())) + " and " +
                      describe(Domain(part.input_domain())) + "; build all of them on one input domain");
    }
    if (part.input_metric() != parts[0].input_metric()) {
      throw Error(ErrorCode::mismatch, "metric",
                  "make_sequential: parts measure their inputs by the " + to_string(parts[0].input_metric()) +
                      " and by the " + to_string(part.input_metric()) + "; use one metric for all");
    }
    if (part.node_->unit() != parts[0].node_->unit()) {
      throw Error(ErrorCode::mismatch, "unit",
                  "make_sequential: parts protect the privacy units in " +
                      quoted_text(parts[0].node_->unit()) + " and in " + quoted_text(part.node_->unit()) +
                      ", and losses for the two do not add up; use one unit for all");
    }
    require_distance(*parts[0].node_, *part.node_, "make_sequential");
    nodes.push_back(part.node_);
  }
  return Composition(std::make_shared<Sequential>(std::move(nodes)));
}

Composition make_parallel(const VectorDomain& domain, Metric metric, const std::vector<ParallelPart>& parts) {
  if (metric != symmetric_distance()) {
    throw Error(ErrorCode::mismatch, "metric",
                "make_parallel needs the symmetric distance, not the " + to_string(metric) +
                    ": a replaced row may leave one part and enter another, which costs both; use "
                    "symmetric_distance(), or make_sequential");
  }
  require_parts(parts.size(), "make_parallel");
  Nodes nodes;
  std::vector<Transformation> selections;
  std::string description;
  std::optional<Predicate> earlier;
  for (const ParallelPart& part : parts) {
    selections.push_back(make_select(domain, metric, earlier ? part.rows && !*earlier : part.rows));
    earlier = earlier ? *earlier || part.rows : part.rows;
    const VectorDomain& selected = selections.back().output_domain();
    if (!(part.release.input_domain() == selected) || part.release.input_metric() != metric) {
      throw Error(ErrorCode::mismatch, "domain",
                  "make_parallel: a part takes " + describe(Domain(part.release.input_domain())) +
                      " by the " + to_string(part.release.input_metric()) + ", its rows are " +
                      describe(Domain(selected)) + " by the " + to_string(metric) + "; build it on these");
    }
    require_distance(*parts[0].release.node_, *part.release.node_, "make_parallel");
    nodes.push_back(part.release.node_);
    description +=
        (description.empty() ? "" : "; ") + part.rows.description() + ": " + part.release.description();
  }
  return Composition(std::make_shared<Parallel>(domain, std::move(nodes), std::move(selections),
                                                "the first that applies of (" + description + ")"));
}

namespace {

// What a privacy unit's rows are to one part. `selected` says how many of them remain.
UnitLimit limit_for(const RowSelection::UnitLimit& selected, const TablePart& part) {
  std::optional<GroupLimit> groups;
  if (part.groups) groups = GroupLimit{part.groups->max_groups, part.groups->max_rows};
  return make_unit_limit(selected.max_rows, groups);
}

void require_part(const RowSelection& selection, const TablePart& part) {
  const Measurement& measurement = part.measurement;
  const std::size_t takes = measurement.aggregation().input_domain().columns().size();
  if (part.columns.size() != takes) {
    throw Error(ErrorCode::mismatch, "columns",
                "make_on_table: " + std::to_string(part.columns.size()) + " columns are named, \"" +
                    measurement.aggregation().description() + "\" takes " + std::to_string(takes));
  }
  // Cells come as they are; a number of rows is public only where neighbors have the same.
  const VectorDomain& domain = measurement.aggregation().input_domain();
  std::vector<AtomType> types;
  for (const AtomDomain& column : domain.columns()) types.push_back(column.type);
  if (domain.columns() != untrusted_domain(types).columns() ||
      (domain.size() && !preserves_size(measurement.input_metric()))) {
    throw Error(
        ErrorCode::mismatch, "domain",
        "make_on_table: \"" + measurement.aggregation().description() + "\" takes " +
            describe(Domain(domain)) +
            ", but a table has any cells, and a public number of rows only under change-one; start its "
            "chain at an untrusted_domain()");
  }
  const bool selects = selection.where || selection.unit || part.groups;
  if (selects && measurement.input_metric() != symmetric_distance()) {
    throw Error(ErrorCode::mismatch, "metric",
                "make_on_table: where some rows are left out, neighbors must be measured by the symmetric "
                "distance, not the " +
                    to_string(measurement.input_metric()));
  }
  if (part.groups && !selection.unit) {
    throw Error(ErrorCode::mismatch, "groups",
                "make_on_table: a limit on groups is one on those of a privacy unit; name the unit");
  }
  const Rational most =
      selection.unit
          ? Rational(Integer(static_cast<unsigned long>(limit_for(*selection.unit, part).most_rows())))
          : Rational(1);
  if (measurement.distance() == most) return;
  throw Error(ErrorCode::mismatch, "distance",
              "make_on_table: a measurement protects neighbors at distance " +
                  to_string(measurement.distance()) + ", in this table they are " + to_string(most) +
                  " rows apart; give NoiseOptions::distance = " + to_string(most));
}

}  // namespace

Composition make_on_table(const RowSelection& selection, std::vector<TablePart> parts) {
  require_parts(parts.size(), "make_on_table");
  if (selection.where) {
    if (selection.where->columns.size() != selection.where->types.size()) {
      throw Error(ErrorCode::mismatch, "where",
                  "make_on_table: the condition names " + std::to_string(selection.where->columns.size()) +
                      " columns and " + std::to_string(selection.where->types.size()) +
                      " types; give one type a column");
    }
    selection.where->predicate.require_fits(untrusted_domain(selection.where->types));
  }
  std::vector<PrivacyMeasure> measures;
  for (const TablePart& part : parts) measures.push_back(part.measurement.measure());
  const PrivacyMeasure measure = measure_of(measures);
  std::vector<Relation> relations;
  PrivacyLoss asked;
  std::string description;
  for (const TablePart& part : parts) {
    require_part(selection, part);
    const Measurement& measurement = part.measurement;
    if (measurement.input_metric() != parts[0].measurement.input_metric()) {
      throw Error(ErrorCode::mismatch, "metric",
                  "make_on_table: parts measure their inputs by the " +
                      to_string(parts[0].measurement.input_metric()) + " and by the " +
                      to_string(measurement.input_metric()) + "; use one metric for all");
    }
    const Relation privacy = converted(measurement.privacy(), measurement.measure(), measure);
    relations.push_back(
        selection.unit ? Relation::chain(limit_for(*selection.unit, part).stability(), privacy) : privacy);
    asked += measurement.price();
    description += (description.empty() ? "" : "; ") + measurement.aggregation().description();
  }
  const Metric metric = selection.unit ? Metric::unit_distance : parts[0].measurement.input_metric();
  return Composition(std::make_shared<OnTable>(metric, measure, sum_of_losses(relations), asked, selection,
                                               std::move(parts), "all of a table's (" + description + ")"));
}

Composition make_postprocessing(const Composition& release,
                                std::function<std::vector<Dyadic>(std::vector<Dyadic>)> function,
                                const std::string& name, Trusted) {
  if (!function) {
    throw Error(ErrorCode::invalid_argument, "function", "make_postprocessing: the function is missing");
  }
  return Composition(std::make_shared<PostProcessed>(release.node_, std::move(function), name));
}

}  // namespace snapdp
