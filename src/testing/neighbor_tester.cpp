#include "snapdp/testing/neighbor_tester.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "snapdp/error.h"
#include "testing/neighbor_data.h"

namespace snapdp {

using namespace testing_internal;

namespace {

using Statistic = std::vector<Dyadic>;

// What a check found wrong with two inputs.
struct Broken {
  BrokenRule rule = BrokenRule::stability;
  std::string explanation;
  std::string first_output = {};
  std::string second_output = {};
  std::optional<Rational> distance = {};
  std::optional<Rational> claimed = {};
};

// A claim about distances, with what it says remembered for each distance that was asked.
class Claim {
 public:
  explicit Claim(const Relation& relation) : relation_(relation) {}

  // What contradicts outputs at `distance` (nothing: infinite) for inputs at d_in.
  std::optional<Broken> contradiction(const Rational& d_in, const std::optional<Rational>& distance) {
    auto known = known_.find(d_in);
    if (known == known_.end()) known = known_.emplace(d_in, asked(d_in)).first;
    if (const std::optional<Rational>& denied = known->second.denied) {
      return Broken{BrokenRule::relation,
                    "the forward map gives " + to_string(*denied) + ", for which the predicate does not hold",
                    {},
                    {},
                    distance,
                    denied};
    }
    const std::optional<Rational>& claimed = known->second.claimed;
    if (!claimed) return std::nullopt;  // no distance is claimed
    if (!distance) {
      return Broken{BrokenRule::stability,
                    "the outputs have different sizes, and so an infinite distance",
                    {},
                    {},
                    distance,
                    claimed};
    }
    if (*distance > *claimed) {
      return Broken{
          BrokenRule::stability, "the outputs are farther apart than claimed", {}, {}, distance, claimed};
    }
    if (*distance == 0) return std::nullopt;
    // The map above is sound for this pair; the predicate and the backward map are claims of their own. A distance that
    // is a little too small must not be claimed.
    const Rational less = *distance * Rational(Integer((1L << 40) - 1), Integer(1L << 40));
    for (const Rational& too_small : {Rational(0), less}) {
      if (relation_.holds(d_in, too_small)) {
        return Broken{BrokenRule::stability,
                      "the predicate holds for less than the distance of the outputs",
                      {},
                      {},
                      distance,
                      too_small};
      }
    }
    if (const auto hint = relation_.backward_hint(less); hint && *hint >= d_in) {
      return Broken{
          BrokenRule::stability,
          "the backward map allows inputs at this distance for outputs that are closer than they are",
          {},
          {},
          distance,
          less};
    }
    return std::nullopt;
  }

 private:
  struct Known {
    std::optional<Rational> claimed;
    // What the forward map says and the predicate denies. The relation does not believe it, but the part's author is wrong.
    std::optional<Rational> denied;
  };

  Known asked(const Rational& d_in) const {
    const std::optional<Rational> hint = relation_.forward_hint(d_in);
    const bool right = !hint || (*hint >= 0 && relation_.holds(d_in, *hint));
    return {relation_.tightest(d_in), right ? std::nullopt : hint};
  }

  const Relation& relation_;
  std::map<Rational, Known> known_;
};

std::string to_text(const Statistic& statistic) {
  constexpr std::size_t shown = 16;
  std::string text;
  for (std::size_t i = 0; i < std::min(statistic.size(), shown); ++i) {
    text += (i > 0 ? ", " : "") + to_string(statistic[i]);
  }
  return statistic.size() <= shown ? text
                                   : text + ", and " + std::to_string(statistic.size() - shown) + " more";
}

// Statistics of one dimension.
Rational statistic_distance(const Statistic& first, const Statistic& second) {
  Dyadic sum;
  for (std::size_t i = 0; i < first.size(); ++i) sum += abs(first[i] - second[i]);
  return sum.rational();
}

// The square of their Euclidean distance.
Rational squared_distance(const Statistic& first, const Statistic& second) {
  Rational sum = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const Rational difference = (first[i] - second[i]).rational();
    sum += difference * difference;
  }
  return sum;
}

// `check` with what it throws as a finding.
template <typename Check>
std::optional<Broken> guarded(const Check& check) {
  try {
    return check();
  } catch (const std::exception& error) {
    return Broken{BrokenRule::error, error.what()};
  }
}

class TransformationCheck {
 public:
  explicit TransformationCheck(const Transformation& part) : part_(part), claim_(part.stability()) {}

