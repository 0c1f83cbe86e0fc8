#include "engines/sql/dialect.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "snapdp/error.h"

namespace snapdp::engines_internal {
namespace {

std::string between(char quote, const std::string& text, const std::string& escaped_quote, bool backslash) {
  std::string result(1, quote);
  for (const char c : text) {
    if (c == '\0') {
      throw Error(ErrorCode::invalid_argument, "columns",
                  "columns: a name or constant holds a NUL character, which no query can hold");
    }
    if (c == quote) {
      result += escaped_quote;
    } else if (backslash && c == '\\') {
      result += "\\\\";
    } else {
      result += c;
    }
  }
  return result + quote;
}

std::string shortest(double value) {
  std::array<char, 32> text;
  const auto [end, status] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific);
  if (status != std::errc()) throw std::logic_error("a double has at most 24 characters");
  return {text.data(), end};
}

std::string power_of_two(unsigned exponent) {
  return std::to_string(std::uint64_t{1} << exponent);
}

// Between double quotes, as JSON and arrays of PostgreSQL have texts.
std::string in_double_quotes(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  result += '"';
  return result;
}

// In JSON, control characters are numbers.
std::string json_text(const std::string& text) {
  constexpr const char* digits = "0123456789abcdef";
  std::string result;
  for (const char c : in_double_quotes(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ') {
      result += c;
    } else {
      result += "\\u00";
      result += digits[byte >> 4U];
      result += digits[byte & 15U];
    }
  }
  return result;
}

// The values, or what is made of each, between commas.
template <typename Each>
std::string listed(const std::vector<Dialect::PlacedValue>& values, const Each& each) {
  std::string text;
  for (const Dialect::PlacedValue& value : values) {
    if (!text.empty()) text += ',';
    text += each(value);
  }
  return text;
}

// With a cast that gives null for what it does not take.
class CarefulDialect : public Dialect {
 public:
  std::string real_or_null(const std::string& x) const override { return careful(x, real_type()); }
  std::string integer_or_null(const std::string& x) const override {
    const std::string real = real_or_null(x);
    return "CASE WHEN " + real + " = FLOOR(" + real + ") THEN " + cast_to_integer(x) + " END";
  }
  std::string cast_to_integer(const std::string& x) const override { return careful(x, integer_type()); }

