#include "snapdp/framework/composition.h"

#include <algorithm>

#include "framework/require_rows.h"
#include "framework/shared/memory_reserve.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace framework_internal;

class Composition::Node {
 public:
  // `asked` is what the authors of the measurements asked for altogether.
  Node(VectorDomain domain, Metric metric, Rational distance, Relation privacy, Rational asked,
       std::string description)
      : domain_(std::move(domain)),
        metric_(metric),
        distance_(std::move(distance)),
        privacy_(std::move(privacy)),
        price_(privacy_.holds(distance_, asked) ? std::move(asked) : privacy_.forward(distance_)),
        description_(std::move(description)) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() = default;

  const VectorDomain& domain() const { return domain_; }
  Metric metric() const { return metric_; }
  const Rational& distance() const { return distance_; }
  const Relation& privacy() const { return privacy_; }
  const Rational& price() const { return price_; }
  const std::string& description() const { return description_; }

  // Appends the exact statistics of the rows, or of what `before` gives of them.
  virtual void fold(const Chunk& rows, const Transformation* before, std::vector<ExactPart>& parts) const = 0;
  // Appends the released values; takes from `next` on the exact statistics that fold() gave.
  virtual void draw(const ExactPart*& next, SystemGenerator& generator,
                    std::vector<Dyadic>& values) const = 0;

 private:
  VectorDomain domain_;
  Metric metric_;
  Rational distance_;
  Relation privacy_;
  Rational price_;
  std::string description_;
};

namespace {

using Nodes = std::vector<std::shared_ptr<const Composition::Node>>;

// The predicate and forward map of a loss.
Relation loss_relation(const std::function<Rational(const Rational&)>& loss) {
  return Relation([loss](const Rational& d_in, const Rational& epsilon) { return epsilon >= loss(d_in); },
                  loss);
}

Rational sum_of_prices(const Nodes& nodes) {
  Rational sum = 0;
  for (const auto& node : nodes) sum += node->price();
  return sum;
}
Rational largest_price(const Nodes& nodes) {
  Rational largest = 0;
  for (const auto& node : nodes) largest = std::max(largest, node->price());
  return largest;
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

class One final : public Composition::Node {
 public:
  explicit One(const Measurement& measurement)
      : Node(measurement.aggregation().input_domain(), measurement.input_metric(), measurement.distance(),
             measurement.privacy(), measurement.price(), measurement.aggregation().description()),
        measurement_(measurement) {}

  void fold(const Chunk& rows, const Transformation* before, std::vector<ExactPart>& parts) const override {
    const Aggregation& aggregation = measurement_.aggregation();
    parts.push_back({&measurement_, before != nullptr ? (*before >> aggregation)(rows) : aggregation(rows)});
    measurement_.check(parts.back().statistic);
  }
  void draw(const ExactPart*& next, SystemGenerator& generator, std::vector<Dyadic>& values) const override {
    for (Dyadic& value : measurement_.release_paid(next->statistic, generator))
      values.push_back(std::move(value));
    ++next;
  }

 private:
  Measurement measurement_;
};

class Sequential final : public Composition::Node {
 public:
  explicit Sequential(Nodes parts)
      : Node(parts[0]->domain(), parts[0]->metric(), parts[0]->distance(),
             loss_relation([parts](const Rational& d_in) {
               Rational sum = 0;
               for (const auto& part : parts) sum += part->privacy().forward(d_in);
               return sum;
             }),
             sum_of_prices(parts), "all of " + listed(parts)),
        parts_(std::move(parts)) {}

  void fold(const Chunk& rows, const Transformation* before, std::vector<ExactPart>& parts) const override {
    for (const auto& part : parts_) part->fold(rows, before, parts);
  }
  void draw(const ExactPart*& next, SystemGenerator& generator, std::vector<Dyadic>& values) const override {
    for (const auto& part : parts_) part->draw(next, generator, values);
  }

 private:
  Nodes parts_;
};

class Parallel final : public Composition::Node {
 public:
  Parallel(const VectorDomain& domain, Nodes parts, std::vector<Transformation> selections,
           const std::string& description)
      : Node(domain, symmetric_distance(), parts[0]->distance(), loss_relation([parts](const Rational& d_in) {
               Rational largest = 0;
               for (const auto& part : parts) largest = std::max(largest, part->privacy().forward(1));
               return Rational(d_in * largest);
             }),
             largest_price(parts), description),
        parts_(std::move(parts)),
        selections_(std::move(selections)) {}

  void fold(const Chunk& rows, const Transformation* before, std::vector<ExactPart>& parts) const override {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Transformation selection = before != nullptr ? *before >> selections_[i] : selections_[i];
      parts_[i]->fold(rows, &selection, parts);
    }
  }
  void draw(const ExactPart*& next, SystemGenerator& generator, std::vector<Dyadic>& values) const override {
    for (const auto& part : parts_) part->draw(next, generator, values);
  }

 private:
  Nodes parts_;
  std::vector<Transformation> selections_;
};

class PostProcessed final : public Composition::Node {
 public:
  using Function = std::function<std::vector<Dyadic>(std::vector<Dyadic>)>;
  PostProcessed(std::shared_ptr<const Node> release, Function function, const std::string& name)
      : Node(release->domain(), release->metric(), release->distance(), release->privacy(), release->price(),
             name + " of " + release->description()),
        release_(std::move(release)),
        function_(std::move(function)) {}

  void fold(const Chunk& rows, const Transformation* before, std::vector<ExactPart>& parts) const override {
    release_->fold(rows, before, parts);
  }
  void draw(const ExactPart*& next, SystemGenerator& generator, std::vector<Dyadic>& values) const override {
    std::vector<Dyadic> released;
    release_->draw(next, generator, released);
    for (Dyadic& value : function_(std::move(released))) values.push_back(std::move(value));
  }

 private:
  std::shared_ptr<const Node> release_;
  Function function_;
};

std::size_t count_values(const std::vector<ExactPart>& parts) {
  std::size_t count = 0;
  for (const ExactPart& part : parts) count += part.statistic.size();
  return count;
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
const Rational& Composition::distance() const {
  return node_->distance();
}
const Rational& Composition::price() const {
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

Release Composition::release(const Chunk& rows, BudgetAccountant& accountant) const {
  require_rows(input_domain(), rows);
  const std::vector<ExactPart> parts = exact(rows);
  Release release{{}, price()};
  // Whatever can fail is tried before the debit.
  SystemGenerator& generator = thread_generator();
  generator.prepare();
  MemoryReserve reserve(MemoryReserve::to_draw(count_values(parts)));
  accountant.debit({price(), input_metric(), distance(), description()});
  reserve.release();
  const ExactPart* next = parts.data();
  node_->draw(next, generator, release.values);
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

Composition make_postprocessing(const Composition& release,
                                std::function<std::vector<Dyadic>(std::vector<Dyadic>)> function,
                                const std::string& name, Trusted) {
  if (!function) {
    throw Error(ErrorCode::invalid_argument, "function", "make_postprocessing: the function is missing");
  }
  return Composition(std::make_shared<PostProcessed>(release.node_, std::move(function), name));
}

}  // namespace snapdp