  std::optional<Broken> operator()(const Dataset& first, const Dataset& second, const Rational& d_in,
                                   std::uint64_t seed) {
    return guarded([&]() -> std::optional<Broken> {
      TestEngine engine(seed);
      std::string wrong;
      const Dataset left = apply(first, engine, block_rows, wrong);
      const Dataset right = apply(second, engine, block_rows, wrong);
      const auto shown = [&](Broken broken) {
        broken.first_output = to_string(left);
        broken.second_output = to_string(right);
        return broken;
      };
      const Dataset again = apply(second, engine, 1 + below(engine, 5), wrong);
      if (!wrong.empty()) return shown({BrokenRule::output_domain, wrong});
      if (auto broken = claim_.contradiction(d_in, dataset_distance(part_.output_metric(), left, right))) {
        return shown(*broken);
      }
      if (dataset_distance(Metric::hamming, again, right) != Rational(0)) {
        return shown(
            {BrokenRule::split,
             "other blocks of the second input, or other cells under its nulls, give " + to_string(again)});
      }
      return std::nullopt;
    });
  }

 private:
  Dataset apply(const Dataset& rows, TestEngine& engine, std::size_t block, std::string& wrong) const {
    const DataColumns columns(part_.input_domain().columns(), rows, engine);
    const VectorDomain block_domain = part_.output_domain().of_unknown_size();
    Dataset result;
    for (std::size_t start = 0; start < rows.size(); start += block) {
      Chunk chunk = columns.chunk().slice(start, std::min(block, rows.size() - start));
      for (const auto& function : part_.functions()) function->transform(chunk, Scratch::of_thread());
      const Dataset part = rows_of(chunk);
      if (!block_domain.contains(chunk)) {
        wrong = to_string(part) + " is not in the output domain, " + describe(Domain(part_.output_domain()));
      }
      result.insert(result.end(), part.begin(), part.end());
    }
    const std::optional<std::uint64_t>& size = part_.output_domain().size();
    if (size && *size != result.size()) {
      wrong = "there are " + std::to_string(result.size()) + " rows; the output domain has " +
              std::to_string(*size);
    }
    return result;
  }

  const Transformation& part_;
  Claim claim_;
};

class AggregationCheck {
 public:
  explicit AggregationCheck(const Aggregation& part) : part_(part), claim_(part.stability()) {}

  std::optional<Broken> operator()(const Dataset& first, const Dataset& second, const Rational& d_in,
                                   std::uint64_t seed) {
    return guarded([&]() -> std::optional<Broken> {
      TestEngine engine(seed);
      const Statistic left = part_.finish(fold(first, engine));
      const AggregateState whole = fold(second, engine);
      const Statistic right = part_.finish(whole);
      const auto shown = [&](Broken broken) {
        broken.first_output = to_text(left);
        broken.second_output = to_text(right);
        return broken;
      };
      for (const Statistic* statistic : {&left, &right}) {
        const std::string wrong = misfit(part_.output_domain(), *statistic);
        if (!wrong.empty()) return shown({BrokenRule::output_domain, wrong});
      }
      const Rational distance = statistic_distance(left, right);
      if (auto broken = claim_.contradiction(d_in, distance)) return shown(*broken);
      if (left.size() > 1) {
        const Rational squared = squared_distance(left, right);
        auto known = squared_.find(d_in);
        if (known == squared_.end()) known = squared_.emplace(d_in, part_.squared_sensitivity(d_in)).first;
        if (squared > known->second) {
          return shown({BrokenRule::stability,
                        "the square of the L2 distance of the outputs is larger than claimed",
                        {},
                        {},
                        squared,
                        known->second});
        }
      }
      if (auto broken = split(second, whole, engine)) return shown(*broken);
      return more_ ? more_(d_in, left, right, shown) : std::nullopt;
    });
  }