 private:
  virtual std::string careful(const std::string& x, const std::string& type) const {
    return "TRY_CAST(" + x + " AS " + type + ")";
  }
};

// SUM of BIGINT is HUGEINT, which goes into Parquet files as a double.
class Duckdb final : public CarefulDialect {
 public:
  std::string sum(const std::string& x) const override {
    return "CAST(" + Dialect::sum(x) + " AS DECIMAL(38, 0))";
  }
  std::string real_type() const override { return "DOUBLE"; }
  std::string bytes(const std::string& x) const override { return "(" + x + " COLLATE \"binary\")"; }
  bool sums_beyond_64_bits() const override { return true; }
  bool groups_with_total() const override { return true; }
  std::string places(const std::vector<PlacedValue>& values, AtomType type) const override {
    const auto row = [&](const PlacedValue& placed) {
      return "(" + (type == AtomType::text ? text(placed.value) : placed.value) + "," +
             std::to_string(placed.place) + ")";
    };
    return "(SELECT * FROM (VALUES " + listed(values, row) + ") AS a(v, p))";
  }
};

// SUM of bigint is numeric, by way of 128-bit integers.
class Postgresql final : public Dialect {
 public:
  std::string text_type() const override { return "text"; }
  // E'...' reads backslashes alike under every standard_conforming_strings.
  std::string text(const std::string& value) const override { return "E" + between('\'', value, "''", true); }
  std::string is_nan(const std::string& x) const override {
    return "(" + x + " = CAST('NaN' AS double precision))";
  }
  // The constants are numerics, which are compared exactly with whole numbers.
  std::string integer_or_null(const std::string& x) const override {
    return "CASE WHEN " + x + " >= -9223372036854775808 AND " + x + " < 9223372036854775808 AND " + x +
           " = FLOOR(" + x + ") THEN " + cast_to_integer(x) + " END";
  }
  // A product that underflows to 0 is an error here, and is 0 elsewhere.
  std::string steps(const std::string& x, double steps_per_unit) const override {
    std::string product = Dialect::steps(x, steps_per_unit);
    if (steps_per_unit >= 1) return product;
    constexpr int half_of_least = -1075;  // as an exponent; the even neighbor of half the least double is 0
    const double largest_lost = std::ldexp(1 / steps_per_unit, half_of_least);
    return "CASE WHEN (" + x + ") >= " + real(-largest_lost) + " AND (" + x + ") < " + real(1) +
           " THEN 0 ELSE " + product + " END";
  }
  // A numeric beyond the doubles is an error where it is cast, and NaN is greater than all others.
  std::string real_of_decimal(const std::string& x) const override {
    const auto infinite = [this](const char* sign) {
      return "CAST('" + std::string(sign) + "Infinity' AS " + real_type() + ")";
    };
    return "CASE WHEN " + x + " > 1.7976931348623158e308 AND " + x + " <> CAST('NaN' AS numeric) THEN " +
           infinite("") + " WHEN " + x + " < -1.7976931348623158e308 THEN " + infinite("-") + " WHEN " + x +
           " > -2.4703282292062328e-324 AND " + x + " < 2.4703282292062328e-324 THEN " + real(0) + " ELSE " +
           Dialect::real_of_decimal(x) + " END";
  }
  std::string known_decimal(const std::string& x) const override {
    return "NULLIF(" + x + ", CAST('NaN' AS numeric))";
  }
  // As decimals, which are exact.
  std::string in_integer_range(const std::string& x, SqlType type) const override {
    if (type != SqlType::decimal) return Dialect::in_integer_range(x, type);
    return x + " >= -9223372036854775808 AND " + x + " <= 9223372036854775807";
  }
  std::string bytes(const std::string& x) const override { return "(" + x + " COLLATE \"C\")"; }
  // The planner would write the columns out wherever they are spoken of, if not for an OFFSET. As a literal of no type it is
  // a constant from the start, and scans stay parallel.
  std::string computed_once() const override { return " OFFSET '0'"; }
  std::string trimmed(const std::string& x) const override {
    return "TRIM(BOTH E' \\t\\n\\013\\f\\r' FROM " + x + ")";
  }
  bool sums_beyond_64_bits() const override { return true; }
  bool groups_with_total() const override { return true; }
  std::string places(const std::vector<PlacedValue>& values, AtomType type) const override {
    const bool is_text = type == AtomType::text;
    const auto value = [&](const PlacedValue& placed) {
      return is_text ? in_double_quotes(placed.value) : placed.value;
    };
    const auto place = [](const PlacedValue& placed) { return std::to_string(placed.place); };
    const std::string stored = is_text ? text_type() : integer_type();
    return "(SELECT v, p FROM unnest(CAST(" + text("{" + listed(values, value) + "}") + " AS " + stored +
           "[]), CAST('{" + listed(values, place) + "}' AS integer[])) AS a(v, p))";
  }
};

class Spark final : public CarefulDialect {
 public:
  // Wherever it finds ${...}, in names and literals too, it puts the value of that setting.
  std::string name(const std::string& identifier) const override {
    if (identifier.find("${") != std::string::npos) {
      throw Error(ErrorCode::invalid_argument, "columns",
                  "columns: " + quoted_text(identifier) +
                      " holds ${, which Spark replaces; make a view with another name for it");
    }
    return between('`', identifier, "``", false);
  }
  // Two quotes in a row would be two literals side by side.
  std::string text(const std::string& value) const override {
    std::string literal = between('\'', value, "\\'", true);
    for (std::size_t at = literal.find('$'); at != std::string::npos; at = literal.find('$', at + 1))
      literal.replace(at, 1, "\\u0024");
    return literal;
  }
  std::string real(double value) const override { return "CAST('" + shortest(value) + "' AS DOUBLE)"; }
  std::string real_type() const override { return "DOUBLE"; }
  std::string text_type() const override { return "STRING"; }
  // FLOOR of a double is a 64-bit integer here, and an error beyond it.
  std::string integer_or_null(const std::string& x) const override {
    const std::string integer = cast_to_integer(x);
    return "CASE WHEN CAST(" + integer + " AS DOUBLE) = " + real_or_null(x) + " THEN " + integer + " END";
  }
  std::string shifted(const std::string& x, unsigned from) const override {
    return "shiftright(" + x + ", " + std::to_string(from) + ")";
  }
  bool groups_with_total() const override { return true; }
  std::string places(const std::vector<PlacedValue>& values, AtomType type) const override {
    const bool is_text = type == AtomType::text;
    const auto row = [&](const PlacedValue& placed) {
      return R"({"v":)" + (is_text ? json_text(placed.value) : placed.value) + R"(,"p":)" +
             std::to_string(placed.place) + "}";
    };
    return "(SELECT e.v AS v, e.p AS p FROM (SELECT explode(from_json(" +
           text("[" + listed(values, row) + "]") + ", 'array<struct<v:" + (is_text ? "string" : "bigint") +
           ",p:int>>')) AS e) AS a)";
  }
};

// Any cell may hold anything, there is no NaN, FLOOR may be missing, and decimal literals may be an ulp off.
class Sqlite final : public Dialect {
 public:
  // A name between double quotes that no column has would be a text.
  std::string name(const std::string& identifier) const override {
    return between('`', identifier, "``", false);
  }
  std::string real(double value) const override {
    if (value == 0) return "CAST(0 AS REAL)";
    int exponent = 0;
    constexpr int digits = 53;
    const double fraction = std::frexp(value, &exponent);
    auto mantissa = static_cast<std::int64_t>(std::ldexp(fraction, digits));
    exponent -= digits;
    while (mantissa != 0 && mantissa % 2 == 0 && exponent < 0) {
      mantissa /= 2;
      ++exponent;
    }
    // By powers of two one after the other: every product and quotient on the way is exact but the last.
    std::string result = "CAST(" + std::to_string(mantissa) + " AS REAL)";
    const std::string by = exponent < 0 ? " / CAST(" : " * CAST(";
    constexpr unsigned most = 62;
    for (unsigned left = static_cast<unsigned>(std::abs(exponent)); left > 0; left -= std::min(left, most))
      result += by + power_of_two(std::min(left, most)) + " AS REAL)";
    return "(" + result + ")";
  }
  std::string real_type() const override { return "REAL"; }
  std::string integer_type() const override { return "INTEGER"; }
  std::string text_type() const override { return "TEXT"; }
  std::string is_nan(const std::string& x) const override { return "(" + x + " <> " + x + ")"; }
  std::string floor(const std::string& x) const override {
    return "(CAST(" + x + " AS INTEGER) - (CAST(" + x + " AS INTEGER) > " + x + "))";
  }
  std::string bytes(const std::string& x) const override { return "(" + x + " COLLATE BINARY)"; }
  // 1 and 1.0 are one.
  std::string unit_text(const std::string& x) const override {
    return "CASE WHEN typeof(" + x + ") = 'real' AND CAST(" + x + " AS INTEGER) = " + x + " THEN CAST(CAST(" +
           x + " AS INTEGER) AS TEXT) ELSE CAST(" + x + " AS TEXT) END";
  }
  std::string is_number(const std::string& x) const override {
    return "typeof(" + x + ") IN ('integer', 'real')";
  }
  std::string places(const std::vector<PlacedValue>& values, AtomType type) const override {
    const auto row = [&](const PlacedValue& placed) {
      return "[" + (type == AtomType::text ? json_text(placed.value) : placed.value) + "," +
             std::to_string(placed.place) + "]";
    };
    return "(SELECT json_extract(value, '$[0]') AS v, json_extract(value, '$[1]') AS p FROM json_each(" +
           text("[" + listed(values, row) + "]") + "))";
  }
};

// NaN has a sign: a negative one is less than all numbers.
class Datafusion final : public CarefulDialect {
 public:
  std::string real_type() const override { return "DOUBLE"; }
  std::string clamped(const std::string& x, const std::string& lower, const std::string& upper,
                      const std::string& missing, AtomType type) const override {
    std::string bounded = Dialect::clamped(x, lower, upper, missing, type);
    if (type != AtomType::real) return bounded;
    return "CASE WHEN " + is_nan(x) + " THEN " + missing + " ELSE " + bounded + " END";
  }
};

class Bigquery final : public CarefulDialect {
 public:
  std::string name(const std::string& identifier) const override {
    return between('`', identifier, "\\`", true);
  }
  std::string text(const std::string& value) const override { return between('\'', value, "\\'", true); }
  std::string real_type() const override { return "FLOAT64"; }
  std::string integer_type() const override { return "INT64"; }
  std::string text_type() const override { return "STRING"; }
  std::string is_nan(const std::string& x) const override { return "IS_NAN(" + x + ")"; }
  std::string careful(const std::string& x, const std::string& type) const override {
    return "SAFE_CAST(" + x + " AS " + type + ")";
  }
  std::string remainder(const std::string& x, std::int64_t divisor) const override {
    return "MOD(" + x + ", " + std::to_string(divisor) + ")";
  }
};

class Clickhouse final : public Dialect {
 public:
  std::string name(const std::string& identifier) const override {
    return between('`', identifier, "\\`", true);
  }
  std::string text(const std::string& value) const override { return between('\'', value, "\\'", true); }
  std::string real(double value) const override { return "toFloat64('" + shortest(value) + "')"; }
  std::string real_type() const override { return "Nullable(Float64)"; }
  std::string integer_type() const override { return "Nullable(Int64)"; }
  std::string text_type() const override { return "Nullable(String)"; }
  std::string is_nan(const std::string& x) const override { return "isNaN(" + x + ")"; }
  std::string shifted(const std::string& x, unsigned from) const override {
    return "bitShiftRight(" + x + ", " + std::to_string(from) + ")";
  }
  std::string masked(const std::string& x, std::int64_t mask) const override {
    return "bitAnd(" + x + ", " + std::to_string(mask) + ")";
  }
};

class Snowflake final : public Dialect {
 public:
  std::string text(const std::string& value) const override { return between('\'', value, "\\'", true); }
  std::string real_type() const override { return "DOUBLE"; }
  std::string is_nan(const std::string& x) const override { return "(" + x + " = CAST('NaN' AS DOUBLE))"; }
  std::string shifted(const std::string& x, unsigned from) const override {
    return "BITSHIFTRIGHT(" + x + ", " + std::to_string(from) + ")";
  }
  std::string masked(const std::string& x, std::int64_t mask) const override {
    return "BITAND(" + x + ", " + std::to_string(mask) + ")";
  }
};

class Trino final : public CarefulDialect {
 public:
  std::string real_type() const override { return "DOUBLE"; }
  std::string is_nan(const std::string& x) const override { return "is_nan(" + x + ")"; }
  std::string shifted(const std::string& x, unsigned from) const override {
    return "bitwise_right_shift(" + x + ", " + std::to_string(from) + ")";
  }
  std::string masked(const std::string& x, std::int64_t mask) const override {
    return "bitwise_and(" + x + ", " + std::to_string(mask) + ")";
  }
};

}  // namespace

