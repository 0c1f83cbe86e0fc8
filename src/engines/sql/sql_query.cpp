#include "snapdp/engines/sql/sql_query.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engines/sql/query_parts.h"
#include "framework/shared/digest.h"
#include "framework/shared/question.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace framework_internal;
using namespace engines_internal;

namespace {

[[noreturn]] void refuse_result(const std::string& why) {
  throw Error(ErrorCode::bad_data, "aggregates",
              "aggregates: " + why +
                  "; run the query that \"snapdp pushdown\" writes for this specification, "
                  "and hand over its result as it is");
}

// The totals of a fold, from the rows of a result whose first keys are these.
using Reading = std::function<Totals(const ResultRows&, const ResultRows::Key&)>;

std::uint64_t count_of(const Integer& count) {
  if (count < 0 || count > Integer(static_cast<unsigned long>(SqlQuery::most_rows)))
    refuse_result("a count is negative, or beyond 2^40");
  return count.get_ui();
}

Dyadic whole(const Integer& value) {
  return Dyadic(value, 0);
}

// The sums of x, x^2, ... where x = origin + unit * n, from the number of rows and the sums of n, n^2, ...
std::vector<Dyadic> moved_sums(const WholeNumber& x, const std::vector<Integer>& sums) {
  std::vector<Dyadic> moved;
  for (std::size_t power = 1; power < sums.size(); ++power) {
    Dyadic sum;
    Integer binomial = 1;  // power over i
    for (std::size_t i = 0; i <= power; ++i) {
      Dyadic term = whole(Integer(binomial * sums[i]));
      for (std::size_t factor = 0; factor < power; ++factor) term = term * (factor < i ? x.unit : x.origin);
      sum += term;
      binomial = binomial * static_cast<unsigned long>(power - i) / static_cast<unsigned long>(i + 1);
    }
    moved.push_back(sum);
  }
  return moved;
}

// Calls each(key, rows) for the rows of every place below these first keys, and tells how many rows there are, those of no
// place among them.
template <typename Each>
std::uint64_t for_each_place(const ResultRows& result, std::size_t counts, ResultRows::Key key,
                             std::size_t places, const Each& each) {
  key.push_back(no_place);
  Integer all = result.at(counts, key, 0);
  for (std::size_t place = 0; place < places; ++place) {
    key.back() = static_cast<std::int64_t>(place);
    const Integer rows = result.at(counts, key, 0);
    all += rows;
    each(key, rows);
  }
  return count_of(all);
}

// Writes one aggregation into the parts of a query.
class AggregationInSql final : public RowLanguage {
 public:
  // `found` is the input of the first cell, if the keys of groups by it come from the rows, else "".
  AggregationInSql(QueryParts& parts, SqlRows rows, std::vector<std::string> keys,
                   std::optional<FoldRequest::GroupLimit> limit, std::string found = "")
      : parts_(parts),
        rows_(std::move(rows)),
        keys_(std::move(keys)),
        limit_(std::move(limit)),
        found_(std::move(found)) {}

  Reading reading() && { return std::move(reading_); }

  void clamp(const std::vector<Bounds>& bounds) override { rows_.clamp(bounds); }
  void impute(const std::vector<Dyadic>& values) override { rows_.impute(values); }
  void drop() override { rows_.drop(); }
  void select(const Predicate& condition) override { rows_.select(condition); }
  void project(std::size_t columns) override { rows_.project(columns); }
  void grid_rows(const std::vector<Grid>& grids) override { rows_.grid_rows(grids); }

  void count() override {
    const ColumnSum rows = rows_kept();
    reading_ = [rows](const ResultRows& result, const ResultRows::Key& key) {
      return Totals{count_of(rows.of(result, key)), {}};
    };
  }

  void power_sums(std::size_t degree) override {
    const WholeNumber x = number(0);
    std::vector<ColumnSum> sums = {rows_kept()};
    for (std::size_t power = 1; power <= degree; ++power)
      sums.push_back(parts_.sum_of_products(part(), std::vector<WholeNumber>(power, x)));
    reading_ = [x, sums](const ResultRows& result, const ResultRows::Key& key) {
      std::vector<Integer> found;
      for (const ColumnSum& sum : sums) found.push_back(sum.of(result, key));
      return Totals{count_of(found.front()), moved_sums(x, found)};
    };
  }

