#include "engines/duckdb/fold_function.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "duckdb/source_testing.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp::engines_internal {

namespace {

Aggregation sum_of_integers() {
  const Transformation impute =
      make_impute(untrusted_domain({AtomType::integer}), symmetric_distance(), {Dyadic(0)});
  return impute >> make_clamp(impute.output_domain(), symmetric_distance(), Bounds(0, 1'000'000)) >>
         make_sum();
}

// Groups are interleaved, so that one vector holds many short runs; every group must get its own rows alone.
TEST(FoldFunction, WorksByGroupParallel) {
  const Connection connection({.file = "/none", .threads = 2});
  const Aggregation sum = sum_of_integers();
  for (const std::uint64_t groups : {1U, 3U, 1000U, 100'000U}) {
    FoldFunction function(connection, {{"x", AtomType::integer, AtomType::integer}}, {{&sum, {0}}});
    const std::string modulus = std::to_string(groups);
    // Row i is in group i mod groups; every seventh value is null, which counts as 0.
    Result result = connection.run("SELECT i % " + modulus + ", " + function.call() +
                                   " FROM (SELECT i, CASE WHEN i % 7 = 0 THEN NULL ELSE i END AS x FROM "
                                   "range(300000) AS t(i)) GROUP BY i % " +
                                   modulus);
    std::map<std::uint64_t, std::uint64_t> expected_sums;
    std::map<std::uint64_t, std::uint64_t> expected_rows;
    for (std::uint64_t i = 0; i < 300'000; ++i) {
      expected_sums[i % groups] += i % 7 == 0 ? 0 : i;
      ++expected_rows[i % groups];
    }
    std::uint64_t seen = 0;
    while (true) {
      const DataChunk chunk(duckdb_fetch_chunk(*result.out()));
      if (chunk.get() == nullptr) break;
      const auto* keys = static_cast<const std::int64_t*>(
          duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk.get(), 0)));
      const auto* places = static_cast<const std::uint64_t*>(
          duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk.get(), 1)));
      for (idx_t row = 0; row < duckdb_data_chunk_get_size(chunk.get()); ++row) {
        const auto key = static_cast<std::uint64_t>(keys[row]);
        const FoldedRows folded = function.take(places[row]);
        ASSERT_EQ(folded.rows, expected_rows.at(key));
        ASSERT_EQ(sum.finish(folded.states.at(0)).at(0).rational(),
                  Rational(static_cast<unsigned long>(expected_sums.at(key))));
        ++seen;
      }
    }
    EXPECT_EQ(seen, groups);
  }
}

TEST(FoldFunction, FoldsNothingToTheEmptyState) {
  const Connection connection({.file = "/none"});
  const Aggregation sum = sum_of_integers();
  FoldFunction function(connection, {{"i", AtomType::integer, AtomType::integer}}, {{&sum, {0}}});
  Result result = connection.run("SELECT " + function.call() + " FROM range(0) AS t(i)");
  const DataChunk chunk(duckdb_fetch_chunk(*result.out()));
  ASSERT_EQ(duckdb_data_chunk_get_size(chunk.get()), 1U);
  const FoldedRows folded = function.take(*static_cast<const std::uint64_t*>(
      duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk.get(), 0))));
  EXPECT_EQ(folded.rows, 0U);
  EXPECT_EQ(sum.to_bytes(folded.states.at(0)), sum.to_bytes(sum.start()));
}

// A fold that fails in the middle, on whatever thread.
class FailingFold final : public Fold {
 public:
  class State final : public FoldState {
   public:
    void update(const Chunk& block) override {
      rows_ += block.length;
      if (rows_ > 10'000) throw Error(ErrorCode::bad_data, "test", "this fold fails");
    }
    void merge(const FoldState&) override {}
    Totals totals() const override { return {}; }

   private:
    std::uint64_t rows_ = 0;
  };
  std::unique_ptr<FoldState> start() const override { return std::make_unique<State>(); }
  std::unique_ptr<FoldState> restore(const Totals&) const override { return start(); }
  std::string description() const override { return "a failure"; }
};

TEST(FoldFunction, CarriesExceptionsAcrossTheEngineParallel) {
  const Connection connection({.file = "/none", .threads = 2});
  const VectorDomain domain = untrusted_domain({AtomType::integer});
  const Aggregation failing(
      {domain, StatisticDomain{}, symmetric_distance(), Metric::absolute_distance, Relation::stable(1)},
      std::make_shared<FailingFold>(), [](const Totals& totals) { return totals.values; });
  FoldFunction function(connection, {{"i", AtomType::integer, AtomType::integer}}, {{&failing, {0}}});
  EXPECT_NO_THROW(function.rethrow());
  EXPECT_THROW(connection.run("SELECT " + function.call() + " FROM range(1000000) AS t(i)"), EngineFailure);
  const Error error = error_of([&] { function.rethrow(); });
  EXPECT_EQ(error.parameter(), "test");
  // The engine is none the worse for it.
  EXPECT_NO_THROW(connection.run("SELECT 1"));
}

}  // namespace
}  // namespace snapdp::engines_internal
