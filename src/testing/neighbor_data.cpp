#include "testing/neighbor_data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "snapdp/error.h"

namespace snapdp::testing_internal {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

int compare_cells(const Cell& first, const Cell& second) {
  if (first.index() != second.index()) return first.index() < second.index() ? -1 : 1;
  if (const auto* x = std::get_if<double>(&first)) {
    const double y = std::get<double>(second);
    if (std::isnan(*x) || std::isnan(y))
      return static_cast<int>(std::isnan(*x)) - static_cast<int>(std::isnan(y));
    return *x < y ? -1 : static_cast<int>(*x > y);
  }
  if (const auto* n = std::get_if<std::int64_t>(&first)) {
    const std::int64_t m = std::get<std::int64_t>(second);
    return *n < m ? -1 : static_cast<int>(*n > m);
  }
  if (const auto* text = std::get_if<std::string>(&first))
    return text->compare(std::get<std::string>(second));
  return 0;
}

int compare_rows(const DataRow& first, const DataRow& second) {
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    if (const int order = compare_cells(first[i], second[i]); order != 0) return order;
  }
  return first.size() < second.size() ? -1 : static_cast<int>(first.size() > second.size());
}

std::string cell_text(const Cell& cell) {
  if (const auto* x = std::get_if<double>(&cell)) return to_string(*x);
  if (const auto* n = std::get_if<std::int64_t>(&cell)) return std::to_string(*n);
  if (const auto* text = std::get_if<std::string>(&cell)) return '"' + *text + '"';
  return "null";
}

// How much there is to read in a cell; shrinking lowers it.
std::size_t complexity(const Cell& cell) {
  if (std::holds_alternative<std::monostate>(cell)) return 4;
  if (const auto* text = std::get_if<std::string>(&cell)) return 1 + text->size();
  const std::string text = cell_text(cell);
  if (text == "0") return 0;
  return text == "1" ? 1 : 1 + text.size();
}

bool holds_cell(const AtomDomain& domain, const Cell& cell) {
  if (std::holds_alternative<std::monostate>(cell)) return domain.nullable;
  const auto inside = [&](const Dyadic& value) {
    return !domain.bounds || (domain.bounds->lower() <= value && value <= domain.bounds->upper());
  };
  switch (domain.type) {
    case AtomType::real: {
      const auto* x = std::get_if<double>(&cell);
      if (x == nullptr) return false;
      if (std::isnan(*x)) return domain.nan;
      return std::isinf(*x) ? !domain.bounds : inside(*x);
    }
    case AtomType::integer: {
      const auto* n = std::get_if<std::int64_t>(&cell);
      return n != nullptr && inside(*n);
    }
    case AtomType::text:
      break;
  }
  return std::holds_alternative<std::string>(cell);
}

std::vector<double> special_reals(const AtomDomain& domain, std::optional<Grid> grid) {
  std::vector<double> values{0.0,
                             -0.0,
                             1,
                             -1,
                             2,
                             3,
                             10,
                             0.5,
                             -0.5,
                             1.5,
                             0.25,
                             0.1,
                             0.3,
                             1 + 0x1p-52,
                             1 - 0x1p-53,
                             0x1p24,
                             0x1p24 + 1,
                             0x1p31,
                             0x1p53,
                             -0x1p53,
                             0x1p53 - 1,
                             0x1p53 + 2,
                             0x1p63,
                             -0x1p63,
                             1e16,
                             1e38,
                             -1e38,
                             1e154,
                             1e308,
                             0x1p-1074,
                             -0x1p-1074,
                             0x1p-1022,
                             0x1p-60,
                             std::numeric_limits<double>::max(),
                             std::numeric_limits<double>::lowest(),
                             infinity,
                             -infinity,
                             std::nan("")};
  if (domain.bounds) {
    const double lower = domain.bounds->lower().to_double_nearest();
    const double upper = domain.bounds->upper().to_double_nearest();
    for (const double end : {lower, upper}) {
      values.insert(values.end(), {end, std::nextafter(end, infinity), std::nextafter(end, -infinity)});
    }
    values.insert(values.end(), {lower / 2 + upper / 2, lower + (upper - lower) / 4});
  }
  if (grid) {
    const double half = scale_by_power_of_two(grid->spacing(), -1).to_double_nearest();
    for (const double start : std::vector<double>(values)) {
      for (const double k : {-3.0, -1.0, 1.0, 3.0}) values.push_back(start + k * half);
    }
  }
  return values;
}