std::string Dialect::name(const std::string& identifier) const {
  return between('"', identifier, "\"\"", false);
}

std::string Dialect::text(const std::string& value) const {
  return between('\'', value, "''", false);
}

std::string Dialect::real(double value) const {
  return "CAST(" + shortest(value) + " AS " + real_type() + ")";
}

std::string Dialect::integer(std::int64_t value) const {
  // The digits of the least one alone are beyond 64 bits.
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807 - 1)";
  return value < 0 ? "(" + std::to_string(value) + ")" : std::to_string(value);
}

std::string Dialect::clamped(const std::string& x, const std::string& lower, const std::string& upper,
                             const std::string& missing, AtomType type) const {
  const std::string number = type == AtomType::real ? " AND NOT " + is_nan(x) : "";
  return "CASE WHEN " + x + " < " + lower + " THEN " + lower + " WHEN " + x + " <= " + upper + " THEN " + x +
         " WHEN " + x + " > " + upper + number + " THEN " + upper + " ELSE " + missing + " END";
}

std::string Dialect::floor(const std::string& x) const {
  return "CAST(FLOOR(" + x + ") AS " + integer_type() + ")";
}

std::string Dialect::steps(const std::string& x, double steps_per_unit) const {
  return floor("((" + x + ") * " + real(steps_per_unit) + ")");
}

