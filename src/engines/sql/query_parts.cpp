#include "engines/sql/query_parts.h"

#include <algorithm>
#include <utility>

namespace snapdp::engines_internal {
namespace {

// Products are 64-bit integers with room to spare.
constexpr unsigned product_bits = 62;
// Databases have limits on the columns of a SELECT, 1,600 in PostgreSQL: a part with so many takes no further statistic.
constexpr std::size_t most_columns = 500;
// Sums of so many bits over SqlQuery::most_rows rows as well.
constexpr unsigned word_bits = 22;

std::size_t place_in(std::vector<std::string>& texts, const std::string& text) {
  const auto found = std::find(texts.begin(), texts.end(), text);
  if (found != texts.end()) return static_cast<std::size_t>(found - texts.begin());
  texts.push_back(text);
  return texts.size() - 1;
}

Integer power_of_two(unsigned exponent) {
  return Integer(1) << exponent;
}

}  // namespace

unsigned bits_of(const Integer& most) {
  return most == 0 ? 1 : static_cast<unsigned>(mpz_sizeinbase(most.get_mpz_t(), 2));
}

Integer ResultRows::at(std::size_t part, const Key& key, std::size_t column) const {
  const auto found = parts_[part].find(key);
  return found == parts_[part].end() ? Integer(0) : found->second[column];
}

Integer ColumnSum::of(const ResultRows& rows, const ResultRows::Key& key) const {
  Integer sum = 0;
  for (const Term& term : terms) sum += term.weight * rows.at(part, key, term.column);
  return sum;
}

std::size_t QueryPart::column(const std::string& sql) {
  return place_in(columns_, sql);
}

std::string QueryParts::input(const std::string& sql) {
  return "x" + std::to_string(place_in(inputs_, sql));
}

std::string QueryParts::cell(const std::string& sql) {
  return "c" + std::to_string(place_in(cells_, sql));
}

std::string QueryParts::lookup(const Lookup& wanted) {
  auto found = std::find(lookups_.begin(), lookups_.end(), wanted);
  if (found == lookups_.end()) found = lookups_.insert(lookups_.end(), wanted);
  return "l" + std::to_string(found - lookups_.begin());
}

std::string QueryParts::key(const std::string& sql, std::size_t places) {
  std::string name = cell(sql);
  places_[name] = places;
  return name;
}

bool QueryParts::is_place(const std::string& key, std::int64_t value) const {
  return value >= no_row && value < static_cast<std::int64_t>(places_.at(key));
}

std::size_t QueryParts::places(const QueryPart& part) const {
  std::size_t places = 1;
  for (const std::string& key : part.keys) places *= places_.at(key) + 2;
  return places;
}

std::size_t QueryParts::part(const std::vector<std::string>& keys,
                             const std::optional<FoldRequest::GroupLimit>& groups) {
  for (std::size_t i = parts_.size(); i-- > 0;) {
    if (parts_[i].keys != keys || parts_[i].groups != groups) continue;
    if (parts_[i].columns().size() < most_columns) return i;
    break;
  }
  QueryPart& part = parts_.emplace_back();
  part.keys = keys;
  part.groups = groups;
  return parts_.size() - 1;
}

std::vector<QueryParts::Limb> QueryParts::limbs(const WholeNumber& number, unsigned bits) const {
  const unsigned all = bits_of(number.most);
  if (all <= bits) return {{number.sql, 0, all}};
  std::vector<Limb> limbs;
  unsigned from = 0;
  for (; from + bits < all; from += bits)
    limbs.push_back({dialect_->bits(number.sql, from, bits), from, bits});
  limbs.push_back({dialect_->high_bits(number.sql, from), from, all - from});
  return limbs;
}

void QueryParts::add_sum(std::size_t part, const std::string& sql, unsigned bits, const Integer& weight,
                         ColumnSum& sum) {
  const auto add = [&](const std::string& what, const Integer& times) {
    sum.terms.push_back({times, column(part, dialect_->sum(what))});
  };
  if (dialect_->sums_beyond_64_bits() || bits <= word_bits) return add(sql, weight);
  for (unsigned from = 0; from < bits; from += word_bits)
    add(dialect_->bits(sql, from, std::min(word_bits, bits - from)), weight * power_of_two(from));
}

// x * y = (x_high * y + x_low * y_high) * 2^half + x_low * y_low.
bool QueryParts::add_product_of_two(const std::vector<WholeNumber>& factors, ColumnSum& sum) {
  constexpr unsigned half = product_bits / 2;
  if (factors.size() != 2) return false;
  const std::vector<Limb> x = limbs(factors[0], half);
  const std::vector<Limb> y = limbs(factors[1], half);
  if (x.size() != 2 || y.size() != 2) return false;
  const unsigned bits = x[1].bits + half + y[1].bits + 1;
  if (bits > product_bits) return false;
  const std::string& whole_y = factors[1].sql;
  const std::string cross =
      factors[0].sql == whole_y
          ? "(" + x[1].sql + " * (" + whole_y + " + " + x[0].sql + "))"
          : "(" + x[1].sql + " * " + whole_y + " + " + x[0].sql + " * " + y[1].sql + ")";
  add_sum(sum.part, cross, bits, power_of_two(half), sum);
  add_sum(sum.part, "(" + x[0].sql + " * " + y[0].sql + ")", product_bits, 1, sum);
  return true;
}

ColumnSum QueryParts::sum_of_products(std::size_t part, const std::vector<WholeNumber>& factors) {
  Integer largest = 1;
  for (const WholeNumber& factor : factors) largest *= factor.most;
  ColumnSum sum{.part = part};
  if (bits_of(largest) <= product_bits) {
    std::string product;
    for (const WholeNumber& factor : factors) product += (product.empty() ? "" : " * ") + factor.sql;
    add_sum(part, factors.size() == 1 ? product : "(" + product + ")", bits_of(largest), 1, sum);
    return sum;
  }
  if (add_product_of_two(factors, sum)) return sum;
  // Too large for one product: multiplied out limb by limb.
  const unsigned limb_bits = product_bits / static_cast<unsigned>(factors.size());
  // Limbs go by their factor and shift: the order of columns must not hang on how a dialect writes them.
  using LimbName = std::pair<std::string, unsigned>;
  std::map<std::vector<LimbName>, LimbProduct> products = {{{}, {1, 0}}};
  std::map<LimbName, std::string> sql_of;
  for (const WholeNumber& factor : factors) {
    decltype(products) more;
    for (const Limb& limb : limbs(factor, limb_bits)) {
      const LimbName name(factor.sql, limb.shift);
      sql_of[name] = limb.sql;
      for (const auto& [product, so_far] : products) {
        auto longer = product;
        longer.insert(std::upper_bound(longer.begin(), longer.end(), name), name);
        LimbProduct& found = more[longer];
        found.weight += so_far.weight * power_of_two(limb.shift);
        found.bits = so_far.bits + limb.bits;
      }
    }
    products = std::move(more);
  }
  for (const auto& [limbs, found] : products) {
    std::string product;
    for (const LimbName& limb : limbs) product += (product.empty() ? "" : " * ") + sql_of[limb];
    add_sum(part, limbs.size() == 1 ? product : "(" + product + ")", found.bits, found.weight, sum);
  }
  return sum;
}

}  // namespace snapdp::engines_internal