std::vector<std::int64_t> special_integers(const AtomDomain& domain) {
  constexpr std::int64_t past_doubles = (std::int64_t{1} << 53) + 1;
  std::vector<std::int64_t> values{0,
                                   1,
                                   -1,
                                   2,
                                   3,
                                   5,
                                   10,
                                   -2,
                                   highest,
                                   highest - 1,
                                   lowest,
                                   lowest + 1,
                                   past_doubles,
                                   -past_doubles,
                                   past_doubles - 1,
                                   std::int64_t{1} << 31,
                                   -(std::int64_t{1} << 31)};
  if (domain.bounds) {
    for (const Dyadic& end : {domain.bounds->lower(), domain.bounds->upper()}) {
      for (const int step : {-1, 0, 1}) {
        const Dyadic near = end + Dyadic(step);
        if (near.is_int64()) values.push_back(near.to_int64());
      }
    }
  }
  return values;
}

std::vector<std::string> special_texts() {
  return {"",
          "a",
          "b",
          "A",
          " ",
          "a ",
          "0",
          "-0",
          "1",
          "+1",
          " 7 ",
          "0.1",
          "1e5",
          "1e",
          "1e999",
          "nan",
          "inf",
          "-inf",
          "NULL",
          "NA",
          ".",
          "1,5",
          "\"",
          "a,b",
          "b\n",
          "0x10",
          "9223372036854775807",
          "9223372036854775808",
          "-9223372036854775808",
          "1e-400",
          std::string("a\0b", 3),
          "a text that is too long to be stored inside a std::string itself"};
}

// Zeros and NaN in another of their forms: equal as cells are compared.
void change_forms(TestEngine& engine, Dataset& rows) {
  for (DataRow& row : rows) {
    for (Cell& cell : row) {
      auto* const x = std::get_if<double>(&cell);
      if (x == nullptr || engine() % 2 == 0) continue;
      if (*x == 0) *x = -*x;
      if (std::isnan(*x)) *x = std::bit_cast<double>(std::uint64_t{0xfff8000000000000} | (engine() & 0xffff));
    }
  }
}

}  // namespace

bool row_less(const DataRow& first, const DataRow& second) {
  return compare_rows(first, second) < 0;
}

bool same_row(const DataRow& first, const DataRow& second) {
  return compare_rows(first, second) == 0;
}

}  // namespace snapdp::testing_internal

namespace snapdp {

using namespace testing_internal;

std::string to_string(const Dataset& rows) {
  constexpr std::size_t shown = 16;
  std::string text;
  for (std::size_t row = 0; row < std::min(rows.size(), shown); ++row) {
    if (row > 0) text += ", ";
    const bool tuple = rows[row].size() != 1;
    if (tuple) text += '(';
    for (std::size_t i = 0; i < rows[row].size(); ++i) text += (i > 0 ? ", " : "") + cell_text(rows[row][i]);
    if (tuple) text += ')';
  }
  if (rows.empty()) return "no rows";
  return rows.size() <= shown ? text : text + ", and " + std::to_string(rows.size() - shown) + " more";
}

std::optional<Rational> dataset_distance(Metric metric, const Dataset& first, const Dataset& second) {
  if (!is_dataset_metric(metric)) {
    throw Error(ErrorCode::mismatch, "metric",
                "dataset_distance: the " + to_string(metric) + " measures statistics, not rows");
  }
  if (preserves_size(metric) && first.size() != second.size()) return std::nullopt;
  std::size_t apart = 0;
  if (metric == Metric::hamming) {
    for (std::size_t row = 0; row < first.size(); ++row) apart += same_row(first[row], second[row]) ? 0U : 1U;
    return Rational(Integer(apart));
  }
  const auto sorted = [](const Dataset& rows) {
    std::vector<const DataRow*> order;
    order.reserve(rows.size());
    for (const DataRow& row : rows) order.push_back(&row);
    std::sort(order.begin(), order.end(),
              [](const DataRow* a, const DataRow* b) { return row_less(*a, *b); });
    return order;
  };
  const std::vector<const DataRow*> a = sorted(first);
  const std::vector<const DataRow*> b = sorted(second);
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const int order = compare_rows(*a[i], *b[j]);
    if (order <= 0) ++i;
    if (order >= 0) ++j;
    apart += order == 0 ? 0U : 1U;
  }
  apart += a.size() - i + (b.size() - j);
  return Rational(Integer(metric == Metric::change_one ? apart / 2 : apart));
}

}  // namespace snapdp