std::string Dialect::real_or_null(const std::string& x) const {
  return "CAST(" + x + " AS " + real_type() + ")";
}

std::string Dialect::integer_or_null(const std::string& x) const {
  const std::string integer = cast_to_integer(x);
  return "CASE WHEN " + integer + " = " + x + " THEN " + integer + " END";
}

std::string Dialect::cast_to_integer(const std::string& x) const {
  return "CAST(" + x + " AS " + integer_type() + ")";
}

std::string Dialect::real_of_decimal(const std::string& x) const {
  return "CAST(" + x + " AS " + real_type() + ")";
}

std::string Dialect::in_integer_range(const std::string& x, SqlType) const {
  const std::string value = "CAST(" + x + " AS " + real_type() + ")";
  constexpr double beyond = 9223372036854775808.0;
  return value + " >= " + real(-beyond) + " AND " + value + " < " + real(beyond);
}

std::string Dialect::unit_text(const std::string& x) const {
  return "CAST(" + x + " AS " + text_type() + ")";
}

std::string Dialect::bits(const std::string& x, unsigned from, unsigned count) const {
  return masked(from == 0 ? x : shifted(x, from), (std::int64_t{1} << count) - 1);
}

std::string Dialect::shifted(const std::string& x, unsigned from) const {
  return "(" + x + " >> " + std::to_string(from) + ")";
}

