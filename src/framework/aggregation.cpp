#include "snapdp/framework/aggregation.h"

#include <algorithm>

#include "framework/chaining.h"
#include "framework/shared/keyed_fold.h"
#include "framework/shared/row_language.h"
#include "framework/state_bytes.h"
#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;
using namespace framework_internal;

namespace {

std::shared_ptr<const std::string> identity_of(
    const VectorDomain& domain, const std::vector<std::shared_ptr<const RowFunction>>& functions,
    const std::string& last) {
  std::string text = describe(Domain(domain));
  for (const auto& function : functions) text += " >> " + function->description();
  return std::make_shared<const std::string>(text + " >> " + last);
}

}  // namespace

std::uint64_t add_rows(std::uint64_t rows, std::uint64_t more) {
  if (rows > most_rows || more > most_rows - rows) {
    throw Error(ErrorCode::bad_data, "state",
                "state: it would hold more than 2^63 rows, which no data have; fold the rows again");
  }
  return rows + more;
}

void Fold::tell(RowLanguage& language) const {
  language.unknown(description());
}

Aggregation::Aggregation(Signature<VectorDomain, StatisticDomain> signature, std::shared_ptr<const Fold> fold,
                         Finish finish, const std::vector<ChainStep>& inner)
    : signature_(std::move(signature)),
      fold_(std::move(fold)),
      finish_(std::move(finish)),
      steps_(inner),
      identity_(identity_of(signature_.input_domain, functions_, fold_->description())) {
  require_signature(signature_);
  // Inner steps have named the work and counted its distance already.
  steps_.push_back(step_of(signature_, fold_->description()));
  if (!inner.empty()) {
    steps_.back().function = "the same for every group";
    steps_.back().relation = Relation::stable(1);
  }
}

Aggregation Aggregation::told_as(const std::string& statistic) && {
  steps_.back().function = statistic + ", from the " + steps_.back().function;
  return std::move(*this);
}

Aggregation Aggregation::with_range(const std::optional<Bounds>& range) && {
  signature_.output_domain.range = range;
  return std::move(*this);
}

Rational Aggregation::sensitivity(const Rational& d_in) const {
  const std::optional<Rational> distance = signature_.relation.tightest(d_in);
  if (!distance) {
    throw Error(
        ErrorCode::mismatch, "relation",
        "sensitivity: the stability relation holds for no output distance at d_in = " + to_string(d_in));
  }
  return *distance;
}

Rational Aggregation::squared_sensitivity(const Rational& d_in) const {
  const Rational l1 = sensitivity(d_in);
  const Rational square = l1 * l1;
  return squared_l2_ ? std::min(square, squared_l2_(d_in)) : square;
}

Aggregation Aggregation::with_l2(const Rational& squared) && {
  squared_l2_ = [squared](const Rational& d_in) { return Rational(squared * d_in * d_in); };
  return std::move(*this);
}

AggregateState Aggregation::start() const {
  return AggregateState(identity_, fold_->start());
}

void Aggregation::check(const AggregateState& state) const {
  if (state.identity_ == identity_ || *state.identity_ == *identity_) return;
  throw Error(ErrorCode::mismatch, "state",
              "state: it belongs to \"" + state.identity() + "\", not to \"" + *identity_ +
                  "\"; states of different aggregations do not mix");
}

void Aggregation::check_columns(const Chunk& rows, std::size_t first) const {
  const std::vector<AtomDomain>& columns = input_domain().columns();
  if (first + rows.column_count != columns.size()) {
    throw Error(ErrorCode::mismatch, "columns",
                "columns: " + std::to_string(first + rows.column_count) + " given; the aggregation takes " +
                    describe(Domain(input_domain())));
  }
  for (std::size_t i = 0; i < rows.column_count; ++i) {
    if (rows.column[i].type != columns[first + i].type) {
      throw Error(ErrorCode::mismatch, "columns",
                  "columns: column " + std::to_string(first + i) + " has another type than " +
                      describe(columns[first + i]));
    }
  }
}

