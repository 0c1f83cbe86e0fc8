#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "framework/shared/row_language.h"
#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"
#include "snapdp/framework/transformation.h"

namespace snapdp {

using namespace framework_internal;
using namespace numeric_internal;

class Predicate::Node {
 public:
  virtual ~Node() = default;
  virtual void evaluate(const Chunk& block, std::uint8_t* holds) const = 0;
  virtual void require_fits(const VectorDomain& domain) const = 0;
  virtual std::string description() const = 0;
  virtual std::string told(ConditionLanguage& language) const = 0;
};

namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, "where", "where: " + message);
}

template <typename Value>
bool compare_values(Comparison comparison, const Value& a, const Value& b) {
  switch (comparison) {
    case Comparison::equal:
      return a == b;
    case Comparison::not_equal:
      return a != b;
    case Comparison::less:
      return a < b;
    case Comparison::at_most:
      return a <= b;
    case Comparison::greater:
      return a > b;
    case Comparison::at_least:
      break;
  }
  return a >= b;
}

template <typename Value>
const Value* cells(const Column& column) {
  return static_cast<const Value*>(column.values);
}

bool is_missing(double value) {
  return std::isnan(value);
}
bool is_missing(std::int64_t) {
  return false;
}
bool is_missing(std::string_view) {
  return false;
}

// A comparison of one column with a constant of its type.
template <typename Value, typename Constant, AtomType type>
class Compared final : public Predicate::Node {
 public:
  Compared(std::size_t column, Comparison comparison, Constant constant, std::string shown)
      : column_(column), comparison_(comparison), constant_(std::move(constant)), shown_(std::move(shown)) {}

  void evaluate(const Chunk& block, std::uint8_t* holds) const override {
    const Column& column = block.column[column_];
    const Value* values = cells<Value>(column);
    const Value constant = constant_;
    for (std::size_t row = 0; row < block.length; ++row) {
      holds[row] =
          column.valid(row) && !is_missing(values[row]) && compare_values(comparison_, values[row], constant);
    }
  }
  void require_fits(const VectorDomain& domain) const override {
    if (column_ >= domain.columns().size() || domain.columns()[column_].type != type) {
      refuse("column #" + std::to_string(column_) + " is compared as " +
             describe(AtomDomain{type, false, false, {}}) + ", but the rows are " + describe(Domain(domain)));
    }
  }
  std::string description() const override {
    return "#" + std::to_string(column_) + " " + to_string(comparison_) + " " + shown_;
  }
  std::string told(ConditionLanguage& language) const override {
    return language.compare(column_, comparison_, constant_);
  }

 private:
  std::size_t column_;
  Comparison comparison_;
  Constant constant_;
  std::string shown_;
};

// A condition that holds for every non-missing cell of an integer column, or for none: the constant lies beyond the
// 64-bit integers, or between two of them.
class Decided final : public Predicate::Node {
 public:
  Decided(std::size_t column, bool holds, std::string shown)
      : column_(column), holds_(holds), shown_(std::move(shown)) {}
  void evaluate(const Chunk& block, std::uint8_t* holds) const override {
    for (std::size_t row = 0; row < block.length; ++row)
      holds[row] = holds_ && block.column[column_].valid(row);
  }
  void require_fits(const VectorDomain& domain) const override {
    if (column_ >= domain.columns().size() || domain.columns()[column_].type != AtomType::integer) {
      refuse("column #" + std::to_string(column_) + " is compared as an integer, but the rows are " +
             describe(Domain(domain)));
    }
  }
  std::string description() const override { return "#" + std::to_string(column_) + " " + shown_; }
  std::string told(ConditionLanguage& language) const override { return language.decided(column_, holds_); }

 private:
  std::size_t column_;
  bool holds_;
  std::string shown_;
};

class Joined final : public Predicate::Node {
 public:
  Joined(bool all, std::vector<std::shared_ptr<const Predicate::Node>> parts)
      : all_(all), parts_(std::move(parts)) {}
  void evaluate(const Chunk& block, std::uint8_t* holds) const override {
    parts_.front()->evaluate(block, holds);
    std::array<std::uint8_t, block_rows> next;
    for (std::size_t i = 1; i < parts_.size(); ++i) {
      parts_[i]->evaluate(block, next.data());
      for (std::size_t row = 0; row < block.length; ++row) {
        holds[row] = all_ ? holds[row] & next[row] : holds[row] | next[row];
      }
    }
  }
  void require_fits(const VectorDomain& domain) const override {
    for (const auto& part : parts_) part->require_fits(domain);
  }
  std::string description() const override {
    std::string text = "(";
    for (const auto& part : parts_)
      text += (text.size() == 1 ? "" : all_ ? " and " : " or ") + part->description();
    return text + ")";
  }
  std::string told(ConditionLanguage& language) const override {
    std::vector<std::string> texts;
    for (const auto& part : parts_) texts.push_back(part->told(language));
    return language.joined(all_, texts);
  }

 private:
  bool all_;
  std::vector<std::shared_ptr<const Predicate::Node>> parts_;
};