namespace snapdp::testing_internal {

Dataset rows_of(const Chunk& chunk) {
  Dataset rows(chunk.length, DataRow(chunk.column_count));
  for (std::size_t i = 0; i < chunk.column_count; ++i) {
    const Column& column = chunk.column[i];
    for (std::size_t row = 0; row < chunk.length; ++row) {
      if (!column.valid(row)) continue;
      switch (column.type) {
        case AtomType::real:
          rows[row][i] = column.reals()[row];
          break;
        case AtomType::integer:
          rows[row][i] = column.integers()[row];
          break;
        case AtomType::text:
          rows[row][i] = std::string(column.texts()[row]);
          break;
      }
    }
  }
  return rows;
}

DataColumns::DataColumns(const std::vector<AtomDomain>& columns, const Dataset& rows, TestEngine& engine)
    : storage_(columns.size()) {
  chunk_.length = rows.size();
  chunk_.column_count = columns.size();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    Storage& to = storage_[i];
    Column& column = chunk_.column[i];
    column.type = columns[i].type;
    const auto null = [&](std::size_t row) { return std::holds_alternative<std::monostate>(rows[row][i]); };
    bool nulls = columns[i].nullable && engine() % 4 == 0;
    for (std::size_t row = 0; row < rows.size(); ++row) nulls |= null(row);
    if (nulls) {
      column.validity_offset = below(engine, 8);
      to.validity.resize((column.validity_offset + rows.size()) / 8 + 1);
      for (std::uint8_t& byte : to.validity) byte = static_cast<std::uint8_t>(engine());
      for (std::size_t row = 0; row < rows.size(); ++row) {
        const std::size_t bit = column.validity_offset + row;
        const auto mask = static_cast<std::uint8_t>(1U << (bit % 8));
        std::uint8_t& byte = to.validity[bit / 8];
        byte = static_cast<std::uint8_t>(null(row) ? byte & ~mask : byte | mask);
      }
      column.validity = to.validity.data();
    }
    switch (column.type) {
      case AtomType::real:
        for (std::size_t row = 0; row < rows.size(); ++row) {
          const double garbage = engine() % 2 == 0 ? std::nan("") : 1e300;
          to.reals.push_back(null(row) ? garbage : std::get<double>(rows[row][i]));
        }
        column.values = to.reals.data();
        break;
      case AtomType::integer:
        for (std::size_t row = 0; row < rows.size(); ++row) {
          const auto garbage = static_cast<std::int64_t>(engine());
          to.integers.push_back(null(row) ? garbage : std::get<std::int64_t>(rows[row][i]));
        }
        column.values = to.integers.data();
        break;
      case AtomType::text:
        for (std::size_t row = 0; row < rows.size(); ++row) {
          const std::string_view garbage = engine() % 2 == 0 ? "1" : "a";
          to.texts.push_back(null(row) ? garbage : std::string_view(std::get<std::string>(rows[row][i])));
        }
        column.values = to.texts.data();
        break;
    }
  }
}