void Aggregation::update(AggregateState& state, const Chunk& rows) const {
  const FloatEnvironment environment;
  check(state);
  check_columns(rows, 0);
  Scratch& scratch = Scratch::of_thread();
  const auto fold = [&](const Chunk& block) {
    if (functions_.empty()) return state.fold_->update(block);
    Chunk result = block;
    for (const auto& function : functions_) function->transform(result, scratch);
    state.fold_->update(result);
  };
  if (rows.length <= block_rows) return fold(rows);
  for (std::size_t first = 0; first < rows.length; first += block_rows)
    fold(rows.slice(first, std::min(block_rows, rows.length - first)));
}

const KeyIndex* Aggregation::key_index() const {
  const auto* keyed = functions_.empty() ? dynamic_cast<const KeyedFold*>(fold_.get()) : nullptr;
  return keyed == nullptr ? nullptr : &keyed->key_index();
}

void Aggregation::update_placed(AggregateState& state, const std::uint32_t* places, const Chunk& rest) const {
  check(state);
  if (key_index() == nullptr) {
    throw Error(ErrorCode::mismatch, "aggregation",
                "aggregation: places of keys serve grouped aggregations only, not \"" + *identity_ +
                    "\"; use update()");
  }
  check_columns(rest, 1);
  const auto& keyed = static_cast<const KeyedFold&>(*fold_);
  for (std::size_t first = 0; first < rest.length; first += block_rows) {
    keyed.update_placed(*state.fold_, places + first,
                        rest.slice(first, std::min(block_rows, rest.length - first)));
  }
}

void Aggregation::merge(AggregateState& into, const AggregateState& from) const {
  const FloatEnvironment environment;
  check(into);
  check(from);
  into.fold_->merge(*from.fold_);
}

std::vector<Dyadic> Aggregation::finish(const AggregateState& state) const {
  const FloatEnvironment environment;
  check(state);
  const Totals totals = state.totals();
  const std::optional<std::uint64_t>& size = input_domain().size();
  if (size && totals.rows != *size) {
    throw Error(ErrorCode::bad_data, "size",
                "size = " + std::to_string(*size) +
                    ": the data do not have that many rows; declare the public number of rows");
  }
  return finish_(totals);
}

std::vector<Dyadic> Aggregation::operator()(const Chunk& rows) const {
  AggregateState state = start();
  update(state, rows);
  return finish(state);
}

std::string Aggregation::to_bytes(const AggregateState& state) const {
  const FloatEnvironment environment;
  check(state);
  return write_state(*identity_, state.totals());
}

AggregateState Aggregation::from_bytes(std::string_view bytes) const {
  const FloatEnvironment environment;
  return AggregateState(identity_, fold_->restore(read_state(bytes, *identity_)));
}

AggregateState Aggregation::restored(const Totals& totals) const {
  const FloatEnvironment environment;
  return AggregateState(identity_, fold_->restore(totals));
}

Aggregation operator>>(const Transformation& first, const Aggregation& second) {
  const Signature<VectorDomain, VectorDomain> left{first.input_domain(), first.output_domain(),
                                                   first.input_metric(), first.output_metric(),
                                                   first.stability()};
  Aggregation result = second;
  result.signature_ = chain_signatures(left, second.signature_);
  if (second.squared_l2_) {
    result.squared_l2_ = [stability = first.stability(), squared = second.squared_l2_](const Rational& d_in) {
      return squared(stability.forward(d_in));
    };
  }
  result.functions_ = first.functions();
  result.functions_.insert(result.functions_.end(), second.functions_.begin(), second.functions_.end());
  result.steps_ = first.steps();
  result.steps_.insert(result.steps_.end(), second.steps_.begin(), second.steps_.end());
  result.identity_ = identity_of(result.input_domain(), result.functions_, second.fold_->description());
  return result;
}

}  // namespace snapdp