class Negated final : public Predicate::Node {
 public:
  explicit Negated(std::shared_ptr<const Predicate::Node> part) : part_(std::move(part)) {}
  void evaluate(const Chunk& block, std::uint8_t* holds) const override {
    part_->evaluate(block, holds);
    for (std::size_t row = 0; row < block.length; ++row) holds[row] ^= 1;
  }
  void require_fits(const VectorDomain& domain) const override { part_->require_fits(domain); }
  std::string description() const override { return "not " + part_->description(); }
  std::string told(ConditionLanguage& language) const override {
    return language.negated(part_->told(language));
  }

 private:
  std::shared_ptr<const Predicate::Node> part_;
};

using RealNode = Compared<double, double, AtomType::real>;
using IntegerNode = Compared<std::int64_t, std::int64_t, AtomType::integer>;
using TextNode = Compared<std::string_view, std::string, AtomType::text>;

std::shared_ptr<const Predicate::Node> integer_node(std::size_t column, Comparison comparison,
                                                    const Rational& number) {
  // On integers, x < c is x < ceil(c) and x <= c is x <= floor(c).
  const bool whole = number.get_den() == 1;
  const bool from_above = comparison == Comparison::less || comparison == Comparison::at_least;
  const Integer edge = from_above ? ceil(number) : floor(number);
  const std::string shown = to_string(comparison) + " " + to_string(number);
  const bool equality = comparison == Comparison::equal || comparison == Comparison::not_equal;
  if (equality && !(whole && edge.fits_slong_p())) {
    return std::make_shared<Decided>(column, comparison == Comparison::not_equal, shown);
  }
  if (!edge.fits_slong_p()) {
    const bool below = comparison == Comparison::less || comparison == Comparison::at_most;
    return std::make_shared<Decided>(column, below == (edge > 0), shown);
  }
  return std::make_shared<IntegerNode>(column, comparison, edge.get_si(), to_string(number));
}

}  // namespace

std::string to_string(Comparison comparison) {
  switch (comparison) {
    case Comparison::equal:
      return "=";
    case Comparison::not_equal:
      return "!=";
    case Comparison::less:
      return "<";
    case Comparison::at_most:
      return "<=";
    case Comparison::greater:
      return ">";
    case Comparison::at_least:
      break;
  }
  return ">=";
}

Predicate Predicate::compare(std::size_t column, AtomType type, Comparison comparison,
                             const Rational& number) {
  const FloatEnvironment environment;
  switch (type) {
    case AtomType::real: {
      const double nearest = to_double_nearest(number);
      if (!std::isfinite(nearest))
        refuse(to_string(number) + " is beyond the largest double; compare with a smaller number");
      return Predicate(std::make_shared<RealNode>(column, comparison, nearest, to_string(number)));
    }
    case AtomType::integer:
      return Predicate(integer_node(column, comparison, number));
    case AtomType::text:
      break;
  }
  refuse("text cannot be compared with the number " + to_string(number) + "; put it in quotes");
}

Predicate Predicate::compare(std::size_t column, Comparison comparison, std::string text) {
  const FloatEnvironment environment;
  if (comparison != Comparison::equal && comparison != Comparison::not_equal) {
    refuse("texts have no order here; use =, != or in");
  }
  std::string shown = std::to_string(text.size()) + ":" + text;
  return Predicate(std::make_shared<TextNode>(column, comparison, std::move(text), std::move(shown)));
}

Predicate Predicate::one_of(std::size_t column, AtomType type, const std::vector<Rational>& numbers) {
  const FloatEnvironment environment;
  if (numbers.empty()) refuse("in needs at least one constant");
  std::vector<std::shared_ptr<const Node>> parts;
  for (const Rational& number : numbers)
    parts.push_back(compare(column, type, Comparison::equal, number).node_);
  return Predicate(std::make_shared<Joined>(false, std::move(parts)));
}

Predicate Predicate::one_of(std::size_t column, const std::vector<std::string>& texts) {
  const FloatEnvironment environment;
  if (texts.empty()) refuse("in needs at least one constant");
  std::vector<std::shared_ptr<const Node>> parts;
  for (const std::string& text : texts) parts.push_back(compare(column, Comparison::equal, text).node_);
  return Predicate(std::make_shared<Joined>(false, std::move(parts)));
}

Predicate Predicate::operator&&(const Predicate& other) const {
  return Predicate(std::make_shared<Joined>(true, std::vector{node_, other.node_}));
}
Predicate Predicate::operator||(const Predicate& other) const {
  return Predicate(std::make_shared<Joined>(false, std::vector{node_, other.node_}));
}
Predicate Predicate::operator!() const {
  return Predicate(std::make_shared<Negated>(node_));
}

void Predicate::evaluate(const Chunk& block, std::uint8_t* holds) const {
  const FloatEnvironment environment;
  node_->evaluate(block, holds);
}
void Predicate::require_fits(const VectorDomain& domain) const {
  node_->require_fits(domain);
}
std::string Predicate::description() const {
  return node_->description();
}
std::string Predicate::told(ConditionLanguage& language) const {
  return node_->told(language);
}

}  // namespace snapdp