  void products() override {
    const WholeNumber x = number(0);
    const WholeNumber y = number(1);
    const ColumnSum rows = rows_kept();
    const ColumnSum sum_x = parts_.sum_of_products(part(), {x});
    const ColumnSum sum_y = parts_.sum_of_products(part(), {y});
    const ColumnSum sum_xy = parts_.sum_of_products(part(), {x, y});
    reading_ = [=](const ResultRows& result, const ResultRows::Key& key) {
      const Integer n = rows.of(result, key);
      const Dyadic nx = x.unit * whole(sum_x.of(result, key));
      const Dyadic ny = y.unit * whole(sum_y.of(result, key));
      const Dyadic nxy = x.unit * y.unit * whole(sum_xy.of(result, key));
      return Totals{count_of(n),
                    {nx + x.origin * whole(n), ny + y.origin * whole(n),
                     nxy + x.origin * ny + y.origin * nx + x.origin * y.origin * whole(n)}};
    };
  }

  void count_places(const Places& places) override {
    keys_.push_back(key_of(places));
    reading_ = [counts = part(), count = places.count](const ResultRows& result, const ResultRows::Key& key) {
      Totals totals;
      totals.rows = for_each_place(
          result, counts, key, count,
          [&](const ResultRows::Key&, const Integer& rows) { totals.values.push_back(whole(rows)); });
      return totals;
    };
  }

  void groups(const Places& places, const Aggregation& inner) override {
    std::vector<std::string> keys = keys_;
    keys.push_back(key_of(places));
    if (!found_.empty()) parts_.found_key(keys.back(), found_);
    if (keys.size() > ResultRows::most_keys) return unknown("groups of groups of groups");
    AggregationInSql group(parts_, rows_.rest(), keys, limit_);
    tell(inner, group);
    reading_ = [counts = parts_.part(keys, limit_), count = places.count,
                of_group = std::move(group).reading()](const ResultRows& result, const ResultRows::Key& key) {
      Totals totals;
      totals.rows = for_each_place(
          result, counts, key, count, [&](const ResultRows::Key& group_key, const Integer& rows) {
            Totals part = of_group(result, group_key);
            Integer kept(static_cast<unsigned long>(part.rows));
            if (kept > rows) refuse_result("a group counts more rows than it has");
            totals.values.push_back(whole(kept));
            totals.values.insert(totals.values.end(), part.values.begin(), part.values.end());
          });
      return totals;
    };
  }

  void unknown(const std::string& description) override {
    throw Error(ErrorCode::invalid_argument, "statistic",
                "statistic: \"" + description +
                    "\" cannot be written as SQL; release it where the library reads the rows itself");
  }

 private:
  // The place of the first cell, as a key of a part.
  std::string key_of(const Places& places) {
    const std::string place = rows_.place(places, [this](const std::string& table, const std::string& cell) {
      return parts_.lookup({table, cell});
    });
    return parts_.key(rows_.of_kept(place, std::to_string(no_row)), places.count);
  }

  std::size_t part() { return parts_.part(keys_, limit_); }

  // A cell of a row as a number, null where the row is not there.
  WholeNumber number(std::size_t column) {
    rows_.add_grid(column, parts_.grids_asked());
    WholeNumber number = rows_.whole(column, parts_.grids());
    number.sql = parts_.cell(number.sql);
    if (std::string& counted = parts_.cell_of_rows(rows_.kept()); counted.empty()) counted = number.sql;
    if (number.shift > 0) number.sql = parts_.high_bits(number.sql, number.shift);
    return number;
  }

  // How many rows are there. One cell for all that keep the same rows.
  ColumnSum rows_kept() {
    const std::size_t here = part();
    if (rows_.kept().empty()) return {here, {{Integer(1), 0}}};
    std::string& counted = parts_.cell_of_rows(rows_.kept());
    if (counted.empty()) counted = parts_.cell(rows_.of_kept("1", "NULL"));
    return {here, {{Integer(1), parts_.column(here, "COUNT(" + counted + ")")}}};
  }