DataMaker::DataMaker(const VectorDomain& domain, Metric metric, const NeighborTestOptions& options,
                     std::optional<Grid> grid)
    : domain_(domain), metric_(metric) {
  for (const AtomDomain& column : domain.columns()) {
    std::vector<Cell> all;
    if (column.nullable) all.insert(all.end(), 3, Cell());
    std::vector<Cell> ends;
    switch (column.type) {
      case AtomType::real:
        for (const double x : options.reals) all.emplace_back(x);
        for (const double x : special_reals(column, grid)) all.emplace_back(x);
        break;
      case AtomType::integer:
        for (const std::int64_t n : options.integers) all.emplace_back(n);
        for (const std::int64_t n : special_integers(column)) all.emplace_back(n);
        break;
      case AtomType::text:
        // A part's own texts are few among the others, and mostly the point.
        for (int i = 0; i < 4; ++i) {
          for (const std::string& text : options.texts) all.emplace_back(text);
        }
        for (const std::string& text : special_texts()) all.emplace_back(text);
        break;
    }
    std::vector<Cell>& kept = special_.emplace_back();
    std::copy_if(all.begin(), all.end(), std::back_inserter(kept),
                 [&](const Cell& cell) { return holds_cell(column, cell); });
    const auto less = [](const Cell& a, const Cell& b) { return compare_cells(a, b) < 0; };
    const auto [least, most] = std::minmax_element(kept.begin(), kept.end(), less);
    extreme_.push_back({*least, *most});
    if (column.bounds && column.type == AtomType::real) {
      extreme_.back() = {column.bounds->lower().to_double_nearest(),
                         column.bounds->upper().to_double_nearest()};
    }
  }
}

bool DataMaker::contains(const Dataset& rows) const {
  if (domain_.size() && *domain_.size() != rows.size()) return false;
  return std::all_of(rows.begin(), rows.end(), [this](const DataRow& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!holds_cell(domain_.columns()[i], row[i])) return false;
    }
    return true;
  });
}

Cell DataMaker::random_cell(TestEngine& engine, std::size_t i) const {
  const AtomDomain& domain = domain_.columns()[i];
  if (engine() % 3 == 0) {
    Cell cell;
    const double unit = std::ldexp(static_cast<double>(engine() >> 11), -53);
    if (domain.type == AtomType::real && domain.bounds) {
      const double lower = domain.bounds->lower().to_double_nearest();
      const double upper = domain.bounds->upper().to_double_nearest();
      cell = engine() % 2 == 0 ? lower + unit * (upper - lower) : std::floor(lower + unit * (upper - lower));
    } else if (domain.type == AtomType::real) {
      cell = std::ldexp(unit - 0.5, static_cast<int>(below(engine, 130)) - 60);
    } else if (domain.type == AtomType::integer) {
      cell = engine() % 2 == 0 ? static_cast<std::int64_t>(below(engine, 21)) - 10
                               : static_cast<std::int64_t>(engine());
    }
    if (holds_cell(domain, cell)) return cell;
  }
  return special_[i][below(engine, special_[i].size())];
}

DataRow DataMaker::random_row(TestEngine& engine) const {
  DataRow row;
  for (std::size_t i = 0; i < special_.size(); ++i) row.push_back(random_cell(engine, i));
  return row;
}

DataRow DataMaker::extreme_row(TestEngine& engine) const {
  DataRow row;
  for (const std::vector<Cell>& ends : extreme_) row.push_back(ends[below(engine, ends.size())]);
  return row;
}

Dataset DataMaker::make(TestEngine& engine, std::size_t rows) const {
  const std::size_t count = domain_.size() ? static_cast<std::size_t>(*domain_.size()) : rows;
  Dataset result;
  result.reserve(count);
  const std::uint64_t pattern = below(engine, 6);
  Dataset few;
  const std::uint64_t kinds = pattern == 1 ? 1 : 2 + below(engine, 3);
  for (std::uint64_t i = 0; i < kinds; ++i) few.push_back(random_row(engine));
  while (result.size() < count) {
    switch (pattern) {
      case 0:
      case 5:
        result.push_back(random_row(engine));
        break;
      case 1:  // ties
      case 2:
        result.push_back(few[below(engine, few.size())]);
        break;
      case 3:  // the farthest corners of the domain
        result.push_back(extreme_row(engine));
        break;
      default: {  // cancellation: a row, another, and the first one negated where the domain has that
        result.push_back(few[0]);
        if (result.size() < count) result.push_back(random_row(engine));
        if (result.size() == count) break;
        DataRow opposite = few[0];
        for (std::size_t i = 0; i < opposite.size(); ++i) {
          Cell negated = opposite[i];
          if (auto* x = std::get_if<double>(&negated)) *x = -*x;
          if (auto* n = std::get_if<std::int64_t>(&negated)) *n = *n == lowest ? highest : -*n;
          if (holds_cell(domain_.columns()[i], negated)) opposite[i] = negated;
        }
        result.push_back(std::move(opposite));
      }
    }
  }
  return result;
}