 protected:
  using Shown = std::function<Broken(Broken)>;
  std::function<std::optional<Broken>(const Rational& d_in, const Statistic& left, const Statistic& right,
                                      const Shown& shown)>
      more_;

 private:
  std::map<Rational, Rational> squared_;  // what is claimed, by the distance of the inputs

  AggregateState fold(const Dataset& rows, TestEngine& engine) const {
    const DataColumns columns(part_.input_domain().columns(), rows, engine);
    AggregateState state = part_.start();
    part_.update(state, columns.chunk());
    return state;
  }

  // Runs of rows go to any of a few states, which go through their byte form or not and merge in any order.
  std::optional<Broken> split(const Dataset& rows, const AggregateState& whole, TestEngine& engine) const {
    const DataColumns columns(part_.input_domain().columns(), rows, engine);
    std::vector<AggregateState> states;
    for (std::uint64_t i = 0; i <= below(engine, 3); ++i) states.push_back(part_.start());
    const std::size_t longest = rows.size() > block_rows / 2 ? 700 : 4;
    for (std::size_t start = 0; start < rows.size();) {
      const std::size_t count = std::min<std::size_t>(rows.size() - start, 1 + below(engine, longest));
      part_.update(states[below(engine, states.size())], columns.chunk().slice(start, count));
      start += count;
    }
    for (AggregateState& state : states) {
      if (engine() % 2 == 0) continue;
      const std::string bytes = part_.to_bytes(state);
      AggregateState restored = part_.from_bytes(bytes);
      if (restored.totals() != state.totals() || part_.to_bytes(restored) != bytes) {
        return Broken{BrokenRule::byte_form,
                      "the state of some rows of the second input comes back as another one"};
      }
      state = std::move(restored);
    }
    while (states.size() > 1) {
      std::swap(states[below(engine, states.size())], states.back());
      part_.merge(states[below(engine, states.size() - 1)], states.back());
      states.pop_back();
    }
    if (states[0].totals() == whole.totals()) return std::nullopt;
    return Broken{BrokenRule::split, "the second input, split and merged, gives other totals: " +
                                         to_text(states[0].totals().values) + " and not " +
                                         to_text(whole.totals().values)};
  }

  const Aggregation& part_;
  Claim claim_;
};

// What the noise of a measurement, or its choice, loses between two statistics, in the measurement's own measure: their L1
// distance over the scale, and of Gaussian noise half the square of their L2 distance over that of the scale.
Rational lost_between(const Measurement& measurement, const Statistic& first, const Statistic& second) {
  if (measurement.is_choice())
    return Rational(statistic_distance(first, second) / measurement.choice().scale());
  const Rational scale = exact_rational(measurement.mechanism().scale(), "scale");
  if (measurement.measure() == PrivacyMeasure::zcdp)
    return Rational(squared_distance(first, second) / (2 * scale * scale));
  return Rational(statistic_distance(first, second) / scale);
}

class MeasurementCheck : public AggregationCheck {
 public:
  explicit MeasurementCheck(const Measurement& part) : AggregationCheck(part.aggregation()), part_(part) {
    more_ = [this](const Rational& d_in, const Statistic& left, const Statistic& right,
                   const Shown& shown) -> std::optional<Broken> {
      const Rational lost = lost_between(part_, left, right);
      auto known = loss_.find(d_in);
      if (known == loss_.end()) known = loss_.emplace(d_in, part_.loss(d_in)).first;
      if (lost <= known->second) return std::nullopt;
      return shown({BrokenRule::loss, "its noise loses more than is claimed", {}, {}, lost, known->second});
    };
  }

 private:
  const Measurement& part_;
  std::map<Rational, Rational> loss_;
};

class CompositionCheck {
 public:
  explicit CompositionCheck(const Composition& part) : part_(part) {}