std::string Dialect::masked(const std::string& x, std::int64_t mask) const {
  return "(" + x + " & " + std::to_string(mask) + ")";
}

std::string Dialect::remainder(const std::string& x, std::int64_t divisor) const {
  return "(" + x + " % " + std::to_string(divisor) + ")";
}

const Dialect& dialect_of(SqlDialect dialect) {
  static const Duckdb duckdb;
  static const Postgresql postgresql;
  static const Spark spark;
  static const Sqlite sqlite;
  static const Datafusion datafusion;
  static const Bigquery bigquery;
  static const Clickhouse clickhouse;
  static const Snowflake snowflake;
  static const Trino trino;
  switch (dialect) {
    case SqlDialect::duckdb:
      return duckdb;
    case SqlDialect::postgresql:
      return postgresql;
    case SqlDialect::spark:
      return spark;
    case SqlDialect::sqlite:
      return sqlite;
    case SqlDialect::datafusion:
      return datafusion;
    case SqlDialect::bigquery:
      return bigquery;
    case SqlDialect::clickhouse:
      return clickhouse;
    case SqlDialect::snowflake:
      return snowflake;
    case SqlDialect::trino:
      break;
  }
  return trino;
}

std::string quoted_name(const Dialect& dialect, const std::vector<std::string>& name) {
  std::string text;
  for (const std::string& part : name) {
    if (!text.empty()) text += '.';
    text += dialect.name(part);
  }
  return text;
}

}  // namespace snapdp::engines_internal

namespace snapdp {

const std::vector<SqlDialect>& all_sql_dialects() {
  static const std::vector<SqlDialect> all = {
      SqlDialect::duckdb,     SqlDialect::postgresql, SqlDialect::spark,
      SqlDialect::sqlite,     SqlDialect::datafusion, SqlDialect::bigquery,
      SqlDialect::clickhouse, SqlDialect::snowflake,  SqlDialect::trino};
  return all;
}

std::string to_string(SqlDialect dialect) {
  switch (dialect) {
    case SqlDialect::duckdb:
      return "duckdb";
    case SqlDialect::postgresql:
      return "postgresql";
    case SqlDialect::spark:
      return "spark";
    case SqlDialect::sqlite:
      return "sqlite";
    case SqlDialect::datafusion:
      return "datafusion";
    case SqlDialect::bigquery:
      return "bigquery";
    case SqlDialect::clickhouse:
      return "clickhouse";
    case SqlDialect::snowflake:
      return "snowflake";
    case SqlDialect::trino:
      break;
  }
  return "trino";
}

std::optional<SqlDialect> find_sql_dialect(std::string_view name) {
  for (const SqlDialect dialect : all_sql_dialects()) {
    if (to_string(dialect) == name) return dialect;
  }
  return std::nullopt;
}

bool is_tested(SqlDialect dialect) {
  return dialect <= SqlDialect::datafusion;
}

}  // namespace snapdp