  QueryParts& parts_;
  SqlRows rows_;
  std::vector<std::string> keys_;
  std::optional<FoldRequest::GroupLimit> limit_;
  std::string found_;
  Reading reading_;
};

std::vector<AtomType> types_of(const VectorDomain& domain) {
  std::vector<AtomType> types;
  for (const AtomDomain& column : domain.columns()) types.push_back(column.type);
  return types;
}

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

// One step of a row's hash.
std::string multiplied_sum(const std::string& hash, const std::string& cell) {
  return "((" + hash + " + " + cell + ") * 48271)";
}

// A public number for the questions that a query asks and how its sums are told, so that other results are told apart: the
// first 62 bits of a hash, as no integer type has more everywhere.
std::int64_t fingerprint(const Dialect& dialect, const RowSelection& selection,
                         std::span<const FoldRequest> requests) {
  const std::string text = std::string(dialect.sums_beyond_64_bits() ? "whole sums;" : "sums in words;") +
                           (dialect.groups_with_total() ? "groups with their total;" : "") +
                           question_text(selection, requests);
  const std::string digest = sha256(text, "plan");
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i)
    number = number << 8U | static_cast<std::uint8_t>(digest[i]);
  return static_cast<std::int64_t>(number >> 2U);
}

constexpr const char* plan_column = "snapdp_plan";
constexpr const char* part_column = "part";

}  // namespace

struct SqlQuery::Parts {
  Parts(const Dialect& used, const SqlTable& of_table, const RowSelection& selection,
        std::span<const FoldRequest> requests, std::span<const KeyColumn> of_rows)
      : dialect(used),
        table(of_table),
        query(used),
        plan(fingerprint(used, selection, requests)),
        found(of_rows.begin(), of_rows.end()) {
    if (table.name.empty() || joined(table.name, "").empty())
      throw Error(ErrorCode::invalid_argument, "table", "table: has no name; name the table to be read");
    if (selection.where) {
      SqlRows rows = rows_of(selection.where->columns, selection.where->types);
      rows.select(selection.where->predicate);
      conditions.push_back(rows.kept());
    }
    if (selection.unit) {
      unit = query.input(read_unit(dialect, table, selection.unit->column));
      max_rows = selection.unit->max_rows;
      conditions.push_back(*unit + " IS NOT NULL");
    }
    // The rows of a unit are ordered by the numbers as each statistic sees them.
    if (!unit) {
      QueryParts asked(dialect);
      std::swap(query, asked);
      for (const FoldRequest& request : requests) static_cast<void>(reading_of(request));
      std::swap(query, asked);
      query.share(asked.grids_asked());
    }
    for (const FoldRequest& request : requests) {
      readings.push_back(reading_of(request));
      aggregations.push_back(*request.aggregation);
    }
    find_host();
    write();
  }

  Reading reading_of(const FoldRequest& request) {
    const std::vector<AtomType> types = types_of(request.aggregation->input_domain());
    std::string of_rows;
    for (const KeyColumn& column : found) {
      if (!request.columns.empty() && request.columns.front() == column.name &&
          types.front() == column.type && request.aggregation->key_index() != nullptr)
        of_rows = query.input(read_cell(dialect, table, column.name, column.type));
    }
    AggregationInSql writer(query, rows_of(request.columns, types), {}, limit_of(request), of_rows);
    tell(*request.aggregation, writer);
    return std::move(writer).reading();
  }

  // Looks for a part whose groups all rows fall into, to take the sums of all rows along: the one with the fewest places, as
  // each carries them.
  void find_host() {
    if (!dialect.groups_with_total()) return;
    constexpr std::size_t most_sums = 100'000;
    std::size_t fewest = most_sums / query.parts()[0].columns().size();
    for (std::size_t i = 1; i < query.parts().size(); ++i) {
      const QueryPart& part = query.parts()[i];
      if (part.keys.empty() || part.groups || query.places(part) >= fewest) continue;
      host = i;
      fewest = query.places(part);
    }
    for (const std::string& column : query.parts()[0].columns())
      columns_of_all.push_back(host == 0 ? columns_of_all.size() : query.column(host, column));
  }