  std::optional<Broken> operator()(const Dataset& first, const Dataset& second, const Rational& d_in,
                                   std::uint64_t seed) {
    return guarded([&]() -> std::optional<Broken> {
      TestEngine engine(seed);
      const std::vector<ExactPart> left = exact(first, engine);
      const std::vector<ExactPart> right = exact(second, engine);
      Rational lost = 0;
      for (std::size_t i = 0; i < left.size(); ++i) {
        const Measurement& part = *left[i].measurement;
        const Rational of_part = lost_between(part, left[i].statistic, right[i].statistic);
        lost += part.measure() == part_.measure() ? of_part : pure_to_zcdp(of_part);
      }
      auto known = loss_.find(d_in);
      if (known == loss_.end()) known = loss_.emplace(d_in, part_.loss(d_in)).first;
      if (lost <= known->second) return std::nullopt;
      return Broken{BrokenRule::loss,
                    "the measurements together lose more than is claimed",
                    to_text(all(left)),
                    to_text(all(right)),
                    lost,
                    known->second};
    });
  }

 private:
  std::vector<ExactPart> exact(const Dataset& rows, TestEngine& engine) const {
    const DataColumns columns(part_.input_domain().columns(), rows, engine);
    return part_.exact(columns.chunk());
  }
  static Statistic all(const std::vector<ExactPart>& parts) {
    Statistic result;
    for (const ExactPart& part : parts)
      result.insert(result.end(), part.statistic.begin(), part.statistic.end());
    return result;
  }

  const Composition& part_;
  std::map<Rational, Rational> loss_;
};

// Makes a broken pair smaller while it breaks the same rule.
class Shrinker {
 public:
  using Check =
      std::function<std::optional<Broken>(const Dataset&, const Dataset&, const Rational&, std::uint64_t)>;

  Shrinker(const DataMaker& maker, Metric metric, const Check& check, Dataset first, Dataset second,
           Rational d_in, Broken broken, std::uint64_t seed)
      : maker_(maker),
        metric_(metric),
        check_(check),
        first_(std::move(first)),
        second_(std::move(second)),
        d_in_(std::move(d_in)),
        broken_(std::move(broken)),
        seed_(seed) {}

  void shrink() {
    accept(second_, second_);
    accept(first_, first_);
    accept(first_, aligned());
    bool progress = true;
    while (progress) {
      progress = remove_rows();
      progress |= bring_together();
      progress |= simplify_cells();
    }
  }

  Counterexample counterexample(std::string part) const {
    return {std::move(part),
            broken_.rule,
            broken_.explanation,
            first_,
            second_,
            to_string(first_),
            to_string(second_),
            broken_.first_output,
            broken_.second_output,
            d_in_,
            broken_.distance,
            broken_.claimed};
  }

 private:
  bool accept(const Dataset& first, const Dataset& second) {
    const std::size_t cost = first.size() + second.size() + 8;
    if (effort_ < cost) return false;
    effort_ -= cost;
    if (!maker_.contains(first) || !maker_.contains(second)) return false;
    const std::optional<Rational> distance = dataset_distance(metric_, first, second);
    if (!distance || *distance > d_in_) return false;
    for (std::uint64_t again = 0; again < 3; ++again) {
      std::optional<Broken> broken = check_(first, second, *distance, seed_ + again);
      if (!broken || broken->rule != broken_.rule) continue;
      Dataset new_first = first;  // the arguments may be the members
      Dataset new_second = second;
      first_ = std::move(new_first);
      second_ = std::move(new_second);
      d_in_ = *distance;
      broken_ = *std::move(broken);
      seed_ += again;
      return true;
    }
    return false;
  }

  // The second dataset with the rows that both have at the places they have in the first.
  Dataset aligned() const {
    std::vector<bool> used(second_.size());
    std::vector<std::optional<DataRow>> places(std::max(first_.size(), second_.size()));
    for (std::size_t i = 0; i < first_.size(); ++i) {
      for (std::size_t j = 0; j < second_.size(); ++j) {
        if (used[j] || !same_row(first_[i], second_[j])) continue;
        used[j] = true;
        places[i] = second_[j];
        break;
      }
    }
    Dataset result;
    std::size_t next = 0;
    for (std::optional<DataRow>& place : places) {
      if (!place) {
        while (next < second_.size() && used[next]) ++next;
        if (next == second_.size()) continue;
        place = second_[next++];
      }
      result.push_back(*std::move(place));
    }
    return result;
  }

