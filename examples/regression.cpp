// Least squares: noisy moments of two columns, and the line that they give, with intervals.
#include <snapdp/snapdp.h>

#include <cmath>
#include <iostream>
#include <vector>

using namespace snapdp;

int main() {
  // Incomes that grow by 1.5 a year of age.
  std::vector<double> age;
  std::vector<double> income;
  for (int i = 0; i < 5000; ++i) {
    age.push_back(20 + i % 50);
    income.push_back(10 + 1.5 * age.back() + 10 * std::sin(i));
  }
  const std::vector<Bounds> bounds{Bounds(0, 150), Bounds(20, 70)};  // of y, and of x
  const auto of_y = make_clamp(vector_domain<double>(), symmetric_distance(), bounds[0]);
  const auto of_x = make_clamp(vector_domain<double>(), symmetric_distance(), bounds[1]);
  const VectorDomain pairs({{AtomType::real, false, false, {}}, {AtomType::real, false, false, {}}});
  const auto of_both = make_clamp(pairs, symmetric_distance(), {bounds[1], bounds[0]});

  // Five parts, a fifth of epsilon each.
  InMemoryAccountant budget(1);
  const auto released = [&](const Aggregation& aggregation, const Chunk& rows) {
    const Measurement measurement = aggregation >> make_snapping({.epsilon = "1/5"});
    const StatisticDomain& domain = aggregation.output_domain();
    return NoisyPart{.value = measurement.release(rows, budget).values[0],
                     .noise = measurement.mechanism().noise(),
                     .rounding_error = domain.integer ? Rational(0) : domain.grid.spacing().rational() / 2,
                     .integer = domain.integer};
  };
  const std::vector<Column> both{{AtomType::real, age.data()}, {AtomType::real, income.data()}};
  RegressionMoments moments;
  moments.count = released(make_count(vector_domain<double>(), symmetric_distance()), age);
  moments.firsts = {released(of_y >> make_centered_sum(), income),
                    released(of_x >> make_centered_sum(), age)};
  moments.with_y = {released(of_both >> make_centered_product(), Chunk(both, age.size()))};
  moments.among_x = {released(of_x >> make_centered_moment(2), age)};

  const auto line = regression_from_moments(bounds, moments, 0.05);
  std::cout << "with probability at least 95% both of\n";
  for (const RegressionCoefficient& one : line)
    std::cout << "  " << one.value << " in [" << one.lower << ", " << one.upper << "]\n";
  // The slope is about 1.5, and its sign is told.
  return line[1].lower > 1 && line[1].upper < 2 ? 0 : 1;
}