  // A limit on groups is one on those of its own keys.
  static std::optional<FoldRequest::GroupLimit> limit_of(const FoldRequest& request) {
    if (!request.groups) return std::nullopt;
    if (request.aggregation->key_index() == nullptr || request.columns.front() != request.groups->column) {
      throw Error(
          ErrorCode::invalid_argument, "groups",
          "groups: a query limits the groups of a statistic by groups only, by the column of its keys");
    }
    return request.groups;
  }

  std::string table_name() const { return quoted_name(dialect, table.name); }

  SqlRows rows_of(const std::vector<std::string>& names, const std::vector<AtomType>& types) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < names.size(); ++i)
      cells.push_back(query.input(read_cell(dialect, table, names[i], types[i])));
    return {dialect, cells, types};
  }

  // The selected rows of the table, with what these cells and the selection speak of.
  std::string selected(const std::string& for_cells) const {
    const std::string condition = joined(conditions, " AND ");
    std::string needed = for_cells;
    std::string joins;
    for (std::size_t i = 0; i < query.lookups().size(); ++i) {
      const std::string name = "l" + std::to_string(i);
      if (!speaks_of(for_cells, name)) continue;
      const QueryParts::Lookup& lookup = query.lookups()[i];
      joins += joined({"\n  LEFT JOIN ", lookup.table, " AS ", name, " ON ", name, ".v = ", lookup.cell}, "");
      needed += "," + lookup.cell;
    }
    std::vector<std::string> read;
    bool repeated = false;
    for (std::size_t i = 0; i < query.inputs().size(); ++i) {
      const std::string input = "x" + std::to_string(i);
      const std::size_t times = mentions(needed, input) + mentions(condition, input);
      if (times == 0) continue;
      read.push_back(query.inputs()[i] + " AS " + input);
      // Else a column with a cast, for nothing, by which an index may find rows.
      repeated = repeated || (times > 1 && query.inputs()[i].find(" WHEN ") != std::string::npos);
    }
    const std::string from = read.empty()
                                 ? table_name()
                                 : "(SELECT " + joined(read, ",\n      ") + "\n    FROM " + table_name() +
                                       (repeated ? dialect.computed_once() : "") + ") AS q";
    return from + joins + (condition.empty() ? "" : "\n  WHERE " + condition);
  }

  // The keys of a column in the selected rows, each once. Texts that are too long for a key, or empty, are left out.
  std::string keys_of(const KeyColumn& column, bool hexadecimal) const {
    std::string condition = joined(conditions, " AND ");
    if (column.type == AtomType::text) {
      condition += (condition.empty() ? "" : " AND ") + std::string("k <> '' AND LENGTH(k) <= ") +
                   std::to_string(KeyValues::longest);
    }
    std::vector<std::string> read = {read_cell(dialect, table, column.name, column.type) + " AS k"};
    for (std::size_t i = 0; i < query.inputs().size(); ++i)
      read.push_back(query.inputs()[i] + " AS x" + std::to_string(i));
    return "SELECT DISTINCT " + std::string(hexadecimal ? "HEX(CAST(k AS BLOB))" : "k") +
           " AS snapdp_key\nFROM (SELECT " + joined(read, ",\n      ") + "\n    FROM " + table_name() +
           ") AS q\nWHERE k IS NOT NULL" + (condition.empty() ? "" : " AND " + condition) + "\nLIMIT " +
           std::to_string(KeyValues::most + 1) + "\n";
  }

  // The cells of all rows that the selection keeps, one row each.
  std::string rows_for(const QueryPart& part) const {
    if (!unit) {
      const std::string spoken = joined(part.columns(), ",");
      std::vector<std::string> used;
      bool repeated = false;
      for (std::size_t i = 0; i < query.cells().size(); ++i) {
        const std::string cell = "c" + std::to_string(i);
        const std::size_t times = mentions(spoken, cell);
        if (times == 0 && !speaks_of(joined(part.keys, ","), cell)) continue;
        used.push_back(query.cells()[i] + " AS " + cell);
        repeated = repeated || times > 1;
      }
      if (used.empty()) return "(SELECT 1 AS one FROM " + selected("") + ") AS r";
      return "(SELECT " + joined(used, ",\n    ") + "\n  FROM " + selected(joined(used, ",")) +
             (repeated ? dialect.computed_once() : "") + ") AS r";
    }
    std::vector<std::string> cells;
    std::vector<std::string> order = {order_hash()};
    for (std::size_t i = 0; i < query.cells().size(); ++i) {
      const std::string name = "c" + std::to_string(i);
      cells.push_back(query.cells()[i] + " AS " + name);
      const auto of_rows = query.found_keys().find(name);
      if (of_rows == query.found_keys().end()) {
        order.push_back(ordered_cell(i));
      } else {
        // The key itself, whatever keys others have.
        cells.push_back(of_rows->second + " AS f" + std::to_string(i));
        order.push_back("f" + std::to_string(i));
      }
    }
    cells.push_back(*unit + " AS row_unit");
    const std::string rows =
        "(SELECT " + joined(cells, ",\n    ") + "\n  FROM " + selected(joined(cells, ",")) + ") AS s";
    const std::string ranked = "(SELECT s.*, ROW_NUMBER() OVER (PARTITION BY row_unit ORDER BY " +
                               joined(order, ", ") + ") AS row_rank\n  FROM " + rows + ") AS t";
    const std::string kept = " WHERE row_rank <= " + std::to_string(max_rows);
    if (!part.groups) return "(SELECT * FROM " + ranked + kept + ") AS r";
    // Of the rows that a unit keeps, the groups in the order of their first row.
    const std::string& key = part.keys.front();
    const std::string in_groups = "(SELECT t.*, MIN(row_rank) OVER (PARTITION BY row_unit, " + key +
                                  ") AS first_rank,\n    ROW_NUMBER() OVER (PARTITION BY row_unit, " + key +
                                  " ORDER BY row_rank) AS rank_in_group\n  FROM " + ranked + kept + " AND " +
                                  key + " >= 0) AS u";
    return "(SELECT * FROM (SELECT u.*, DENSE_RANK() OVER (PARTITION BY row_unit ORDER BY first_rank) AS "
           "group_rank\n  FROM " +
           in_groups + ") AS v WHERE group_rank <= " + std::to_string(part.groups->max_groups) +
           " AND rank_in_group <= " + std::to_string(part.groups->max_rows) + ") AS r";
  }

  // How often SQL speaks of this input or cell. Constants may look like one: then it is read for nothing.
  static std::size_t mentions(const std::string& sql, const std::string& name) {
    std::size_t times = 0;
    for (std::size_t at = sql.find(name); at != std::string::npos; at = sql.find(name, at + 1)) {
      const bool starts = at == 0 || std::isalnum(static_cast<unsigned char>(sql[at - 1])) == 0;
      const std::size_t end = at + name.size();
      if (starts && (end == sql.size() || std::isdigit(static_cast<unsigned char>(sql[end])) == 0)) ++times;
    }
    return times;
  }
  static bool speaks_of(const std::string& sql, const std::string& name) { return mentions(sql, name) > 0; }

  // Cells are at least no_row; those of rows that are not there come first.
  static std::string ordered_cell(std::size_t cell) { return "COALESCE(c" + std::to_string(cell) + ", -3)"; }

  // A public number of a row's cells alone, for an order of a unit's rows that prefers no large or small cells: products
  // modulo the prime 2^31 - 1 (a Lehmer generator's), which are 64-bit integers everywhere.
  std::string order_hash() const {
    constexpr std::int64_t prime = 2147483647;
    // Of 64 bits from the start: cells may have fewer.
    std::string hash = "CAST(1 AS " + dialect.integer_type() + ")";
    for (std::size_t i = 0; i < query.cells().size(); ++i) {
      if (query.found_keys().contains("c" + std::to_string(i))) continue;  // places among all keys
      const std::string cell = dialect.remainder("(" + ordered_cell(i) + " + 3)", prime);
      hash = dialect.remainder(multiplied_sum(hash, cell), prime);
    }
    return hash;
  }

  void write() {
    const std::size_t most_columns =
        std::max_element(query.parts().begin(), query.parts().end(),
                         [](const auto& a, const auto& b) { return a.columns().size() < b.columns().size(); })
            ->columns()
            .size();
    columns = {plan_column, part_column};
    for (std::size_t i = 1; i <= ResultRows::most_keys; ++i) columns.push_back("key_" + std::to_string(i));
    for (std::size_t i = 0; i < most_columns; ++i) columns.push_back("n_" + std::to_string(i));
    for (std::size_t number = host == 0 ? 0 : 1; number < query.parts().size(); ++number)
      text +=
          (text.empty() ? "" : "\nUNION ALL\n") + (number == host && host > 0 ? with_total() : alone(number));
    text += "\n";
  }

  // A row of the result for each key.
  std::string alone(std::size_t number) const {
    const QueryPart& part = query.parts()[number];
    std::vector<std::string> keys = part.keys;
    keys.resize(ResultRows::most_keys, "0");
    return "SELECT " + named(std::to_string(number), keys, part.columns()) + "\nFROM " + rows_for(part) +
           (part.keys.empty() ? "" : "\nGROUP BY " + joined(part.keys, ", "));
  }

  // Those of the host and, of all its groups together, that of all rows.
  std::string with_total() const {
    const QueryPart& part = query.parts()[host];
    std::vector<std::string> grouped;
    std::vector<std::string>
        no_rows;  // for a table without rows, of which there would be no total everywhere
    std::vector<std::string> sums;
    for (std::size_t i = 0; i < part.keys.size(); ++i) {
      grouped.push_back(part.keys[i] + " AS " + group_key(i));
      no_rows.push_back(std::to_string(no_row));
    }
    for (std::size_t i = 0; i < part.columns().size(); ++i) {
      grouped.push_back(part.columns()[i] + " AS s_" + std::to_string(i));
      no_rows.emplace_back("0");
      sums.push_back(dialect.sum("s_" + std::to_string(i)));
    }
    const std::string is_total = "GROUPING(" + group_key(0) + ") = 1";
    std::vector<std::string> keys;
    std::string group_keys;
    for (std::size_t i = 0; i < part.keys.size(); ++i) {
      keys.push_back("CASE WHEN " + is_total + " THEN 0 ELSE " + group_key(i) + " END");
      group_keys += (i == 0 ? "" : ", ") + group_key(i);
    }
    keys.resize(ResultRows::most_keys, "0");
    return "SELECT " +
           named("CASE WHEN " + is_total + " THEN 0 ELSE " + std::to_string(host) + " END", keys, sums) +
           "\nFROM (SELECT " + joined(grouped, ",\n  ") + "\nFROM " + rows_for(part) + "\nGROUP BY " +
           joined(part.keys, ", ") + "\nUNION ALL SELECT " + joined(no_rows, ", ") +
           ") AS g\nGROUP BY GROUPING SETS ((" + group_keys + "), ())";
  }

  static std::string group_key(std::size_t i) { return "k_" + std::to_string(i + 1); }

  // What a SELECT gives, under the names of the result.
  std::string named(const std::string& part, const std::vector<std::string>& keys,
                    const std::vector<std::string>& sums) const {
    std::vector<std::string> values = {dialect.integer(plan), part};
    values.insert(values.end(), keys.begin(), keys.end());
    values.insert(values.end(), sums.begin(), sums.end());
    values.resize(columns.size(), "0");
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += " AS " + columns[i];
    return joined(values, ",\n  ");
  }

  const Dialect& dialect;
  SqlTable table;
  QueryParts query;
  std::int64_t plan;
  std::vector<KeyColumn> found;
  std::vector<std::string> conditions;
  std::optional<std::string> unit;  // the input that tells units apart
  std::uint64_t max_rows = 0;
  std::vector<Aggregation> aggregations;
  std::vector<Reading> readings;
  std::size_t host = 0;                     // the part that takes part 0 along, if not 0
  std::vector<std::size_t> columns_of_all;  // where the columns of part 0 are in a row of it
  std::string text;
  std::vector<std::string> columns;
};