  static std::optional<std::size_t> find(const Dataset& rows, const DataRow& row, std::size_t likely) {
    if (likely < rows.size() && same_row(rows[likely], row)) return likely;
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const DataRow& other) { return same_row(row, other); });
    if (found == rows.end()) return std::nullopt;
    return static_cast<std::size_t>(found - rows.begin());
  }

  // Runs of rows leave both datasets, long runs first; under the symmetric distance also single ones.
  bool remove_rows() {
    bool progress = false;
    for (std::size_t length = std::max<std::size_t>(1, first_.size() / 2); length > 0; length /= 2) {
      for (std::size_t start = 0; start + length <= first_.size();) {
        Dataset first = first_;
        Dataset second = second_;
        for (std::size_t i = 0; i < length; ++i) {
          const auto row = first.begin() + static_cast<std::ptrdiff_t>(start);
          std::optional<std::size_t> twin = find(second, *row, start);
          if (!twin && preserves_size(metric_)) twin = start;
          if (twin) second.erase(second.begin() + static_cast<std::ptrdiff_t>(*twin));
          first.erase(row);
        }
        const bool removed = accept(first, second);
        progress |= removed;
        if (!removed) start += length;
      }
    }
    for (Dataset* side : {&first_, &second_}) {
      for (std::size_t i = 0; i < side->size();) {
        Dataset fewer = *side;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        const bool removed = side == &first_ ? accept(fewer, second_) : accept(first_, fewer);
        progress |= removed;
        if (!removed) ++i;
      }
    }
    return progress;
  }

  // Rows that differ become equal.
  bool bring_together() {
    bool progress = false;
    for (std::size_t i = 0; i < std::min(first_.size(), second_.size()); ++i) {
      if (same_row(first_[i], second_[i])) continue;
      Dataset second = second_;
      second[i] = first_[i];
      progress |= accept(first_, second);
    }
    return progress;
  }

  bool simplify_cells() {
    bool progress = false;
    for (std::size_t row = 0; row < first_.size(); ++row) {
      for (std::size_t i = 0; i < first_[row].size(); ++i) {
        for (const Cell& cell : maker_.simpler(i, first_[row][i])) {
          const std::optional<std::size_t> twin = find(second_, first_[row], row);
          Dataset first = first_;
          Dataset second = second_;
          first[row][i] = cell;
          if (twin) second[*twin][i] = cell;
          if (!accept(first, second)) continue;
          progress = true;
          break;
        }
      }
    }
    for (std::size_t row = 0; row < second_.size(); ++row) {
      for (std::size_t i = 0; i < second_[row].size(); ++i) {
        if (find(first_, second_[row], row)) continue;
        for (const Cell& cell : maker_.simpler(i, second_[row][i])) {
          Dataset second = second_;
          second[row][i] = cell;
          if (!accept(first_, second)) continue;
          progress = true;
          break;
        }
      }
    }
    return progress;
  }

  const DataMaker& maker_;
  Metric metric_;
  const Check& check_;
  Dataset first_;
  Dataset second_;
  Rational d_in_;
  Broken broken_;
  std::uint64_t seed_;
  std::size_t effort_ = 200'000;  // rows to be looked at
};

void require_options(const NeighborTestOptions& options) {
  if (options.trials == 0) {
    throw Error(ErrorCode::invalid_argument, "trials", "trials = 0: nothing would be tried; give at least 1");
  }
  if (options.distances.empty() ||
      *std::min_element(options.distances.begin(), options.distances.end()) == 0) {
    throw Error(ErrorCode::invalid_argument, "distances",
                "distances: neighbors are at least 1 apart; give one distance or more, each at least 1");
  }
}

// How many rows trial number `trial` has: mostly few, at times a block and one more or less.
std::size_t rows_of_trial(TestEngine& engine, std::uint64_t trial) {
  if (trial % 128 == 127) return block_rows - 1 + below(engine, 3);
  return below(engine, trial % 4 == 3 ? 40 : 7);
}