DataRow DataMaker::changed_row(TestEngine& engine, const Dataset& rows) const {
  switch (below(engine, 4)) {
    case 0:
      return extreme_row(engine);
    case 1:  // one cell of a row that is there, or all of it
      if (!rows.empty()) {
        DataRow row = rows[below(engine, rows.size())];
        if (!row.empty() && engine() % 2 == 0) {
          const std::size_t i = below(engine, row.size());
          row[i] = random_cell(engine, i);
        }
        return row;
      }
      [[fallthrough]];
    default:
      return random_row(engine);
  }
}

Dataset DataMaker::neighbor(TestEngine& engine, const Dataset& rows, std::uint64_t d) const {
  Dataset result = rows;
  const auto place = [&](std::size_t end) { return static_cast<std::ptrdiff_t>(below(engine, end)); };
  // Replacing one row is one step, except that the symmetric distance counts a row that goes and one that comes.
  const bool replace = preserves_size(metric_) || domain_.size();
  const std::uint64_t steps = preserves_size(metric_) || !domain_.size() ? d : d / 2;
  const std::uint64_t kind = below(engine, 3);  // all come, all go, or either
  for (std::uint64_t step = 0; step < steps; ++step) {
    if (replace) {
      if (!result.empty()) result[below(engine, result.size())] = changed_row(engine, rows);
    } else if (!result.empty() && (kind == 1 || (kind == 2 && engine() % 2 == 0))) {
      result.erase(result.begin() + place(result.size()));
    } else {
      result.insert(result.begin() + place(result.size() + 1), changed_row(engine, rows));
    }
  }
  if (metric_ != Metric::hamming && engine() % 2 == 0) std::shuffle(result.begin(), result.end(), engine);
  if (engine() % 4 == 0) change_forms(engine, result);
  return result;
}

std::vector<Cell> DataMaker::simpler(std::size_t i, const Cell& cell) const {
  const AtomDomain& domain = domain_.columns()[i];
  std::vector<Cell> candidates;
  switch (domain.type) {
    case AtomType::real: {
      candidates = {0.0, 1.0, -1.0, 2.0, 0.5, 0.25};
      if (const auto* x = std::get_if<double>(&cell)) {
        candidates.insert(candidates.end(),
                          {std::trunc(*x), std::abs(*x), std::ldexp(std::trunc(*x * 4), -2)});
      }
      break;
    }
    case AtomType::integer:
      for (const std::int64_t n : {0, 1, -1, 2, 10}) candidates.emplace_back(n);
      if (const auto* n = std::get_if<std::int64_t>(&cell)) candidates.emplace_back(*n / 2);
      break;
    case AtomType::text:
      candidates = {std::string(), std::string("a"), std::string("b")};
      if (const auto* text = std::get_if<std::string>(&cell); text != nullptr && !text->empty()) {
        candidates.emplace_back(text->substr(0, text->size() / 2));
        candidates.emplace_back(text->substr(1));
      }
      break;
  }
  candidates.insert(candidates.end(), extreme_[i].begin(), extreme_[i].end());
  const std::size_t now = complexity(cell);
  std::erase_if(candidates, [&](const Cell& candidate) {
    return complexity(candidate) >= now || !holds_cell(domain, candidate);
  });
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Cell& a, const Cell& b) { return complexity(a) < complexity(b); });
  return candidates;
}

}  // namespace snapdp::testing_internal