namespace {

// Digits with a sign; fractions that are zero, as decimals and doubles are written, stand for whole numbers.
Integer integer_of(const std::string& cell) {
  std::string digits = cell;
  if (const std::size_t point = digits.find('.'); point != std::string::npos) {
    if (digits.find_first_not_of('0', point + 1) != std::string::npos) refuse_result("a cell is no integer");
    digits.resize(point);
  }
  const std::size_t start = !digits.empty() && digits.front() == '-' ? 1 : 0;
  constexpr std::size_t most_digits = 60;
  if (digits.size() == start || digits.size() > most_digits ||
      digits.find_first_not_of("0123456789", start) != std::string::npos)
    refuse_result("a cell is no integer");
  return Integer(digits);
}

std::int64_t small_integer(const Integer& value) {
  if (!value.fits_slong_p()) refuse_result("a part or key is out of range");
  return value.get_si();
}

std::string lower_case(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

// Where the query's columns are in the result, whatever their order and case: databases fold the case of names.
std::vector<std::size_t> places_of(const std::vector<std::string>& wanted,
                                   const std::vector<std::string>& given) {
  std::vector<std::string> lower;
  for (const std::string& name : given) lower.push_back(lower_case(name));
  std::vector<std::size_t> places;
  for (const std::string& name : wanted) {
    const auto found = std::find(lower.begin(), lower.end(), name);
    if (found == lower.end()) refuse_result("a column of the query is missing");
    places.push_back(static_cast<std::size_t>(found - lower.begin()));
  }
  if (given.size() != wanted.size()) refuse_result("it has other columns than the query");
  return places;
}

}  // namespace

KeyQuery::KeyQuery(SqlDialect dialect, const SqlTable& table,
                   const std::optional<RowSelection::Condition>& where, KeyColumn column)
    : column_(std::move(column)) {
  const bool text = column_.type == AtomType::text;
  if (text && !is_tested(dialect)) {
    throw Error(
        ErrorCode::invalid_argument, "dialect",
        "dialect: in a database of this dialect different texts may be equal, so that which of them is "
        "the key of a group would depend on all rows; list the keys, or use integers");
  }
  hexadecimal_ = text && dialect == SqlDialect::sqlite;
  const SqlQuery::Parts parts(dialect_of(dialect), table, {where, std::nullopt}, {}, {});
  text_ = parts.keys_of(column_, hexadecimal_);
}

namespace {

// The bytes that these digits stand for.
std::string bytes_of(const std::string& digits) {
  const auto value = [](char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    refuse_result("a key is not as the query gives it");
  };
  if (digits.size() % 2 != 0) refuse_result("a key is not as the query gives it");
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(value(digits[i]) * 16 + value(digits[i + 1]));
  return bytes;
}

}  // namespace

KeyValues KeyQuery::read(const SqlResult& result) const {
  if (result.columns.size() != 1) refuse_result("the keys of groups are not one column");
  // Whatever the rows beyond the limit of the query hold: some keys are not among them.
  require_number_of_keys(result.rows.size());
  KeyValues keys{column_.type, {}, {}};
  for (const std::vector<std::string>& row : result.rows) {
    if (row.size() != 1) refuse_result("a row has more or fewer cells than the header");
    if (column_.type == AtomType::integer) {
      keys.integers.push_back(small_integer(integer_of(row[0])));
      continue;
    }
    std::string text = hexadecimal_ ? bytes_of(row[0]) : row[0];
    if (is_group_key(text)) keys.texts.push_back(std::move(text));
  }
  put_in_order(keys);
  return keys;
}

std::string header_query(SqlDialect dialect, const std::vector<std::string>& table) {
  return "SELECT * FROM " + quoted_name(dialect_of(dialect), table) + " WHERE 1 = 0";
}

SqlQuery::SqlQuery(SqlDialect dialect, const SqlTable& table, const RowSelection& selection,
                   std::span<const FoldRequest> requests, std::span<const KeyColumn> found)
    : parts_(std::make_unique<Parts>(dialect_of(dialect), table, selection, requests, found)) {}
SqlQuery::SqlQuery(SqlQuery&&) noexcept = default;
SqlQuery& SqlQuery::operator=(SqlQuery&&) noexcept = default;
SqlQuery::~SqlQuery() = default;

const std::string& SqlQuery::text() const {
  return parts_->text;
}

const std::vector<std::string>& SqlQuery::columns() const {
  return parts_->columns;
}

bool SqlQuery::is_asked_by(const SqlResult& result) const {
  for (std::size_t i = 0; i < result.columns.size(); ++i) {
    if (lower_case(result.columns[i]) != plan_column || result.rows.empty()) continue;
    return i < result.rows.front().size() &&
           integer_of(result.rows.front()[i]) == Integer(static_cast<long>(parts_->plan));
  }
  return false;
}

FoldResult SqlQuery::read(const SqlResult& result) const {
  const std::vector<std::size_t> places = places_of(parts_->columns, result.columns);
  const std::vector<QueryPart>& parts = parts_->query.parts();
  std::vector<ResultRows::Part> found(parts.size());
  std::vector<Integer> all_together;
  for (const std::vector<std::string>& row : result.rows) {
    if (row.size() != places.size()) refuse_result("a row has more or fewer cells than the header");
    std::vector<Integer> cells;
    for (const std::size_t place : places) cells.push_back(integer_of(row[place]));
    if (cells[0] != Integer(static_cast<long>(parts_->plan))) refuse_result("it answers another question");
    const std::int64_t number = small_integer(cells[1]);
    if (number < 0 || static_cast<std::size_t>(number) >= parts.size())
      refuse_result("a part or key is out of range");
    const auto part = static_cast<std::size_t>(number);
    ResultRows::Key key;
    for (std::size_t i = 0; i < ResultRows::most_keys; ++i) {
      const std::int64_t value = small_integer(cells[2 + i]);
      const bool is_key = i < parts[part].keys.size();
      if (is_key ? !parts_->query.is_place(parts[part].keys[i], value) : value != 0)
        refuse_result("a part or key is out of range");
      if (is_key) key.push_back(value);
    }
    cells.erase(cells.begin(), cells.begin() + 2 + ResultRows::most_keys);
    const std::size_t told = parts[number == 0 ? parts_->host : part].columns().size();
    if (std::any_of(cells.begin() + static_cast<std::ptrdiff_t>(told), cells.end(),
                    [](const Integer& cell) { return cell != 0; }))
      refuse_result("a cell that stands for no sum is not 0");
    if (number == 0) all_together = cells;
    if (number == 0 && parts_->host > 0) {
      std::vector<Integer> of_all;
      for (const std::size_t column : parts_->columns_of_all) of_all.push_back(cells[column]);
      cells = std::move(of_all);
    }
    if (!found[part].emplace(std::move(key), std::move(cells)).second) refuse_result("a row is there twice");
  }
  if (found[0].size() != 1) refuse_result("the row of all rows is missing");
  const ResultRows rows(std::move(found));
  const std::uint64_t all = count_of(rows.at(0, {}, 0));
  for (std::size_t part = 0; part < parts.size(); ++part) {
    Integer together = 0;
    for (const auto& [key, values] : rows.part(part)) together += count_of(values[0]);
    const Integer rows_of_all(static_cast<unsigned long>(all));
    if (parts[part].groups ? together > rows_of_all : together != rows_of_all)
      refuse_result("the rows of its groups do not add up to all rows");
  }
  if (parts_->host > 0) {
    for (std::size_t i = 0; i < parts[parts_->host].columns().size(); ++i) {
      Integer together = 0;
      for (const auto& [key, values] : rows.part(parts_->host)) together += values[i];
      if (together != all_together[i])
        refuse_result("the sums of its groups do not add up to those of all rows");
    }
  }
  FoldResult read;
  read.rows = all;
  for (std::size_t i = 0; i < parts_->readings.size(); ++i) {
    const Totals totals = parts_->readings[i](rows, {});
    if (totals.rows > all) refuse_result("a statistic counts more rows than there are");
    try {
      read.states.push_back(parts_->aggregations[i].restored(totals));
    } catch (const Error&) {
      refuse_result("a sum is one that no rows within the bounds have");
    }
  }
  return read;
}

}  // namespace snapdp