std::optional<Counterexample> search(const std::string& part, const VectorDomain& domain, Metric metric,
                                     std::optional<Grid> grid, const NeighborTestOptions& options,
                                     const Shrinker::Check& check) {
  require_options(options);
  constexpr std::uint64_t most_rows = std::uint64_t{1} << 16;
  if (domain.size() && *domain.size() > most_rows) {
    throw Error(ErrorCode::invalid_argument, "size",
                "size = " + std::to_string(*domain.size()) + ": whole datasets are made, of at most " +
                    std::to_string(most_rows) + " rows; test the part for a smaller public size");
  }
  const DataMaker maker(domain, metric, options, grid);
  for (std::uint64_t trial = 0; trial < options.trials; ++trial) {
    const std::uint64_t seed =
        options.seed * 0x9e3779b97f4a7c15 + trial * 8;  // room for the shrinker's seeds
    TestEngine engine(seed);
    const std::uint64_t d = trial % 8 == 7 ? 0 : options.distances[trial % options.distances.size()];
    Dataset first = maker.make(engine, rows_of_trial(engine, trial));
    Dataset second = maker.neighbor(engine, first, d);
    if (engine() % 2 == 0) first.swap(second);
    const std::optional<Rational> distance = dataset_distance(metric, first, second);
    std::optional<Broken> broken = check(first, second, distance.value(), seed);
    if (!broken) continue;
    Shrinker shrinker(maker, metric, check, std::move(first), std::move(second), *distance,
                      *std::move(broken), seed);
    shrinker.shrink();
    return shrinker.counterexample(part);
  }
  return std::nullopt;
}

}  // namespace

std::string to_string(BrokenRule rule) {
  switch (rule) {
    case BrokenRule::stability:
      return "stability";
    case BrokenRule::relation:
      return "relation";
    case BrokenRule::output_domain:
      return "output domain";
    case BrokenRule::error:
      return "error";
    case BrokenRule::split:
      return "split";
    case BrokenRule::byte_form:
      return "byte form";
    case BrokenRule::loss:
      break;
  }
  return "loss";
}

std::string Counterexample::description() const {
  std::string text = "counterexample for " + part + "\n  broken rule: " + to_string(rule) + ": " +
                     explanation + "\n  first input:   " + first + "\n  second input:  " + second +
                     "\n  first output:  " + first_output + "\n  second output: " + second_output +
                     "\n  distance of the inputs: " + to_string(d_in) + "\n";
  if (!claimed) return text;
  const std::string what = rule == BrokenRule::loss ? "loss" : "distance of the outputs";
  return text + "  " + what + ": " + (distance ? to_string(*distance) : "infinite") + "; claimed: at most " +
         to_string(*claimed) + "\n";
}

std::optional<Counterexample> find_counterexample(const Transformation& part,
                                                  const NeighborTestOptions& options) {
  std::string description = describe(Domain(part.input_domain()));
  for (const auto& function : part.functions()) description += " >> " + function->description();
  return search(description, part.input_domain(), part.input_metric(), std::nullopt, options,
                TransformationCheck(part));
}

std::optional<Counterexample> find_counterexample(const Aggregation& part,
                                                  const NeighborTestOptions& options) {
  return search(part.description(), part.input_domain(), part.input_metric(), part.output_domain().grid,
                options, AggregationCheck(part));
}

std::optional<Counterexample> find_counterexample(const Measurement& part,
                                                  const NeighborTestOptions& options) {
  const Aggregation& aggregation = part.aggregation();
  NeighborTestOptions all = options;
  constexpr std::uint64_t farthest = 64;  // rows are made for every step
  if (part.distance() <= farthest) all.distances.push_back(part.distance().get_num().get_ui());
  const auto check = std::make_shared<MeasurementCheck>(part);  // it refers to itself, so it must not move
  return search(aggregation.description(), aggregation.input_domain(), aggregation.input_metric(),
                aggregation.output_domain().grid, all,
                [check](const Dataset& first, const Dataset& second, const Rational& d_in,
                        std::uint64_t seed) { return (*check)(first, second, d_in, seed); });
}

std::optional<Counterexample> find_counterexample(const Composition& part,
                                                  const NeighborTestOptions& options) {
  return search(part.description(), part.input_domain(), part.input_metric(), std::nullopt, options,
                CompositionCheck(part));
}

}  // namespace snapdp
